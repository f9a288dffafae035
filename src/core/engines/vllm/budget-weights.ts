/** Weights on one GPU: the checkpoint's bytes, split, padded and moved as the engine does. */
import type { Model } from '../../model/model';
import { attentionParameters } from '../../model/parameters';
import { addEstimates, between, type Estimate, exactly, formatBytes, GiB } from '../../units';
import { mtpBytes } from '../memory';
import { loraBytes } from './budget-lora';
import { isLastStage, type StageInput, type Term, times, whole } from './budget-terms';
import { transformerLayers } from './configure';

/**
 * MXFP4 experts are padded to the kernel's tile (2880 columns of gpt-oss become 3072). Loaded ÷ checkpoint, gpt-oss 20b
 * and 120b in public logs: 1.05 and 1.06 (H100), 1.07 (A100), 1.09 (H100, TP 2, where each half is padded).
 */
const MXFP4_PADDING = between(1.045, 1.065, 1.095);

function paddingOf({ model, c }: StageInput): Estimate {
  const even = (columns: number) => columns % 256 === 0;
  const expert = (model.experts?.intermediate ?? model.intermediateSize) / c.placement.tensor;
  return model.quantisation === 'mxfp4' && !(even(model.hiddenSize) && even(expert)) ? MXFP4_PADDING : exactly(1);
}

/** Embedding and output head, as a share of all weights. */
const embeddingShare = (model: Model, bytes: number): number =>
  Math.min(0.5, (2 * model.vocabSize * model.hiddenSize) / bytes);

/** Embeddings stay on the first and last stage; everything is divided by tensor parallelism. */
function stageShare({ stage, model, c }: StageInput, bytes: number): number {
  const { pipeline } = c.placement;
  if (pipeline === 1) {
    return 1;
  }
  const embedding = embeddingShare(model, bytes);
  const body = ((c.stages[stage] as number) / transformerLayers(model)) * (1 - 2 * embedding);
  return body + (stage === 0 ? embedding : 0) + (stage === pipeline - 1 ? embedding : 0);
}

/** `--dtype float32` doubles 16-bit weights; `--quantization fp8` halves all but the embeddings of 16-bit ones on loading. */
function castFactor({ model, settings }: StageInput, bytes: number): { factor: number; how: string } | undefined {
  if (model.quantisation !== undefined || model.dtype === 'float32') {
    return undefined;
  }
  if (settings.text('dtype') === 'float32' || settings.text('dtype') === 'float') {
    return { factor: 2, how: 'in 32 bit' };
  }
  if (settings.text('quantization') === 'bitsandbytes') {
    // NF4: 4 bits and an fp32 scale per 64; embeddings stay.
    const embedding = 2 * embeddingShare(model, bytes);
    return { factor: (1 - embedding) * (4.5 / 16) + embedding, how: 'quantised to 4 bits on loading' };
  }
  if (settings.text('quantization') === 'fp8') {
    return { factor: (1 + 2 * embeddingShare(model, bytes)) / 2, how: 'quantised to fp8 on loading' };
  }
  return undefined;
}

/**
 * What loads beside the checkpoint's own bytes.
 * Text models: 0–0.09 GiB in the allocator's segments (13 models). Tensor parallelism keeps norms, biases and small
 * projections whole and pads the vocabulary: Llama 3.1 8B loads 0.2 % above a half (TP 2) and 0.6 % above a quarter (TP 4),
 * V0 logs of two models 0.7 and 1.4 %. Multimodal models: 0.0–0.6 GiB more, usually 0.3 (Gemma 3 and 4, Kimi-VL, MiMo-VL,
 * Mistral Small); a tower that is not split leaves each GPU more than its share (Llama 4 Scout, TP 4).
 */
function besideCheckpoint({ model, c }: StageInput, bytes: number): Estimate {
  const { tensor } = c.placement;
  const segments = between(-0.01 * GiB, 0.02 * GiB, 0.1 * GiB);
  const kept = tensor > 1 ? between(0, 0.003 * bytes, 0.015 * bytes) : exactly(0);
  const tower = model.multimodal ? between(0, 0.25 * GiB, (0.65 + 2 * (1 - 1 / tensor)) * GiB) : exactly(0);
  return addEstimates(segments, kept, tower, absorbed(model, tensor));
}

/**
 * MLA keeps the matrices that expand a latent vector a second time, laid out for decoding: heads × (key + value
 * dimension, about 256) × rank of every layer. Source: vLLM 0.10, v1/attention/backends/mla/common.py :: process_weights_after_loading.
 */
function absorbed(model: Model, tensor: number): Estimate {
  const ranks = model.layers.reduce((sum, l) => sum + (l.kind === 'latent' ? l.headDim - (l.ropeDim ?? 0) : 0), 0);
  const bytes = (2 * model.attentionHeads * 256 * ranks) / tensor;
  return times(between(0, 1, 1.5), bytes);
}

interface Draft {
  readonly bytes: Estimate;
  readonly what: string;
}

/** What speculates stands on the last stage: a model of its own, or the checkpoint's MTP layers, which share its embeddings. */
function draftOf(input: StageInput): Draft | undefined {
  const { c, model } = input;
  const { tensor } = c.placement;
  const weights = c.draft?.weights;
  if (!isLastStage(input)) {
    return undefined;
  }
  if (weights) {
    const bytes = times(between(weights.low, weights.bytes, weights.high), 1 / tensor);
    return { bytes, what: `the draft model ${c.draft?.id}` };
  }
  const layers = c.layers.filter((l) => l.draft);
  return layers.length > 0 && c.speculation.draftModel === undefined && model.mtpLayers.length > 0
    ? { bytes: mtpBytes(model, layers, tensor), what: 'its MTP layers' }
    : undefined;
}

