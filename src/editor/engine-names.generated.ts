// Written by scripts/make-from-engines.mjs: do not edit.
export const ENGINE_NAMES: readonly string[] = [
  'vllm',
  'LLMConfig',
  'sglang',
  'llama-server',
  'llama.cpp',
  'llama_cpp',
  'ollama',
  'trtllm',
  'tensorrt-llm',
  'tensorrt_llm',
  'tensorrtllm',
  'lmdeploy',
  'text-generation-',
  'tgi-inference',
];
