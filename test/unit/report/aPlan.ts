/** A plan made by hand: Llama 3.1 70B on eight H100s, 54,375,000,000 bytes of KV per GPU. Parts can be replaced. */
import type { Budget, Layout, Pool } from '../../../src/core/engines/engine';
import { type Explanation, type Figure, figure, type Unit } from '../../../src/core/figure';
import type { KvLayer, Model } from '../../../src/core/model/model';
import { between, exactly } from '../../../src/core/units';
import type { LaunchOption } from '../../../src/launch/launch';
import type { Plan } from '../../../src/planner';

export const TEXT = [
  'services:',
  '  llama:',
  '    image: vllm/vllm-openai:v0.28.0',
  '    command: --model meta-llama/Llama-3.1-70B-Instruct --max-model-len 8192 -tp 8',
  '',
].join('\n');

export const FILE = 'compose.yaml';

const rangeOf = (words: string) => {
  const start = TEXT.indexOf(words);
  return { start, end: start + words.length };
};

function aFigure(value: number, unit: Unit, explanation: Partial<Explanation> = {}, extra = {}): Figure {
  return figure(value, unit, () => ({ symbols: 'a × b', numbers: `= ${value}`, origins: [], ...explanation }), extra);
}

const perGpu = { scope: 'per GPU' } as const;

const layer: KvLayer = { kind: 'full', kvHeads: 8, headDim: 128, valueDim: 128 };

export const aModel: Model = {
  id: 'meta-llama/Llama-3.1-70B-Instruct',
  source: { kind: 'catalogue', text: 'catalogue: meta-llama/llama-models@0e0b8c5:sku_list.py' },
  architecture: 'LlamaForCausalLM',
  layers: Array.from({ length: 80 }, () => layer),
  mtpLayers: [],
  attentionHeads: 64,
  kvHeads: 8,
  hiddenSize: 8192,
  intermediateSize: 28672,
  vocabSize: 128256,
  dtype: 'bfloat16',
  parameters: 70553706496,
  weights: { bytes: 141107412992, low: 141107412992, high: 141107412992, why: 'safetensors sizes' },
  multimodal: false,
};

export const aLayout: Layout = {
  allocator: 'blocks',
  dtype: { key: 'auto', value: 'bfloat16' },
  blockSize: 16,
  tokensPerSlot: 1,
  groups: [{ kind: 'full', layers: 80, dtype: 'bfloat16', blockSize: 16, bytesPerBlock: 655360 }],
  ranks: [{ stage: 0, layers: 80, bytesPerToken: 40960, fixedBytes: 0, bytesPerBlock: 655360 }],
  decidingRank: 0,
  bytesPerToken: aFigure(
    40960,
    'bytes',
    {
      symbols: '2 × layers × KV heads per GPU × head dim × bytes',
      numbers: '2 × 80 × 1 × 128 × 2 = 40,960',
      source: 'vLLM 0.28 v1/kv_cache_interface.py',
      origins: [{ kind: 'file', text: 'line 4', line: 4 }],
    },
    perGpu,
  ),
  bytesPerTokenTotal: aFigure(
    327680,
    'bytes',
    { numbers: '2 × 80 × 8 × 128 × 2 = 327,680' },
    { scope: 'whole deployment' },
  ),
  fixedBytes: aFigure(0, 'bytes', {}, perGpu),
  bytesPerBlock: aFigure(655360, 'bytes', { numbers: '40,960 × 16 = 655,360' }, perGpu),
  groupBlocks: (tokens) => [Math.ceil(tokens / 16)],
  payload: (tokens) => tokens * 40960,
  wholePayload: (tokens) => tokens * 327680,
  hold: (tokens) => {
    const blocks = Math.ceil(tokens / 16);
    const tail = blocks * 655360 - tokens * 40960;
    return { blocks, reserved: blocks * 655360, payload: tokens * 40960, tail, padding: 0, reservation: 0 };
  },
  ofRank: () => aLayout,
  findings: [],
};

const aPool: Pool = {
  bytes: aFigure(54375000000, 'bytes', {}, perGpu),
  blocks: aFigure(82969, 'blocks', { numbers: 'floor(54,375,000,000 ÷ 655,360) = 82,969' }),
  usableBlocks: 82968,
  ranks: [{ kvBytes: 54375000000, blocks: 82969 }],
  decidingRank: 0,
  logged: {
    tokens: aFigure(1327504, 'tokens'),
    maxConcurrency: aFigure(162.048828125, 'count'),
    lines: ['GPU KV cache size: 1,327,504 tokens, Maximum concurrency for 8,192 tokens per request: 162.05x'],
  },
};

