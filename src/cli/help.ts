/** What `--help` says behind the options. */

export const EXITS = `
Exit status:
  0  every launch was planned
  1  some launch could not be planned or simulated, or a file could not be read or holds no launch
  2  wrong usage
  3  every launch was planned, but a requirement is not met, or no change reaches the target
When several apply, 2 comes before 1, and 1 before 3.
`;

export const EXAMPLES = `
Examples:
  kv-planner report compose.yaml
  kv-planner report serve.sh --gpu H100-80GB --gpus 8 --format markdown
  kv-planner report compose.yaml --require-start --require-concurrency 64
  echo 'vllm serve Qwen/Qwen3-8B -tp 2' | kv-planner report - --gpu L4
`;

export const SOLVE_EXAMPLES = `
Examples:
  kv-planner solve compose.yaml --concurrency 64
  kv-planner solve serve.sh --concurrency 8 --length 32768 --gpu H100-80GB --gpus 4 --format json

Changes are tried in the text of the file, which stays as it is. Smallest first: limits, share of the card or KV bytes,
size of a step, block size, longest request, KV dtype, GPUs.
`;

export const COMPARE_EXAMPLES = `
Examples:
  kv-planner compare compose.yaml --engines vllm,sglang,tensorrt-llm
  kv-planner compare serve.sh --engines vllm@0.21,vllm@0.28 --gpu H100-80GB --format json

The launch's options are translated by what they decide (longest request, GPUs, number formats, limits, whether prefixes
are cached; a memory share where both engines mean the same by it); what has no counterpart is listed. The rest are each
engine's defaults.
`;

export const SIMULATE_EXAMPLES = `
Examples:
  kv-planner simulate compose.yaml
  kv-planner simulate compose.yaml --requests 5000 --rate 20 --prompt 2000 --output 300
  kv-planner simulate compose.yaml --turns 6 --think 45 --system 1500 --rate 2
  kv-planner simulate serve.sh --trace conversation_trace.jsonl.gz --gpu H100-80GB --format json

A trace is JSON lines of Mooncake, CSV of Azure or BurstGPT, ShareGPT conversations or a result of vLLM's benchmark,
compressed by gzip or not. One replica is simulated. Times are estimated from the bandwidth and speed of the GPU.
`;
