// Facts about models -> rows of the catalogue.
import { sourceTable } from './sources.mjs';

/** Fields from memory that do not touch the KV cache; any other one leaves the model out. */
const HARMLESS = [
  'max_position_embeddings',
  'vocab_size',
  'parameter_count',
  'intermediate_size',
  'rope',
  'quantization detail',
  'tie_word_embeddings',
  'architectures',
  'moe',
  'model_type',
  'dual_chunk_attention',
  'qk_nope_head_dim',
  'q_lora_rank',
  'variant',
  'num_shared_experts',
  'dense MLP',
  'mamba',
  'num MTP modules',
  'GLM-4.5V',
  'cross_attention.encoder_tokens',
];

/** Facts from memory that were looked up since: models, field, where it stands. */
const LOOKED_UP = [
  [
    /^meta-llama\/Llama-4-/,
    'layer rule',
    'huggingface/transformers@b17cfe48:src/transformers/models/llama4/configuration_llama4.py (no_rope_layer_interval 4; layer_types)',
  ],
  [
    /^microsoft\/Phi-3-mini-4k-instruct$/,
    'sliding_window',
    'copies of the published config.json in public repositories (sliding_window 2047)',
  ],
  [
    /^mistralai\/Mistral-Small-24B-Instruct-2501$/,
    'max_position_embeddings',
    'model card of mistralai/Mistral-Small-24B-Instruct-2501 (32k context window)',
  ],
];

const lookedUp = (m, field) => LOOKED_UP.find(([id, start]) => id.test(m.id) && field.startsWith(start))?.[2];

/** Latent attention has no use for head dims, so these may come from memory there. */
const HARMLESS_IF_LATENT = ['v_head_dim', 'head_dim'];

/** Kept caches that no rule describes yet, by model type. */
const NOT_COVERED = { minimax_m3: 'all' };

/** Releases whose quantised form is one of several: names (a pattern) of those in 16 bit. */
const UNQUANTISED = [['mistralai/Ministral-3-', 'Base|Reasoning']];

/** Checkpoints of draft heads, which some lists call aliases of their target. */
const DRAFT_HEAD = /eagle|speculator/i;

const startsWithAny = (text, words) => words.some((w) => text.startsWith(w));

function doubtful(m) {
  if (m.confidence === 'recall') {
    return 'from memory';
  }
  const deciding = m.recall_fields.filter(
    (f) => !startsWithAny(f, HARMLESS) && !lookedUp(m, f) && !(m.attention.mla && startsWithAny(f, HARMLESS_IF_LATENT)),
  );
  return deciding.length > 0 ? `${deciding.join(', ')} from memory` : undefined;
}

export function modelRows(models) {
  const table = sourceTable();
  const left = [];
  const rows = [];
  for (const m of models) {
    const why = doubtful(m);
    if (why) {
      left.push({ id: m.id, why });
      continue;
    }
    const extra = m.recall_fields.flatMap((f) => lookedUp(m, f) ?? []);
    rows.push(
      modelRow(
        m,
        [...m.sources, ...extra].map(table.add).filter((i) => i >= 0),
      ),
    );
  }
  return { rows, left, sources: table.list };
}

