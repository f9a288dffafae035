/** What platforms call the engines. */
import { isOptionKey } from '../assemble';
import type { LaunchEngine } from '../engines';
import type { Reading } from '../reading';
import type { Mapped } from '../text/mapped';

/** KServe's own Hugging Face server runs vLLM. */
const NAMES: readonly (readonly [RegExp, string])[] = [
  [/sglang/i, 'sglang'],
  [/vllm|huggingface/i, 'vllm'],
  [/tensorrt-?llm|trt-?llm/i, 'tensorrt-llm'],
  [/\btgi\b|text-generation-inference/i, 'tgi'],
  [/llama[-_.]?cpp/i, 'llama-cpp'],
  [/lmdeploy/i, 'lmdeploy'],
  [/ollama/i, 'ollama'],
];

export function namedEngine(reading: Reading, text: string): LaunchEngine | undefined {
  const id = NAMES.find(([name]) => name.test(text))?.[1];
  return reading.engines.find((e) => e.id === id);
}

/** The engine whose flags these are, for an image that only a template names: most of them known, one about the cache. */
export function engineOfFlags(reading: Reading, words: readonly Mapped[]): LaunchEngine | undefined {
  const flags = words.flatMap((w) => /^--([a-z][\w-]+)/.exec(w.text)?.[1] ?? []);
  const scores = reading.engines
    .map((engine) => ({ engine, known: flags.filter((f) => isOptionKey(engine, f)).length }))
    .filter(({ engine, known }) => known >= 0.6 * flags.length && flags.some((f) => tells(engine, f)))
    .sort((a, b) => b.known - a.known);
  return scores[0]?.engine;
}

const tells = (engine: LaunchEngine, flag: string): boolean => {
  const spec = engine.options.find((o) => o.name.replaceAll('_', '-') === flag.replaceAll('_', '-'));
  return spec?.effect !== undefined && flag.split(/[-_]/).length >= 3;
};
