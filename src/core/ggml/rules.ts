/**
 * What a build of llama.cpp's library changes in the sizes of its caches. Builds are numbered `b5890`; since the middle
 * of 2026 there are releases, `v0.5.0`, newer than any build number. Each row holds from the build it names, a few
 * builds to either side where the build was reckoned from the commit's date (“about”).
 */
import { compareVersions } from '../engines/option';

export interface GgmlRules {
  /** Cells are rounded up to 256, or to 32 without flash attention. */
  readonly padding: 'kernel' | 'always-256';
  /** How sequences share cells: never split; split by rounding up; split by rounding down, then to 256. */
  readonly streams: 'none' | 'up' | 'down';
  /** Cells of a sliding layer: as many as a full one; by the batch; least of padded; padded least; Ollama's own engine. */
  readonly window: 'none' | 'batch' | 'padded-inside' | 'padded-outside' | 'ollama-engine';
  /** What an MLA layer stores: keys and values of every head, both latent vectors, or the key alone. */
  readonly latent: 'heads' | 'key-and-value' | 'key';
  /** Layers of MTP heads that get a cache in the main context. */
  readonly nextn: 'all' | 'some' | 'none';
  /** `none`: what the engine prints is not known here. */
  readonly logStyle: 'self-size' | 'sequences' | 'streams' | 'none';
  /** Name that the cache logs under. */
  readonly logName: 'llama_kv_cache_unified' | 'llama_kv_cache';
  /** The recurrent line ends with rows for speculation. */
  readonly logsRollback: boolean;
  /** Lines of the context name tokens of one sequence. */
  readonly contextName: 'n_ctx_per_seq' | 'n_ctx_seq';
}

const FIRST: GgmlRules = {
  padding: 'kernel',
  streams: 'none',
  window: 'none',
  latent: 'heads',
  nextn: 'all',
  logStyle: 'self-size',
  logName: 'llama_kv_cache_unified',
  logsRollback: false,
  contextName: 'n_ctx_per_seq',
};

const CHANGES: readonly (readonly [since: string, change: Partial<GgmlRules>, what: string])[] = [
  ['b5140', { latent: 'key-and-value' }, 'MLA: latent vectors (ggml-org/llama.cpp#12801, April 2025; about)'],
  ['b5430', { window: 'batch', logStyle: 'sequences' }, 'cells of sliding layers (#13194, May 2025; about)'],
  ['b5540', { window: 'padded-inside' }, 'by the micro-batch, June 2025 (about)'],
  ['b5913', { streams: 'up' }, 'a stream of cells for each sequence (#14363, July 2025; about)'],
  ['b6010', { logStyle: 'streams' }, 'sequences/streams in the log, 2025-07-28 (about)'],
  ['b6400', { logName: 'llama_kv_cache' }, 'September 2025 (about)'],
  [
    'b6970',
    { padding: 'always-256', streams: 'down', window: 'padded-outside', contextName: 'n_ctx_seq' },
    'a1867e0da, November 2025 (about)',
  ],
  ['b7700', { latent: 'key' }, 'MLA: the value is a view of the key, around the turn of 2026 (about)'],
  ['b9600', { logsRollback: true }, 'June 2026 (about)'],
  ['b10434', { nextn: 'some' }, 'August 2026'],
  // Builds go on beside the releases: b11096 is of 2026-09-22, b12199 of 2026-11-08.
  ['b11240', { nextn: 'none' }, 'de3ff815, 2026-09-28, as in 0.5.0 (about)'],
];

const known = new Map<string, GgmlRules>();

export function ggmlRules(version: string): GgmlRules {
  const made =
    known.get(version) ??
    Object.assign({}, FIRST, ...CHANGES.filter(([since]) => compareVersions(version, since) >= 0).map(([, c]) => c));
  if (known.size < 500) {
    known.set(version, made);
  }
  return made;
}

/** b10434: the architectures that left their MTP layers out of the main context. */
const NEXTN_LEFT_OUT = /^(step35|hy[-_]v3|glm-dsa|mimo2|deepseek32|qwen3next|qwen35|qwen35moe)$/;

export const cachesNextn = (rules: GgmlRules, architecture: string): boolean =>
  rules.nextn === 'all' || (rules.nextn === 'some' && !NEXTN_LEFT_OUT.test(architecture));
