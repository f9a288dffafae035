/** Mixture-of-experts fields of a config.json, under the names that families give them. */
import { at, type Json, whole, wholeList } from './config-fields';
import type { MixtureOfExperts } from './model';

const EXPERTS = [
  'num_local_experts',
  'n_routed_experts',
  'num_experts',
  'moe_num_experts',
  'ffn_config.moe_num_experts',
];
const PER_TOKEN = [
  'num_experts_per_tok',
  'num_experts_per_token',
  'moe_topk',
  'top_k_experts',
  'moe_k',
  'experts_per_token',
  'moe_top_k',
  'ffn_config.moe_top_k',
];
const WIDTH = ['moe_intermediate_size', 'expert_ffn_hidden_size', 'moe_ffn_hidden_size'];

/** `layers` is how many layers have routed experts. */
export interface Experts extends MixtureOfExperts {
  readonly layers: number;
  /** Width that routed experts work in, where it is not the hidden size. */
  readonly latent?: number;
}

export function expertsOf(config: Json, layers: number, intermediate: number): Experts | undefined {
  const experts = whole(config, EXPERTS, 'experts', 0);
  if (!experts || experts < 2) {
    return undefined;
  }
  const width = widthOf(config) ?? intermediate;
  const latent = whole(config, ['moe_latent_size', 'routed_expert_hidden_size'], 'width');
  return {
    experts,
    expertsPerToken: perTokenOf(config),
    intermediate: width,
    sharedIntermediate: sharedWidth(config, width),
    layers: expertLayers(config, layers),
    ...(latent ? { latent } : {}),
  };
}

/** One number, or one for each layer (ERNIE, Hunyuan): then the first. */
function widthOf(config: Json): number | undefined {
  const name = WIDTH.find((n) => Array.isArray(at(config, n)));
  return name ? wholeList(config, name, 'width')?.[0] : whole(config, WIDTH, 'width');
}

function perTokenOf(config: Json): number {
  const name = PER_TOKEN.find((n) => Array.isArray(at(config, n)));
  return (name ? wholeList(config, name, 'experts')?.[0] : whole(config, PER_TOKEN, 'experts')) ?? 1;
}

function sharedWidth(config: Json, width: number): number {
  const stated = whole(
    config,
    ['shared_expert_intermediate_size', 'moe_shared_expert_intermediate_size', 'shared_intermediate_size'],
    'width',
    0,
  );
  const name = ['n_shared_experts', 'num_shared_experts', 'num_shared_expert', 'moe_num_shared_experts'].find(
    (n) => at(config, n) !== undefined && at(config, n) !== null,
  );
  const count =
    name && Array.isArray(at(config, name))
      ? (wholeList(config, name, 'experts')?.[0] ?? 0)
      : (name && whole(config, [name], 'experts', 0)) || 0;
  return stated ?? count * width;
}

function expertLayers(config: Json, layers: number): number {
  const pattern = at(config, 'hybrid_override_pattern');
  if (typeof pattern === 'string' && pattern.includes('E')) {
    return [...pattern].filter((c) => c === 'E').length;
  }
  const blocks = at(config, 'layers_block_type');
  if (Array.isArray(blocks) && blocks.includes('moe')) {
    return blocks.filter((b) => b === 'moe').length;
  }
  const listed = at(config, 'moe_layer_freq');
  if (Array.isArray(listed)) {
    return listed.filter((x) => x === 1).length;
  }
  const dense = whole(config, ['first_k_dense_replace', 'moe_layer_start_index'], 'layers', 0) ?? 0;
  const step = whole(
    config,
    ['interleave_moe_layer_step', 'decoder_sparse_step', 'expert_layer_period', 'moe_layer_freq'],
    'layers',
  );
  return Math.floor((layers - dense) / (step ?? 1));
}
