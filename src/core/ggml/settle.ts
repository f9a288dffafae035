/** What an engine wants of a context → the context it gets, with the length that `--fit` leaves of it. */
import { refused } from '../engines/coverage';
import { type ConfigureInput, EngineRefusal } from '../engines/engine';
import type { KvLayer } from '../model/model';
import type { GgmlConfiguration } from './configuration';
import { type Base, fittedTo } from './fit';
import { cachedLayers, refuseTypes, refuseUncovered } from './layers';
import { type ContextSpec, RowError, type Sizes, sizesOf } from './sizes';
import type { Wanted } from './wanted';

export function settle(input: ConfigureInput, wanted: Wanted): GgmlConfiguration {
  const { model } = input;
  const { layers, at, blocks } = cachedLayers(model, wanted.rules);
  refuseUncovered(model, wanted);
  refuseTypes(layers, wanted);
  const specAt = (tokens: number): ContextSpec => ({ ...wanted.context, rules: wanted.rules, tokens });
  const sizesAt = (tokens: number): Sizes => sized(layers, at, specAt(tokens), wanted);
  const base: Base = { input, wanted, blocks, specAt, sizesAt };
  const fitted = fittedTo(base);
  const sizes = sizesAt(fitted.tokens);
  const cap = Math.min(wanted.lengthCap ?? Number.POSITIVE_INFINITY, model.maxPositions ?? Number.POSITIVE_INFINITY);
  const lengthAt = ({ context }: Sizes): number => Math.min(context.tokensPerSequence, cap);
  return {
    engine: wanted.engine,
    version: wanted.version,
    placement: wanted.placement,
    settings: wanted.settings,
    maxLength: lengthAt(sizes),
    autoLength: false,
    maxSequences: wanted.context.sequences,
    batchTokens: Math.max(sizes.context.batch, wanted.context.sequences),
    tokensPerStep: 1,
    layers,
    findings: [...wanted.findings, ...fitted.findings],
    rules: wanted.rules,
    spec: specAt(fitted.tokens),
    sizes,
    split: fitted.split,
    sizesAt,
    lengthAt,
    pooled: wanted.pooled,
    sequences: wanted.context.sequences,
    fit: wanted.fit,
    contextOption: wanted.contextOption,
    offloadOption: wanted.offloadOption,
    hostCache: wanted.hostCache,
    dtypeKey: wanted.dtypeKey,
    experts: model.experts !== undefined,
    weightsMoved: wanted.weightsMoved,
    optionTokens: wanted.optionTokens,
  };
}

function sized(layers: readonly KvLayer[], at: readonly number[], spec: ContextSpec, wanted: Wanted): Sizes {
  try {
    return sizesOf(layers, at, spec);
  } catch (error) {
    if (error instanceof RowError) {
      const message = `rows of ${error.width} numbers are no whole blocks of ${error.type}`;
      throw new EngineRefusal([refused('type-does-not-divide-head', message, wanted.typeOption)]);
    }
    throw error;
  }
}
