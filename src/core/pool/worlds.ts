import { type Contiguous, type ContiguousOptions, createContiguous } from './contiguous';
import { createLlamaSlots, type LlamaSlots, type LlamaSlotsOptions } from './llama-slots';
import type { Scheduler } from './scheduler';
import { createSglang, type Sglang, type SglangOptions } from './sglang';
import { type Traffic, withoutForks } from './traffic';
import { createTrtllm, type Trtllm, type TrtllmOptions } from './trtllm';
import { createVllmV0, type VllmV0, type VllmV0Options } from './vllm-v0';
import { createVllmV1, type VllmV1, type VllmV1Options } from './vllm-v1';

/** Which engine's rules, and its settings. */
export type WorldOptions =
  | ({ readonly engine: 'vllm-v1' } & VllmV1Options)
  | ({ readonly engine: 'vllm-v0' } & VllmV0Options)
  | ({ readonly engine: 'sglang' } & SglangOptions)
  | ({ readonly engine: 'tensorrt-llm' } & TrtllmOptions)
  | ({ readonly engine: 'contiguous' } & ContiguousOptions)
  | ({ readonly engine: 'llama.cpp' } & LlamaSlotsOptions);

/** A scheduler with its memory, ready to be run and drawn. */
export type World =
  | { readonly engine: 'vllm-v1'; readonly scheduler: VllmV1; readonly cellTokens: number }
  | { readonly engine: 'vllm-v0'; readonly scheduler: VllmV0; readonly cellTokens: number }
  | { readonly engine: 'sglang'; readonly scheduler: Sglang; readonly cellTokens: number; readonly pages: number }
  | { readonly engine: 'tensorrt-llm'; readonly scheduler: Trtllm; readonly cellTokens: number }
  | { readonly engine: 'contiguous'; readonly scheduler: Contiguous; readonly cellTokens: number }
  | {
      readonly engine: 'llama.cpp';
      readonly scheduler: LlamaSlots;
      readonly cellTokens: number;
      readonly cells: number;
    };

/**
 * Traffic meets an engine's rules. Engines that do not fork serve n samples as n requests: the scheduler's own traffic
 * (`scheduler.requests.traffic`) then has more of them. `cellTokens`: how many tokens one drawn cell stands for where the memory has no blocks of
 * its own.
 */
export function createWorld(traffic: Traffic, options: WorldOptions, cellTokens = 16): World {
  const single = options.engine === 'vllm-v0' ? traffic : withoutForks(traffic);
  switch (options.engine) {
    case 'vllm-v1': {
      const size = options.groups[0]?.blockSize ?? 16;
      return { engine: options.engine, scheduler: createVllmV1(single, options), cellTokens: size };
    }
    case 'vllm-v0':
      return { engine: options.engine, scheduler: createVllmV0(traffic, options), cellTokens: options.blockSize };
    case 'sglang': {
      const size = options.pageSize ?? 1;
      const pages = Math.floor(options.tokens / size);
      return { engine: options.engine, scheduler: createSglang(single, options), cellTokens: size, pages };
    }
    case 'tensorrt-llm':
      return { engine: options.engine, scheduler: createTrtllm(single, options), cellTokens: options.blockSize };
    case 'contiguous':
      return { engine: options.engine, scheduler: createContiguous(single, options), cellTokens };
    case 'llama.cpp': {
      const cells = options.cells * (options.unified ? 1 : options.slots);
      return { engine: options.engine, scheduler: createLlamaSlots(single, options), cellTokens, cells };
    }
  }
}

export const schedulerOf = (world: World): Scheduler => world.scheduler;
