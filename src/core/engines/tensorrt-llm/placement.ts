/** Parallel sizes, and what TensorRT-LLM refuses of them. Source: TensorRT-LLM 1.3, llmapi/llm_args.py. */
import type { Model } from '../../model/model';
import type { Finding, Placement } from '../engine';
import type { Settings } from '../settings';
import { numberLayers } from '../stages';

export function placementOf(settings: Settings): Placement {
  const tensor = settings.number('tensor_parallel_size') ?? listedGpus(settings) ?? 1;
  const attentionData = settings.flag('enable_attention_dp') ? tensor : 1;
  return {
    tensor,
    pipeline: settings.number('pipeline_parallel_size') ?? 1,
    data: 1,
    context: 1,
    expert: settings.number('moe_expert_parallel_size') ?? 1,
    attentionData,
    // Under attention data parallelism every GPU has requests, and a pool, of its own.
    replicas: attentionData,
  };
}

/** An engine's parallelism is built into it; a config.pbtxt lists its GPUs. */
const listedGpus = (settings: Settings): number | undefined =>
  settings
    .text('gpu_device_ids')
    ?.split(',')
    .filter((id) => id.trim() !== '').length || undefined;

export function headsRefusal(model: Model, { tensor, attentionData, pipeline }: Placement): Finding | undefined {
  if (attentionData === 1 && model.attentionHeads % tensor !== 0) {
    return {
      code: 'tp-does-not-divide-heads',
      severity: 'error',
      option: 'tensor_parallel_size',
      message: `${model.attentionHeads} attention heads cannot be divided over ${tensor} GPUs.`,
      fixes: [],
    };
  }
  const { depth } = numberLayers(model);
  return pipeline > depth
    ? {
        code: 'pp-above-layers',
        severity: 'error',
        option: 'pipeline_parallel_size',
        message: `${pipeline} pipeline stages need at least as many layers; the model has ${depth}.`,
        fixes: [],
      }
    : undefined;
}
