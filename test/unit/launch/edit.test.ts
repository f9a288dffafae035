/** Edits: the new value reads back, and every other byte stays. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ENGINES } from '../../../src/core/engines';
import type { OptionSpec } from '../../../src/core/engines/option';
import { readOptionValue } from '../../../src/core/engines/option-read';
import { editOption } from '../../../src/launch/edit';
import { type Launch, type LaunchOption, optionOf } from '../../../src/launch/launch';
import { apply } from './edits';
import { FIXTURES } from './fixtures';
import { bash, loadedGrammars, read, readFully } from './support';

const value = (o: LaunchOption | undefined) =>
  o === undefined ? undefined : JSON.stringify([o.value, o.unresolved, o.error]);

/** The launch after the edit is the same one: nothing but this option differs. */
function expectOnly(before: Launch, after: Launch | undefined, name: string): void {
  const others = (l: Launch | undefined) =>
    l?.options.filter((o) => o.name !== name && !o.error && o.name !== 'max-num').map((o) => [o.name, value(o)]);
  expect(others(after)).toEqual(others(before));
}

const counts = fc.integer({ min: 1, max: 4_000_000 }).map(String);

/** Options of the launch's engine that count something. */
const counting = (launch: Launch): readonly OptionSpec[] =>
  (ENGINES.find((e) => e.id === launch.engine)?.options ?? []).filter(
    (o) => (o.type === 'int' || o.type === 'human-int') && o.max === undefined && o.role !== undefined,
  );

const here = (o: LaunchOption | undefined): boolean => o !== undefined && o.from === undefined;

const withLaunches = FIXTURES.filter((f) => !/nothing/.test(f.name));

test.each(withLaunches)('$name: numbers at their place, or added', async ({ name, text, given }) => {
  const { launches } = await readFully(text, name, given);
  const grammars = loadedGrammars();
  const all = { ...given, ...(grammars ? { grammars } : {}) };
  const targets = launches.flatMap((launch, i) => counting(launch).map((spec) => [i, spec] as const));
  fc.assert(
    fc.property(fc.constantFrom(...targets), counts, ([i, spec], wanted) => {
      const launch = launches[i] as Launch;
      const option = optionOf(launch, spec.name);
      const edits = editOption(launch, text, spec.name, wanted);
      const edited = apply(text, edits);
      const after = read(edited, name, all).launches[i];
      if (edits.length === 0) {
        // Nothing to write on: no place for another option, or one that stands in another file, is one of several words
        // that a reference stands for, or has no value.
        const isWhole = option?.layers?.every((l) => l.kind !== 'pieces');
        const isHere = here(option) && option?.valueRange !== undefined && option.origin !== 'env';
        expect(isHere && isWhole, spec.name).toBe(false);
        const { names, only } = launch.insertion ?? {};
        const named = only?.test(names?.[spec.name] ?? spec.name) !== false && !spec.name.includes('.');
        expect(option !== undefined || !launch.insertion || !named, spec.name).toBe(true);
        return;
      }
      expect(edits).toHaveLength(1);
      const found = after && optionOf(after, spec.name);
      // What stands in one branch only stays so.
      const is = found?.unresolved === undefined ? (found?.value ?? found?.error) : found.raw;
      expect(is, `${spec.name}\n${edited}`).toEqual(found?.unresolved === undefined ? readBack(spec, wanted) : wanted);
      expectOnly(launch, after, spec.name);
    }),
    { numRuns: 60 },
  );
});

function readBack(spec: OptionSpec, text: string): unknown {
  const reading = readOptionValue(spec, text);
  return 'value' in reading ? reading.value : reading.error;
}

