/** What holds of every plan, whatever the model, the layout and the budget. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Waste } from '../../../src/core/capacity/capacity';
import type { Plan } from '../../../src/planner';
import { expectLongest } from './longest';
import { planned, type Sample, samples } from './random';

const runs = { numRuns: 200 };

test('longest context of 200 random models, layouts and budgets', () => {
  let counted = 0;
  fc.assert(
    fc.property(samples, (sample) => {
      const plan = planned(sample);
      if (plan) {
        counted += 1;
        expectLongest(plan, (length) => planned(sample, { length }));
      }
    }),
    { numRuns: 700 },
  );
  expect(counted).toBeGreaterThanOrEqual(200);
});

const adds = ({ pool, ...parts }: Waste): void => {
  for (const part of Object.values(parts)) {
    expect(part).toBeGreaterThanOrEqual(0);
  }
  expect(parts.payload + parts.tail + parts.padding + parts.reservation + parts.fragmentation).toBe(pool);
};

test('payload and the kinds of waste add up to what is reserved and to the pool, to the byte', () => {
  fc.assert(
    fc.property(
      samples,
      fc.integer({ min: 1, max: 20000 }),
      fc.integer({ min: 1, max: 2000 }),
      (sample, prompt, output) => {
        const plan = planned(sample, { prompt, output });
        if (!plan?.capacity || !plan.kv) {
          return;
        }
        adds(plan.capacity.contiguous.waste);
        adds(plan.capacity.paged.waste);
        expect(plan.capacity.paged.waste.pool).toBe(plan.kv.pool?.bytes.value);
        for (const tokens of [1, prompt, prompt + output]) {
          const hold = plan.kv.layout.hold(tokens);
          expect(hold.payload + hold.tail + hold.padding + hold.reservation).toBe(hold.reserved);
          expect(hold.payload).toBe(plan.kv.layout.payload(tokens));
          expect(Math.min(hold.payload, hold.tail, hold.padding, hold.reservation)).toBeGreaterThanOrEqual(0);
        }
      },
    ),
    runs,
  );
});

const requests = (plan: Plan | undefined): number => plan?.capacity?.paged.requests.value ?? -1;

test('monotone: longer requests never fit more often, more memory never fits fewer, nor a shorter longest one', () => {
  fc.assert(
    fc.property(
      samples,
      fc.integer({ min: 1, max: 8000 }),
      fc.integer({ min: 0, max: 4000 }),
      fc.integer({ min: 0, max: 2 ** 33 }),
      (sample, prompt, longer, extra) => {
        const plan = planned(sample, { prompt });
        if (!plan) {
          return;
        }
        expect(requests(planned(sample, { prompt: prompt + longer }))).toBeLessThanOrEqual(requests(plan));
        const more = planned(sample, { prompt, kv: sample.kv + extra });
        expect(requests(more)).toBeGreaterThanOrEqual(requests(plan));
        expect(more?.capacity?.contiguous.requests.value).toBeGreaterThanOrEqual(
          plan.capacity?.contiguous.requests.value ?? 0,
        );
        expect(more?.capacity?.longestContext?.value).toBeGreaterThanOrEqual(plan.capacity?.longestContext?.value ?? 0);
        const { requestsAtMaxLength } = plan.capacity?.paged ?? {};
        expect(more?.capacity?.paged.requestsAtMaxLength.value).toBeGreaterThanOrEqual(requestsAtMaxLength?.value ?? 0);
      },
    ),
    runs,
  );
});

test('memory for exactly n requests holds n, and a block less holds n − 1', () => {
  fc.assert(
    fc.property(samples, fc.integer({ min: 1, max: 300 }), (sample, n) => {
      const plan = planned(sample);
      if (!plan?.kv?.pool || !plan.capacity) {
        return;
      }
      const { layout } = plan.kv;
      const perBlock = Math.max(...layout.ranks.map((r) => r.bytesPerBlock));
      // And V1's null block.
      const blocks = n * plan.capacity.paged.blocksPerRequest.value + 1;
      expect(requests(planned(sample, { kv: blocks * perBlock }))).toBe(n);
      expect(requests(planned(sample, { kv: blocks * perBlock - 1 }))).toBe(n - 1);
    }),
    runs,
  );
});

test('the same concurrency whether a GPU is counted or all of them together', () => {
  fc.assert(
    fc.property(samples, (sample) => {
      const plan = planned(sample);
      if (!plan?.kv?.pool || !plan.capacity || !plan.placement) {
        return;
      }
      const { tensor } = plan.placement;
      const { layout, pool } = plan.kv;
      const pooled = Math.min(
        ...layout.ranks.map((r, i) =>
          Math.floor((tensor * (pool.ranks[i]?.kvBytes ?? 0)) / (tensor * r.bytesPerBlock)),
        ),
      );
      expect(pooled).toBe(pool.blocks.value);
      const spare = pool.blocks.value - pool.usableBlocks;
      expect(Math.floor((pooled - spare) / plan.capacity.paged.blocksPerRequest.value)).toBe(requests(plan));
    }),
    runs,
  );
});

const plain = (kvHeads: number, layers: number, headDim: number): Sample => ({
  config: {
    architectures: ['LlamaForCausalLM'],
    model_type: 'llama',
    hidden_size: 64 * headDim,
    intermediate_size: 14336,
    num_attention_heads: 64,
    num_hidden_layers: layers,
    num_key_value_heads: kvHeads,
    head_dim: headDim,
    vocab_size: 128256,
    max_position_embeddings: 1 << 20,
    torch_dtype: 'bfloat16',
  },
  args: [],
  version: '0.28.0',
  kv: 2 ** 34,
});

test('replicated heads cost what one head costs, and divided ones add up to the whole', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(1, 2, 4, 8, 16, 64),
      fc.constantFrom(1, 2, 4, 8, 16, 32, 64),
      fc.integer({ min: 1, max: 100 }),
      fc.constantFrom(64, 128, 256),
      (kvHeads, tensor, layers, headDim) => {
        const sample = plain(kvHeads, layers, headDim);
        const layout = planned(sample, { args: [`--tensor-parallel-size=${tensor}`] })?.kv?.layout;
        const oneHead = layers * 4 * headDim;
        expect(layout?.bytesPerTokenTotal.value).toBe(kvHeads * oneHead);
        expect(layout?.bytesPerToken.value).toBe(Math.max(1, kvHeads / tensor) * oneHead);
        expect((layout?.bytesPerToken.value ?? 0) * tensor).toBeGreaterThanOrEqual(kvHeads * oneHead);
      },
    ),
    { numRuns: 100 },
  );
});