/**
 * Whole parameters leave the GPU, in order, until that many bytes have left it: the last one may overshoot. Only layers
 * do, embeddings stay. Source: vLLM 0.10, model_executor/models/utils.py :: maybe_offload_to_cpu.
 */
function offloaded(input: StageInput, onGpu: Estimate): Estimate {
  const { model, c, settings } = input;
  const asked = (settings.number('cpu-offload-gb') ?? 0) * GiB;
  if (asked <= 0) {
    return exactly(0);
  }
  const embedding = (2 * model.vocabSize * model.hiddenSize) / c.placement.tensor;
  const most = Math.max(0, onGpu.value - embedding);
  const parameter = (4 * model.intermediateSize * model.hiddenSize) / c.placement.tensor;
  const value = Math.min(asked, most);
  const low = Math.min(value, Math.max(0, onGpu.low - 2 * embedding));
  return between(low, value, Math.max(value, Math.min(value + parameter, onGpu.low)));
}

/**
 * Data-parallel ranks hold the experts between them, tensor- or expert-parallel over all their GPUs, and everything else
 * each for itself. Source: vLLM 0.28, docs/serving/data_parallel_deployment; distributed/parallel_state.py (EP group = DP × TP).
 * How many layers have experts is not in the catalogue: what attention, embeddings and shared experts leave is theirs.
 */
function expertSpread({ model, c }: StageInput): Estimate {
  const { data } = c.placement;
  if (!model.experts || data === 1 || !model.parameters) {
    return exactly(1);
  }
  const { experts, intermediate, sharedIntermediate } = model.experts;
  const { hiddenSize: H, vocabSize, attentionHeads, parameters } = model;
  const layers = transformerLayers(model);
  const attention = model.layers.reduce((sum, l) => sum + attentionParameters(l, H, attentionHeads), 0);
  const others = attention + 2 * vocabSize * H + layers * 3 * H * sharedIntermediate;
  const share = Math.max(0, Math.min((layers * experts * 3 * H * intermediate) / parameters, 1 - others / parameters));
  const left = (part: number) => 1 - part + part / data;
  return between(left(Math.min(1, 1.005 * share)), left(share), left(0.985 * share));
}

export function weightsTerm(input: StageInput): Term {
  const { stage, model, c } = input;
  const weights = model.weights as NonNullable<Model['weights']>;
  const { tensor, pipeline } = c.placement;
  const share = stageShare(input, weights.bytes);
  const cast = castFactor(input, weights.bytes);
  const spread = expertSpread(input);
  const checkpoint = between(weights.low, weights.bytes, weights.high);
  const undivided = times(checkpoint, (share / tensor) * (cast?.factor ?? 1));
  const plain = between(undivided.low * spread.low, undivided.value * spread.value, undivided.high * spread.high);
  const padded = paddingOf(input);
  const e = between(plain.low * padded.low, plain.value * padded.value, plain.high * padded.high);
  const draft = draftOf(input);
  const loaded = addEstimates(e, besideCheckpoint(input, e.value), draft?.bytes ?? exactly(0));
  const gone = offloaded(input, loaded);
  const lora = loraBytes(input);
  const stay = between(Math.max(0, loaded.low - gone.high), loaded.value - gone.value, loaded.high - gone.low);
  const estimate = whole(lora ? addEstimates(stay, lora) : stay);
  const tell = (): ReturnType<Term['tell']> => {
    const extras: readonly (readonly [symbol: string, number: string, when: boolean])[] = [
      [' × (1 − experts + experts ÷ data parallel)', ` × ${spread.value.toFixed(3)}`, spread.value !== 1],
      [' × padding', ` × ${padded.value}`, padded.value !== 1],
      [` × ${cast?.how}`, ` × ${cast?.factor.toFixed(2)}`, cast !== undefined],
      [` + ${draft?.what}`, ` + ${formatBytes(draft?.bytes.value ?? 0)}`, draft !== undefined],
      [' − cpu-offload-gb', ` − ${formatBytes(gone.value)}`, gone.value > 0],
      [
        ' + adapters × rank × (in + out) × 2 of every adapted matrix',
        ` + ${formatBytes(lora?.value ?? 0)}`,
        lora !== undefined,
      ],
    ];
    const shown = extras.filter(([, , when]) => when);
    const why = [
      weights.why,
      cast && `, ${cast.how}`,
      draft && ` and ${draft.what}`,
      tensor > 1 && `, over ${tensor} GPUs`,
      spread.value !== 1 && `, experts over ${c.placement.data} data-parallel ranks as well`,
      pipeline > 1 && `, stage ${stage + 1} of ${pipeline}`,
      gone.value > 0 && `, ${formatBytes(gone.value)} of them in host memory`,
      lora && ', and buffers of LoRA adapters',
    ];
    return {
      why: why.filter(Boolean).join(''),
      symbols: `weight bytes × share of this stage ÷ tensor parallel size${shown.map(([symbol]) => symbol).join('')}`,
      numbers: `${formatBytes(weights.bytes)} × ${share.toFixed(3)} ÷ ${tensor}${shown.map(([, number]) => number).join('')} = ${formatBytes(estimate.value)}`,
      origins: [{ kind: 'catalogue', text: weights.why }],
      source: 'vLLM, "Model loading took …" in public logs',
    };
  };
  return { estimate, tell };
}
