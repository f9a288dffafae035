/**
 * What llama.cpp knows of an architecture and a GGUF file does not say. Keyed on `general.architecture`.
 * Source: llama.cpp v0.5.0, src/llama-hparams.cpp and src/models (load_arch_hparams).
 */

export interface WindowDefaults {
  /** Every so many layers one attends to everything; 0 = the file must list them; 1 = none does. */
  readonly period: number;
  /** The layer that attends to everything comes first in its period. */
  readonly denseFirst?: true;
  /** Tokens of the window where the file does not say. */
  readonly window?: number;
  /** Tokens of the window whatever the file says, if it states one at all. */
  readonly fixed?: number;
  /** Attention within chunks. */
  readonly chunked?: true;
  /** Holds for files of exactly this many layers. */
  readonly layers?: number;
}

/** Architectures whose windows are honoured: others may state one (phi3, Mistral's llama), and keep everything. */
const WINDOWS: ReadonlyMap<string, WindowDefaults> = new Map([
  ['afmoe', { period: 4 }],
  ['cohere2', { period: 4 }],
  ['cohere2moe', { period: 4, denseFirst: true }],
  ['exaone-moe', { period: 4, window: 128 }],
  ['exaone4', { period: 4, window: 4096, layers: 64 }],
  ['gemma2', { period: 2, window: 4096 }],
  ['gemma3', { period: 6 }],
  ['gemma3n', { period: 5 }],
  ['gemma4', { period: 0 }],
  ['gpt-oss', { period: 2 }],
  ['granite_swa', { period: 0 }],
  ['laguna', { period: 4, denseFirst: true }],
  ['lfm2', { period: 1 }],
  ['lfm2moe', { period: 1 }],
  ['llama4', { period: 4, window: 8192, fixed: 8192, chunked: true }],
  ['maple', { period: 0 }],
  ['mellum', { period: 4 }],
  ['mimo2', { period: 0 }],
  ['muse-glimmer', { period: 4 }],
  ['olmo2', { period: 4 }],
  ['plamo3', { period: 8 }],
  ['smallthinker', { period: 4, denseFirst: true, fixed: 4096 }],
  ['step35', { period: 0 }],
]);

export const windowDefaults = (architecture: string): WindowDefaults | undefined => WINDOWS.get(architecture);

/** Encoders and diffusion models: no cache (llama.cpp v0.5.0, src/llama-model.cpp :: create_memory). */
const CACHELESS = new Set(
  'bert jina-bert-v2 jina-bert-v3 nomic-bert nomic-bert-moe modern-bert eurobert neo-bert gemma-embedding dream llada llada-moe rnd1 wavtokenizer-dec'.split(
    ' ',
  ),
);

export const keepsNoCache = (architecture: string): boolean => CACHELESS.has(architecture);

/** Every layer keeps a state and no layer attends. */
const RECURRENT = new Set(['mamba', 'mamba2', 'rwkv6', 'rwkv6qwen2', 'rwkv7', 'arwkv7']);

/** A layer without KV heads keeps a state. */
const HEADLESS_STATE = new Set([
  'jamba',
  'granitehybrid',
  'plamo2',
  'lfm2',
  'lfm2moe',
  'kimi-linear',
  'nemotron_h',
  'nemotron_h_moe',
]);

/** Full attention at every so many layers, a state at the others. */
const INTERVAL_STATE: ReadonlyMap<string, number> = new Map([
  ['qwen3next', 4],
  ['qwen35', 4],
  ['qwen35moe', 4],
  ['minimax-01', 8],
]);

export const fullInterval = (architecture: string): number => INTERVAL_STATE.get(architecture) ?? 4;

export type StateRule = 'all' | 'headless' | 'interval' | 'beside' | 'none';

export function stateRule(architecture: string): StateRule {
  if (RECURRENT.has(architecture)) {
    return 'all';
  }
  if (HEADLESS_STATE.has(architecture)) {
    return 'headless';
  }
  return INTERVAL_STATE.has(architecture) ? 'interval' : architecture === 'falcon-h1' ? 'beside' : 'none';
}

/** Caches that no rule here covers. */
const UNCOVERED = new Set([
  'bailingmoe3',
  'deepseek4',
  'dflash',
  'dots3note',
  'eagle3',
  'gemma4-assistant',
  'kimi-k3',
  'minimax-m3',
  'qwen4exp',
  't5',
]);

export const isUncovered = (architecture: string): boolean => UNCOVERED.has(architecture);

/** Gemma 3n: the layers after these read another layer's keys and values. */
export const OWN_LAYERS: ReadonlyMap<string, number> = new Map([['gemma3n', 20]]);
