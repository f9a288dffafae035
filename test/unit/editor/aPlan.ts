/** A plan by hand: the compose sample's figures (Llama 3.1 70B on 8 × H100, KV bytes given), to change one part at a time. */
import type { Waste } from '../../../src/core/capacity/capacity';
import type { Budget, BudgetTerm, Layout, Pool } from '../../../src/core/engines/engine';
import { type Figure, figure, type Unit } from '../../../src/core/figure';
import type { Model } from '../../../src/core/model/model';
import { between, type Estimate, GiB } from '../../../src/core/units';
import type { Launch, LaunchOption, TextRange } from '../../../src/launch/launch';
import type { PlacedFinding, Plan } from '../../../src/planner';

export const TEXT = [
  '# kv-planner: gpu=H100-80GB',
  'vllm serve meta-llama/Llama-3.1-70B-Instruct \\',
  '  --tensor-parallel-size 8 \\',
  '  --max-model-len 8192 \\',
  '  --gpu-memory-utilization 0.9',
  '',
].join('\n');

const KV_BYTES = 54_375_000_000;

const aFigure = (value: number, unit: Unit, range?: Estimate): Figure =>
  figure(
    value,
    unit,
    () => ({ symbols: 'a × b', numbers: `1 × ${value} = ${value}`, origins: [{ kind: 'file', text: 'line 4' }] }),
    range ? { range, scope: 'per GPU' } : { scope: 'per GPU' },
  );

export function rangeOf(words: string, text = TEXT): TextRange {
  const start = text.indexOf(words);
  return { start, end: start + words.length };
}

export function anOption(name: string, value: string, over: Partial<LaunchOption> = {}): LaunchOption {
  const range = rangeOf(`--${name} ${value}`);
  return {
    name,
    value: Number(value),
    raw: value,
    origin: 'file',
    range,
    nameRange: { start: range.start, end: range.start + name.length + 2 },
    valueRange: { start: range.end - value.length, end: range.end },
    ...over,
  };
}

export function aLaunch(over: Partial<Launch> = {}): Launch {
  const source = 'vllm/engine/arg_utils.py (0.28)';
  const row = { type: 'int', defaults: [], summary: 'What it is.', source } as const;
  return {
    file: 'serve.sh',
    form: 'shell',
    engine: 'vllm',
    role: 'serve',
    title: 'serve.sh',
    range: { start: TEXT.indexOf('vllm'), end: TEXT.length - 1 },
    head: rangeOf('vllm serve'),
    options: [
      anOption('tensor-parallel-size', '8', { spec: { ...row, name: 'tensor-parallel-size', role: 'tensor' } }),
      anOption('max-model-len', '8192', { spec: { ...row, name: 'max-model-len', role: 'max-length', min: 1 } }),
      anOption('gpu-memory-utilization', '0.9', {
        spec: { ...row, name: 'gpu-memory-utilization', role: 'memory-share', above: 0, max: 1 },
      }),
    ],
    model: { text: 'meta-llama/Llama-3.1-70B-Instruct', range: rangeOf('meta-llama/Llama-3.1-70B-Instruct') },
    environment: new Map(),
    hardware: {},
    directives: [],
    ...over,
  };
}

const aModel = (over: Partial<Model> = {}): Model => ({
  id: 'meta-llama/Llama-3.1-70B-Instruct',
  source: { kind: 'catalogue', text: 'catalogue: config.json' },
  architecture: 'LlamaForCausalLM',
  layers: Array.from({ length: 80 }, () => ({ kind: 'full' as const, kvHeads: 8, headDim: 128, valueDim: 128 })),
  mtpLayers: [],
  attentionHeads: 64,
  kvHeads: 8,
  hiddenSize: 8192,
  intermediateSize: 28672,
  vocabSize: 128256,
  dtype: 'bfloat16',
  multimodal: false,
  ...over,
});

const aLayout = (over: Partial<Layout> = {}): Layout => ({
  allocator: 'blocks',
  dtype: { key: 'bfloat16', value: 'bfloat16' },
  blockSize: 16,
  tokensPerSlot: 1,
  findings: [],
  groups: [{ kind: 'full', layers: 80, dtype: 'bfloat16', blockSize: 16, bytesPerBlock: 655_360 }],
  ranks: [{ stage: 0, layers: 80, bytesPerToken: 40_960, fixedBytes: 0, bytesPerBlock: 655_360 }],
  decidingRank: 0,
  bytesPerToken: aFigure(40_960, 'bytes'),
  bytesPerTokenTotal: aFigure(327_680, 'bytes'),
  fixedBytes: aFigure(0, 'bytes'),
  bytesPerBlock: aFigure(655_360, 'bytes'),
  groupBlocks: (tokens) => [Math.ceil(tokens / 16)],
  payload: (tokens) => tokens * 40_960,
  wholePayload: (tokens) => tokens * 327_680,
  hold: (tokens) => {
    const blocks = Math.ceil(tokens / 16);
    const reserved = blocks * 655_360;
    const payload = tokens * 40_960;
    return { blocks, reserved, payload, tail: reserved - payload, padding: 0, reservation: 0 };
  },
  ofRank: () => aLayout(over),
  ...over,
});

