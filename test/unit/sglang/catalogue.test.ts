/** Models of the catalogue (every fourth name), spread and stored in several ways: what is said of it adds up. */
import { expect, test } from 'vitest';
import { modelIds } from '../../../src/core/model/catalogue';
import { type Plan, planText } from '../../../src/planner';

const WAYS = [
  '',
  '--tp 8 --dp 8 --enable-dp-attention',
  '--pp-size 3 --kv-cache-dtype mxfp8 --page-size 64',
  '--disable-radix-cache --max-running-requests 32 --speculative-algorithm NEXTN --max-total-tokens 100k',
];

function planOf(model: string, way: string): Plan {
  const text = `services:\n  s:\n    image: lmsysorg/sglang\n    command: python3 -m sglang.launch_server --model ${model} ${way}\n`;
  return planText({ text, name: 'compose.yaml' }, { flags: { gpu: 'B200', gpus: '8' } }).plans[0] as Plan;
}

/** What is wrong with the numbers of a plan. */
function wrong({ kv, budget, findings, placement }: Plan): readonly string[] {
  const said = findings.map((f) => f.message);
  const found: string[] = [];
  if (kv) {
    const { layout, pool } = kv;
    for (const tokens of [1, 100, 5000, 100_000]) {
      const hold = layout.hold(tokens);
      const parts = hold.payload + hold.tail + hold.padding + hold.reservation;
      if (Math.abs(hold.reserved - parts) > 1 || Math.abs(layout.payload(tokens) - hold.payload) > 1) {
        found.push(`hold of ${tokens}`);
      }
    }
    const figures = [layout.bytesPerToken, layout.bytesPerTokenTotal, layout.fixedBytes, layout.bytesPerBlock];
    const pooled = pool ? [pool.bytes, pool.blocks, ...(pool.maxSequences ? [pool.maxSequences] : [])] : [];
    for (const { value, range, explain } of [...figures, ...pooled]) {
      said.push(explain().symbols, explain().numbers);
      if (!Number.isFinite(value) || (range && !(range.low <= value && value <= range.high))) {
        found.push(`a figure of ${value}`);
      }
    }
    said.push(...(pool?.logged?.lines ?? []));
  }
  if (budget && placement?.pipeline === 1) {
    const used = [budget.weights, budget.activations, budget.graphs, budget.other, budget.kv];
    const left = used.reduce((rest, term) => rest - term.figure.value, budget.limit.value);
    found.push(...(Math.abs(left) > 2 ? ['budget'] : []));
  }
  return [...found, ...said.filter((text) => /NaN|undefined|Infinity/.test(text))];
}

test.each(WAYS)('adds up: %s', (way) => {
  const plans = modelIds()
    .filter((_, i) => i % 4 === 0)
    .map((id) => ({ id, plan: planOf(id, way) }));
  expect(plans.map(({ id, plan }) => [id, wrong(plan)]).filter(([, w]) => w?.length)).toEqual([]);
  const planned = plans.filter(({ plan }) => plan.planned).length;
  expect(planned / plans.length).toBeGreaterThan(0.8);
  // What is not planned says nothing about what the engine does, or is refused in its words.
  for (const { plan } of plans.filter(({ plan }) => !plan.planned)) {
    expect(plan.findings.some((f) => f.severity === 'error')).toBe(true);
  }
});
