/**
 * Peak of torch memory in the profile run, above the weights: the larger of the sampler's peak and the forward pass,
 * beside what stays (workspace of the experts, output of the encoder).
 * Fitted to the measured profiles in `test/truth/data/activations.json`; their sources are there.
 */
import type { KvLayer } from '../../model/model';
import { addEstimates, between, type Estimate, exactly, formatBytes, GiB, MiB, withCommas } from '../../units';
import { usesChunkedPrefill } from './batch';
import { budgetRules } from './budget-rules';
import {
  isLastStage,
  larger,
  type Part,
  PROFILES,
  profilesEncoder,
  type StageInput,
  spread,
  type Term,
  type Told,
  times,
  whole,
} from './budget-terms';

const rulesFor = ({ c }: StageInput) => budgetRules(c.version.text, c.rules.core);

const NONE: Part = { estimate: exactly(0), tell: () => ({ why: '', symbols: '', numbers: '' }) };

export function activationsTerm(input: StageInput): Term {
  const sampler = samplerPart(input);
  const forward = forwardPart(input);
  const encoder = encoderPart(input);
  const main = [forward, encoder].reduce((a, b) => (b.estimate.value > a.estimate.value ? b : a), sampler);
  const stays = [workspacePart(input), encoderOutput(input)].filter((p) => p.estimate.high > 0);
  const peak = larger(larger(sampler.estimate, forward.estimate), encoder.estimate);
  // The caching allocator rounds up to its segments.
  const rounding = between(0, 0, 48 * MiB);
  const estimate = whole(addEstimates(peak, rounding, ...stays.map((p) => p.estimate)));
  const parts = [main, ...stays];
  return { estimate, tell: () => toldTogether(parts, estimate) };
}

function toldTogether(parts: readonly Part[], estimate: Estimate): ReturnType<Term['tell']> {
  const told = parts.map((p) => p.tell());
  return {
    why: told.map((t) => t.why).join(', and '),
    symbols: told.map((t) => t.symbols).join(' + '),
    numbers: `${told.map((t) => t.numbers).join(' + ')} = ${formatBytes(estimate.value)}`,
    origins: [{ kind: 'estimate', text: `${spread(estimate)}: fitted to measured profile runs` }],
    source: PROFILES,
  };
}

/** One row of logits for each sequence. */
const sampledRows = ({ c }: StageInput): number => Math.min(c.maxSequences ?? c.batchTokens, c.batchTokens);

/**
 * k·B·V·4 + T·H·2: logits, their copies in fp32, sorted and masked; V padded to 64, not divided by tensor parallelism, as
 * logits are gathered. k measured on 17 dense models since 0.17: 3.67–3.74 (3.9 where V is small); before, on 6: 9.56–9.64.
 * V0 samples on the driver only, and with chunked prefill not at all in its profile (vllm-project/vllm#10517, #13061).
 */
function samplerPart(input: StageInput): Part {
  const { model, c } = input;
  if (!isLastStage(input)) {
    return NONE;
  }
  const v0 = c.rules.core === 'V0';
  if (v0 && usesChunkedPrefill(input.settings, c.rules, c.maxLength)) {
    return NONE;
  }
  const T = c.batchTokens;
  const B = sampledRows(input);
  const V = Math.ceil(model.vocabSize / 64) * 64;
  const k = rulesFor(input).samplerFactor;
  const value = k * B * V * 4 + T * model.hiddenSize * 2;
  const low = v0 && c.placement.tensor > 1 ? 0 : 0.97 * value;
  return {
    estimate: between(low, value, 1.05 * value),
    tell: () => ({
      why: `the sampler’s peak over ${withCommas(T)} tokens and ${withCommas(B)} sequences`,
      symbols: 'k × B × V × 4 + T × H × 2',
      numbers: `${k} × ${B} × ${V} × 4 + ${T} × ${model.hiddenSize} × 2`,
    }),
  };
}

/**
 * One layer's tensors. Compiled (V1): 2T·(3·I/tp + 4.25·H), exact on Granite 3.1 8B and CodeLlama 7B, 5 % low where a
 * stage passes its output on (2·2T·H). V0, not compiled: 2T·(3·I/tp + 2·H), the tensors alive at the MLP's end (a log of
 * Llama 3.1 8B, vllm-project/vllm#10517); attention without FlashAttention copies more.
 * Linear attention keeps about 16 tensors of its inner width (queries, keys, values, gates in fp32, products of chunks).
 */
function forwardPart(input: StageInput): Part {
  const { model, c } = input;
  const T = c.batchTokens;
  const H = model.hiddenSize;
  const { tensor } = c.placement;
  const v0 = c.rules.core === 'V0';
  const state = stateWidth(input);
  const mlp = model.experts
    ? Math.max(transientExperts(input) / T, (3 * model.experts.sharedIntermediate) / tensor)
    : (3 * model.intermediateSize) / tensor;
  const inner = Math.max(mlp, (16 * state) / tensor);
  const hidden = v0 ? 2 : model.experts ? 6 : 4.25;
  const passed = isLastStage(input) ? 0 : 2;
  const value = 2 * T * (inner + (hidden + passed) * H);
  const [low, high] = state > 0 ? [0.6, 1.4] : model.experts ? [0.8, 1.3] : v0 ? [0.85, 1.5] : [0.92, 1.15];
  const symbols = () => `2T × (${state > 0 ? 'max(3I, 16 × state width)' : '3I'} ÷ tp + ${hidden + passed}H)`;
  return {
    estimate: between(low * value, value, high * value),
    tell: () => ({
      why: `one layer’s forward pass over ${withCommas(T)} tokens`,
      symbols: symbols(),
      numbers: `2 × ${T} × (${Math.round(inner)} + ${hidden + passed} × ${H})`,
    }),
  };
}