const aPool = (over: Partial<Pool> = {}): Pool => ({
  bytes: aFigure(KV_BYTES, 'bytes'),
  blocks: aFigure(82_969, 'blocks'),
  usableBlocks: 82_968,
  ranks: [{ kvBytes: KV_BYTES, blocks: 82_969 }],
  decidingRank: 0,
  logged: {
    tokens: aFigure(1_327_504, 'tokens'),
    maxConcurrency: aFigure(162.05, 'count'),
    lines: ['GPU KV cache size: 1,327,504 tokens'],
  },
  ...over,
});

const aTerm = (gib: number, spread = 0): BudgetTerm => ({
  figure: aFigure(
    gib * GiB,
    'bytes',
    spread ? between((gib - spread) * GiB, gib * GiB, (gib + spread) * GiB) : undefined,
  ),
  why: spread
    ? 'estimated from the largest step'
    : 'size of the weight files (org/repository@056b828:presets/workspace/models/model_catalog.yaml)',
});

const aBudget = (over: Partial<Budget> = {}): Budget => ({
  ranks: [between(49.44 * GiB, 50.64 * GiB, 51.84 * GiB)],
  decidingRank: 0,
  total: aFigure(79.19 * GiB, 'bytes'),
  limit: aFigure(71.27 * GiB, 'bytes'),
  weights: aTerm(16.43),
  activations: aTerm(2.2, 0.6),
  graphs: aTerm(0.9, 0.4),
  other: aTerm(1.1, 0.2),
  kv: aTerm(50.64, 1.2),
  ...over,
});

export const aFinding = (over: Partial<PlacedFinding> = {}): PlacedFinding => ({
  code: 'max-length-too-long',
  severity: 'error',
  message: 'The pool is too small for one request of the maximum length.',
  option: 'max-model-len',
  range: rangeOf('8192'),
  line: 4,
  fixes: [{ title: 'Set max-model-len to 4096, the longest that fits', option: 'max-model-len', value: '4096' }],
  ...over,
});

export function aPlan(over: Partial<Plan> = {}): Plan {
  const share = aFigure(0.9, 'share');
  const aWaste = (payload: number, over: Partial<Waste>): Waste => ({
    pool: KV_BYTES,
    payload,
    tail: 0,
    padding: 0,
    reservation: 0,
    fragmentation: 0,
    ...over,
  });
  return {
    launch: aLaunch(),
    engine: { id: 'vllm', title: 'vLLM', version: { text: '0.28', origin: { kind: 'default', text: 'newest known' } } },
    options: aLaunch().options,
    model: aModel(),
    hardware: {
      name: 'H100-80GB',
      count: 8,
      memory: between(79.1 * GiB, 79.19 * GiB, 79.3 * GiB),
      origin: { kind: 'directive', text: 'line 1', line: 1 },
    },
    placement: { tensor: 8, pipeline: 1, data: 1, context: 1, expert: 1, attentionData: 1, replicas: 1 },
    kv: {
      layout: aLayout(),
      pool: aPool(),
      atMaxLength: {
        tokens: 8192,
        payload: aFigure(8192 * 40_960, 'bytes'),
        reserved: aFigure(8192 * 40_960, 'bytes'),
      },
    },
    budget: aBudget(),
    capacity: {
      maxLength: 8192,
      longestContext: aFigure(1_327_488, 'tokens'),
      workload: { prompt: 600, output: 250 },
      contiguous: {
        requests: aFigure(162, 'requests'),
        bytesPerRequest: aFigure(335_544_320, 'bytes'),
        usedShare: share,
        waste: aWaste(162 * 34_816_000, { reservation: 162 * 300_728_320, fragmentation: 16_820_160 }),
      },
      paged: {
        requests: aFigure(1536, 'requests'),
        bytesPerRequest: aFigure(35_389_440, 'bytes'),
        usedShare: share,
        blocksPerRequest: aFigure(54, 'blocks'),
        tailTokens: aFigure(14, 'tokens'),
        requestsAtMaxLength: aFigure(162, 'requests'),
        requestsPerGiB: aFigure(1638 / 54, 'requests'),
        waste: aWaste(1536 * 34_816_000, { tail: 1536 * 573_440, fragmentation: 16_904_960 }),
      },
      steadyState: aFigure(1800, 'requests'),
      engineLimit: aFigure(1024, 'requests'),
      fits: aFigure(1024, 'requests'),
      limitedBy: 'max-sequences',
    },
    workload: { prompt: 600, output: 250 },
    given: {},
    starts: true,
    findings: [],
    planned: true,
    ...over,
  };
}
