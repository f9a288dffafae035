/** Ollama's variables + defaults of the release and the GPUs → the context that a model is loaded with. */
import type { GgmlConfiguration } from '../../ggml/configuration';
import { settle } from '../../ggml/settle';
import type { Wanted } from '../../ggml/wanted';
import type { Model } from '../../model/model';
import { GiB, MiB, withCommas } from '../../units';
import { approximate } from '../coverage';
import { type ConfigureInput, EngineRefusal, type EngineVersion, type Finding, type Setting } from '../engine';
import { anyUnknown, type Settings, settingsOf, valueFindings } from '../settings';
import { versionOf } from '../version-rules';
import { automaticBatch } from './batch';
import { OLLAMA_VERSIONS, type OllamaRules, ollamaRules, runsAlone, runsOwnEngine, sizeRules } from './versions';

const DECISIVE = new Set(['OLLAMA_CONTEXT_LENGTH', 'OLLAMA_NUM_PARALLEL', 'OLLAMA_KV_CACHE_TYPE', 'num_ctx']);

export function configure(asked: ConfigureInput): GgmlConfiguration {
  const version = versionOf(asked.version, 'Ollama', OLLAMA_VERSIONS);
  const rules = ollamaRules(version.text);
  const input = rules.server === 'own' ? { ...asked, settings: asked.settings.map(anyType) } : asked;
  const settings = settingsOf(input.settings);
  const values = valueFindings(settings, 'Ollama', DECISIVE);
  if (anyUnknown(settings, DECISIVE)) {
    throw new EngineRefusal(values);
  }
  const length = lengthOf(input, settings, rules);
  const type = typeOf(settings, rules);
  const parallel = parallelOf(input, settings, rules);
  const known = { input, version, rules, settings, length, type };
  const found = [...values, ...parallel.findings];
  const counts = parallel.tries > 1 ? [parallel.tries, 1] : [parallel.count];
  let chosen: GgmlConfiguration | undefined;
  for (const count of counts) {
    for (const gpus of gpuCounts(input, settings)) {
      chosen = settledWith(known, count, gpus, found);
      if (!overflows(chosen)) {
        return chosen;
      }
    }
  }
  return chosen as GgmlConfiguration;
}

/** One GPU where the model fits on one, unless it is to be spread. Source: ollama/ollama server/sched.go, v0.33.0. */
function gpuCounts({ hardware }: ConfigureInput, settings: Settings): readonly number[] {
  const all = Math.min(Math.max(1, hardware?.count ?? 1), 64);
  return all === 1 || settings.flag('OLLAMA_SCHED_SPREAD') === true ? [all] : [1, all];
}

/** Before llama-server a type that is not known was ignored, not refused. */
const anyType = (s: Setting): Setting =>
  s.name === 'OLLAMA_KV_CACHE_TYPE' && s.error !== undefined ? { ...s, error: undefined, value: s.raw } : s;

interface Known {
  readonly input: ConfigureInput;
  readonly version: EngineVersion;
  readonly rules: OllamaRules;
  readonly settings: Settings;
  readonly length: Length;
  readonly type: CacheType;
}

/** The scheduler takes fewer requests rather than move layers to the host. */
const overflows = (c: GgmlConfiguration): boolean => c.findings.some((f) => f.code === 'fit-moves-layers');