/** Width of what recurrent layers compute with: heads × head dimension. 0 without such layers. */
function stateWidth({ model }: StageInput): number {
  let widest = 0;
  for (const layer of model.layers) {
    widest = layer.state ? Math.max(widest, widthOf(layer)) : widest;
  }
  return widest;
}

function widthOf({ state }: KvLayer): number {
  switch (state?.type) {
    case 'gated-delta-net':
      return state.valueHeads * state.valueDim;
    case 'mamba2':
    case 'kda':
    case 'linear':
      return state.heads * state.headDim;
    case 'mamba1':
      return state.inner / 4;
    default:
      return 0;
  }
}

const told = (why: string, symbols: string, numbers: string): Told => ({ why, symbols, numbers });

/** Tokens that the expert kernel takes at once; more are cut into chunks. Source: vLLM 0.10, envs.py :: VLLM_FUSED_MOE_CHUNK_SIZE. */
const EXPERT_CHUNK = 32768;

/** Elements of the two buffers between the expert matrices, of each routed copy of a token. */
function expertBuffers(input: StageInput): readonly [up: number, down: number] {
  const { model, c } = input;
  const width = (model.experts?.intermediate ?? 0) / c.placement.tensor;
  return rulesFor(input).expertWorkspace
    ? [Math.max(2 * width, model.hiddenSize), Math.max(width, model.hiddenSize)]
    : [Math.max(2 * width, model.hiddenSize), width];
}

/** Before the workspace those buffers came and went with the forward pass. Elements. */
function transientExperts(input: StageInput): number {
  const { model, c } = input;
  if (!model.experts || rulesFor(input).expertWorkspace) {
    return 0;
  }
  const [up, down] = expertBuffers(input);
  return Math.min(c.batchTokens, EXPERT_CHUNK) * model.experts.expertsPerToken * (up + down);
}

/**
 * The workspace of the experts is made in the forward pass and kept, so it lies under the sampler's peak too:
 * 2T·top-k·(max(2I/tp, H) + max(I/tp, H)). Measured above the sampler on 0.19: Qwen3-30B-A3B 0.50, Qwen1.5-MoE 0.29,
 * DeepSeek-V2-Lite 0.45, Mixtral TP 2 0.70 GiB; computed 0.50, 0.30, 0.45, 0.66. Not there on 0.10.2 (Qwen3-Next).
 * Triton's MXFP4 kernel needs none (gpt-oss on H100), Marlin does.
 */
function workspacePart(input: StageInput): Part {
  const { model, c } = input;
  if (!model.experts || !rulesFor(input).expertWorkspace) {
    return NONE;
  }
  const [up, down] = expertBuffers(input);
  const T = Math.min(c.batchTokens, EXPERT_CHUNK);
  const value = 2 * T * model.experts.expertsPerToken * (up + down);
  const { expertsPerToken } = model.experts;
  const shown = (): Told =>
    told(
      'the experts’ workspace',
      '2T × top-k × (max(2I ÷ tp, H) + max(I ÷ tp, H))',
      `2 × ${T} × ${expertsPerToken} × (${up} + ${down})`,
    );
  if (model.quantisation === 'mxfp4') {
    return {
      estimate: times(between(0, 0.5, 1), value),
      tell: () =>
        told(
          `half of ${shown().why}: some MXFP4 kernels need none`,
          `½ × ${shown().symbols}`,
          `½ × ${shown().numbers}`,
        ),
    };
  }
  return { estimate: times(between(0.85, 1, 1.15), value), tell: shown };
}

/**
 * The encoder runs over as many items as a batch takes, or over the largest one. Its shape is not in the catalogue. The
 * largest image of Qwen2.5-VL and Qwen3-VL (65,536 patches) takes 1.9 and 1.7 GiB by the dense formula; encoders with
 * small images (Gemma 3, Pixtral) much less. V0 fills its whole batch with items (4.9 GiB in a log of Qwen2.5-VL 7B), and
 * profiles one for every sequence where the decoder attends to the encoder (0.29 GiB each, vllm-project/vllm#12126).
 */
function encoderPart(input: StageInput): Part {
  if (!profilesEncoder(input)) {
    return NONE;
  }
  const { model, c } = input;
  const v0 = c.rules.core === 'V0';
  const each = v0 && model.layers.some((l) => l.kind === 'cross') ? sampledRows(input) : 0;
  const one = v0 ? between(0, 2 * GiB, 5 * GiB) : between(0, 1 * GiB, 2.2 * GiB);
  const estimate = larger(one, times(between(0.1, 0.25, 0.35), each * GiB));
  return {
    estimate,
    tell: () => ({
      why: 'the multimodal encoder’s pass over its largest input',
      symbols: 'encoder’s peak',
      numbers: formatBytes(estimate.value),
    }),
  };
}

/**
 * The encoder's output waits in its cache while the decoder is profiled: T·H·2, and small tensors beside it. Above the
 * sampler and the workspace on 0.19: 0.02–0.12 GiB beyond T·H·2 (eight models; Mistral Small w8a8 0.17, MiMo-VL 0.22).
 */
function encoderOutput(input: StageInput): Part {
  if (!profilesEncoder(input)) {
    return NONE;
  }
  const { model, c } = input;
  const output = c.batchTokens * model.hiddenSize * 2;
  return {
    estimate: between(0, output + 0.08 * GiB, output + 0.25 * GiB),
    tell: () => ({
      why: 'the encoder’s output',
      symbols: 'T × H × 2 + 0.08 GiB',
      numbers: `${c.batchTokens} × ${model.hiddenSize} × 2 + 0.08 GiB`,
    }),
  };
}
