/** How the figures of a layout explain themselves. */
import type { Explanation, Origin } from '../../figure';
import type { Model } from '../../model/model';
import { withCommas } from '../../units';
import type { Group, Rank } from '../engine';
import { settingOriginsOf } from '../setting-origin';
import type { VllmConfiguration } from './configure';
import { bytesPerHeadToken, packingSymbols } from './dtypes';
import type { LayerSpec } from './groups';
import { grows, type Tally, tensorHeads } from './tally';

const SOURCE = 'vLLM 0.28, v1/kv_cache_interface.py';

const written = (c: VllmConfiguration, ...names: readonly string[]): readonly Origin[] =>
  settingOriginsOf(c.settings, names, `vLLM ${c.version.text}`);

const modelOrigin = ({ id, source }: Model): Origin => ({ kind: source.kind, text: `${id}: ${source.text}` });

/** What the option says, and what it comes to for this model. */
function dtypeOrigins(c: VllmConfiguration): readonly Origin[] {
  const { key, value, how } = c.stored;
  const [setting] = written(c, 'kv-cache-dtype');
  if (setting?.kind === 'default') {
    return [{ kind: 'default', text: `KV dtype ${value} (${how}), default of vLLM ${c.version.text}` }];
  }
  const stored = key === value ? [] : [{ kind: 'derived' as const, text: `KV dtype ${value}: ${how}` }];
  return [...(setting ? [setting] : []), ...stored];
}

/** `80 × (1 × 512) + 2 × (…)`: equal neighbours are told once. */
function runs(tallies: readonly Tally[], term: (spec: LayerSpec) => string): string {
  const counts = new Map<string, number>();
  for (const { spec, count } of tallies) {
    const text = term(spec);
    counts.set(text, (counts.get(text) ?? 0) + count);
  }
  return [...counts].map(([text, n]) => `${n} × (${text})`).join(' + ') || '0';
}

export function explainToken(onRank: readonly Tally[], model: Model, c: VllmConfiguration, value: number): Explanation {
  const growing = onRank.filter((t) => grows(t.spec));
  const { tensor, context } = c.placement;
  const first = growing[0]?.spec;
  const spread = written(c, 'tensor-parallel-size', ...(context > 1 ? ['decode-context-parallel-size'] : []));
  const origins = [modelOrigin(model), ...dtypeOrigins(c), ...spread];
  const replicated = first !== undefined && first.layer.kvHeads < tensor;
  return {
    symbols: `layers × KV heads per GPU × (${first ? packingSymbols(first.dtype) : 'bytes'})${context > 1 ? ' ÷ DCP' : ''}`,
    numbers: `${runs(growing, (s) => `${perToken(s, tensorHeads(s.layer, tensor))}`)}${context > 1 ? ` ÷ ${context}` : ''} = ${withCommas(value)}`,
    origins: replicated
      ? [
          ...origins,
          {
            kind: 'derived' as const,
            text: `one head or vector is kept on each of ${tensor} GPUs: ${first.layer.kind === 'latent' ? 'MLA is not divided' : 'fewer KV heads than GPUs'}`,
          },
        ]
      : origins,
    source: SOURCE,
  };
}

export function explainFixed(onRank: readonly Tally[], model: Model, value: number): Explanation {
  const windows = onRank.filter((t) => !grows(t.spec));
  return {
    symbols: 'Σ window layers: window × bytes per token + Σ state layers: bytes of a state',
    numbers: `${runs(windows, (s) => (s.layer.kind === 'state' ? withCommas(s.tokenBytes) : `${s.layer.window} × ${s.tokenBytes}`))} = ${withCommas(value)}`,
    origins:
      windows.length > 0
        ? [modelOrigin(model)]
        : [{ kind: 'derived' as const, text: 'no layer has a window or a state' }],
    source: SOURCE,
  };
}

export function explainBlock(groups: readonly Group[], c: VllmConfiguration, rank: Rank): Explanation {
  const largest = groups.find((g) => g.bytesPerBlock === rank.bytesPerBlock);
  return {
    symbols: 'largest group: Σ layers: block size × bytes per token and layer',
    numbers: `${largest?.layers} layers × ${withCommas(rank.bytesPerBlock / (largest?.layers || 1))} (block of ${largest?.blockSize} tokens) = ${withCommas(rank.bytesPerBlock)}`,
    origins: [
      ...written(c, 'block-size'),
      {
        kind: 'derived' as const,
        text: groups.length > 1 ? `${groups.length} groups share one pool of equal blocks` : 'one group',
      },
    ],
    source: 'vLLM 0.28, v1/core/kv_cache_utils.py :: get_kv_cache_config_from_groups',
  };
}

export function explainTotal(all: readonly Tally[], model: Model, c: VllmConfiguration, value: number): Explanation {
  const growing = all.filter((t) => grows(t.spec));
  return {
    symbols: 'Σ layers: KV heads × bytes per head and token',
    numbers: `${runs(growing, (s) => `${perToken(s, s.layer.kvHeads)}`)} = ${withCommas(value)}`,
    origins: [modelOrigin(model), ...dtypeOrigins(c)],
    source: SOURCE,
  };
}

/** `1 × 1152`; of a compressed history, the share of an entry: `584 ÷ 4`. */
function perToken({ layer, dtype, tokenBytes }: LayerSpec, heads: number): string {
  if (layer.ratio !== undefined) {
    return `${tokenBytes * layer.ratio} ÷ ${layer.ratio}`;
  }
  return `${heads} × ${bytesPerHeadToken(layer, dtype)}`;
}
