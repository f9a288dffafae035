/** The part of the core that behaves: block pools, prefix caches and schedulers of engines, and the traffic they serve. */

export * from './arena';
export * from './block-pool';
export * from './clock';
export * from './content';
export * from './contiguous';
export * from './generate';
export * from './kv-cache';
export * from './llama-slots';
export * from './lookup';
export * from './misses';
export * from './prefix';
export * from './radix';
export * from './random';
export * from './reuse-tree';
export * from './scheduler';
export * from './sequences';
export * from './sglang';
export * from './simulation';
export * from './store';
export * from './trace-rows';
export * from './traces';
export * from './traffic';
export * from './trtllm';
export * from './vllm-v0';
export * from './vllm-v1';
