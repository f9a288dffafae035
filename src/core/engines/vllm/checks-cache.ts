/** What the arrangement of the cache costs, and what would be had otherwise. */
import { requestBlocks } from '../../capacity/longest';
import { formatBytes, withCommas } from '../../units';
import type { Group, Layout } from '../engine';
import { EngineRefusal, type Finding } from '../engine';
import { about, type Context, concurrencyOf, finding, fix, gain, several } from './check-context';
import type { VllmConfiguration } from './configure';
import { layoutOf } from './layout';
import { poolOf } from './pool';
import { stateBytes } from './states';

export const cacheChecks = (x: Context): readonly Finding[] =>
  [replicated, quantisedWeights, storedOtherwise, hybridManager, inFlight, inflatedBlock, largeBlock, logged].flatMap(
    (check) => check(x),
  );

const hasKind = (c: VllmConfiguration, ...kinds: readonly string[]): boolean =>
  c.layers.some((l) => kinds.includes(l.kind));

/** Tensor parallelism neither divides latent vectors nor fewer heads than GPUs; decode context parallelism divides the tokens. */
function replicated(x: Context): readonly Finding[] {
  const { configuration: c, layout, asked } = x;
  const { tensor, context } = c.placement;
  const own = c.layers.find((l) => l.kind === 'full' || l.kind === 'latent' || l.kind === 'sliding');
  if (tensor === 1 || context > 1 || !own) {
    return [];
  }
  const heads = own.kind === 'latent' ? 1 : own.kvHeads;
  if (heads >= tensor) {
    return [];
  }
  const perToken = formatBytes(layout.bytesPerToken.value);
  const whole = formatBytes(layout.bytesPerTokenTotal.value);
  const message =
    own.kind === 'latent'
      ? `MLA keeps one latent vector, which tensor parallelism does not divide: each of ${tensor} GPUs holds all of a token, ${perToken} of ${whole}.`
      : `${tensor} GPUs share ${several(heads, 'KV head')}: each head is kept on ${tensor / heads} of them, ${perToken} per token and GPU, as with ${several(heads, 'GPU')}.`;
  const share = shareOfTokens(tensor, heads, asked.model.attentionHeads / heads, own.kind === 'latent');
  const windows = hasKind(c, 'sliding', 'chunked') && !c.allFull;
  const after =
    share > 1 && !windows && x.takes('decode-context-parallel-size')
      ? gain(x, x.whatIf({ 'decode-context-parallel-size': share }))
      : undefined;
  return [
    finding(
      own.kind === 'latent' ? 'latent-replicated' : 'heads-replicated',
      'information',
      'tensor-parallel-size',
      message,
      after === undefined
        ? []
        : [fix(`Set decode-context-parallel-size to ${share}: ${after}`, 'decode-context-parallel-size', share)],
    ),
  ];
}

/** Largest decode context parallel size that the engine takes. */
function shareOfTokens(tensor: number, heads: number, queries: number, latent: boolean): number {
  for (let size = Math.floor(tensor / heads); size > 1; size--) {
    if (tensor % size === 0 && (latent || queries % size === 0)) {
      return size;
    }
  }
  return 1;
}

/** Quantised weights leave keys and values as they are. */
function quantisedWeights(x: Context): readonly Finding[] {
  const { configuration: c, asked, settings, layout } = x;
  const method = settings.text('quantization') ?? asked.model.quantisation;
  if (method === undefined || c.stored.key !== 'auto' || !/^b?float16$/.test(c.stored.value)) {
    return [];
  }
  const after = layout.bytesPerToken.value > 0 ? gain(x, x.whatIf({ 'kv-cache-dtype': 'fp8' })) : undefined;
  if (after === undefined) {
    return [];
  }
  const at = ['kv-cache-dtype', 'quantization'].find((o) => settings.has(o)) ?? 'model';
  return [
    finding(
      'weights-quantised-cache-not',
      'hint',
      at,
      `The weights are quantised (${method}); keys and values are not: they are stored in ${c.stored.value}, ${formatBytes(layout.bytesPerToken.value)} per token and GPU.`,
      [fix(`Set kv-cache-dtype to fp8: ${after}`, 'kv-cache-dtype', 'fp8')],
    ),
  ];
}

