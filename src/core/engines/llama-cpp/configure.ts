/** llama-server's options + defaults of the build → the context that it makes. Source: llama.cpp v0.5.0, common/arg.cpp, tools/server. */
import type { GgmlConfiguration } from '../../ggml/configuration';
import { type GgmlRules, ggmlRules } from '../../ggml/rules';
import { settle } from '../../ggml/settle';
import type { Wanted } from '../../ggml/wanted';
import { MiB } from '../../units';
import { approximate, notCovered, refused } from '../coverage';
import { type ConfigureInput, EngineRefusal, type Finding, type Setting } from '../engine';
import { anyUnknown, type Settings, settingsOf, valueFindings } from '../settings';
import { llamaVersion, type ServerRules, serverRules } from './versions';

/** Without these nothing about the cache can be said. */
const DECISIVE = new Set([
  'ctx-size',
  'parallel',
  'kv-unified',
  'cache-type-k',
  'cache-type-v',
  'ubatch-size',
  'gpu-layers',
]);

export function configure(input: ConfigureInput): GgmlConfiguration {
  const version = llamaVersion(input.version);
  const server = serverRules(version.text);
  const rules = ggmlRules(version.text);
  const settings = settingsOf(input.settings);
  const values = valueFindings(settings, 'llama.cpp', DECISIVE);
  if (anyUnknown(settings, DECISIVE)) {
    throw new EngineRefusal(values);
  }
  const slots = slotsOf(settings, server, rules);
  const placed = placementOf(input, settings, server);
  const tokens = tokensOf(input, settings, slots, server);
  const fits = server.fits && settings.text('fit') !== 'off';
  const flash = flashOf(settings, server);
  const wanted: Wanted = {
    engine: 'llama.cpp',
    version,
    settings: input.settings,
    findings: [...values, ...bareFlash(settings, server), ...placed.findings],
    rules,
    context: {
      sequences: slots.count,
      unified: slots.unified,
      batch: settings.number('batch-size') ?? 2048,
      microBatch: settings.number('ubatch-size') || (settings.number('batch-size') ?? 512),
      keyType: settings.text('cache-type-k') ?? 'f16',
      valueType: settings.text('cache-type-v') ?? 'f16',
      flash,
      fullWindows: settings.flag('swa-full') ?? false,
    },
    ...tokens,
    ...(fits
      ? {
          fit: {
            margin: margin(settings) * MiB,
            movesLayers: ['gpu-layers', 'tensor-split', 'override-tensor'].every((name) => isAuto(settings, name)),
            least: (settings.number('fit-ctx') ?? 4096) * (slots.unified ? 1 : slots.count),
          },
        }
      : {}),
    ...placed.wanted,
    lengthCap: settings.number('kv-unified-per-slot'),
    pooled: slots.unified || (rules.streams === 'none' && slots.count > 1),
    weightsMoved: ['override-tensor', 'cpu-moe', 'n-cpu-moe', 'n-cpu-ffn'].some((name) => settings.has(name)),
    contextOption: 'ctx-size',
    offloadOption: 'gpu-layers',
    typeOption: 'cache-type-k',
    flashOption: 'flash-attn',
    hostCache: hostCache(settings, server),
    dtypeKey: settings.text('cache-type-k') ?? 'f16',
    optionTokens: (perSequence) => perSequence * (slots.unified ? 1 : slots.count),
  };
  const c = settle(input, wanted);
  return { ...c, settings: [...c.settings, ...defaults(settings, c, slots, flash, tokens.how)] };
}

interface Slots {
  readonly count: number;
  readonly unified: boolean;
  readonly automatic: boolean;
}

/** An automatic number makes slots share one pool, whatever is asked for. */
function slotsOf(settings: Settings, server: ServerRules, rules: GgmlRules): Slots {
  const asked = settings.number('parallel');
  if (asked === 0) {
    throw new EngineRefusal([refused('no-slots', 'error: n_parallel must not be 0', 'parallel')]);
  }
  if (asked !== undefined && asked > 0) {
    const off = settings.flag('no-kv-unified') === true;
    return {
      count: asked,
      unified: rules.streams !== 'none' && !off && settings.flag('kv-unified') === true,
      automatic: false,
    };
  }
  return server.slots > 1
    ? { count: server.slots, unified: true, automatic: true }
    : { count: 1, unified: settings.flag('kv-unified') === true, automatic: true };
}

/** `auto` is no choice of the user's. */
const isAuto = (settings: Settings, name: string): boolean => !settings.has(name) || settings.text(name) === 'auto';

function flashOf(settings: Settings, server: ServerRules): boolean {
  const asked = settings.text('flash-attn') ?? server.flash;
  return asked !== 'off';
}

/** A build that wants a value takes the next word for it. */
function bareFlash(settings: Settings, server: ServerRules): readonly Finding[] {
  const written = settings.find('flash-attn');
  return written?.raw === '' && written.origin === 'file' && server.flash === 'auto'
    ? [
        {
          code: 'flash-needs-value',
          severity: 'error',
          option: 'flash-attn',
          message: 'error while handling argument "-fa": expected value for argument (on, off or auto since b6325)',
          fixes: [{ title: 'Set flash-attn to on', option: 'flash-attn', value: 'on' }],
        },
      ]
    : [];
}

