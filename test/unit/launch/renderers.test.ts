/** Every form in which options can be written: what is written reads back, and so does every edit; no other byte changes. */
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { editOption } from '../../../src/launch/edit';
import { type Launch, optionOf } from '../../../src/launch/launch';
import { type Choice, choiceSets, choicesOf } from './choices';
import { apply } from './edits';
import type { Renderer } from './renderers/renderer';
import { loadedGrammars, read, readFully, runs } from './support';

const folder = fileURLToPath(new URL('renderers/', import.meta.url));
const names = readdirSync(folder).map((f) => f.replace(/\.ts$/, ''));
const files: readonly { renderers?: readonly Renderer[] }[] = await Promise.all(
  names.map((name) => import(`./renderers/${name}.ts`)),
);
const renderers = files.flatMap((f) => f.renderers ?? []);

function launchOf(r: Renderer, text: string): Launch {
  const grammars = loadedGrammars();
  const given = {
    ...(r.form ? { form: r.form } : {}),
    ...(r.files ? { files: r.files } : {}),
    ...(grammars ? { grammars } : {}),
  };
  const { launches } = read(text, r.name, given);
  expect(
    launches.map((l) => l.engine),
    text,
  ).toEqual([r.engine]);
  return launches[0] as Launch;
}

const written = (launch: Launch, all: readonly Choice[]) =>
  all.map(({ spec }) => {
    const option = optionOf(launch, spec.name);
    return [spec.name, option?.value ?? option?.error ?? option?.unresolved ?? null];
  });

const wanted = (all: readonly Choice[]) => all.map(({ spec, value }) => [spec.name, value]);

describe.each(renderers)('$what, $engine', (r) => {
  const sets = choiceSets(r.engine, r.holds);

  test('reads back', async () => {
    await readFully(
      r.render(fc.sample(sets, { numRuns: 1, seed: 1 })[0] ?? []),
      r.name,
      r.form ? { form: r.form } : {},
    );
    fc.assert(
      fc.property(sets, (set) => {
        const text = r.render(set);
        const launch = launchOf(r, text);
        expect(written(launch, set), text).toEqual(wanted(set));
        const extra = launch.options.filter((o) => o.spec && !set.some((c) => c.spec === o.spec)).map((o) => o.name);
        expect(
          extra.filter((name) => !/^(?:model|model-path|model-id|config|backend)$/.test(name)),
          text,
        ).toEqual([]);
      }),
      { numRuns: runs(30) },
    );
  });

  test('edits', async () => {
    const sample = r.render(fc.sample(sets, { numRuns: 1, seed: 1 })[0] ?? []);
    await readFully(sample, r.name, r.form ? { form: r.form } : {});
    const cases = sets.chain((set) => fc.tuple(fc.constant(set), fc.nat(set.length - 1)).chain(changed));
    fc.assert(
      fc.property(cases, ([before, change]) => {
        const text = r.render(before);
        const edits = editOption(launchOf(r, text), text, change.spec.name, change.text);
        const there = before.some((c) => c.spec === change.spec);
        if (edits.length === 0) {
          expect(there && change.spec.type !== 'flag' && !isOdd(change), `${text}\n${change.spec.name}`).toBe(false);
          expect(there || r.closed || isOdd(change), `${text}\n+ ${change.spec.name} ${change.text}`).toBe(true);
          return;
        }
        const after = [...before.filter((c) => c.spec !== change.spec), change];
        const edited = apply(text, edits);
        expect(written(launchOf(r, edited), after), `${text}\n→ ${edited}`).toEqual(wanted(after));
      }),
      { numRuns: runs(30) },
    );
  });
});

/** Values that need quotes or several words: a place may not be able to hold them, and then there is no edit. */
const isOdd = ({ spec }: Choice): boolean => spec.type === 'list' || spec.type === 'json';

/** Either one of the set with another value, or all others with that one added. */
function changed([set, at]: [readonly Choice[], number]): fc.Arbitrary<[readonly Choice[], Choice]> {
  const chosen = set[at] as Choice;
  return fc
    .tuple(
      // An edit writes one word.
      choicesOf(chosen.spec).filter((c) => c.spec.type !== 'list' || !c.text.includes(' ')),
      fc.boolean(),
    )
    .map(([other, add]) => [add && set.length > 1 ? set.filter((c) => c !== chosen) : set, other]);
}