function settledWith(known: Known, parallel: number, gpus: number, found: readonly Finding[]): GgmlConfiguration {
  const { input, version, rules, settings, length, type } = known;
  const { model } = input;
  const own = runsOwnEngine(rules, model);
  const current = rules.server === 'llama-server';
  const unified = own || (current && settings.flag('LLAMA_ARG_KV_UNIFIED') === true);
  const batch = batchOf(known, parallel);
  const gpu = settings.number('num_gpu') ?? -1;
  const library = sizeRules(rules, model);
  const shares = Array.from({ length: gpus }, () => 1);
  const wanted: Wanted = {
    engine: 'Ollama',
    version,
    settings: input.settings,
    findings: [...found, ...length.findings, ...type.findings, ...batch.findings, ...approximations(rules, own)],
    rules: library,
    context: {
      sequences: parallel,
      unified,
      batch: batch.tokens * (current || own ? 1 : parallel),
      microBatch: batch.tokens,
      keyType: type.type,
      valueType: type.type,
      flash: type.flash,
      fullWindows: own ? keepsMore(model) : !current || settings.flag('LLAMA_ARG_SWA_FULL') === true,
    },
    tokens: length.tokens * parallel,
    freeTokens: length.tokens * parallel,
    fit: { margin: current ? 1024 * MiB : 0, movesLayers: gpu < 0, least: length.tokens * parallel },
    shares,
    offloaded: gpu < 0 ? undefined : gpu,
    mainOnly: false,
    kvOffload: true,
    lengthCap: length.tokens,
    pooled: unified || (library.streams === 'none' && parallel > 1),
    weightsMoved: false,
    placement: { tensor: 1, pipeline: gpus, data: 1, context: 1, expert: 1, attentionData: 1, replicas: 1 },
    contextOption: 'OLLAMA_CONTEXT_LENGTH',
    offloadOption: 'num_gpu',
    typeOption: 'OLLAMA_KV_CACHE_TYPE',
    flashOption: 'OLLAMA_FLASH_ATTENTION',
    hostCache: current ? hostCache(settings) : 0,
    dtypeKey: settings.text('OLLAMA_KV_CACHE_TYPE') ?? 'f16',
    optionTokens: (perSequence) => perSequence,
  };
  const c = settle(input, wanted);
  return { ...c, settings: [...c.settings, ...defaults(settings, length, parallel, batch.tokens)] };
}

/** gpt-oss and Gemma 4 remember 4096 tokens in Ollama's own engine, whatever their window. */
const keepsMore = ({ architecture }: Model): boolean => /^(gpt-?oss|GptOss|gemma4|Gemma4)/.test(architecture);

function approximations(rules: OllamaRules, own: boolean): readonly Finding[] {
  if (own) {
    return [
      approximate(
        'Ollama’s own engine (0.6–0.24) is planned from its source; what it prints and its states were not checked against a log.',
      ),
    ];
  }
  return rules.server === 'own'
    ? [approximate(`this release holds code of llama.cpp that is taken to be as of about ${rules.build}.`)]
    : [];
}

interface Length {
  readonly tokens: number;
  readonly how?: string;
  readonly findings: readonly Finding[];
}

function lengthOf({ model, hardware }: ConfigureInput, settings: Settings, rules: OllamaRules): Length {
  const asked = settings.number('num_ctx') || settings.number('OLLAMA_CONTEXT_LENGTH') || undefined;
  const { tokens, how, findings } =
    asked === undefined ? defaultLength(hardware, settings, rules) : { tokens: asked, how: undefined, findings: [] };
  const least = Math.max(tokens, model.multimodal ? 2048 : 4);
  const most = model.maxPositions ?? least;
  const option = settings.has('num_ctx') ? 'num_ctx' : 'OLLAMA_CONTEXT_LENGTH';
  const capped: readonly Finding[] =
    least > most && asked !== undefined
      ? [
          {
            code: 'context-clamped',
            severity: 'warning',
            option,
            message: `requested context size too large for model: ${withCommas(least)} tokens are asked for, and ${model.id} was trained for ${withCommas(most)}.`,
            fixes: [{ title: `Set ${option} to ${withCommas(most)}`, option, value: String(most) }],
          },
        ]
      : [];
  return { tokens: Math.min(least, most), how, findings: [...findings, ...capped] };
}

/** By the memory of all GPUs together. Source: ollama/ollama server/routes.go :: Serve, v0.33.0 (the docs say 48 and 24). */
const TIERS: readonly (readonly [gib: number, tokens: number])[] = [
  [47, 262144],
  [23, 32768],
  [0, 4096],
];

function defaultLength(hardware: ConfigureInput['hardware'], settings: Settings, rules: OllamaRules): Length {
  if (rules.context !== 'memory') {
    return { tokens: rules.context, findings: [] };
  }
  const finding = (message: string): readonly Finding[] => [
    { code: 'context-by-memory', severity: 'information', option: 'OLLAMA_CONTEXT_LENGTH', message, fixes: [] },
  ];
  if (!hardware) {
    return {
      tokens: 4096,
      how: 'the GPU is not known',
      findings: finding(
        'The default context goes by the GPUs’ memory: 4,096 tokens below 23 GiB of all together (taken here), 32,768 from there and 262,144 from 47 GiB. OLLAMA_CONTEXT_LENGTH says it.',
      ),
    };
  }
  const count = hardware.count ?? 1;
  const gib = (count * (hardware.memory.value - (settings.number('OLLAMA_GPU_OVERHEAD') ?? 0))) / GiB;
  const [, tokens] = TIERS.find(([from]) => gib >= from) ?? [0, 4096];
  const how = `${gib.toFixed(1)} GiB on ${count === 1 ? 'one GPU' : `${count} GPUs`}`;
  return {
    tokens,
    how,
    findings: finding(`Nothing says the context, so it goes by the memory: ${withCommas(tokens)} tokens at ${how}.`),
  };
}

