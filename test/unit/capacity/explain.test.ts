/** Every number of a plan says how it came about and from where; what the file decides names its line. */
import { readdirSync, readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import type { Figure } from '../../../src/core/figure';
import type { Grammars } from '../../../src/launch/launch';
import { type Plan, planText } from '../../../src/planner';
import { bash } from '../launch/support';

let grammars: Grammars;
beforeAll(async () => {
  grammars = await bash();
});

const isFigure = (thing: unknown): thing is Figure =>
  typeof thing === 'object' && thing !== null && typeof (thing as Figure).explain === 'function';

/** All figures under a part of a plan, by their path. */
function figuresIn(thing: unknown, path: string): readonly (readonly [string, Figure])[] {
  if (isFigure(thing)) {
    return [[path, thing]];
  }
  return typeof thing === 'object' && thing !== null
    ? Object.entries(thing).flatMap(([key, value]) => figuresIn(value, `${path}.${key}`))
    : [];
}

const figuresOf = ({ kv, budget, capacity }: Plan) => [
  ...figuresIn(kv, 'kv'),
  ...figuresIn(budget, 'budget'),
  ...figuresIn(capacity, 'capacity'),
];

const samples = readdirSync('samples', { recursive: true, encoding: 'utf8' }).filter((f) => /\.(?:ya?ml|sh)$/.test(f));

test.each(samples)('%s', (name) => {
  const text = readFileSync(`samples/${name}`, 'utf8');
  for (const plan of planText({ text, name, grammars }, { flags: { gpu: 'H100-80GB' } }).plans) {
    const figures = figuresOf(plan);
    expect(figures.length).toBeGreaterThan(20);
    for (const [path, figure] of figures) {
      const { symbols, numbers, origins } = figure.explain();
      expect(symbols, path).toMatch(/\S/);
      expect(numbers, path).toMatch(/\S/);
      expect(`${symbols} ${numbers}`, path).not.toMatch(/NaN|undefined|Infinity|\[object/);
      expect(origins.length, path).toBeGreaterThan(0);
      expect(figure.unit !== 'bytes' || figure.scope !== undefined || path.startsWith('capacity'), path).toBe(true);
    }
  }
});

test('what the file decides names its line', () => {
  const name = 'vllm/llama-3.1-70b-8xh100.compose.yaml';
  const text = readFileSync(`samples/${name}`, 'utf8');
  const [plan] = planText({ text, name }, {}).plans;
  const lines = new Map(
    figuresOf(plan as Plan).map(([path, figure]) => [path, figure.explain().origins.flatMap((o) => o.line ?? [])]),
  );
  const line = (words: string) => text.slice(0, text.indexOf(words)).split('\n').length;
  expect(lines.get('kv.layout.bytesPerToken')).toEqual([line('--tensor-parallel-size')]);
  expect(lines.get('kv.layout.bytesPerBlock')).toEqual([line('--block-size')]);
  expect(lines.get('budget.limit')).toEqual([line('--gpu-memory-utilization')]);
  expect(lines.get('kv.atMaxLength.reserved')).toEqual([line('--max-model-len')]);
  expect(lines.get('capacity.contiguous.bytesPerRequest')).toEqual([line('--max-model-len')]);
  expect(lines.get('capacity.paged.requests')).toEqual([line('prompt=600'), line('output=250')]);
});
