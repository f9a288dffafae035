/** The caches as a pool: their size follows from the options alone, whatever memory there is. */

import type { HostTier, Layout, Logged, Pool } from '../engines/engine';
import { figure, type Origin } from '../figure';
import type { Estimate } from '../units';
import { GiB, withCommas } from '../units';
import { cacheTitle, type GgmlConfiguration } from './configuration';
import { byCell, cachesOn, deviceBytes, devicesOf } from './layout';
import { cacheLines, contextLines } from './lines';

const SOURCE = 'llama.cpp v0.5.0, src/llama-kv-cache.cpp';

/** `kv` is the memory that is left for them, unless the options are all that is known (`origin` is then the file). */
export function poolOf(c: GgmlConfiguration, layout: Layout, kv: readonly Estimate[], origin: Origin): Pool {
  const bytes = devicesOf(c).map((device) => deviceBytes(c, device));
  const slack = bytes.map((own, i) => (kv[i]?.value ?? own) - own);
  const stated = origin.kind === 'file';
  const decidingRank = stated ? layout.decidingRank : slack.indexOf(Math.min(...slack));
  const own = bytes[decidingRank] as number;
  const blocks = layout.allocator === 'cells' ? c.sizes.context.tokens : c.sequences;
  const left = kv[decidingRank];
  return {
    ...(stated || !left ? {} : { memory: left }),
    bytes: figure(
      own,
      'bytes',
      () => ({
        symbols: 'Σ caches: cells × streams × Σ layers (row of keys + row of values)',
        numbers: `${c.sizes.caches.map((x) => `${withCommas(x.cells)} × ${x.streams} × ${withCommas(x.layers.reduce((a, l) => a + l.key + l.value, 0))}`).join(' + ')} over all devices; ${withCommas(own)} here`,
        origins: [
          {
            kind: 'derived',
            text: `context of ${withCommas(c.sizes.context.tokens)} tokens over ${c.sequences} sequences`,
          },
        ],
        source: SOURCE,
      }),
      { scope: 'per GPU' },
    ),
    blocks: figure(blocks, 'blocks', () => ({
      symbols: layout.allocator === 'cells' ? 'cells of the context' : 'sequences, each with its own cells',
      numbers: withCommas(blocks),
      origins: [{ kind: 'derived', text: 'set aside when the context is made' }],
      source: SOURCE,
    })),
    usableBlocks: blocks,
    ranks: bytes.map((kvBytes) => ({ kvBytes, blocks })),
    decidingRank,
    ...partsOf(c, devicesOf(c)[decidingRank] as number),
    ...(c.rules.logStyle === 'none' ? {} : { logged: loggedOf(c) }),
    hostTier: hostTier(c, layout),
  };
}

/** Cells of different caches are no use to each other. */
function partsOf(c: GgmlConfiguration, device: number): Pick<Pool, 'parts'> {
  const caches = cachesOn(c, device);
  if (!byCell(c) || caches.length < 2) {
    return {};
  }
  return {
    parts: caches.map((cache, i) => ({
      name: cacheTitle(cache),
      groups: [i],
      blocks: figure(cache.cells * cache.streams, 'blocks', () => ({
        symbols: cache.kind === 'recurrent' ? 'sequences' : 'cells of this cache',
        numbers: withCommas(cache.cells * cache.streams),
        origins: [{ kind: 'derived', text: 'set aside when the context is made' }],
        source: SOURCE,
      })),
    })),
  };
}

function loggedOf(c: GgmlConfiguration): Logged {
  const { tokens } = c.sizes.context;
  const origins = [{ kind: 'derived' as const, text: `as ${c.engine} ${c.version.text} prints it` }];
  return {
    tokens: figure(tokens, 'tokens', () => ({ symbols: 'n_ctx', numbers: withCommas(tokens), origins })),
    lines: [...contextLines(c), ...cacheLines(c)],
  };
}

/** Whole sequences are saved there; the number of tokens is bounded by the context as well. */
function hostTier(c: GgmlConfiguration, layout: Layout): HostTier | undefined {
  const size = c.hostCache;
  const perToken = layout.bytesPerTokenTotal.value;
  if (size === undefined || size <= 0 || perToken <= 0) {
    return undefined;
  }
  const fixed = layout.wholePayload(1) - perToken;
  const tokens = Math.min(Math.floor(Math.max(0, size - fixed) / perToken), c.sizes.context.tokens);
  const origins = [{ kind: 'derived' as const, text: 'host cache of saved prompts' }];
  return {
    bytes: figure(
      size,
      'bytes',
      () => ({ symbols: 'host memory for saved prompts', numbers: withCommas(size), origins }),
      {
        scope: 'whole deployment',
      },
    ),
    tokens: figure(tokens, 'tokens', () => ({
      symbols: 'min(⌊host bytes ÷ bytes per token⌋, context)',
      numbers: `min(⌊${(size / GiB).toFixed(2)} GiB ÷ ${withCommas(perToken)}⌋, ${withCommas(c.sizes.context.tokens)}) = ${withCommas(tokens)}`,
      origins,
      source: 'llama.cpp v0.5.0, tools/server/server-context.cpp',
    })),
  };
}
