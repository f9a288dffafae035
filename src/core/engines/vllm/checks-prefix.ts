/** Prefix caching: on or off, and whether it can ever hit. Source: vLLM 0.28, v1/core/kv_cache_coordinator.py, config/vllm.py. */
import { ceilDiv, withCommas } from '../../units';
import type { Finding } from '../engine';
import { type Context, finding, fix, gain } from './check-context';

export const prefixChecks = (x: Context): readonly Finding[] => [...switchedOff(x), ...inert(x)];

const hasStates = ({ configuration }: Context): boolean => configuration.layers.some((l) => l.kind === 'state');

const POOLING = /^(embed|embedding|classify|score|reward|pooling|encode)/;

const pools = ({ settings }: Context): boolean =>
  settings.text('runner') === 'pooling' || POOLING.test(settings.text('task') ?? '');

function cachesPrefixes(x: Context): boolean {
  const { configuration: c, settings } = x;
  const byDefault = c.rules.core === 'V1' && !pools(x) && (!hasStates(x) || c.rules.cachesStatesByDefault);
  return settings.flag('enable-prefix-caching') ?? byDefault;
}

/** Off, or refused, for a reason other than its own option. */
function switchedOff(x: Context): readonly Finding[] {
  const { configuration: c, settings } = x;
  const asked = settings.flag('enable-prefix-caching');
  const option = 'enable-prefix-caching';
  if (asked === true && c.rules.core === 'V0' && c.layers.some((l) => l.kind === 'sliding' || l.window !== undefined)) {
    return settings.flag('disable-sliding-window')
      ? []
      : [
          finding(
            'prefix-cache-refused',
            'error',
            option,
            'Prefix caching is not supported with sliding window. Run with --disable-sliding-window to use prefix caching.',
            [fix('Switch prefix caching off', option, false)],
          ),
        ];
  }
  const caches = x.takes(option) && x.takes('enable-prefix-caching');
  if (asked === undefined && caches && c.rules.core === 'V1' && hasStates(x) && !c.rules.cachesStatesByDefault) {
    return [
      finding(
        'prefix-cache-off',
        'hint',
        'model',
        `vLLM ${c.version.text} caches no prefixes of a model with state layers unless it is told to: equal beginnings of prompts are computed anew.`,
        [fix('Switch prefix caching on: each request then keeps one state more in each group', option, true)],
      ),
    ];
  }
  if (asked === undefined && c.rules.core === 'V1' && pools(x)) {
    const by = settings.has('runner') ? 'runner' : 'task';
    return [
      finding(
        'prefix-cache-off',
        'hint',
        by,
        `${by} ${settings.text(by)} turns prefix caching off: equal beginnings of prompts are computed anew.`,
      ),
    ];
  }
  return [];
}

const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));

/** Draft heads that read the model's hidden states give one block more back at each hit. */
const dropsABlock = (method: string | undefined): boolean => method !== undefined && /eagle|mtp/.test(method);

/** A hit ends at a block's edge, one token before the prompt's end at the latest. */
function inert(x: Context): readonly Finding[] {
  const { configuration: c, layout, settings, workload, promptSaid } = x;
  if (!cachesPrefixes(x)) {
    return [];
  }
  const sizes = layout.groups.map((g) => g.blockSize * (g.kind === 'state' ? 1 : layout.tokensPerSlot));
  const edge = settings.number('prefix-match-unit') ?? sizes.reduce((a, b) => (a / gcd(a, b)) * b, 1);
  const needed = edge * (dropsABlock(c.speculation.method) ? 2 : 1) + 1;
  const never = c.maxLength !== undefined && needed > c.maxLength;
  if (!never && needed <= workload.prompt) {
    return [];
  }
  const subject = never
    ? `the longest request, ${withCommas(c.maxLength ?? 0)} tokens,`
    : `a prompt of ${withCommas(workload.prompt)} tokens`;
  const severity = never || promptSaid ? 'warning' : 'hint';
  return [
    finding(
      'prefix-cache-inert',
      severity,
      settings.has('block-size') ? 'block-size' : 'enable-prefix-caching',
      `A prefix is found again in steps of ${withCommas(edge)} tokens, and ${subject} has no whole one${needed > edge + 1 ? ' beside the one that speculative decoding gives up' : ''}: the prefix cache never hits. It takes prompts of ${withCommas(needed)} tokens or more.`,
      fixesOf(x, edge),
    ),
  ];
}

function fixesOf(x: Context, edge: number) {
  const { settings, configuration: c } = x;
  const written = settings.number('block-size');
  if (written !== undefined && written > 16 && ceilDiv(edge, c.placement.context) === written) {
    const smaller = x.whatIf({ 'block-size': 16 });
    return smaller?.layout.blockSize === 16 ? [fix('Set block-size to 16', 'block-size', 16)] : [];
  }
  const effect = gain(x, x.whatIf({ 'enable-prefix-caching': false }));
  return effect === undefined ? [] : [fix(`Switch prefix caching off: ${effect}`, 'enable-prefix-caching', false)];
}
