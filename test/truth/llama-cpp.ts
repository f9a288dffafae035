/** Replays what llama.cpp v0.5.0 reported for synthetic GGUF files, and public logs, through the planner. */
import { type Plan, planText } from '../../src/planner';
import { bools, type Metadata, text, u32, writeGguf } from './gguf-writer';
import type { Difference } from './vectors';
import { readTruth } from './vectors';

interface Params {
  readonly c: number;
  readonly np: number;
  readonly kvu?: number;
  readonly ub?: number;
  readonly ctk?: number;
  readonly ctv?: number;
  readonly fa?: number;
  readonly swa_full?: number;
}

interface KvLine {
  readonly mib: number;
  readonly cells: number;
  readonly layers: number;
  readonly n_seq_max: number;
  readonly n_stream: number;
  readonly k_type: string;
  readonly k_mib: number;
  readonly v_type: string;
  readonly v_mib: number;
}

export interface GoldenCase {
  readonly model: string;
  readonly params: Params;
  readonly ok: boolean;
  readonly n_ctx: number | null;
  readonly n_ctx_seq: number | null;
  readonly n_batch: number | null;
  readonly n_ubatch: number | null;
  readonly can_shift: number | null;
  readonly kv: readonly KvLine[];
  readonly rs: readonly {
    readonly mib: number;
    readonly cells: number;
    readonly r_mib: number;
    readonly s_mib: number;
  }[];
  readonly error: readonly string[] | null;
}

export const goldenCases = (): readonly (readonly [string, GoldenCase])[] =>
  readTruth<{ cases: readonly GoldenCase[] }>('golden-llamacpp.json').cases.map((c) => [
    `${c.model} ${Object.entries(c.params)
      .map(([k, v]) => `${k}=${v}`)
      .join(' ')}`,
    c,
  ]);

/** Keys of one architecture with its prefix. */
export function metadataOf(architecture: string, keys: Metadata): Metadata {
  const own = Object.entries(keys).map(([key, value]) => [`${architecture}.${key}`, value] as const);
  return { 'general.architecture': text(architecture), ...Object.fromEntries(own) };
}

const heads = (count: number, kv: number, key: number, value = key): Metadata => ({
  'attention.head_count': u32(count),
  'attention.head_count_kv': u32(kv),
  'attention.key_length': u32(key),
  'attention.value_length': u32(value),
});

const latent: Metadata = {
  ...heads(128, 1, 576, 512),
  'attention.key_length_mla': u32(192),
  'attention.value_length_mla': u32(128),
  'rope.dimension_count': u32(64),
};

const size = (layers: number, width: number, context: number): Metadata => ({
  block_count: u32(layers),
  embedding_length: u32(width),
  context_length: u32(context),
});

/** As the file's `meta.models` states them in words. */
const MODELS: Readonly<Record<string, Metadata>> = {
  'llama8b.gguf': metadataOf('llama', { ...size(32, 4096, 131072), ...heads(32, 8, 128) }),
  'gemma3.gguf': metadataOf('gemma3', {
    ...size(34, 2560, 131072),
    ...heads(8, 4, 256),
    'attention.sliding_window': u32(1024),
  }),
  'ds_mla.gguf': metadataOf('deepseek2', { ...size(61, 7168, 163840), ...latent }),
  'ds_nomla.gguf': metadataOf('deepseek2', { ...size(61, 7168, 163840), ...heads(128, 128, 192, 128) }),
  'ds_nextn.gguf': metadataOf('deepseek2', {
    ...size(62, 7168, 163840),
    ...latent,
    nextn_predict_layers: u32(1),
  }),
  'oss20.gguf': metadataOf('gpt-oss', {
    ...size(24, 2880, 131072),
    ...heads(64, 8, 64),
    'attention.sliding_window': u32(128),
  }),
  'q35.gguf': metadataOf('qwen35', {
    ...size(32, 4096, 262144),
    ...heads(16, 4, 256),
    full_attention_interval: u32(4),
    'ssm.conv_kernel': u32(4),
    'ssm.inner_size': u32(4096),
    'ssm.state_size': u32(128),
    'ssm.time_step_rank': u32(32),
    'ssm.group_count': u32(16),
  }),
  'g4.gguf': metadataOf('gemma4', {
    ...size(42, 2560, 131072),
    ...heads(8, 2, 512),
    'attention.key_length_swa': u32(256),
    'attention.value_length_swa': u32(256),
    'attention.sliding_window': u32(512),
    'attention.sliding_window_pattern': bools(Array.from({ length: 42 }, (_, i) => i % 6 < 5)),
    'attention.shared_kv_layers': u32(18),
  }),
  'mamba.gguf': metadataOf('mamba', {
    ...size(64, 2560, 1048576),
    'ssm.conv_kernel': u32(4),
    'ssm.inner_size': u32(5120),
    'ssm.state_size': u32(16),
  }),
};

