/** Random options of an engine with values that it takes, and what reading must give back. */
import fc from 'fast-check';
import { ENGINES } from '../../../src/core/engines';
import type { OptionSpec, OptionValue } from '../../../src/core/engines/option';
import { readOptionValue } from '../../../src/core/engines/option-read';

export interface Choice {
  readonly spec: OptionSpec;
  /** As the engine's command line takes it: `8192`, `true`, `{"a":1}`, `a b`. */
  readonly text: string;
  readonly value: OptionValue;
}

/** A name or a path as people write them. */
const names = fc.string({ unit: fc.constantFrom(...'abzAZ09._/-'), maxLength: 10 }).map((middle) => `m${middle}m`);

function texts(spec: OptionSpec): fc.Arbitrary<string> {
  switch (spec.type) {
    case 'int':
    case 'human-int':
      return fc.integer({ min: spec.min ?? 1, max: Math.min(spec.max ?? 4_000_000, 4_000_000) }).map(String);
    case 'float':
      return fc.integer({ min: 1, max: 99 }).map((n) => String(n / 100));
    case 'enum':
      return fc.constantFrom(...(spec.values ?? []));
    case 'flag':
      return fc.constantFrom('true', 'false');
    case 'json':
      return fc.integer({ min: 1, max: 99 }).map((n) => `{"a":${n}}`);
    case 'list':
      return fc.array(names, { minLength: 1, maxLength: 3 }).map((all) => all.join(' '));
    default:
      return names;
  }
}

/** Values that this option's own reading refuses are left out: some read more strictly than their type. */
export function choicesOf(spec: OptionSpec): fc.Arbitrary<Choice> {
  return texts(spec)
    .map((text) => ({ spec, text, reading: readOptionValue(spec, text) }))
    .filter(({ reading }) => 'value' in reading)
    .map(({ text, reading }) => ({ spec, text, value: (reading as { value: OptionValue }).value }));
}

const takesSome = (spec: OptionSpec): boolean =>
  fc.sample(texts(spec), { numRuns: 20, seed: 1 }).some((text) => 'value' in readOptionValue(spec, text));

/** Up to eight options of those the form can hold, each once. Names of the model are left to the form's own text. */
export function choiceSets(engineId: string, holds: (spec: OptionSpec) => boolean): fc.Arbitrary<readonly Choice[]> {
  const engine = ENGINES.find((e) => e.id === engineId);
  const fit = (engine?.options ?? []).filter(
    (s) => s.role !== 'model' && s.name !== engine?.start.modelOption && s.name !== engine?.start.configOption,
  );
  const specs = fit.filter((s) => holds(s) && takesSome(s));
  return fc
    .uniqueArray(fc.constantFrom(...specs), { minLength: 1, maxLength: 8 })
    .chain((some) => fc.tuple(...some.map(choicesOf)));
}
