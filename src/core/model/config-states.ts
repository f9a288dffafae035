/** What state layers (Mamba, linear attention, short convolutions) keep, from the fields of a config.json. */
import { at, firstSet, type Json, text, whole, wholeList } from './config-fields';
import type { ModelDtype, StateShape } from './model';

const GROUPS = ['mamba_n_groups', 'mamba_ngroups', 'n_groups'];
const CONV = ['mamba_d_conv', 'conv_kernel', 'd_conv', 'ssm_cfg.d_conv'];
const SIZE = ['mamba_d_state', 'ssm_state_size', 'state_size', 'd_state', 'ssm_cfg.d_state'];
const EXPAND = ['mamba_expand', 'expand'];
const HEADS = ['mamba_num_heads', 'mamba_n_heads', 'n_mamba_heads'];
const HEAD_DIM = ['mamba_head_dim', 'mamba_headdim', 'mamba_d_head'];

type Rule = (config: Json, hidden: number) => StateShape | undefined;

/** The first rule whose fields are all there; undefined when the config does not say enough. */
export function stateShape(config: Json, hidden: number): StateShape | undefined {
  for (const rule of RULES) {
    const shape = rule(config, hidden);
    if (shape) {
      return shape;
    }
  }
  return undefined;
}

const RULES: readonly Rule[] = [gatedDeltaNet, kimiDelta, shortConvolution, mamba2, mamba1, lightning];

const dims = (config: Json, ...names: string[]): number[] =>
  names.flatMap((name) => whole(config, [name], 'width') ?? []);

function gatedDeltaNet(config: Json): StateShape | undefined {
  const [keyHeads, valueHeads, keyDim, valueDim, conv] = dims(
    config,
    'linear_num_key_heads',
    'linear_num_value_heads',
    'linear_key_head_dim',
    'linear_value_head_dim',
    'linear_conv_kernel_dim',
  );
  return keyHeads && valueHeads && keyDim && valueDim && conv
    ? { type: 'gated-delta-net', keyHeads, valueHeads, keyDim, valueDim, conv }
    : undefined;
}

function kimiDelta(config: Json): StateShape | undefined {
  const [heads, headDim, conv] = dims(
    config,
    'linear_attn_config.num_heads',
    'linear_attn_config.head_dim',
    'linear_attn_config.short_conv_kernel_size',
  );
  return heads && headDim && conv ? { type: 'kda', heads, headDim, conv } : undefined;
}

/** LFM2. */
function shortConvolution(config: Json, hidden: number): StateShape | undefined {
  const conv = whole(config, ['conv_L_cache'], 'dim');
  return conv === undefined
    ? undefined
    : { type: 'short-conv', dim: whole(config, ['conv_dim'], 'width') ?? hidden, conv };
}

/** Heads by Mamba 2's own names; a head dim of `auto` shares out the expanded width. */
function mamba2(config: Json, hidden: number): StateShape | undefined {
  const bare = firstSet(config, ['state_size']) && firstSet(config, ['n_groups']);
  const heads = whole(config, bare ? ['num_heads'] : HEADS, 'width');
  const stateSize = whole(config, SIZE, 'dim');
  const conv = whole(config, CONV, 'dim');
  if (!heads || !stateSize || !conv) {
    return undefined;
  }
  const auto = at(config, 'mamba_d_head') === 'auto';
  const stated = auto ? undefined : whole(config, bare ? ['head_dim'] : HEAD_DIM, 'dim');
  const headDim = stated ?? ((whole(config, EXPAND, 'dim') ?? 2) * hidden) / heads;
  const groups = whole(config, GROUPS, 'width') ?? 1;
  return Number.isInteger(headDim) ? { type: 'mamba2', heads, headDim, stateSize, groups, conv } : undefined;
}

function mamba1(config: Json, hidden: number): StateShape | undefined {
  const stateSize = whole(config, SIZE, 'dim');
  const conv = whole(config, CONV, 'dim');
  if (!stateSize || !conv) {
    return undefined;
  }
  const expand = whole(config, EXPAND, 'dim');
  const inner = expand ? expand * hidden : whole(config, ['intermediate_size', 'd_inner'], 'width');
  return inner ? { type: 'mamba1', inner, stateSize, conv } : undefined;
}

/** MiniMax-01: one square matrix for each attention head. */
function lightning(config: Json, hidden: number): StateShape | undefined {
  const heads = whole(config, ['num_attention_heads'], 'heads');
  if (!wholeList(config, 'attn_type_list', 'layers')?.includes(0) || !heads) {
    return undefined;
  }
  const headDim = whole(config, ['head_dim'], 'dim') ?? hidden / heads;
  return Number.isInteger(headDim) ? { type: 'linear', heads, headDim } : undefined;
}

/** Dtype the config asks states to be kept in. */
export function stateDtype(config: Json): ModelDtype | undefined {
  const stated = text(config, 'mamba_ssm_dtype') ?? text(config, 'mamba_ssm_cache_dtype');
  return (['float32', 'float16', 'bfloat16'] as const).find((dtype) => dtype === stated);
}
