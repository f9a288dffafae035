/**
 * What state layers keep of one request, and how many slots a request takes.
 * Source: SGLang 0.5.18, srt/configs/mamba_utils.py, srt/mem_cache/kv_cache_configurator.py; checked against the engine's own code.
 */
import type { Model, StateShape } from '../../model/model';
import { ceilDiv } from '../../units';
import { isCompressed, runtimeDtype } from './backend';
import type { Settings } from './settings';
import type { SglangRules } from './versions';

const BYTES = { float32: 4, float16: 2, bfloat16: 2 } as const;

export interface StateRules {
  readonly convBytes: number;
  readonly recurrentBytes: number;
  /** Slots that each running request may take: its own, and those of states kept for prefixes. */
  readonly slotsPerRequest: number;
  readonly strategy: string;
  /** Bytes for states for each byte of full attention. */
  readonly ratio: number;
  /** Slots that the launch states. */
  readonly slots?: number;
}

/** Architectures that keep states in an extra buffer by default. */
const BUFFERED = /^(Qwen3Next|Qwen3_5|KimiLinear|NemotronH|BailingMoe)/;

export function stateRules(model: Model, settings: Settings, rules: SglangRules, dpAttention: number): StateRules {
  const recurrent = settings.text('mamba-ssm-dtype');
  const written = settings.text('mamba-radix-cache-strategy') ?? 'auto';
  const byDefault = BUFFERED.test(model.architecture) ? rules.stateStrategy : 'no_buffer';
  const strategy = written === 'auto' ? byDefault : written;
  const slots = settings.number('max-mamba-cache-size');
  return {
    convBytes: BYTES.bfloat16,
    recurrentBytes: BYTES[recurrent ? runtimeDtype(recurrent, 'float32') : (model.stateDtype ?? 'float32')],
    slotsPerRequest: isCompressed(model) ? 1 : slotsPerRequest(settings, strategy),
    strategy: settings.flag('disable-radix-cache') ? 'no prefix cache' : strategy,
    ratio: settings.number('mamba-full-memory-ratio') ?? 0.9,
    slots: slots === undefined ? undefined : Math.floor(slots / dpAttention),
  };
}

function slotsPerRequest(settings: Settings, strategy: string): number {
  if (settings.flag('disable-radix-cache')) {
    return 1;
  }
  if (strategy === 'no_buffer') {
    return 3;
  }
  return strategy === 'extra_buffer_lazy' || settings.flag('disable-overlap-schedule') ? 4 : 5;
}

/** Bytes of one layer's state on one GPU. */
export function stateBytes(shape: StateShape, tensor: number, r: StateRules): { conv: number; recurrent: number } {
  const taps = 'conv' in shape ? shape.conv - 1 : 0;
  const conv = (elements: number) => (elements / tensor) * taps * r.convBytes;
  const recurrent = (elements: number) => (elements / tensor) * r.recurrentBytes;
  switch (shape.type) {
    case 'mamba2': {
      const groups = ceilDiv(shape.groups, tensor) * tensor;
      const inner = shape.heads * shape.headDim;
      return { conv: conv(inner + 2 * groups * shape.stateSize), recurrent: recurrent(inner * shape.stateSize) };
    }
    case 'gated-delta-net': {
      const { keyHeads, keyDim, valueHeads, valueDim } = shape;
      return {
        conv: conv(2 * keyDim * keyHeads + valueDim * valueHeads),
        recurrent: recurrent(valueHeads * valueDim * keyDim),
      };
    }
    case 'kda':
      return { conv: conv(3 * shape.heads * shape.headDim), recurrent: recurrent(shape.heads * shape.headDim ** 2) };
    case 'short-conv':
      return { conv: conv(shape.dim), recurrent: 0 };
    case 'linear':
      return { conv: 0, recurrent: recurrent(shape.heads * shape.headDim ** 2) };
    case 'mamba1':
      return { conv: conv(shape.inner), recurrent: recurrent(shape.inner * shape.stateSize) };
  }
}
