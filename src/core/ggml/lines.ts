/** What llama.cpp's library prints of a context and its caches. Source: src/llama-context.cpp, src/llama-kv-cache.cpp by build. */
import { MiB, toFixedHalfEven } from '../units';
import type { GgmlConfiguration } from './configuration';
import { type Cache, cacheLayerBytes } from './sizes';

export function contextLines(c: GgmlConfiguration): readonly string[] {
  if (c.rules.logStyle === 'none') {
    return [];
  }
  const { context } = c.sizes;
  const line = (name: string, value: number | string) => `llama_context: ${name.padEnd(13)} = ${value}`;
  return [
    line('n_seq_max', c.sequences),
    line('n_ctx', context.tokens),
    line(c.rules.contextName, context.tokensPerSequence),
    line('n_batch', context.batch),
    line('n_ubatch', context.microBatch),
    ...(c.rules.streams === 'none' ? [] : [line('kv_unified', String(context.streams === 1 && c.pooled))]),
  ];
}

export function cacheLines(c: GgmlConfiguration): readonly string[] {
  if (c.rules.logStyle === 'none') {
    return [];
  }
  const windowed = c.sizes.caches.some((cache) => cache.kind === 'sliding');
  return c.sizes.caches.flatMap((cache) => {
    const created =
      !windowed || (cache.kind !== 'kv' && cache.kind !== 'sliding')
        ? []
        : [
            cache.kind === 'kv'
              ? `llama_kv_cache_iswa: creating non-SWA KV cache, size = ${cache.cells} cells`
              : `llama_kv_cache_iswa: creating     SWA KV cache, size = ${cache.cells} cells`,
          ];
    return [...created, cache.kind === 'recurrent' ? recurrentLine(cache, c) : cacheLine(cache, c)];
  });
}

const mib = (bytes: number, width = 7): string => toFixedHalfEven(bytes / MiB, 2).padStart(width);

/** Bytes of the keys, and of the values, of a whole cache. */
const part = (cache: Cache, of: 'key' | 'value'): number =>
  cache.layers.reduce((total, l) => total + l[of] * cache.cells * cache.streams, 0);

const bytesOf = (cache: Cache): number => cache.layers.reduce((total, l) => total + cacheLayerBytes(cache, l), 0);

const digits = (n: number, width: number): string => String(n).padStart(width);

function cacheLine(cache: Cache, c: GgmlConfiguration): string {
  const { rules, spec } = c;
  const values = `K (${spec.keyType}): ${mib(part(cache, 'key'))} MiB, V (${spec.valueType}): ${mib(part(cache, 'value'))} MiB`;
  if (rules.logStyle === 'self-size') {
    return `llama_init_from_model: KV self size  = ${mib(bytesOf(cache))} MiB, ${values}`;
  }
  const sequences =
    rules.logStyle === 'streams' ? `${digits(c.sequences, 2)}/${cache.streams} seqs` : `${digits(c.sequences, 2)} seqs`;
  return `${rules.logName}: size = ${mib(bytesOf(cache))} MiB (${digits(cache.cells, 6)} cells, ${digits(cache.layers.length, 3)} layers, ${sequences}), ${values}`;
}

function recurrentLine(cache: Cache, c: GgmlConfiguration): string {
  const values = `R (f32): ${mib(part(cache, 'key'))} MiB, S (f32): ${mib(part(cache, 'value'))} MiB`;
  if (c.rules.logStyle === 'self-size') {
    return `llama_init_from_model: KV self size  = ${mib(bytesOf(cache))} MiB, K (f32): ${mib(part(cache, 'key'))} MiB, V (f32): ${mib(part(cache, 'value'))} MiB`;
  }
  const rollback = c.rules.logsRollback ? ` ${digits(0, 2)} rs_seq` : '';
  return `llama_memory_recurrent: size = ${mib(bytesOf(cache))} MiB (${digits(cache.cells, 6)} cells, ${digits(c.layers.length, 3)} layers, ${digits(c.sequences, 2)} seqs${rollback}), ${values}`;
}
