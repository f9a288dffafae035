/** One GPU's memory as a budget: nothing is a share of it, the caches must fit into what is left. */
import type { Budget, BudgetTerm, Given, Hardware, Layout } from '../engines/engine';
import { type Explanation, type Figure, figure } from '../figure';
import type { Model } from '../model/model';
import { type Estimate, exactly, formatBytes, isExact, withCommas } from '../units';
import type { GgmlConfiguration } from './configuration';
import { HOST } from './devices';
import { deviceBytes, devicesOf } from './layout';
import { type Term, type Terms, termsOf } from './memory';

const SOURCE = 'llama.cpp v0.5.0, src/llama-model.cpp, src/llama-context.cpp';

export function budgetOf(
  model: Model,
  c: GgmlConfiguration,
  _layout: Layout,
  hardware: Hardware,
  given: Given,
): Budget | undefined {
  const devices = devicesOf(c);
  if (devices.includes(HOST) || (c.weightsMoved && given.weights === undefined)) {
    return undefined;
  }
  const { spec, sizes, split, fit } = c;
  const keep = (device: number) =>
    fit?.movesLayers && c.experts && given.weights === undefined ? deviceBytes(c, device) + fit.margin : undefined;
  const terms = devices.map((device) =>
    termsOf({ model, spec, sizes, split, hardware, given, device, keep: keep(device) }),
  );
  if (!terms.every((t): t is Terms => t !== undefined)) {
    return undefined;
  }
  const slack = terms.map((t, i) => t.left.value - deviceBytes(c, devices[i]));
  const decidingRank = slack.indexOf(Math.min(...slack));
  const own = terms[decidingRank] as Terms;
  const nothing: Term = { estimate: exactly(0), why: 'captured within the compute buffer', symbols: '0', numbers: '0' };
  const memory = (symbols: string): Figure =>
    bytes(hardware.memory, () => ({
      symbols,
      numbers: formatBytes(hardware.memory.value),
      origins: [hardware.origin, { kind: 'driver', text: (hardware.gpu?.sources ?? []).join('; ') || hardware.name }],
    }));
  return {
    ranks: terms.map((t) => t.left),
    decidingRank,
    total: memory('memory of the card as the driver reports it'),
    limit: memory(`all of it: ${c.engine} has no share of its own`),
    weights: termFigure(own.weights),
    activations: termFigure(own.compute),
    graphs: termFigure(nothing),
    other: termFigure(own.other),
    kv: {
      why: `what is left; the caches take ${formatBytes(deviceBytes(c, devices[decidingRank]))} of it`,
      figure: bytes(own.left, () => ({
        symbols: 'memory − weights − compute buffer − other',
        numbers: `${[hardware.memory, own.weights.estimate, own.compute.estimate, own.other.estimate].map((e) => formatBytes(e.value)).join(' − ')} = ${withCommas(own.left.value)}`,
        origins: [{ kind: 'estimate', text: `between ${formatBytes(own.left.low)} and ${formatBytes(own.left.high)}` }],
        source: SOURCE,
      })),
    },
  };
}

const bytes = (e: Estimate, explain: () => Explanation): Figure =>
  figure(e.value, 'bytes', explain, { scope: 'per GPU', range: isExact(e) ? undefined : e });

const termFigure = ({ estimate, why, symbols, numbers }: Term): BudgetTerm => ({
  why,
  figure: bytes(estimate, () => ({
    symbols,
    numbers,
    origins: [{ kind: 'estimate', text: why }],
    source: SOURCE,
  })),
});
