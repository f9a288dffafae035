/**
 * What state layers (Mamba, linear attention) keep of one request, and the block they force on attention layers.
 * Source: vLLM 0.28, model_executor/layers/mamba/mamba_utils.py; platforms/interface.py :: _align_hybrid_block_size;
 * checked against the engine's own code and the block sizes of public logs (Qwen3-Next, Qwen3.5, Qwen3.6).
 */
import type { Model, StateShape } from '../../model/model';
import { ceilDiv } from '../../units';
import { isLatent } from './backend';
import { runtimeDtype } from './dtypes';
import type { Settings } from './settings';
import type { VllmRules } from './versions';

/** How states are kept for prefix caching: not, at block edges (one more than the running one), or one per block. */
export type StateMode = 'none' | 'align' | 'all';

export interface StateRules {
  readonly mode: StateMode;
  readonly convBytes: number;
  readonly recurrentBytes: number;
  /** Tokens guessed ahead: wider convolutions, one more state each. */
  readonly ahead: number;
}

const BYTES = { float32: 4, float16: 2, bfloat16: 2 } as const;

export function stateRules(model: Model, settings: Settings, rules: VllmRules, ahead: number): StateRules {
  const own = runtimeDtype(settings.text('dtype'), model.dtype);
  const conv = dtypeOf(settings.text('mamba-cache-dtype')) ?? own;
  const recurrent = dtypeOf(settings.text('mamba-ssm-cache-dtype')) ?? model.stateDtype ?? conv;
  return { mode: modeOf(settings, rules), convBytes: BYTES[conv], recurrentBytes: BYTES[recurrent], ahead };
}

const dtypeOf = (text: string | undefined) =>
  text === undefined || text === 'auto' ? undefined : runtimeDtype(text, 'bfloat16');

function modeOf(settings: Settings, rules: VllmRules): StateMode {
  const cached = settings.flag('enable-prefix-caching') ?? rules.cachesStatesByDefault;
  if (!cached) {
    return 'none';
  }
  const asked = settings.text('mamba-cache-mode');
  if (asked === 'none' || asked === 'align' || asked === 'all') {
    return asked;
  }
  return rules.alignsStates ? 'align' : 'all';
}

/** Bytes of one state on one GPU. */
export function stateBytes(shape: StateShape, tensor: number, r: StateRules): number {
  const width = 'conv' in shape ? shape.conv - 1 : 0;
  const conv = (elements: number, taps = width) => (elements / tensor) * taps * r.convBytes;
  const recurrent = (elements: number) => (elements / tensor) * r.recurrentBytes;
  switch (shape.type) {
    case 'mamba1':
      return conv(shape.inner) + recurrent(shape.inner * shape.stateSize);
    case 'mamba2': {
      const groups = ceilDiv(shape.groups, tensor) * tensor;
      const inner = shape.heads * shape.headDim;
      return conv(inner + 2 * groups * shape.stateSize, width + r.ahead) + recurrent(inner * shape.stateSize);
    }
    case 'gated-delta-net': {
      const { keyHeads, keyDim, valueHeads, valueDim } = shape;
      return (
        conv(2 * keyDim * keyHeads + valueDim * valueHeads, width + r.ahead) + recurrent(valueHeads * valueDim * keyDim)
      );
    }
    case 'kda':
      // Convolutions of q, k and v; the state is always fp32.
      return conv(3 * shape.heads * shape.headDim) + (shape.heads / tensor) * shape.headDim ** 2 * BYTES.float32;
    case 'short-conv':
      return conv(shape.dim);
    case 'linear':
      return recurrent(shape.heads * shape.headDim ** 2);
  }
}

/** States a running request holds in each group of state layers. */
export function statesHeld(r: StateRules, tokens: number, blockSize: number): number {
  switch (r.mode) {
    case 'none':
      return 1 + r.ahead;
    case 'align':
      return 2 + r.ahead;
    case 'all':
      return ceilDiv(tokens, blockSize) + r.ahead;
  }
}

/** Smallest kernel block that an inflated block must be a multiple of. */
const KERNEL_BLOCK = 16;
const LATENT_KERNEL_BLOCK = 128;

/** The block at which one attention layer's page holds a whole state. `tokenBytes`: of one attention layer on this GPU. */
export function alignedBlock(model: Model, block: number, tokenBytes: number, state: number): number {
  const kernel = Math.max(isLatent(model) ? LATENT_KERNEL_BLOCK : KERNEL_BLOCK, block);
  return Math.max(block, kernel * ceilDiv(state, kernel * tokenBytes));
}