function modelRow(m, sources) {
  const recalled = (field) => m.recall_fields.some((f) => f.startsWith(field) && !lookedUp(m, f));
  const a = m.attention;
  const known = (field, value) => (recalled(field) || value === null ? undefined : value);
  return tidy({
    id: m.id,
    ...names(m),
    c: m.architectures[0],
    d: [
      m.hidden_size,
      m.num_attention_heads,
      m.num_key_value_heads ?? 0,
      m.head_dim ?? 0,
      m.intermediate_size ?? 0,
      m.vocab_size ?? 0,
    ],
    l: NOT_COVERED[m.model_type]
      ? `${m.num_hidden_layers}O`
      : a.compress_ratios_run_length
        ? `${m.num_hidden_layers}Z`
        : pattern(m),
    w: a.sliding_window && (a.layer_counts.sliding || a.compress_ratios_run_length) ? a.sliding_window : undefined,
    k: a.chunk_size,
    sk: heads(a.sliding_kv),
    fk: heads(a.full_kv),
    la: a.mla && [a.mla.kv_lora_rank, a.mla.qk_rope_head_dim],
    ix: a.indexer && (a.indexer.layers ? [a.indexer.head_dim, ...a.indexer.layers] : [a.indexer.head_dim]),
    // Rope and index dims: vLLM 0.28, models/deepseek_v4 (584 and 132 bytes an entry).
    cr: a.compress_ratios_run_length && [64, 128, ...a.compress_ratios_run_length.flat()],
    sh: a.kv_sharing?.shared_layers || undefined,
    x: a.encoder ? 1 : undefined,
    // A config may not count what the checkpoint holds.
    n: recalled('num MTP modules')
      ? undefined
      : m.mtp_layers || (/holds one MTP layer/.test(m.notes ?? '') ? 1 : undefined),
    e: m.moe && [
      m.moe.num_experts,
      m.moe.experts_per_token,
      m.moe.moe_intermediate_size ?? 0,
      m.moe.shared_intermediate_size ?? 0,
    ],
    t: { bfloat16: undefined, float16: 'h', float32: 'f' }[m.torch_dtype],
    p: known('max_position_embeddings', m.max_position_embeddings),
    r: recalled('rope') ? undefined : rope(m.rope_scaling),
    P: known('parameter_count', m.parameter_count),
    ...weights(m),
    u: UNQUANTISED.find(([id]) => m.id.startsWith(id))?.[1],
    T: m.tie_word_embeddings ? 1 : undefined,
    m: multimodal(m) ? 1 : undefined,
    v: variants(m),
    ...states(m),
    s: sources,
  });
}

/**
 * `st`: what a state layer keeps, as numbers in a fixed order. `sd`: states in 32 bit, as the config says, or as vLLM
 * takes them for Nemotron-H configs that do not say (model_executor/models/config.py).
 */
function states(m) {
  if (m.model_type.startsWith('lfm2')) {
    return { st: ['c', m.hidden_size, LFM2_CONV] };
  }
  const l = m.attention.linear;
  const known = l && !m.recall_fields.some((f) => f.startsWith('mamba heads') || f.startsWith('mamba dims'));
  if (!known) {
    return {};
  }
  const shapes = {
    mamba1: () => ['1', l.d_inner, l.state_size, l.conv_kernel],
    mamba2: () => ['2', l.num_heads, l.head_dim, l.state_size, l.n_groups, l.conv_kernel],
    gated_deltanet: () => ['g', l.num_k_heads, l.num_v_heads, l.head_k_dim, l.head_v_dim, l.conv_kernel],
    kda: () => ['k', l.num_heads, l.head_dim, l.conv_kernel],
    lightning: () => ['l', l.num_heads, l.head_dim],
  };
  const wide = l.ssm_dtype === 'float32' || m.model_type === 'nemotron_h';
  return { st: shapes[l.kind](), sd: wide ? 'f' : undefined };
}

/** Absent means unknown or none; empty things are not written. */
const tidy = (row) =>
  Object.fromEntries(
    Object.entries(row).filter(([, v]) => v !== undefined && v !== null && !(Array.isArray(v) && v.length === 0)),
  );

const LETTERS = {
  full: 'F',
  sliding: 'S',
  chunked: 'C',
  linear: 'T',
  mamba: 'T',
  'mamba+full': 'B',
  cross: 'X',
  none: 'N',
};

/** conv_L_cache: huggingface/transformers, src/transformers/models/lfm2/configuration_lfm2.py. */
const LFM2_CONV = 3;

/** Short convolutions (LFM2) keep their last inputs, which is a state too. */
const SHORT_CONVOLUTION = { ...LETTERS, none: 'T' };

function pattern(m) {
  const a = m.attention;
  const l = a.layers;
  const letters = m.model_type.startsWith('lfm2') ? SHORT_CONVOLUTION : LETTERS;
  const runs = (list) => runLength(list, letters);
  if (l.uniform) {
    const blocks = a.attention_blocks_per_layer ?? 1;
    return runs([[l.uniform, a.layer_counts[l.uniform] * blocks]]);
  }
  if (l.run_length) {
    return runs(l.run_length);
  }
  const tail = l.tail.length > 0 ? `+${runs(l.tail.map((x) => [x, 1]))}` : '';
  return `${runs(l.period.map((x) => [x, 1]))}*${l.repeats}${tail}`;
}

