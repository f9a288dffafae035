/** In every form that is read: what is tried on any launch, and can be written, reads back as what was tried. */
import { expect, test } from 'vitest';
import type { ReadInput } from '../../../src/launch/launch';
import { type Plan, planText } from '../../../src/planner';
import { tryOut } from '../../../src/what-if';
import { type Knob, knobsOf } from '../../../src/what-if/knobs';
import { apply } from '../findings/support';
import { FIXTURES } from '../launch/fixtures';
import { loadedGrammars, readFully } from '../launch/support';

const VALUES: Readonly<Record<string, readonly string[]>> = {
  gpu: ['H200', 'L40S'],
  'kv-dtype': ['4', '8'],
  'memory-share': ['0.77', '0.66'],
};

const otherThan = ({ key, value, choices }: Knob): string =>
  (choices ?? VALUES[key] ?? ['4', '128', '256']).find((v) => v !== value && v !== 'auto') ?? '';

/** What a plan says of itself, without the places that moved. */
const gist = ({ kv, capacity, starts, placement, hardware, workload, engine }: Plan) => ({
  engine: engine.id,
  starts,
  placement,
  gpu: [hardware?.name, hardware?.count],
  workload,
  dtype: kv?.layout.dtype.value,
  blockSize: kv?.layout.blockSize,
  blocks: kv?.pool?.blocks.value,
  fits: capacity?.fits.value,
  maxLength: capacity?.maxLength,
});

const FORMS = [...new Set(FIXTURES.map(({ name }) => name.split('/')[0] as string))];

test.each(FORMS)('%s', async (form) => {
  for (const { name, text, given } of FIXTURES.filter((f) => f.name.startsWith(`${form}/`)).slice(0, 2)) {
    await readFully(text, name, given);
    const grammars = loadedGrammars();
    const input: ReadInput = {
      name,
      text,
      files: { read: (path) => given.files?.[path] ?? null },
      ...(grammars && { grammars }),
    };
    const { plans } = planText(input, {});
    plans.slice(0, 2).forEach((plan, at) => {
      for (const knob of knobsOf(plan)) {
        const tried = tryOut(input, {}, at, plan, { [knob.key]: otherThan(knob) });
        const what = `${name} ${at} ${knob.key} ${otherThan(knob)}`;
        expect(tried.refused, what).toEqual([]);
        if (tried.edits.length > 0) {
          const after = planText({ ...input, text: apply(text, tried.edits) }, {}).plans;
          expect(after.length, what).toBe(plans.length);
          expect(gist(after[at] as Plan), what).toEqual(gist(tried.plan));
        }
      }
    });
  }
});