function storedOtherwise({ configuration: { stored }, layout }: Context): readonly Finding[] {
  return stored.key === 'auto' || stored.key === stored.value
    ? []
    : [
        finding(
          'stored-otherwise',
          'hint',
          'kv-cache-dtype',
          `kv-cache-dtype ${stored.key} is stored as ${stored.value}: ${stored.how}. A token costs ${formatBytes(layout.bytesPerToken.value)} on each GPU.`,
        ),
      ];
}

/** The same KV bytes under another arrangement; undefined where this version has none. */
function arranged(
  x: Context,
  changes: Partial<VllmConfiguration>,
): { layout: Layout; concurrency: number } | undefined {
  const { pool, configuration } = x;
  if (!pool || configuration.maxLength === undefined) {
    return undefined;
  }
  try {
    const c: VllmConfiguration = { ...configuration, ...changes };
    const layout = layoutOf(x.asked.model, c);
    const kv = pool.ranks.map(({ kvBytes }) => ({ value: kvBytes, low: kvBytes, high: kvBytes }));
    const other = poolOf(c, layout, kv, { kind: 'derived', text: 'the same bytes' });
    return { layout, concurrency: other.usableBlocks / requestBlocks(layout, configuration.maxLength) };
  } catch (error) {
    if (error instanceof EngineRefusal) {
      return undefined;
    }
    throw error;
  }
}

const OFF = /^--(disable-[a-z-]+)$/;

/** Windows kept as if they were the whole context: what it costs at max length. */
function hybridManager(x: Context): readonly Finding[] {
  const { configuration: c, layout, settings } = x;
  if (!hasKind(c, 'sliding', 'chunked') || c.maxLength === undefined) {
    return [];
  }
  const connector = ['kv-transfer-config', 'kv-offloading-size'].find((o) => settings.has(o));
  if (c.allFull === undefined) {
    const off = connector === undefined ? undefined : arranged(x, { allFull: `a connector (${connector})` });
    const on = concurrencyOf(x);
    return off && on !== undefined && connector !== undefined && on > off.concurrency * 1.05
      ? [
          finding(
            'hybrid-manager-may-be-off',
            'information',
            connector,
            `A KV connector that does not support it switches the hybrid manager off: then every layer keeps the whole context, and ${times(on)} → ${times(off.concurrency)} requests of ${withCommas(c.maxLength)} tokens fit. The start-up log says so.`,
          ),
        ]
      : [];
  }
  const on = arranged(x, { allFull: undefined });
  const off = concurrencyOf(x);
  if (!on || off === undefined || on.concurrency <= off * 1.05) {
    return [];
  }
  const flag = OFF.exec(c.allFull)?.[1];
  const effect = `${times(off)} → ${times(on.concurrency)} requests of ${withCommas(c.maxLength)} tokens fit`;
  const blocks = `${withCommas(requestBlocks(layout, c.maxLength))} blocks of ${formatBytes(layout.bytesPerBlock.value)} per request`;
  return [
    finding(
      'hybrid-manager-off',
      flag === undefined ? 'hint' : 'information',
      flag,
      `Windows are kept as full layers, since ${flag === undefined ? c.allFull : `${flag} is set`}: ${blocks}, ${formatBytes(requestBlocks(layout, c.maxLength) * layout.bytesPerBlock.value)} on each GPU. With windows: ${effect}.`,
      flag === undefined ? [] : [fix(`Take ${flag} off: ${effect}`, flag, false)],
    ),
  ];
}

const times = (concurrency: number): string => concurrency.toFixed(2);

/** Small batch for the comparison: what cards below 70 GiB run by default. */
const SMALL_BATCH = 2048;