const TYPES: Readonly<Record<number, string>> = {
  0: 'f32',
  1: 'f16',
  2: 'q4_0',
  3: 'q4_1',
  6: 'q5_0',
  7: 'q5_1',
  8: 'q8_0',
  20: 'iq4_nl',
  30: 'bf16',
};

/** A service with these words, planned with a GGUF header at hand. */
export function planServer(args: readonly string[], metadata: Metadata, image = 'server-v0.5.0'): Plan {
  const header = writeGguf(metadata);
  const file = [
    'services:',
    '  engine:',
    `    image: ghcr.io/ggml-org/llama.cpp:${image}`,
    '    command:',
    ...['-m', 'model.gguf', ...args].map((a) => `      - '${a}'`),
    '',
  ].join('\n');
  const [plan] = planText(
    { text: file, name: 'compose.yaml' },
    {
      models: {
        config: () => undefined,
        gguf: (name) => (name === 'model.gguf' ? { parts: [header], path: name } : undefined),
      },
    },
  ).plans;
  if (!plan) {
    throw new Error('no launch found');
  }
  return plan;
}

/** What the lines of a plan say, in the words of the recorded ones. */
function said(
  lines: readonly string[],
): Pick<GoldenCase, 'n_ctx' | 'n_ctx_seq' | 'n_batch' | 'n_ubatch' | 'kv' | 'rs'> {
  const number = (name: string) =>
    Number(lines.map((l) => new RegExp(` ${name} +=  ?(\\d+)`).exec(l)?.[1]).find(Boolean));
  return {
    n_ctx: number('n_ctx'),
    n_ctx_seq: number('n_ctx_seq'),
    n_batch: number('n_batch'),
    n_ubatch: number('n_ubatch'),
    kv: lines.flatMap((l) => {
      const m =
        /^llama_kv_cache: size = +([\d.]+) MiB \( *(\d+) cells, +(\d+) layers, +(\d+)\/(\d+) seqs\), K \((\w+)\): +([\d.]+) MiB, V \((\w+)\): +([\d.]+) MiB$/.exec(
          l,
        );
      return m
        ? [
            {
              mib: Number(m[1]),
              cells: Number(m[2]),
              layers: Number(m[3]),
              n_seq_max: Number(m[4]),
              n_stream: Number(m[5]),
              k_type: m[6] as string,
              k_mib: Number(m[7]),
              v_type: m[8] as string,
              v_mib: Number(m[9]),
            },
          ]
        : [];
    }),
    rs: lines.flatMap((l) => {
      const m =
        /^llama_memory_recurrent: size = +([\d.]+) MiB \( *(\d+) cells.* R \(f32\): +([\d.]+) MiB, S \(f32\): +([\d.]+) MiB$/.exec(
          l,
        );
      return m ? [{ mib: Number(m[1]), cells: Number(m[2]), r_mib: Number(m[3]), s_mib: Number(m[4]) }] : [];
    }),
  };
}

export function goldenDifferences({ model, params, ...expected }: GoldenCase): readonly Difference[] {
  const args = [
    ...['-c', String(params.c), '-np', String(params.np), '--context-shift'],
    ...(params.kvu ? ['--kv-unified'] : []),
    ...(params.ub ? ['-ub', String(params.ub)] : []),
    ...(params.ctk === undefined ? [] : ['-ctk', TYPES[params.ctk] as string]),
    ...(params.ctv === undefined ? [] : ['-ctv', TYPES[params.ctv] as string]),
    ...(params.fa === 0 ? ['-fa', 'off'] : []),
    ...(params.swa_full ? ['--swa-full'] : []),
  ];
  const plan = planServer(args, MODELS[model] as Metadata);
  const error = plan.findings.find((f) => f.severity === 'error' && f.refuses !== false);
  const actual: Record<string, unknown> = {
    ok: error === undefined,
    ...(plan.kv?.pool?.logged
      ? said(plan.kv.pool.logged.lines)
      : { n_ctx: null, n_ctx_seq: null, n_batch: null, n_ubatch: null, kv: [], rs: [] }),
    can_shift: error ? null : plan.findings.some((f) => f.code === 'cannot-shift') ? 0 : 1,
    // Where llama.cpp says nothing, the plan does.
    error: error === undefined ? null : expected.error?.length === 0 ? [] : [error.message],
  };
  return Object.entries(expected)
    .map(([field, value]) => ({ field, expected: value, actual: actual[field] }))
    .filter((d) => JSON.stringify(d.expected) !== JSON.stringify(d.actual));
}