interface CacheType {
  readonly type: string;
  readonly flash: boolean;
  readonly findings: readonly Finding[];
}

function typeOf(settings: Settings, rules: OllamaRules): CacheType {
  const asked = settings.text('OLLAMA_KV_CACHE_TYPE') ?? 'f16';
  const written = settings.flag('OLLAMA_FLASH_ATTENTION');
  const option = 'OLLAMA_KV_CACHE_TYPE';
  if (rules.server === 'llama-server') {
    return { type: asked, flash: written !== false, findings: [] };
  }
  const flash = written === true;
  const quantised = asked !== 'f16';
  const ignored = quantised && (!flash || !['q8_0', 'q4_0'].includes(asked));
  const message = !flash
    ? `OLLAMA_KV_CACHE_TYPE ${asked} is ignored without flash attention, and f16 is kept.`
    : `OLLAMA_KV_CACHE_TYPE ${asked} is none of f16, q8_0 and q4_0, and f16 is kept.`;
  return {
    type: ignored ? 'f16' : asked,
    flash,
    findings: ignored ? [{ code: 'cache-type-ignored', severity: 'warning', option, message, fixes: [] }] : [],
  };
}

interface Parallel {
  readonly count: number;
  /** More than 1: so many if all fits, else one. */
  readonly tries: number;
  readonly findings: readonly Finding[];
}

function parallelOf({ model }: ConfigureInput, settings: Settings, rules: OllamaRules): Parallel {
  const option = 'OLLAMA_NUM_PARALLEL';
  const asked = settings.number(option) || undefined;
  if (runsAlone(model)) {
    const findings: readonly Finding[] =
      (asked ?? 1) > 1
        ? [
            {
              code: 'runs-alone',
              severity: 'warning',
              option,
              message: `Models of this architecture (${model.architecture}) run one request at a time: OLLAMA_NUM_PARALLEL is ignored.`,
              fixes: [],
            },
          ]
        : [];
    return { count: 1, tries: 1, findings };
  }
  if (asked !== undefined || rules.parallel === 1) {
    return { count: asked ?? 1, tries: 1, findings: [] };
  }
  return {
    count: 1,
    tries: rules.parallel,
    findings: [
      approximate(
        `${rules.parallel} requests run at once if all fits on the GPU by Ollama’s own reckoning, which is taken to agree with the plan’s; else one.`,
        option,
      ),
    ],
  };
}

function batchOf(
  { input, settings, rules, length }: Known,
  parallel: number,
): { readonly tokens: number; readonly findings: readonly Finding[] } {
  const asked = settings.number('num_batch');
  if (asked !== undefined || rules.server === 'own') {
    return { tokens: asked ?? 512, findings: [] };
  }
  return automaticBatch(input, length.tokens * parallel);
}

function hostCache(settings: Settings): number | undefined {
  const asked = settings.number('LLAMA_ARG_CACHE_RAM') ?? 8192;
  return asked < 0 ? undefined : asked * MiB;
}

function defaults(settings: Settings, length: Length, parallel: number, batch: number): readonly Setting[] {
  const rows: readonly (readonly [name: string, value: string | number, how?: string])[] = [
    ...(settings.has('num_ctx') ? [] : [['OLLAMA_CONTEXT_LENGTH', length.tokens, length.how] as const]),
    ['OLLAMA_NUM_PARALLEL', parallel],
    ['OLLAMA_KV_CACHE_TYPE', 'f16'],
    ['num_batch', batch],
  ];
  return rows
    .filter(([name]) => !settings.has(name))
    .map(([name, value, how]): Setting => ({ name, value, raw: String(value), how, origin: 'default' }));
}
