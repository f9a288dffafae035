/** Every engine, in the order they are offered. Adding one is its folder and a line here. */
import type { Engine } from './engine';
import { llamaCpp } from './llama-cpp';
import { lmdeploy } from './lmdeploy';
import { ollama } from './ollama';
import { sglang } from './sglang';
import { tensorrtLlm } from './tensorrt-llm';
import { tgi } from './tgi';
import { vllm } from './vllm';

// biome-ignore lint/suspicious/noExplicitAny: each engine's configuration is its own; the planner only hands it back.
export const ENGINES: readonly Engine<any>[] = [vllm, sglang, llamaCpp, ollama, tensorrtLlm, lmdeploy, tgi];

export const engineOf = (id: string) => ENGINES.find((engine) => engine.id === id);

/** An engine as people write it: `llama.cpp`, `TensorRT-LLM`, `trtllm`. */
export function engineNamed(text: string) {
  const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  const wanted = plain(text).replace(/^trtllm$/, 'tensorrtllm');
  return ENGINES.find(({ id, title }) => wanted !== '' && [id, title].some((name) => plain(name) === wanted));
}

export const engineTitles = (): readonly { readonly id: string; readonly title: string }[] =>
  ENGINES.map(({ id, title }) => ({ id, title }));
