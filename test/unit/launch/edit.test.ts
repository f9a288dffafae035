/** Edits: the new value reads back, and every other byte stays. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { editOption, type TextEdit } from '../../../src/launch/edit';
import { type Launch, type LaunchOption, optionOf } from '../../../src/launch/launch';
import { bash, read } from './support';

const folder = fileURLToPath(new URL('../../fixtures/launch/', import.meta.url));
const fixtures = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((f) => /\.(?:sh|ya?ml)$/.test(f));
const texts = new Map(fixtures.map((f) => [f, readFileSync(folder + f, 'utf8')]));

const apply = (text: string, edits: readonly TextEdit[]): string =>
  [...edits]
    .sort((a, b) => b.range.start - a.range.start)
    .reduce((t, e) => t.slice(0, e.range.start) + e.text + t.slice(e.range.end), text);

const value = (o: LaunchOption | undefined) =>
  o === undefined ? undefined : JSON.stringify([o.value, o.unresolved, o.error]);

/** The launch after the edit is the same one: nothing but this option differs. */
function expectOnly(before: Launch, after: Launch | undefined, name: string): void {
  const others = (l: Launch | undefined) =>
    l?.options.filter((o) => o.name !== name && !o.error && o.name !== 'max-num').map((o) => [o.name, value(o)]);
  expect(others(after)).toEqual(others(before));
}

const counts = fc.integer({ min: 1, max: 4_000_000 }).map(String);

test.each(fixtures)('%s: numbers at their place, or added', async (name) => {
  const text = texts.get(name) as string;
  const grammars = await bash();
  const launches = read(text, name, { grammars }).launches;
  fc.assert(
    fc.property(
      fc.nat(Math.max(0, launches.length - 1)),
      fc.constantFrom('max-model-len', 'max-num-seqs', 'block-size'),
      counts,
      (i, option, wanted) => {
        const launch = launches[i] as Launch;
        const edits = editOption(launch, text, option, wanted);
        const edited = apply(text, edits);
        const after = read(edited, name, { grammars }).launches[i];
        if (edits.length === 0) {
          // Only where the last one written has no value to replace.
          expect(optionOf(launch, option)?.error).toMatch(/expects a value|^$/);
          return;
        }
        expect(edits).toHaveLength(1);
        expect(after && optionOf(after, option)?.value, edited).toBe(Number(wanted));
        expectOnly(launch, after, option);
      },
    ),
    { numRuns: 60 },
  );
});

/** What a name or a path may hold; nothing a command line could not pass. */
const words = fc
  .string({ unit: fc.constantFrom(...'aZ09/._-+=@:, \'"\\$`#&{}[]()!*?<>|~^%;é模'), minLength: 1, maxLength: 12 })
  .filter((s) => s === s.trim() && !s.startsWith('-'));

// What follows an open quote is another text after every edit; a file without a text option has nothing to change.
const whole = fixtures.filter((f) => !/unclosed|broken|plain\.yml/.test(f));

test.each(whole)('%s: any text at the place of one that is there', async (name) => {
  const text = texts.get(name) as string;
  const grammars = await bash();
  const launches = read(text, name, { grammars }).launches;
  const targets = launches.flatMap((l, i) => ((optionOf(l, 'kv-cache-dtype') ?? optionOf(l, 'model')) ? [i] : []));
  fc.assert(
    fc.property(
      fc.constantFrom(...targets),
      fc.constantFrom('kv-cache-dtype', 'model', 'tokenizer'),
      words,
      (i, option, some) => {
        const launch = launches[i] as Launch;
        // A lone bracket is no model's name.
        const wanted = option === 'model' ? `m${some}m` : some;
        const edits = editOption(launch, text, option, wanted);
        if (edits.length === 0) {
          return;
        }
        const after = read(apply(text, edits), name, { grammars }).launches[i];
        const found = after && optionOf(after, option);
        const readBack = found?.error?.includes(`"${wanted}"`) ? wanted : (found?.value ?? found?.unresolved);
        expect(readBack, apply(text, edits)).toBe(wanted);
        expectOnly(launch, after, option);
      },
    ),
    { numRuns: 80 },
  );
});

test.each([
  ['vllm serve m --enable-prefix-caching', 'false', 'vllm serve m --no-enable-prefix-caching'],
  ['vllm serve m --no-enable-prefix-caching', 'true', 'vllm serve m --enable-prefix-caching'],
  ['vllm serve m --enable_prefix_caching', 'false', 'vllm serve m --no-enable_prefix_caching'],
])('a flag is turned: %s', async (text, wanted, expected) => {
  const { launches } = read(text, 'x.sh', { grammars: await bash() });
  expect(apply(text, editOption(launches[0] as Launch, text, 'enable-prefix-caching', wanted))).toBe(expected);
});
