/** What a recurrent layer of a GGUF file keeps. Source: llama.cpp v0.5.0, src/llama-hparams.cpp :: n_embd_r, n_embd_s. */
import type { GgufFields } from './gguf-fields';
import type { KvLayer, StateShape } from './model';

/** One layer, or two that are joined (RWKV shifts tokens beside its state). */
export function stateLayers(f: GgufFields): readonly KvLayer[] {
  return shapesOf(f).map((state, i) => ({
    kind: 'state',
    kvHeads: 0,
    headDim: 0,
    valueDim: 0,
    ...(state ? { state } : {}),
    ...(i > 0 ? { joined: true as const } : {}),
  }));
}

/** Undefined where the file does not say enough: an engine refuses it. */
function shapesOf(f: GgufFields): readonly (StateShape | undefined)[] {
  const headSize = f.whole('wkv.head_size');
  if (headSize) {
    const width = f.required('embedding_length');
    const shift = f.whole('token_shift_count') ?? 2;
    return [
      { type: 'short-conv', dim: width, conv: shift + 1 },
      { type: 'linear', heads: width / headSize, headDim: headSize },
    ];
  }
  const cache = f.whole('shortconv.l_cache');
  if (cache) {
    return [{ type: 'short-conv', dim: f.required('embedding_length'), conv: cache }];
  }
  const conv = f.whole('ssm.conv_kernel');
  const kda = f.whole('kda.head_dim');
  if (kda && conv) {
    const heads = Math.max(...(f.perLayer('attention.head_count') ?? [0]));
    return [{ type: 'kda', heads, headDim: kda, conv }];
  }
  if (f.architecture === 'minimax-01') {
    const heads = Math.max(...(f.perLayer('attention.head_count') ?? [0]));
    return [{ type: 'linear', heads, headDim: f.required('attention.key_length') }];
  }
  return [mixer(f, conv)];
}

function mixer(f: GgufFields, conv: number | undefined): StateShape | undefined {
  const inner = f.whole('ssm.inner_size');
  const stateSize = f.whole('ssm.state_size');
  const heads = f.whole('ssm.time_step_rank') ?? 0;
  const groups = f.whole('ssm.group_count') ?? 0;
  if (!conv || !inner || !stateSize) {
    return undefined;
  }
  if (groups === 0 || heads === 0 || inner % heads !== 0) {
    return groups === 0 ? { type: 'mamba1', inner, stateSize, conv } : undefined;
  }
  return f.has('full_attention_interval') || f.has('attention.recurrent_layers') || /^qwen/.test(f.architecture)
    ? {
        type: 'gated-delta-net',
        keyHeads: groups,
        valueHeads: heads,
        keyDim: stateSize,
        valueDim: inner / heads,
        conv,
      }
    : { type: 'mamba2', heads, headDim: inner / heads, stateSize, groups, conv };
}
