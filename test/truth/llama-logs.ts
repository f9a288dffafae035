/** Lines of public llama.cpp and Ollama logs, replayed through the planner: sizes must lie within the log's rounding. */
import { GiB, MiB } from '../../src/core/units';
import { type Plan, planText } from '../../src/planner';
import { i32s, type Metadata, u32, writeGguf } from './gguf-writer';
import { metadataOf } from './llama-cpp';
import { type OtherLog, otherLogs } from './other-logs';
import type { LogResult, Outcome } from './outcome';

interface Cache {
  readonly kind: string;
  readonly cells: number | null;
  readonly layers: number | null;
  readonly k_type: string | null;
  readonly k_mib: number | null;
  readonly v_type: string | null;
  readonly v_mib: number | null;
  readonly total_mib: number;
}

interface LlamaLog extends Omit<OtherLog, 'agreement'> {
  readonly agreement: string;
  readonly date?: string;
  readonly expected_basis?: string;
  readonly launch_args?: string;
  readonly kv_dtype_v?: string;
  readonly other_pools?: readonly Cache[];
  readonly arch?: {
    readonly gguf_arch?: string;
    readonly layers?: number;
    readonly n_head_kv?: number | readonly number[];
    readonly n_embd_k_gqa_sum?: number;
    readonly n_embd_v_gqa_sum?: number;
    readonly n_swa?: number | null;
    readonly kv_heads?: number;
    readonly head_dim_k?: number;
    readonly head_dim_v?: number;
    readonly k_row?: number;
    readonly v_row?: number;
  };
}

/** What the log's facts leave out and the model's published config says. */
const MORE: Readonly<Record<string, Metadata>> = {
  'llamacpp-14625': {
    'ssm.conv_kernel': u32(4),
    'ssm.inner_size': u32(8192),
    'ssm.state_size': u32(16),
    'ssm.time_step_rank': u32(256),
  },
  'llamacpp-14670': { embedding_length: u32(2048), 'shortconv.l_cache': u32(3) },
  'llamacpp-9315': { embedding_length: u32(4096), 'wkv.head_size': u32(64), 'attention.head_count_kv': u32(0) },
  'llamacpp-12692': {
    embedding_length: u32(8192),
    'wkv.head_size': u32(128),
    token_shift_count: u32(1),
    'attention.head_count_kv': u32(8),
  },
  // The latent vector of the log's own note.
  'llamacpp-14201': {
    'attention.key_length_mla': u32(192),
    'attention.value_length_mla': u32(128),
    'rope.dimension_count': u32(64),
  },
};

/** Options that the log's notes tell and its command does not. */
const OPTIONS: Readonly<Record<string, readonly string[]>> = {
  'llamacpp-14430': ['--swa-full'],
};

/** Builds at dates, from the logs that state both. */
const BUILDS: readonly (readonly [date: string, build: number])[] = [
  ['2024-01-01', 1700],
  ['2024-05-30', 3047],
  ['2024-06-27', 3246],
  ['2024-08-05', 3509],
  ['2024-09-04', 3664],
  ['2024-10-25', 3972],
  ['2024-12-07', 4277],
];