function runLength(list, letters) {
  const merged = [];
  for (const [kind, count] of list) {
    const letter = letters[kind];
    if (!letter) {
      throw new Error(`layer kind ${kind}`);
    }
    const last = merged.at(-1);
    if (last?.[0] === letter) {
      last[1] += count;
    } else {
      merged.push([letter, count]);
    }
  }
  return merged.map(([letter, count]) => (count === 1 ? letter : `${count}${letter}`)).join('');
}

const heads = (kv) => kv && [kv.num_key_value_heads, kv.k_head_dim, kv.v_head_dim];

function rope(r) {
  return r && [r.type.replace(/ .*/, ''), r.factor ?? 0, r.original_max_position_embeddings ?? 0];
}

/** `a`: other ids (of the same owner: without it). `b`: basenames that no id has. */
function names(m) {
  const owner = m.id.split('/')[0];
  const ids = m.aliases.filter((x) => !DRAFT_HEAD.test(x) && !m.aliases_unverified.includes(x) && x !== m.id);
  const have = new Set([m.id, ...ids].map((x) => x.split('/').at(-1).toLowerCase()));
  const short = ids.map((x) => (x.startsWith(`${owner}/`) ? x.slice(owner.length + 1) : x));
  const extra = m.alias_basenames.filter((x) => !have.has(x.toLowerCase()) && !DRAFT_HEAD.test(x));
  return { a: short.join(' ') || undefined, b: extra.join(' ') || undefined };
}

/** `W`: size of the weight files (GiB as listed, or bytes). `z`: the checkpoint's own quantisation and the parameters it covers. */
function weights(m) {
  const source = m.weights_bytes_source ?? '';
  const exact = /\(([\d ]{9,})\)/.exec(source);
  const listed = /kaito \(([\d.]+) Gi/.exec(source);
  const q = m.quantization_config;
  return {
    W: exact ? Number(exact[1].replaceAll(' ', '')) : listed ? Number(listed[1]) : undefined,
    z: q ? quantised(m, q) : undefined,
    tx: m.parameter_count_basis === 'computed_text_only' ? 1 : undefined,
  };
}

function quantised(m, q) {
  const text = `${q.method} ${q.format ?? ''} ${q.weight ?? ''}`;
  if (/experts/.test(text) && q.method !== 'fp8') {
    return [q.method === 'mxfp4' || /mxfp4/.test(text) ? 'mxfp4' : 'int4-g32', routedExpertParameters(m)];
  }
  return [/128x128/.test(text) ? 'fp8-block' : 'fp8'];
}

function routedExpertParameters(m) {
  const e = m.moe;
  const layers = e.moe_layers ?? (m.num_hidden_layers - e.first_dense_layers) / e.layer_step;
  return layers * e.num_experts * 3 * (e.latent_size ?? m.hidden_size) * e.moe_intermediate_size;
}

const multimodal = (m) =>
  Boolean(m.config_nesting) ||
  /Vision|Image|Omni|Audio|VL|Whisper|Llava|Pixtral|InternVL|Mistral3|ForConditionalGeneration/.test(
    m.architectures[0],
  );

/** `[regex, max positions or 0, rope or 0, vocabulary or 0]`, the first that matches an id counts for each field. */
function variants(m) {
  return (m.variants ?? [])
    .filter((v) => !v.recall && (v.max_position_embeddings || v.rope || v.vocab_size))
    .map((v) => [
      v.match,
      v.max_position_embeddings ?? 0,
      v.rope ? [v.rope.type, v.rope.factor ?? 0, v.rope.original ?? 0] : 0,
      v.vocab_size ?? 0,
    ])
    .map((v) => trimZeros(v));
}

function trimZeros(list) {
  const end = list.findLastIndex((x) => x !== 0);
  return list.slice(0, end + 1);
}
