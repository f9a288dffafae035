/**
 * What a GPU's memory holds beside the caches. Weights of a GGUF file are exact; the compute buffer and what the driver
 * takes are estimates, fitted to the “compute buffer size” lines of public logs (ggml-org/llama.cpp issues 5134–14670).
 */
import type { Given, Hardware } from '../engines/engine';
import type { Model } from '../model/model';
import { addEstimates, between, type Estimate, exactly, formatBytes, GiB, MiB, subtractEstimates } from '../units';
import { HOST, type Split } from './devices';
import type { ContextSpec, Sizes } from './sizes';

export interface MemoryInput {
  readonly model: Model;
  readonly spec: ContextSpec;
  readonly sizes: Sizes;
  readonly split: Split;
  readonly hardware: Hardware;
  readonly given: Given;
  readonly device: number;
  /** Bytes that must stay free: experts of a mixture make room for them. */
  readonly keep?: number;
}

export interface Term {
  readonly estimate: Estimate;
  readonly why: string;
  readonly symbols: string;
  readonly numbers: string;
}

export interface Terms {
  readonly weights: Term;
  readonly compute: Term;
  readonly other: Term;
  /** What these leave of the GPU. */
  readonly left: Estimate;
}

/** Undefined where the weights are not known. */
export function termsOf(input: MemoryInput): Terms | undefined {
  const { given, hardware, model } = input;
  const weights = given.weights === undefined ? weightsTerm(input) : stated(given.weights);
  if (!weights || !model) {
    return undefined;
  }
  const compute = given.activations === undefined ? computeTerm(input) : stated(given.activations);
  const other = given.other === undefined ? otherTerm(input) : stated(given.other);
  const fitting = input.keep === undefined ? weights : yielding(weights, input, compute, other);
  const used = addEstimates(fitting.estimate, compute.estimate, other.estimate);
  const left = subtractEstimates(hardware.memory, used);
  return {
    weights: fitting,
    compute,
    other,
    left: between(Math.floor(left.low), Math.floor(left.value), Math.floor(left.high)),
  };
}

/** Weights that fit beside all else; the others stay on the host. */
function yielding(weights: Term, { hardware, keep = 0 }: MemoryInput, compute: Term, other: Term): Term {
  const most = Math.max(0, hardware.memory.value - compute.estimate.value - other.estimate.value - keep);
  const { low, value, high } = weights.estimate;
  return value <= most
    ? weights
    : {
        ...weights,
        estimate: round(between(Math.min(low, most), most, Math.min(high, most))),
        why: `what fits: experts beyond it stay in the host’s memory (all together ${formatBytes(value)})`,
      };
}

const stated = (bytes: number): Term => ({
  estimate: exactly(bytes),
  why: 'given',
  symbols: 'given',
  numbers: formatBytes(bytes),
});

const round = (e: Estimate): Estimate => between(Math.round(e.low), Math.round(e.value), Math.round(e.high));

function weightsTerm({ model, split, device }: MemoryInput): Term | undefined {
  const { weights, gguf } = model;
  if (!weights) {
    return undefined;
  }
  const layers = Array.from({ length: split.layers }, (_, i) => i);
  const own = layers.filter((i) => split.weightsOn(i) === device);
  const isLast = device === split.shares.length - 1 && split.offloaded > split.layers;
  if (gguf) {
    const inLayers = gguf.layerBytes.reduce((a, b) => a + b, 0);
    const rest = weights.bytes - inLayers - gguf.inputBytes;
    // Where the output is the embedding, the GPU holds a copy of it.
    const output = rest * 2 < gguf.inputBytes ? rest + gguf.inputBytes : rest;
    const bytes =
      own.reduce((total, i) => total + (gguf.layerBytes[i] ?? 0), 0) +
      (isLast ? output : 0) +
      (device === HOST ? gguf.inputBytes : 0);
    return {
      estimate: exactly(bytes),
      why: `${own.length} of ${split.layers} layers${isLast ? ' and the output' : ''}, from the file’s tensor table`,
      symbols: 'Σ tensors on this device',
      numbers: formatBytes(bytes),
    };
  }
  const share = own.length / split.layers;
  const embedding = model.parameters ? (model.vocabSize * model.hiddenSize * weights.bytes) / model.parameters : 0;
  const of = (bytes: number, beside: number) => (bytes - embedding) * share + beside;
  const beside = isLast ? embedding : 0;
  const estimate = round(
    between(Math.max(0, of(weights.low, 0) + beside / 2), of(weights.bytes, beside), of(weights.high, beside)),
  );
  return {
    estimate,
    why: `${own.length} of ${split.layers} layers: ${weights.why}; the input embedding stays on the host`,
    symbols: 'weights × layers on this device ÷ layers',
    numbers: `${formatBytes(weights.bytes)} × ${own.length} ÷ ${split.layers} = ${formatBytes(estimate.value)}`,
  };
}

/**
 * The largest of three moments: logits of one micro-batch (on the last device), scores of one layer where there is no flash
 * attention, the feed-forward. In logs to the hundredth of a MiB: llama 7B 296.0 at 4,096 cells and 2144.0 at 32,768,
 * codellama 13B 1352.0 at 16,384 (scores), Llama 3.1 8B 258.5 (logits). Above it: backends that keep logits twice, masks in
 * two formats, MLA's absorbed queries (3253 MiB for DeepSeek-R1 at 32,768 cells).
 */
function computeTerm({ model, spec, sizes, split, device }: MemoryInput): Term {
  const { context } = sizes;
  const cells = context.streams === 1 ? context.tokens : context.tokensPerSequence;
  const tokens = context.microBatch;
  const isLast = device === split.shares.length - 1 || device === HOST;
  const hidden = 4 * tokens * model.hiddenSize;
  const logits = isLast ? 4 * tokens * model.vocabSize + hidden : 0;
  const everyHead = 4 * tokens * cells * model.attentionHeads;
  const mask = (spec.flash ? 2 : 4) * tokens * cells;
  const scores = spec.flash ? mask : everyHead + mask + 4 * hidden;
  const forward = 3 * 4 * tokens * (model.experts?.intermediate ?? model.intermediateSize) + hidden;
  const value = Math.max(logits, scores, forward);
  const latent = model.layers.some((l) => l.kind === 'latent') ? 0.4 * everyHead : 0;
  const high = 1.6 * value + (spec.flash ? 3.3 * mask : 0) + 12 * hidden + latent + 64 * MiB;
  const estimate = round(between(0.95 * value, value, high));
  return {
    estimate,
    why: spec.flash
      ? 'compute buffer: logits of one micro-batch, or the feed-forward'
      : 'compute buffer: without flash attention the scores of one layer, or the logits',
    symbols: spec.flash
      ? 'max(4 × micro-batch × vocabulary, 12 × micro-batch × feed-forward) + hidden state'
      : 'max(4 × micro-batch × vocabulary, 4 × micro-batch × cells × heads + mask) + hidden states',
    numbers: `micro-batch ${tokens}, vocabulary ${model.vocabSize}, ${cells} cells: ${formatBytes(value)}`,
  };
}

/** The driver's context, kernels and the workspaces of matrix libraries. */
function otherTerm({ device }: MemoryInput): Term {
  const estimate = device === HOST ? exactly(0) : round(between(0.25 * GiB, 0.45 * GiB, 0.9 * GiB));
  return {
    estimate,
    why: 'driver context, kernels and workspaces: not free when llama.cpp starts, or taken outside its buffers',
    symbols: 'measured range',
    numbers: formatBytes(estimate.value),
  };
}
