/** What a launch changes of the model's own config: `--hf-overrides`, and `--rope-scaling` before 0.12. */
import type { Model, RopeScaling } from '../../model/model';
import { EngineRefusal } from '../engine';
import { notCovered } from './refusals';
import type { Settings } from './settings';

/** Lengths that vLLM takes the smallest of. Source: vLLM 0.28, config/model.py :: _get_and_verify_max_len. */
const LENGTHS = [
  'max_position_embeddings',
  'n_positions',
  'max_seq_len',
  'seq_length',
  'model_max_length',
  'max_sequence_length',
  'seq_len',
];

/** Keys that change what layers keep: the layers known here would no longer be the model's. */
const SHAPE =
  /^(num_hidden_layers|num_layers|n_layer|num_attention_heads|num_key_value_heads|num_kv_heads|head_dim|hidden_size|kv_lora_rank|qk_rope_head_dim|sliding_window|use_sliding_window|layer_types|attention_chunk_size|index_topk|compress_ratios|mamba_\w+|linear_\w+)$/;

type Json = Readonly<Record<string, unknown>>;

const isObject = (v: unknown): v is Json => typeof v === 'object' && v !== null && !Array.isArray(v);

/** The model with its overrides; throws `EngineRefusal` for those that change its layers. */
export function overridden(model: Model, settings: Settings): Model {
  const asked = settings.object('hf-overrides');
  const scaling = settings.object('rope-scaling');
  if (!asked && !scaling) {
    return model;
  }
  const overrides: Json = { ...asked, ...(isObject(asked?.text_config) ? asked.text_config : {}) };
  const shape = Object.keys(overrides).filter((key) => SHAPE.test(key));
  if (shape.length > 0) {
    throw new EngineRefusal([
      notCovered(`hf-overrides changes ${shape.join(', ')}, which decide what layers keep: that is not planned.`),
    ]);
  }
  const lengths = LENGTHS.map((key) => overrides[key]).filter((v): v is number => typeof v === 'number' && v > 0);
  const rope = ropeOf(scaling ?? overrides.rope_parameters ?? overrides.rope_scaling);
  return {
    ...model,
    maxPositions: lengths.length > 0 ? Math.min(...lengths) : model.maxPositions,
    rope: rope ?? model.rope,
  };
}

function ropeOf(value: unknown): RopeScaling | undefined {
  if (!isObject(value)) {
    return undefined;
  }
  const number = (key: string) => (typeof value[key] === 'number' ? value[key] : undefined);
  const type = value.rope_type ?? value.type;
  return {
    type: typeof type === 'string' ? type : 'default',
    factor: number('factor'),
    originalMaxPositions: number('original_max_position_embeddings'),
  };
}