/** A window reserves for the tokens in flight; with large batches that outweighs the window. */
function inFlight(x: Context): readonly Finding[] {
  const { configuration: c, layout } = x;
  if (c.allFull !== undefined || !hasKind(c, 'sliding', 'chunked') || c.batchTokens <= SMALL_BATCH || !c.maxLength) {
    return [];
  }
  const before = concurrencyOf(x);
  const without = arranged(x, { inFlight: 0 });
  const held = requestBlocks(layout, c.maxLength);
  const reserve = without ? held - requestBlocks(without.layout, c.maxLength) : 0;
  if (before === undefined || reserve < held * 0.15) {
    return [];
  }
  const small = x.whatIf({ 'max-num-batched-tokens': SMALL_BATCH });
  const after = small && concurrencyOf(small);
  return after === undefined || after < before * 1.1
    ? []
    : [
        finding(
          'window-reserve',
          'hint',
          'max-num-batched-tokens',
          `Windows reserve for ${withCommas(c.inFlight)} tokens in flight beside their own: of the ${withCommas(held)} blocks that a request of ${withCommas(c.maxLength)} tokens holds, ${withCommas(reserve)} are for that.`,
          [
            fix(
              `Set max-num-batched-tokens to ${withCommas(SMALL_BATCH)}: ${times(before)} → ${times(after)} requests of the full length, in smaller steps of prefill`,
              'max-num-batched-tokens',
              SMALL_BATCH,
            ),
          ],
        ),
      ];
}

const growing = (layout: Layout): Group | undefined =>
  layout.groups.find((g) => g.kind !== 'sliding' && g.kind !== 'chunked' && g.kind !== 'state');

/** Why blocks of models with states hold hundreds of tokens. */
function inflatedBlock({ configuration: c, layout, workload }: Context): readonly Finding[] {
  const group = growing(layout);
  const states = c.layers.map((l) => (l.state ? stateBytes(l.state, c.placement.tensor, c.states) : 0));
  const state = Math.max(0, ...states);
  if (!group || state === 0 || group.blockSize <= c.block.tokens) {
    return [];
  }
  const page = group.bytesPerBlock / Math.max(1, group.layers);
  const tokens = Math.min(workload.prompt + workload.output, c.maxLength ?? Number.POSITIVE_INFINITY);
  return [
    finding(
      'block-holds-a-state',
      'hint',
      'block-size',
      `Blocks hold ${withCommas(group.blockSize)} tokens, not ${c.block.tokens}: the page of one attention layer (${formatBytes(page)}) must be as large as a state (${formatBytes(state)}). A request of ${withCommas(tokens)} tokens takes ${withCommas(requestBlocks(layout, tokens))} blocks.`,
    ),
  ];
}

/** A written block so large that last blocks stay mostly empty. */
function largeBlock(x: Context): readonly Finding[] {
  const { settings, capacity, configuration: c } = x;
  const size = settings.number('block-size');
  const tail = capacity?.paged.tailTokens.value ?? 0;
  const tokens = capacity ? Math.min(capacity.workload.prompt + capacity.workload.output, capacity.maxLength) : 0;
  if (size === undefined || size <= 16 || c.block.tokens !== size || tail <= tokens * 0.1) {
    return [];
  }
  const smaller = x.whatIf({ 'block-size': 16 });
  const effect = gain(x, smaller);
  return smaller?.configuration.block.tokens === 16 && effect !== undefined
    ? [
        finding(
          'block-mostly-empty',
          'hint',
          'block-size',
          `The last block of a request of ${withCommas(tokens)} tokens has ${withCommas(tail)} of ${withCommas(size)} slots empty.`,
          [fix(`Set block-size to 16: ${effect}`, 'block-size', 16)],
        ),
      ]
    : [];
}

/** Until 0.21 the log divides blocks by groups, as if a request held as many blocks in each. */
function logged(x: Context): readonly Finding[] {
  const { configuration: c, layout, pool } = x;
  const fits = concurrencyOf(x);
  const line = pool?.logged?.tokens;
  if (c.rules.tokensLogged !== 'smallest-group' || layout.groups.length < 2 || !line || !c.maxLength || !fits) {
    return [];
  }
  const tokens = Math.trunc(fits * c.maxLength);
  return Math.abs(tokens - line.value) <= line.value * 0.05
    ? []
    : [
        finding(
          'logged-tokens-mislead',
          'hint',
          'model',
          `vLLM ${c.version.text} will log ${about(line)} tokens, its ${withCommas(pool?.blocks.value ?? 0)} blocks divided by ${layout.groups.length} groups. In requests of max length the pool holds ${withCommas(tokens)} tokens: ${times(fits)} × ${withCommas(c.maxLength)}.`,
        ),
      ];
}