interface Tokens {
  readonly tokens?: number;
  readonly freeTokens: number;
  readonly how?: string;
}

function tokensOf(input: ConfigureInput, settings: Settings, slots: Slots, server: ServerRules): Tokens {
  const asked = settings.number('ctx-size');
  if (asked !== undefined && asked > 0) {
    return { tokens: asked, freeTokens: asked };
  }
  const perSlot = settings.number('kv-unified-per-slot');
  if (asked === undefined && perSlot !== undefined) {
    return { tokens: perSlot * slots.count, freeTokens: perSlot * slots.count, how: 'kv-unified-per-slot × slots' };
  }
  if (asked === undefined && server.context > 0) {
    return { tokens: server.context, freeTokens: server.context };
  }
  const { maxPositions } = input.model;
  if (maxPositions === undefined) {
    throw notCovered(`The context length of ${input.model.id} is not known: say -c.`, 'ctx-size');
  }
  if (asked === 0 || !server.fits || settings.text('fit') === 'off') {
    return { tokens: maxPositions, freeTokens: maxPositions, how: 'the model’s length' };
  }
  const times = { length: 1, streams: slots.unified ? 1 : slots.count, slots: slots.count }[server.fitStart];
  return { freeTokens: maxPositions * times, how: `the model’s length × ${times}, shortened to what fits` };
}

/** MiB that stay free on a GPU; of a list the first. */
function margin(settings: Settings): number {
  const [first = ''] = (settings.text('fit-target') ?? '1024').split(',');
  const value = Number(first);
  return Number.isFinite(value) && value >= 0 ? value : 1024;
}

function hostCache(settings: Settings, server: ServerRules): number | undefined {
  const asked = settings.number('cache-ram') ?? (server.hostCache ? 8192 : 0);
  return asked < 0 ? undefined : asked * MiB;
}

interface Placed {
  readonly wanted: Pick<Wanted, 'shares' | 'offloaded' | 'mainOnly' | 'kvOffload' | 'placement'>;
  readonly findings: readonly Finding[];
}

function placementOf({ environment, hardware }: ConfigureInput, settings: Settings, server: ServerRules): Placed {
  const mode = settings.text('split-mode') ?? 'layer';
  if (mode === 'tensor') {
    throw notCovered('llama.cpp’s split mode tensor is experimental and is not planned.', 'split-mode');
  }
  const shares = sharesOf(settings, hardware?.count, mode);
  const offloaded = offloadedOf(settings, server, shares);
  const kvOffload =
    settings.flag('kv-offload') !== false &&
    settings.flag('no-kv-offload') !== true &&
    !environment.has('LLAMA_ARG_NO_KV_OFFLOAD');
  const gpus = Math.max(1, shares.length);
  const placement = {
    tensor: mode === 'row' ? gpus : 1,
    pipeline: mode === 'row' ? 1 : gpus,
    data: 1,
    context: 1,
    expert: 1,
    attentionData: 1,
    replicas: 1,
  };
  const findings =
    gpus > 1 && !settings.has('tensor-split')
      ? [
          approximate(
            'layers are shared out by the free memory of each GPU, taken to be equal here: tensor-split says it.',
            'tensor-split',
          ),
        ]
      : [];
  return { wanted: { shares, offloaded, mainOnly: mode === 'row', kvOffload, placement }, findings };
}

function sharesOf(settings: Settings, gpus: number | undefined, mode: string): readonly number[] {
  const devices = settings.text('device');
  if (devices === 'none') {
    return [];
  }
  if (mode === 'none') {
    return [1];
  }
  const written = settings.find('tensor-split')?.value;
  const shares = Array.isArray(written) ? written.filter((n): n is number => typeof n === 'number' && n > 0) : [];
  const count = devices?.split(',').length ?? gpus ?? 1;
  return shares.length > 0 ? shares : Array.from({ length: Math.min(count, 64) }, () => 1);
}

/** Undefined = all of them. */
function offloadedOf(settings: Settings, server: ServerRules, shares: readonly number[]): number | undefined {
  if (shares.length === 0) {
    return 0;
  }
  const asked = settings.find('gpu-layers')?.value;
  return typeof asked === 'number' ? asked : asked === undefined && !server.offloads ? 0 : undefined;
}

/** What the plan rests on and the launch does not write. */
function defaults(
  settings: Settings,
  c: GgmlConfiguration,
  slots: Slots,
  flash: boolean,
  how: string | undefined,
): readonly Setting[] {
  const rows: readonly (readonly [name: string, value: string | number | boolean, how?: string])[] = [
    ['ctx-size', c.spec.tokens, how],
    ['parallel', slots.count, slots.automatic && slots.count > 1 ? 'automatic: slots share one pool' : undefined],
    ['kv-unified', slots.unified],
    ['batch-size', 2048],
    ['ubatch-size', 512],
    ['cache-type-k', 'f16'],
    ['cache-type-v', 'f16'],
    ['flash-attn', flash ? 'on' : 'off', flash ? 'auto, taken to be supported by the GPU' : undefined],
  ];
  return rows
    .filter(([name]) => !settings.has(name))
    .map(([name, value, why]): Setting => ({ name, value, raw: String(value), how: why, origin: 'default' }));
}