/** What a name or a path may hold; nothing a command line could not pass, and nothing that is filled in later. */
const words = fc
  .string({ unit: fc.constantFrom(...'aZ09/._-+=@:, \'"\\$`#&{}[]()!*?<>|~^%;é模'), minLength: 1, maxLength: 12 })
  .filter((s) => s === s.trim() && !s.startsWith('-') && !/\$\{[a-zA-Z_]|^__/.test(s));

// What follows an open quote is another text after every edit; a file without a text option has nothing to change.
// Nor can a program that only its model's ending tells get another model.
const whole = FIXTURES.filter((f) => !/unclosed|broken|plain\.yml|nothing|none|old-server/.test(f.name));

const textual = (launch: Launch): readonly string[] =>
  (ENGINES.find((e) => e.id === launch.engine)?.options ?? [])
    .filter((o) => o.role === 'kv-dtype' || o.name === 'model' || o.name === 'tokenizer')
    .map((o) => o.name);

test.each(whole)('$name: any text at the place of one that is there', async ({ name, text, given }) => {
  const { launches } = await readFully(text, name, given);
  const loaded = loadedGrammars();
  const all = { ...given, ...(loaded ? { grammars: loaded } : {}) };
  const targets = launches.flatMap((l, i) => textual(l).map((option) => [i, option] as const));
  if (targets.length === 0) {
    return;
  }
  fc.assert(
    fc.property(fc.constantFrom(...targets), words, ([i, option], some) => {
      const launch = launches[i] as Launch;
      // A lone bracket is no model's name.
      const wanted = option === 'model' ? `m${some}m` : some;
      const edits = editOption(launch, text, option, wanted);
      if (edits.length === 0) {
        return;
      }
      const after = read(apply(text, edits), name, all).launches[i];
      const found = after && optionOf(after, option);
      if (found?.unresolved !== undefined && found.unresolved === optionOf(launch, option)?.unresolved) {
        // Written in one branch only, and still so.
        return;
      }
      const spec = found?.spec as OptionSpec;
      expect(found?.value ?? found?.error ?? found?.unresolved, apply(text, edits)).toBe(readBack(spec, wanted));
      expectOnly(launch, after, option);
    }),
    { numRuns: 80 },
  );
});

test('the first of a container’s words is no variable', async () => {
  const text =
    'V1Container(image="vllm/vllm-openai:v0.10.2", command=["vllm", "serve"], args=["m=am", "--port", "80"])\n';
  expect((await readFully(text, 'x.py')).launches[0]?.model?.text).toBe('m=am');
});

test.each(['m$_{}m', 'm$_{x}m', 'm$$_{m', 'm%%{m'])('TOML has no templates: %s stays as it is', async (without) => {
  const wanted = without.replace('_', '');
  const text =
    '[cerebrium.deployment]\nname = "a"\n[cerebrium.runtime.custom]\nentrypoint = "vllm serve m --port 80"\n';
  const name = 'cerebrium.toml';
  const { launches } = await readFully(text, name);
  const after = apply(text, editOption(launches[0] as Launch, text, 'model', wanted));
  expect((await readFully(after, name)).launches[0]?.model?.text).toBe(wanted);
});

test.each([
  ['q8_0', 'llm = Llama(model_path="m.gguf", type_k=8)'],
  ['q5_1', 'llm = Llama(model_path="m.gguf", type_k=7)'],
  ['fp8', undefined],
  ['0', undefined],
])('a binding that takes numbers for cache types gets one: %s', async (wanted, expected) => {
  const text = 'from llama_cpp import Llama\nllm = Llama(model_path="m.gguf", type_k=1)\n';
  const { launches } = await readFully(text, 'x.py');
  const edits = editOption(launches[0] as Launch, text, 'cache-type-k', wanted);
  expect(edits.length > 0 ? apply(text, edits).split('\n')[1] : undefined).toBe(expected);
});

test.each([
  ['cache-type-k', 'q8_0', 'python -m llama_cpp.server --model m.gguf --n_ctx 2048 --type_k 8'],
  ['ctx-size', '4096', 'python -m llama_cpp.server --model m.gguf --n_ctx 4096 --type_k 1'],
  ['ubatch-size', '256', 'python -m llama_cpp.server --model m.gguf --n_ctx 2048 --type_k 1 --n_ubatch 256'],
  ['parallel', '2', undefined],
  ['flash-attn', 'on', undefined],
])('a binding’s server is told by the binding’s names: %s %s', async (name, wanted, expected) => {
  const text = 'python -m llama_cpp.server --model m.gguf --n_ctx 2048 --type_k 1';
  const { launches } = read(text, 'x.sh', { grammars: await bash() });
  const edits = editOption(launches[0] as Launch, text, name, wanted);
  expect(edits.length > 0 ? apply(text, edits) : undefined).toBe(expected);
});

test.each([
  ['vllm serve m --enable-prefix-caching', 'false', 'vllm serve m --no-enable-prefix-caching'],
  ['vllm serve m --no-enable-prefix-caching', 'true', 'vllm serve m --enable-prefix-caching'],
  ['vllm serve m --enable_prefix_caching', 'false', 'vllm serve m --no-enable_prefix_caching'],
])('a flag is turned: %s', async (text, wanted, expected) => {
  const { launches } = read(text, 'x.sh', { grammars: await bash() });
  expect(apply(text, editOption(launches[0] as Launch, text, 'enable-prefix-caching', wanted))).toBe(expected);
});
