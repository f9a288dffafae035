/**
 * What a release of Ollama changes. Up to 0.6 it ran llama.cpp's code; then, up to 0.24, an engine of its own for a list
 * of architectures and llama.cpp's code for the rest; from 0.30 on a llama-server of a pinned build.
 * Source: ollama/ollama envconfig/config.go at every tag, LLAMA_CPP_VERSION.
 */
import { type GgmlRules, ggmlRules } from '../../ggml/rules';
import type { Model } from '../../model/model';
import { type Change, rulesAt } from '../version-rules';

export interface OllamaRules {
  readonly server: 'own' | 'llama-server';
  /** Build of the code of llama.cpp that it holds. */
  readonly build: string;
  /** Tokens when nothing says; `memory` = by the memory of all GPUs. */
  readonly context: number | 'memory';
  /** Requests at once when nothing says: so many if all fits, else one. */
  readonly parallel: number;
  /** Has an engine of its own for some architectures. */
  readonly ownEngine: boolean;
}

const FIRST: OllamaRules = { server: 'own', build: 'b3000', context: 2048, parallel: 1, ownEngine: false };

const CHANGES: readonly Change<OllamaRules>[] = [
  ['0.2', { parallel: 4 }, 'four requests at once, if all fits'],
  ['0.5', { build: 'b4400' }, 'about, by date'],
  ['0.6', { ownEngine: true, build: 'b4800' }, 'March 2025'],
  ['0.6.7', { context: 4096, parallel: 2, build: 'b5200' }, 'May 2025'],
  ['0.9', { build: 'b5500' }, 'about, by date'],
  ['0.10', { parallel: 1, build: 'b5900' }, 'August 2025'],
  ['0.12', { build: 'b6500' }, 'about, by date'],
  ['0.14', { build: 'b7400' }, 'ec98e2002, the last one before llama-server'],
  ['0.15.5', { context: 'memory' }, 'default context by memory'],
  ['0.30', { server: 'llama-server', ownEngine: false, build: 'b9452' }, '2026-06-01'],
  ['0.31', { build: 'b9840' }, 'LLAMA_CPP_VERSION'],
  ['0.32', { build: 'b9888' }, 'LLAMA_CPP_VERSION'],
  ['0.32.15', { build: 'b10488' }, 'LLAMA_CPP_VERSION'],
];

export const OLLAMA_VERSIONS: readonly string[] = ['0.1', '0.5', '0.9', '0.12', '0.24', '0.30', '0.33'];

export const ollamaRules = (version: string): OllamaRules => rulesAt(FIRST, CHANGES, version);

/** Architectures of Ollama's own engine, in a file's words and in a checkpoint's. Source: ollama/ollama model/models, v0.24.0. */
const OWN_FILES =
  /^(deepseek2|deepseekocr|gemma3n?|gemma4|gpt-?oss|laguna|llama4|mistral3|mllama|nemotron_h|olmo3|qwen25vl|qwen3|qwen3moe|qwen35|qwen35moe|qwen3next|qwen3vl|qwen3vlmoe|glm4moelite|lfm2|lfm2moe)$/;
const OWN_CLASSES =
  /^(DeepseekV[23]|Gemma3|Gemma4|GptOss|Llama4|Mistral3|Mllama|NemotronH|Olmo3|Qwen2_5_VL|Qwen3|Lfm2)/;

export const runsOwnEngine = (rules: OllamaRules, { architecture, gguf }: Model): boolean =>
  rules.ownEngine && (gguf ? OWN_FILES : OWN_CLASSES).test(architecture);

/** Rules of sizes: those of its own engine are one shared array of cells. Source: ollama/ollama kvcache/causal.go, v0.24.0. */
export function sizeRules(rules: OllamaRules, model: Model): GgmlRules {
  const library = ggmlRules(rules.build);
  return runsOwnEngine(rules, model)
    ? {
        ...library,
        padding: 'always-256',
        streams: 'down',
        window: 'ollama-engine',
        latent: library.latent === 'heads' ? 'heads' : 'key',
        logStyle: 'none',
      }
    : library;
}

/** Families that run one request at a time whatever is asked for. Source: ollama/ollama server/sched.go, v0.33.0. */
const ALONE_FILES = /^(mllama|qwen3vl|qwen3vlmoe|qwen35|qwen35moe|qwen3next|lfm2|lfm2moe|nemotron_h|nemotron_h_moe)$/;
const ALONE_CLASSES = /^(Mllama|Qwen3VL|Qwen3_5|Qwen3Next|Lfm2|NemotronH)/;

export const runsAlone = ({ architecture, gguf }: Model): boolean =>
  (gguf ? ALONE_FILES : ALONE_CLASSES).test(architecture);
