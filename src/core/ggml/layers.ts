/** Which layers of a model keep something, and what of it is not planned or will not be taken. */
import { notCovered, refused, refuseLayers } from '../engines/coverage';
import { EngineRefusal } from '../engines/engine';
import { ggmlType } from '../model/ggml-types';
import { keepsNoCache, windowDefaults } from '../model/gguf-architectures';
import type { KvLayer, Model } from '../model/model';
import { cachesNextn, type GgmlRules } from './rules';
import type { Wanted } from './wanted';

/** Of checkpoints, the classes whose windows llama.cpp honours; it keeps everything for all others. */
const WINDOWED =
  /^(Gemma2|Gemma3|Gemma4|GptOss|Cohere2|Llama4|Exaone4|ExaoneMoE|Olmo2|Olmo3|Afmoe|AfMoe|Plamo3|SmallThinker|Laguna|Mellum|MiMoV2|Step3p5)/;

export interface Cached {
  readonly layers: readonly KvLayer[];
  /** The transformer layer of each. */
  readonly at: readonly number[];
  /** Transformer layers of the file. */
  readonly blocks: number;
}

export function cachedLayers(model: Model, rules: GgmlRules): Cached {
  const honoured = model.gguf ? windowDefaults(model.architecture) !== undefined : WINDOWED.test(model.architecture);
  const all = [...model.layers, ...(model.gguf && cachesNextn(rules, model.architecture) ? model.mtpLayers : [])];
  const layers: KvLayer[] = [];
  const at: number[] = [];
  let number = -1;
  for (const layer of all) {
    number += layer.joined ? 0 : 1;
    if (layer.kind !== 'none' && layer.kind !== 'shared') {
      layers.push(honoured || layer.window === undefined ? layer : asFull(layer));
      at.push(number);
    }
  }
  return { layers, at, blocks: model.gguf?.blocks ?? number + 1 };
}

const asFull = ({ window: _, ...layer }: KvLayer): KvLayer => ({ ...layer, kind: 'full' });

export function refuseUncovered(model: Model, { engine, rules }: Wanted): void {
  if (keepsNoCache(model.architecture) && rules.logStyle !== 'self-size') {
    throw notCovered(`${model.id} (${model.architecture}) attends both ways: ${engine} keeps no KV cache for it.`);
  }
  refuseLayers(model, engine, covers);
  if (rules.latent === 'heads' && model.layers.some((l) => l.kind === 'latent')) {
    throw notCovered(
      'Builds before b5140 (April 2025) keep keys and values of every head of an MLA model, in sizes that only its GGUF file tells: give it with --model-config.',
    );
  }
}

function covers(layer: KvLayer): true | string {
  switch (layer.kind) {
    case 'full':
    case 'latent':
    case 'indexer':
      return layer.ratio !== undefined ? 'compressed caches' : true;
    case 'sliding':
    case 'chunked':
      return layer.window ? true : 'windows of a length that its config does not tell';
    case 'state':
      return layer.state ? true : 'state layers whose sizes its config does not tell';
    default:
      return layer.kind === 'cross' ? 'cross-attention layers' : 'layers of a kind that no rule covers';
  }
}

/** In the library's own words. Source: llama.cpp v0.5.0, src/llama-context.cpp :: llama_init_from_model. */
export function refuseTypes(layers: readonly KvLayer[], { context, rules, typeOption, flashOption }: Wanted): void {
  const { keyType, valueType, flash } = context;
  if (!flash && (ggmlType(valueType)?.elements ?? 1) > 1) {
    throw new EngineRefusal([
      refused(
        'value-type-needs-flash',
        'llama_init_from_model: quantized V cache requires flash_attn to be enabled',
        flashOption,
      ),
    ]);
  }
  if (rules.latent === 'key' && keyType !== valueType && layers.some((l) => l.kind === 'latent')) {
    throw new EngineRefusal([
      refused(
        'latent-types-differ',
        `An MLA model keeps one vector for keys and values: with ${keyType} keys and ${valueType} values the context is not made.`,
        typeOption,
      ),
    ]);
  }
  for (const layer of layers.filter((l) => l.kind !== 'state')) {
    for (const [what, type, width] of [
      ['K', keyType, layer.headDim],
      ['V', valueType, layer.valueDim],
    ] as const) {
      const block = ggmlType(type)?.elements ?? 1;
      if (width % block !== 0) {
        throw new EngineRefusal([
          refused(
            'type-does-not-divide-head',
            `llama_init_from_model: ${what} cache type ${type} with block size ${block} does not divide n_embd_head_${what.toLowerCase()}=${width}`,
            typeOption,
          ),
        ]);
      }
    }
  }
}
