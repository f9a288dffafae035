/** A comparison for a terminal: the engines in one table, then why each differs from the launch as it is written. */
import type { Compared, ComparedEngine, Topic } from '../compare';
import { formatBytes, withCommas } from '../core/units';
import { linesOf, type Position } from '../launch/lines';
import type { Plan } from '../planner';
import { intervalOf } from './amounts';
import { whyNot } from './answers';
import type { ComparedFile } from './compare-json';
import { clean } from './document';
import { gpusOf, verdict, workloadText } from './headline';
import { numberOf } from './numbers';
import { aboveLength, servedAtOnce } from './planned';
import { type TextStyle, wrap } from './text';

export function compareText(files: readonly ComparedFile[], style: TextStyle): string {
  const parts = files.flatMap((f) => {
    const places = linesOf(f.text).position;
    return f.compared.map((c) => launchLines(c, places, style).join('\n'));
  });
  return parts.length === 0 ? '' : `${parts.join('\n\n\n')}\n`;
}

function launchLines({ plan, engines }: Compared, places: (offset: number) => Position, style: TextStyle): string[] {
  const at = places(plan.launch.head.start);
  return [
    paint(clean(`${plan.launch.title}: ${plan.model?.id ?? 'model not known'} · ${gpusOf(plan)}`), 'bold', style),
    paint(clean(`${plan.launch.file}:${at.line}:${at.column}`), 'dim', style),
    `At ${workloadText(plan)}`,
    '',
    ...table(engines, style),
    ...engines.flatMap((e) => engineLines(e, plan, style)),
  ];
}

export const TITLES = [
  'Engine',
  'Starts',
  'KV pool',
  'Per token',
  'Block',
  'Longest',
  'Requests at once',
  'Limited by',
];
export const NUMERIC = new Set([2, 3, 4, 5]);

function table(engines: readonly ComparedEngine[], style: TextStyle): string[] {
  const rows = [TITLES, ...engines.map(cells)];
  const widths = TITLES.map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  return rows.map((row, at) => {
    const line = row
      .map((cell, i) => (NUMERIC.has(i) ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0)))
      .join('  ')
      .trimEnd();
    return at === 0 ? paint(line, 'dim', style) : line;
  });
}

const LIMITS = {
  memory: 'memory',
  'max-sequences': 'most sequences',
  'state-blocks': 'blocks of states',
  'batch-tokens': 'tokens of a step',
} as const;

const UNKNOWN = '–';

export function cells({ plan, asWritten }: ComparedEngine): string[] {
  const { kv, capacity } = plan;
  const fits = servedAtOnce(plan);
  const isRefused = aboveLength(plan) === 'refused';
  const range = capacity?.fits.range;
  const replicas = plan.placement?.replicas ?? 1;
  const all = range && { low: range.low * replicas, value: range.value * replicas, high: range.high * replicas };
  const interval = intervalOf(all, 'requests');
  return [
    `${plan.engine.title} ${plan.engine.version.text}${asWritten ? ' (as written)' : ''}`,
    shortVerdict(plan),
    kv?.pool ? numberOf(kv.pool.bytes).replace('about ', '~') : UNKNOWN,
    kv ? formatBytes(Math.round(kv.layout.bytesPerToken.value)) : UNKNOWN,
    kv ? blockText(kv.layout) : UNKNOWN,
    capacity ? withCommas(capacity.maxLength) : UNKNOWN,
    isRefused
      ? 'none: too long'
      : fits === undefined
        ? UNKNOWN
        : `${interval ? '~' : ''}${withCommas(fits)}${interval && ` (${interval})`}`,
    capacity ? (isRefused ? 'longest request' : LIMITS[capacity.limitedBy]) : UNKNOWN,
  ];
}

const shortVerdict = (plan: Plan): string =>
  ({ Starts: 'yes', 'Will not start': 'no', 'May not start': 'maybe' })[verdict(plan)] ?? verdict(plan).toLowerCase();

const blockText = ({ allocator, blockSize }: NonNullable<Plan['kv']>['layout']): string =>
  allocator === 'blocks' || blockSize > 1 ? withCommas(blockSize) : allocator.replace(/s$/, '');

const TOPICS: Readonly<Record<Topic, string>> = {
  start: 'starting',
  'bytes-per-token': 'bytes',
  memory: 'memory',
  blocks: 'blocks',
  reserve: 'reserve',
  length: 'length',
  limit: 'limit',
};

/** What was translated, what was not, and the reasons. Nothing about the launch as it is written. */
function engineLines(engine: ComparedEngine, base: Plan, style: TextStyle): string[] {
  const { plan, asWritten } = engine;
  if (asWritten) {
    return plan.planned ? [] : ['', ...wrap(`${verdict(plan)}: ${whyNot(plan)}`, style.width)];
  }
  const rows = reasonsOf(engine);
  const same = rows.length === 0 ? ['  the same'] : [];
  return [
    '',
    paint(againstText(plan, base), 'bold', style),
    ...same,
    ...rows.flatMap(([label, text]) => row(label, text, style)),
  ];
}

export const againstText = ({ engine }: Plan, { engine: base }: Plan): string =>
  `${engine.title} ${engine.version.text} against ${base.title} ${base.version.text}`;

/** Why it differs, and what became of the options; clean text. */
export function reasonsOf({
  plan,
  carried,
  leftOut,
  differences,
}: ComparedEngine): readonly (readonly [string, string])[] {
  const unsure = plan.findings.filter((f) => f.code === 'approximate').map((f) => f.message);
  const reasons: readonly (readonly [string, string])[] = [
    ...(plan.planned ? [] : [['not planned', whyNot(plan)] as const]),
    ...differences.map(({ topic, text }) => [TOPICS[topic], text] as const),
    ...unsure.map((text) => ['not sure', text] as const),
    ...(carried.length > 0
      ? [['options', carried.map(({ from, to, value }) => `${from} → ${to} ${shown(value)}`).join(', ')] as const]
      : []),
    ...leftOut.map(({ option, raw, why }) => ['left out', `${option} ${raw}: ${why}`.trim()] as const),
  ];
  return reasons.map(([label, text]) => [label, clean(text)] as const);
}

const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

function row(label: string, text: string, style: TextStyle): string[] {
  const room = 13;
  const [first = '', ...rest] = wrap(text, style.width - room - 2);
  return [`  ${paint(label.padEnd(room), 'dim', style)}${first}`, ...rest.map((l) => ' '.repeat(room + 2) + l)];
}

const CODES = { bold: 1, dim: 2 } as const;

const paint = (text: string, as: keyof typeof CODES, { colour }: TextStyle): string =>
  colour ? `\u001b[${CODES[as]}m${text}\u001b[0m` : text;
