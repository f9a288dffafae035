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
 * Logits of one micro-batch and a few hidden states; without flash attention the scores of one layer.
 * In logs: llama 7B at 512 cells 70.5 MiB (logits 62.5), codellama 13B at 16,384 cells 1352 (scores 1280, mask 32).
 */
function computeTerm({ model, spec, sizes }: MemoryInput): Term {
  const { context } = sizes;
  const cells = context.streams === 1 ? context.tokens : context.tokensPerSequence;
  const tokens = context.microBatch;
  const logits = 4 * tokens * model.vocabSize;
  const scores = spec.flash ? 0 : 4 * tokens * cells * model.attentionHeads;
  const mask = (spec.flash ? 2 : 4) * tokens * cells;
  const hidden = 4 * tokens * model.hiddenSize;
  const least = Math.max(logits, scores) + hidden;
  const estimate = round(between(least, least + mask + 3 * hidden, 1.4 * (least + mask) + 12 * hidden + 64 * MiB));
  return {
    estimate,
    why: spec.flash
      ? 'compute buffer: logits of one micro-batch, and hidden states'
      : 'compute buffer: without flash attention the scores of one layer, or the logits',
    symbols: spec.flash
      ? '4 × micro-batch × vocabulary + mask + hidden states'
      : 'max(4 × micro-batch × vocabulary, 4 × micro-batch × cells × heads) + mask + hidden states',
    numbers: `micro-batch ${tokens}, vocabulary ${model.vocabSize}: ${formatBytes(estimate.value)}`,
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
