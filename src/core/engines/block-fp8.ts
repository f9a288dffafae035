/**
 * Weights that are quantised to FP8 in squares: a GPU's share of them must be whole squares, or the engine stops while
 * it makes them. Sources: vLLM, model_executor/layers/quantization/fp8.py :: create_weights, utils/fp8_utils.py ::
 * validate_fp8_block_shape (#17569, #25292, #48173, and #54178 on 0.28); SGLang 0.5.18, srt/layers/quantization/fp8.py, the same.
 */
import type { Model } from '../model/model';

/** Side of a square in every published checkpoint: `weight_block_size` [128, 128]. */
const SQUARE = 128;

/** GPUs that one matrix of each kind is divided over. */
export interface Division {
  readonly dense: number;
  readonly shared: number;
  readonly expert: number;
}

export interface BadShare {
  /** `experts` of width 1536 over 8 GPUs: 192 each. */
  readonly of: string;
  readonly width: number;
  readonly over: number;
  readonly share: number;
}

const KINDS: readonly (readonly [kind: keyof Division, of: string, width: (model: Model) => number])[] = [
  ['dense', 'MLPs', ({ intermediateSize, experts }) => (experts ? 0 : intermediateSize)],
  ['expert', 'experts', ({ experts }) => experts?.intermediate ?? 0],
  ['shared', 'shared experts', ({ experts }) => experts?.sharedIntermediate ?? 0],
];

/** The first matrix of which a GPU would get a part of a square; attention is left to the engine. */
export function badShare(model: Model, division: Division): BadShare | undefined {
  if (model.quantisation !== 'fp8-block') {
    return undefined;
  }
  const [kind, of, widthOf] =
    KINDS.find(([kind, , width]) => division[kind] > 1 && (width(model) / division[kind]) % SQUARE !== 0) ?? [];
  if (kind === undefined || of === undefined || widthOf === undefined) {
    return undefined;
  }
  const width = widthOf(model);
  return { of, width, over: division[kind], share: Math.floor(width / division[kind]) };
}

/** Largest tensor group below this one with which every share is whole squares, and heads divide. */
export function fittingTensor(model: Model, tensor: number, divide: (tensor: number) => Division): number | undefined {
  for (let t = tensor - 1; t >= 1; t--) {
    if (tensor % t === 0 && model.attentionHeads % t === 0 && badShare(model, divide(t)) === undefined) {
      return t;
    }
  }
  return undefined;
}

export const badShareMessage = ({ of, width, over, share }: BadShare): string =>
  `The weights are quantised in squares of ${SQUARE} × ${SQUARE}, and ${over} GPUs divide the ${width} columns of ${of} into ${share} each: “${share} is not divisible by weight quantization block_n = ${SQUARE}.”`;