function buildOf(log: LlamaLog): string {
  const stated = /^(\d+) \(/.exec(log.engine_version ?? '')?.[1];
  if (stated) {
    return `b${stated}`;
  }
  return log.date === undefined ? '0.5.0' : `b${BUILDS.findLast(([date]) => date <= (log.date as string))?.[1]}`;
}

function metadataFor(log: LlamaLog): Metadata {
  const { arch = {} } = log;
  const gguf = arch.gguf_arch;
  if (gguf === undefined || arch.layers === undefined) {
    throw new Error('the log shows no shape of the model');
  }
  const listed = typeof arch.n_head_kv === 'object' ? arch.n_head_kv : undefined;
  const heads = listed ? Math.max(...listed) : ((arch.n_head_kv as number) ?? 0);
  const withKv = listed ? listed.filter((n) => n > 0).length : arch.layers;
  const dim = (sum: number | undefined) => (heads > 0 ? (sum ?? 0) / withKv / heads : 0);
  const own: Metadata = {
    block_count: u32(arch.layers),
    embedding_length: u32(4096),
    context_length: u32(1048576),
    feed_forward_length: u32(8192),
    'attention.head_count': u32(Math.max(1, heads)),
    'attention.head_count_kv': listed ? i32s(listed) : u32(heads),
    'attention.key_length': u32(dim(arch.n_embd_k_gqa_sum)),
    'attention.value_length': u32(dim(arch.n_embd_v_gqa_sum)),
    ...(arch.n_swa ? { 'attention.sliding_window': u32(arch.n_swa) } : {}),
  };
  // A log that prints its vision tower last names that.
  return metadataOf(gguf === 'clip' ? 'llama' : gguf, { ...own, ...MORE[log.id] });
}

/** Cases found by an index, with a shape in other words. */
function indexed(log: LlamaLog): Metadata {
  const { arch = {} } = log;
  const oss = log.model.startsWith('gpt-oss');
  const shape = log.model.startsWith('Llama-3.1-8B') ? { layers: 32, kv_heads: 8, head_dim_k: 128 } : arch;
  const { layers, kv_heads: heads, head_dim_k: dim } = shape;
  if (layers === undefined || heads === undefined || dim === undefined) {
    throw new Error('the log shows no shape of the model');
  }
  return metadataOf(oss ? 'gpt-oss' : 'llama', {
    block_count: u32(layers),
    embedding_length: u32(4096),
    context_length: u32(131072),
    'attention.head_count': u32(heads),
    'attention.head_count_kv': u32(heads),
    'attention.key_length': u32(dim),
    'attention.value_length': u32(dim),
    ...(oss ? { 'attention.sliding_window': u32(128) } : {}),
  });
}

function argsOf(log: LlamaLog): readonly string[] {
  const facts = log.config_facts as { readonly n_ubatch?: number | null; readonly flash_attn?: string | null };
  const asked = log.launch_args ?? '';
  const context = / (?:-c|--ctx-size|--ctx_size) (\d+)/.exec(asked)?.[1];
  const slots = / (?:-np|--parallel) (\d+)/.exec(asked)?.[1] ?? String(log.max_running ?? 1);
  const micro = facts.n_ubatch ?? 512;
  const cache = log.other_pools?.[0];
  const tokens = context && context !== '0' ? context : String(log.context_length ?? log.tokens);
  return [
    ...['-c', tokens, '-np', slots, '-b', String(Math.max(2048, micro)), '-ub', String(micro)],
    ...['-ctk', log.kv_dtype_k ?? cache?.k_type ?? 'f16', '-ctv', log.kv_dtype_v ?? cache?.v_type ?? 'f16'],
    ...(facts.flash_attn === '0' ? ['-fa', 'off'] : facts.flash_attn === '1' ? ['-fa', 'on'] : []),
    ...(OPTIONS[log.id] ?? []),
  ];
}

function planned(log: LlamaLog, metadata: Metadata): Plan {
  const text = [
    'services:',
    '  engine:',
    '    image: ghcr.io/ggml-org/llama.cpp:server',
    '    command:',
    ...['-m', 'model.gguf', ...argsOf(log)].map((a) => `      - '${a}'`),
    '',
  ].join('\n');
  const parts = [writeGguf(metadata)];
  const [plan] = planText(
    { text, name: 'compose.yaml' },
    {
      flags: { engine: `llama-cpp@${buildOf(log)}` },
      models: { config: () => undefined, gguf: (name) => ({ parts, path: name }) },
    },
  ).plans;
  if (!plan?.kv?.pool?.logged) {
    throw new Error(plan?.findings.map((f) => f.message).join('; ') ?? 'no launch found');
  }
  return plan;
}

interface Printed {
  readonly kind: 'kv' | 'recurrent';
  readonly cells?: number;
  readonly layers?: number;
  readonly total: number;
  readonly k: number;
  readonly v: number;
}

/** What the plan's lines say of each cache. */
const printedBy = (plan: Plan): readonly Printed[] =>
  (plan.kv?.pool?.logged?.lines ?? []).flatMap((line): readonly Printed[] => {
    const sizes = /(?:size +=) +([\d.]+) MiB.*, ?[KR] \(\w+\): +([\d.]+) MiB, [VS] \(\w+\): +([\d.]+) MiB/.exec(line);
    const cells = /\( *(\d+) cells, +(\d+) layers/.exec(line);
    const recurrent = line.includes('recurrent') || line.includes('K (f32)');
    return sizes
      ? [
          {
            kind: recurrent ? 'recurrent' : 'kv',
            ...(cells ? { cells: Number(cells[1]), layers: Number(cells[2]) } : {}),
            total: Number(sizes[1]),
            k: Number(sizes[2]),
            v: Number(sizes[3]),
          },
        ]
      : [];
  });

/** Two decimals of a MiB, and some logs round once more. */
const near = (logged: number | null | undefined, value: number): boolean =>
  logged === null || logged === undefined || Math.abs(logged - value) <= 0.0051;

function compare(log: LlamaLog, plan: Plan): LogResult {
  const caches = printedBy(plan);
  const logged = (log.other_pools ?? []).slice(0, caches.length);
  const wrong = caches.flatMap((cache, i) => {
    const line = logged[i];
    const isSame =
      line !== undefined &&
      near(line.total_mib, cache.total) &&
      near(line.k_mib, cache.k) &&
      near(line.v_mib, cache.v) &&
      (cache.cells === undefined || line.cells === null || line.cells === cache.cells) &&
      (cache.layers === undefined ||
        line.layers === null ||
        cache.kind === 'recurrent' ||
        line.layers === cache.layers);
    return isSame ? [] : [`${JSON.stringify(line)} logged, ${JSON.stringify(cache)} planned`];
  });
  const more = (log.other_pools ?? []).length - caches.length;
  const said = caches.map((c) => `${c.total} MiB${c.cells === undefined ? '' : ` in ${c.cells} cells`}`).join(' + ');
  const others = more > 0 ? `; ${more} more context${more > 1 ? 's' : ''} in the log (a draft, a second run)` : '';
  return {
    id: log.id,
    outcome: wrong.length === 0 ? 'exact' : 'off',
    detail: wrong.length === 0 ? `${said}${others}` : wrong.join('; '),
  };
}

const result = (log: LlamaLog, outcome: Outcome, detail: string): LogResult => ({ id: log.id, outcome, detail });

function replay(log: LlamaLog): LogResult {
  if (log.engine !== 'llama.cpp') {
    return result(
      log,
      'cannot tell',
      `${log.engine} is another program: ${log.notes ?? log.expected_basis ?? 'no notes'}`,
    );
  }
  if (!/^match|^n\/a/.test(log.agreement)) {
    return result(log, 'not counted', `${log.agreement}: ${log.notes ?? 'no notes'}`);
  }
  if (!log.other_pools?.some((c) => c.cells !== null)) {
    return result(log, 'cannot tell', `the log shows no cells: ${log.notes ?? ''}`);
  }
  try {
    return compare(log, planned(log, log.arch?.gguf_arch ? metadataFor(log) : indexed(log)));
  } catch (error) {
    return result(log, 'cannot tell', (error as Error).message);
  }
}

export const replayLlamaLogs = (): readonly LogResult[] =>
  (otherLogs((engine) => engine.includes('llama.cpp')) as unknown as readonly LlamaLog[]).map(replay);

/** Ollama's own reckoning before it loads (`memory.required.kv`), at both ends of its rounding. */
function replayOllama(log: LlamaLog): LogResult {
  const { arch = {} } = log;
  const row = (whole: number | undefined, dim: number | undefined) => whole ?? (arch.kv_heads ?? 0) * (dim ?? 0);
  const metadata = metadataOf(arch.k_row ? 'deepseek2' : 'llama', {
    block_count: u32(arch.layers ?? 0),
    embedding_length: u32(8192),
    context_length: u32(131072),
    'attention.head_count': u32(128),
    'attention.head_count_kv': u32(arch.k_row ? 128 : (arch.kv_heads ?? 0)),
    'attention.key_length': u32(arch.k_row ? row(arch.k_row, 0) / 128 : (arch.head_dim_k ?? 0)),
    'attention.value_length': u32(arch.v_row ? row(arch.v_row, 0) / 128 : (arch.head_dim_v ?? 0)),
  });
  const text = [
    '# kv-planner: model=model.gguf',
    'services:',
    '  engine:',
    '    image: ollama/ollama:0.5.13',
    '    environment:',
    `      OLLAMA_CONTEXT_LENGTH: '${log.context_length}'`,
    "      OLLAMA_NUM_PARALLEL: '1'",
    '',
  ].join('\n');
  const parts = [writeGguf(metadata)];
  const [plan] = planText(
    { text, name: 'compose.yaml' },
    { models: { config: () => undefined, gguf: (name) => ({ parts, path: name }) } },
  ).plans;
  const bytes = plan?.kv?.pool?.bytes.value;
  if (bytes === undefined) {
    return result(log, 'cannot tell', plan?.findings.map((f) => f.message).join('; ') ?? 'no launch found');
  }
  const logged = log.kv_size_gib as number;
  const ok = Math.abs(bytes / GiB - logged) <= 0.05;
  return result(
    log,
    ok ? 'within rounding' : 'off',
    `${logged} GiB logged, ${(bytes / GiB).toFixed(2)} planned (${(bytes / MiB).toFixed(0)} MiB)`,
  );
}

export const replayOllamaLogs = (): readonly LogResult[] =>
  (otherLogs((engine) => engine === 'ollama') as unknown as readonly LlamaLog[]).map((log) =>
    log.agreement === 'match' ? replayOllama(log) : result(log, 'not counted', log.notes ?? log.agreement),
  );
