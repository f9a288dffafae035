/**
 * Buffers of LoRA adapters: every adapted matrix of in × out has an A of rank × in and a B of out × rank for each
 * adapter of a batch, in the model's 16-bit dtype. Source: vLLM 0.28, lora/layers/*.py :: create_lora_weights.
 */
import type { KvLayer } from '../../model/model';
import { between, type Estimate } from '../../units';
import { compareVersions } from '../option';
import { isLastStage, type StageInput } from './budget-terms';
import { transformerLayers } from './configure';

const BYTES = 2;

/** The A and B of one matrix, in elements for each unit of rank; one of them is split over the tensor group, or both. */
interface Split {
  readonly tensor: number;
  readonly fully: boolean;
}

const column = (input: number, output: number, { tensor, fully }: Split): number =>
  input / (fully ? tensor : 1) + output / tensor;

const row = (input: number, output: number, { tensor, fully }: Split): number =>
  input / tensor + output / (fully ? tensor : 1);

function attention(layer: KvLayer, heads: number, hidden: number, split: Split): number {
  const ordinary = layer.kind === 'full' || layer.kind === 'sliding' || layer.kind === 'chunked';
  const queries = ordinary ? heads * layer.headDim : hidden;
  const keys = layer.kvHeads * layer.headDim;
  return column(hidden, queries, split) + 2 * column(hidden, keys, split) + row(queries, hidden, split);
}

/** Gate, up and down. */
const mlp = (hidden: number, width: number, split: Split): number =>
  2 * column(hidden, width, split) + row(width, hidden, split);

/** Undefined without `enable-lora`. Per GPU. */
export function loraBytes(input: StageInput): Estimate | undefined {
  const { model, c, settings, stage } = input;
  if (!settings.flag('enable-lora')) {
    return undefined;
  }
  const rank = settings.number('max-lora-rank') ?? 16;
  const adapters = settings.number('max-loras') ?? 1;
  const split: Split = { tensor: c.placement.tensor, fully: settings.flag('fully-sharded-loras') ?? false };
  const { experts, hiddenSize: hidden } = model;
  const layers = model.layers.filter((layer) => !layer.joined);
  // Adapters of experts came with 0.11.1; before, only the matrices around them were adapted.
  const adapted = experts && compareVersions(c.version.text, '0.11.1') >= 0 ? experts.experts : 0;
  const dense = experts ? experts.sharedIntermediate : model.intermediateSize;
  const perLayer =
    mlp(hidden, dense, split) * (dense > 0 ? 1 : 0) +
    (experts ? adapted * mlp(hidden, experts.intermediate, split) : 0);
  const all = layers.reduce((sum, l) => sum + attention(l, model.attentionHeads, hidden, split), 0);
  const share = (c.stages[stage] as number) / transformerLayers(model);
  const head = isLastStage(input) ? hidden + model.vocabSize : 0;
  const bytes = BYTES * adapters * rank * ((all + layers.length * perLayer) * share + head);
  // Models name the modules that may be adapted; some leave a few out, others add the embedding.
  return between(bytes * 0.85, bytes, bytes * 1.15);
}