const term = (value: number, low = value, high = value) => ({
  figure: aFigure(value, 'bytes', {}, { ...perGpu, range: between(low, value, high) }),
  why: low === high ? 'checkpoint bytes ÷ tensor parallel' : 'profile of 8,192 tokens',
});

const aBudget: Budget = {
  ranks: [between(55725685389, 56164078143, 56433059401)],
  decidingRank: 0,
  total: aFigure(85028634624, 'bytes', {}, perGpu),
  limit: aFigure(78226343855, 'bytes', {}, perGpu),
  weights: term(17638426624),
  activations: term(2115294167, 1900000000, 2500000000.5),
  graphs: term(0),
  other: term(2308544921, 2254857830, 2362232012),
  kv: term(56164078143, 55725685389, 56433059401),
};

const aCapacity: NonNullable<Plan['capacity']> = {
  maxLength: 8192,
  longestContext: aFigure(131072, 'tokens'),
  workload: { prompt: 600, output: 250 },
  contiguous: {
    requests: aFigure(162, 'requests'),
    bytesPerRequest: aFigure(335544320, 'bytes', {}, perGpu),
    usedShare: aFigure(850 / 8192, 'share'),
    waste: {
      pool: 54375000000,
      payload: 5640192000,
      tail: 0,
      padding: 0,
      reservation: 48717987840,
      fragmentation: 16820160,
    },
  },
  paged: {
    requests: aFigure(1536, 'requests'),
    bytesPerRequest: aFigure(35389440, 'bytes', {}, perGpu),
    usedShare: aFigure(850 / 864, 'share'),
    blocksPerRequest: aFigure(54, 'blocks'),
    tailTokens: aFigure(14, 'tokens'),
    requestsAtMaxLength: aFigure(162, 'requests'),
    requestsPerGiB: aFigure(1638 / 54, 'requests'),
    waste: {
      pool: 54375000000,
      payload: 53477376000,
      tail: 880803840,
      padding: 0,
      reservation: 0,
      fragmentation: 16820160,
    },
  },
  steadyState: aFigure(1820, 'requests'),
  engineLimit: aFigure(1024, 'requests'),
  fits: aFigure(1024, 'requests'),
  limitedBy: 'max-sequences',
};

const written = (words: string, name: string, value: string | number): LaunchOption => ({
  name,
  value,
  raw: String(value),
  origin: 'file',
  line: 4,
  range: rangeOf(words),
  nameRange: rangeOf(words.split(' ')[0] ?? ''),
});

export function aPlan(parts: Partial<Plan> = {}): Plan {
  return {
    launch: {
      file: FILE,
      form: 'compose',
      engine: 'vllm',
      role: 'serve',
      title: 'llama',
      range: rangeOf(TEXT.slice(TEXT.indexOf('image'), -1)),
      head: rangeOf('vllm/vllm-openai:v0.28.0'),
      options: [],
      environment: new Map(),
      hardware: {},
      directives: [],
    },
    engine: {
      id: 'vllm',
      title: 'vLLM',
      version: { text: '0.28', origin: { kind: 'file', text: 'image tag, line 3', line: 3 } },
    },
    options: [
      written('--model meta-llama/Llama-3.1-70B-Instruct', 'model', 'meta-llama/Llama-3.1-70B-Instruct'),
      written('--max-model-len 8192', 'max-model-len', 8192),
      written('-tp 8', 'tensor-parallel-size', 8),
      { name: 'block-size', value: 16, raw: '16', origin: 'default' },
    ],
    model: aModel,
    hardware: {
      name: 'H100-80GB',
      count: 8,
      memory: exactly(85028634624),
      origin: { kind: 'directive', text: 'directive, line 2' },
    },
    placement: { tensor: 8, pipeline: 1, data: 1, context: 1, expert: 1, attentionData: 1, replicas: 1 },
    kv: {
      layout: aLayout,
      pool: aPool,
      atMaxLength: {
        tokens: 8192,
        payload: aFigure(335544320, 'bytes', {}, perGpu),
        reserved: aFigure(335544320, 'bytes', {}, perGpu),
      },
    },
    budget: aBudget,
    capacity: aCapacity,
    workload: { prompt: 600, output: 250 },
    given: {},
    starts: true,
    findings: [],
    planned: true,
    ...parts,
  };
}

/** The same launch where nobody says which GPU. */
export const withoutGpu = (): Plan =>
  aPlan({
    hardware: undefined,
    budget: undefined,
    capacity: undefined,
    kv: { layout: aLayout },
    starts: 'unknown',
  });

export const aFile = (...plans: Plan[]) => ({ name: FILE, text: TEXT, result: { plans, problems: [] } });
