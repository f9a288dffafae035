/** Elements of one request's state, for engines that split it evenly over the tensor group. */
import type { StateShape } from '../model/model';

export interface StateElements {
  /** Channels that a convolution keeps its last inputs of, and how many inputs its kernel spans. */
  readonly channels: number;
  readonly kernel: number;
  readonly recurrent: number;
}

/** Undefined for shapes that are not known to be kept this way. */
export function stateElements(shape: StateShape): StateElements | undefined {
  switch (shape.type) {
    case 'mamba2': {
      const inner = shape.heads * shape.headDim;
      return {
        channels: inner + 2 * shape.groups * shape.stateSize,
        kernel: shape.conv,
        recurrent: inner * shape.stateSize,
      };
    }
    case 'gated-delta-net':
      return {
        channels: 2 * shape.keyHeads * shape.keyDim + shape.valueHeads * shape.valueDim,
        kernel: shape.conv,
        recurrent: shape.valueHeads * shape.valueDim * shape.keyDim,
      };
    default:
      return undefined;
  }
}
