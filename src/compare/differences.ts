/** Why two engines come to different numbers for the same model and launch: said from their plans, not from who they are. */
import type { Setting } from '../core/engines/engine';
import type { OptionRole, OptionSpec } from '../core/engines/option';
import type { Figure } from '../core/figure';
import { formatBytes, isExact, withCommas } from '../core/units';
import type { Plan } from '../planner';
import { shareMeaning } from './translate';

export type Topic = 'bytes-per-token' | 'memory' | 'blocks' | 'reserve' | 'length' | 'limit' | 'start';

export interface Difference {
  readonly topic: Topic;
  readonly text: string;
}

export interface Planned {
  readonly plan: Plan;
  readonly options: readonly OptionSpec[];
}

/** What `other` does otherwise than `base`. */
export function differencesOf(base: Planned, other: Planned): readonly Difference[] {
  return [started, perToken, memory, blocks, reserve, length, limit].flatMap((of) => of(base, other));
}

const one = (topic: Topic, text: string): readonly Difference[] => [{ topic, text }];

function started({ plan: a }: Planned, { plan: b }: Planned): readonly Difference[] {
  if (a.starts === b.starts || b.starts === true || !b.planned) {
    return [];
  }
  const why = b.findings.find((f) => f.severity === 'error') ?? b.findings.find((f) => f.severity === 'warning');
  return why ? one('start', why.message) : [];
}

/** Number format, windows kept or not, and how heads and layers are divided over GPUs. */
function perToken({ plan: a }: Planned, { plan: b }: Planned): readonly Difference[] {
  const [x, y] = [a.kv?.layout, b.kv?.layout];
  if (!x || !y) {
    return [];
  }
  const parts = [...formatParts(a, b, x, y), ...dividedParts(a, b)];
  const [p, q] = [x.bytesPerToken.value, y.bytesPerToken.value];
  if (p === q && parts.length === 0) {
    return [];
  }
  const sizes =
    p === q ? '' : `${withCommas(Math.round(q))} bytes per token and GPU, against ${withCommas(Math.round(p))}`;
  return one('bytes-per-token', sentence([sizes, ...parts]));
}

type Laid = NonNullable<Plan['kv']>['layout'];

/** 16 bit by any name is the same size; fp8 without more is e4m3. */
const FAMILIES = [/^(?:b?float16|b?f16|half)$/, /^fp8(?:_e4m3(?:fn)?)?$/];

const isSameFormat = (a: string, b: string): boolean =>
  a === b || FAMILIES.some((family) => family.test(a) && family.test(b));

function formatParts(a: Plan, b: Plan, x: Laid, y: Laid): readonly string[] {
  const parts: string[] = [];
  if (!isSameFormat(x.dtype.value, y.dtype.value)) {
    parts.push(`keys and values are kept in ${y.dtype.value}, not ${x.dtype.value}`);
  }
  const says = (has: (l: Laid) => boolean, yes: string, no: string) => {
    if (has(x) !== has(y)) {
      parts.push(has(y) ? yes : no);
    }
  };
  says(
    (l) => l.groups.some((g) => g.kind === 'sliding' || g.kind === 'chunked'),
    'layers with a window keep that window only',
    'layers with a window keep the whole context',
  );
  says(
    (l) => l.groups.some((g) => g.kind === 'latent'),
    'the latent vector is kept, not keys and values of every head',
    'keys and values of every head are kept, not the latent vector',
  );
  const guesses = (plan: Plan) => plan.layers?.some((l) => l.draft) ?? false;
  if (guesses(a) !== guesses(b)) {
    parts.push(guesses(b) ? 'with layers of a draft' : 'without the layers of the draft');
  }
  return parts;
}

function dividedParts(a: Plan, b: Plan): readonly string[] {
  const [x, y] = [a.placement, b.placement];
  if (!x || !y) {
    return [];
  }
  const parts: string[] = [];
  if (x.attentionData !== y.attentionData) {
    parts.push('attention is divided by requests, not by heads');
  }
  if (x.tensor !== y.tensor) {
    parts.push(`heads are divided over ${gpus(y.tensor)}, against ${gpus(x.tensor)}`);
  }
  if (x.pipeline !== y.pipeline) {
    parts.push(`layers over ${gpus(y.pipeline)}, against ${gpus(x.pipeline)}`);
  }
  const [p, q] = [layersHeld(a), layersHeld(b)];
  if (x.pipeline === y.pipeline && p !== q && [a, b].some(mayUseHost)) {
    parts.push(`a GPU holds those of ${withCommas(q)} layers, against ${withCommas(p)}: the others stay on the host`);
  }
  return parts;
}

const layersHeld = ({ kv }: Plan): number => kv?.layout.groups.reduce((sum, { layers }) => sum + layers, 0) ?? 0;

/** Whether layers that do not fit go to the host's memory, keys and values with them. */
const mayUseHost = ({ kv }: Plan): boolean =>
  kv?.layout.findings.some(({ code }) => code === 'layers-on-host') ?? false;

const gpus = (n: number): string => (n === 1 ? 'one GPU' : `${n} GPUs`);

const sentence = (parts: readonly string[]): string => {
  const text = parts.filter((p) => p !== '').join('; ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
};

/** Fraction of what, and what is taken before. */
function memory(base: Planned, other: Planned): readonly Difference[] {
  const [x, y] = [base.plan.kv?.pool?.bytes, other.plan.kv?.pool?.bytes];
  if (!x || !y || Math.abs(x.value - y.value) < 0.002 * Math.max(x.value, y.value)) {
    return [];
  }
  return one(
    'memory',
    sentence([
      `${amount(y)} of KV cache per GPU, against ${amount(x)}`,
      shareText(other),
      usedText(other.plan),
      shareText(base) && `in ${base.plan.engine.title} ${shareText(base)}`,
      takenText(other.plan),
    ]),
  );
}

const amount = ({ value, range }: Figure): string => `${range && !isExact(range) ? 'about ' : ''}${formatBytes(value)}`;

/** `gpu-memory-utilization 0.92 is what the server may use of the card`. */
function shareText({ plan, options }: Planned): string {
  if (!plan.budget) {
    return '';
  }
  const spec = options.find((o) => o.role === 'memory-share');
  const setting = settingOf(plan, options, 'memory-share');
  const meaning = shareMeaning(spec);
  return setting && meaning
    ? `${setting.name} ${shown(setting)} is ${meaning}${setting.origin === 'default' ? ' (a default)' : ''}`
    : plan.budget.kv.why;
}

/** `it may use 65.57 GiB of 79.19 GiB, 16.44 GiB of them for weights`. */
function usedText({ budget }: Plan): string {
  return budget
    ? `it may use ${formatBytes(Math.round(budget.limit.value))} of ${formatBytes(Math.round(budget.total.value))}, ${formatBytes(Math.round(budget.weights.figure.value))} of them for weights`
    : '';
}

/** What is set aside before the pool, in that engine's words. */
function takenText({ budget }: Plan): string {
  if (!budget) {
    return '';
  }
  const taken = [budget.activations, budget.graphs].filter((t) => t !== undefined && t.figure.value > 0);
  const bytes = taken.reduce((sum, t) => sum + (t?.figure.value ?? 0), 0);
  return bytes > 0
    ? `about ${formatBytes(bytes)} for activations and graphs come off before`
    : 'nothing comes off for activations before the pool';
}

function settingOf(plan: Plan, options: readonly OptionSpec[], role: OptionRole): Setting | undefined {
  const names = new Set(options.filter((o) => o.role === role).map((o) => o.name));
  return plan.options.findLast((s) => names.has(s.name) && s.value !== undefined && s.value !== null);
}

/** As a number where it is one. */
const shown = ({ value, raw }: Setting): string => (typeof value === 'number' ? withCommas(value) : raw);

const ALLOCATORS = { blocks: 'blocks', tokens: 'single tokens', cells: 'cells', slots: 'slots' } as const;

function blocks({ plan: a }: Planned, { plan: b }: Planned): readonly Difference[] {
  const [x, y] = [a.kv?.layout, b.kv?.layout];
  if (!x || !y || (x.blockSize === y.blockSize && x.allocator === y.allocator)) {
    return [];
  }
  const how = (l: typeof x) =>
    l.allocator === 'blocks'
      ? `blocks of ${withCommas(l.blockSize)} tokens`
      : l.allocator === 'tokens' && l.blockSize > 1
        ? `tokens in pages of ${withCommas(l.blockSize)}`
        : ALLOCATORS[l.allocator];
  const tail = b.capacity?.paged.tailTokens.value;
  const lost = tail === undefined ? '' : `${withCommas(tail)} slots of the last one stay empty at this workload`;
  return one('blocks', sentence([`${how(y)}, against ${how(x)}`, y.allocator === 'blocks' ? lost : '']));
}

/** Blocks that nobody gets, pools kept apart. */
function reserve({ plan: a }: Planned, { plan: b }: Planned): readonly Difference[] {
  const held = (plan: Plan) => {
    const pool = plan.kv?.pool;
    return pool ? pool.blocks.value - pool.usableBlocks : 0;
  };
  const parts: string[] = [];
  if (!a.kv?.pool || !b.kv?.pool) {
    return [];
  }
  if (held(a) !== held(b)) {
    parts.push(`${withCommas(held(b))} of the pool’s blocks are held back, against ${withCommas(held(a))}`);
  }
  const pools = (plan: Plan) => plan.kv?.pool?.parts?.length ?? 1;
  if (pools(a) !== pools(b)) {
    parts.push(
      pools(b) > 1
        ? `the memory is divided into ${pools(b)} pools, and a request needs room in each`
        : 'all layers share one pool',
    );
  }
  return parts.length > 0 ? one('reserve', sentence(parts)) : [];
}

function length(base: Planned, other: Planned): readonly Difference[] {
  const [x, y] = [base.plan.capacity?.maxLength, other.plan.capacity?.maxLength];
  if (x === undefined || y === undefined || x === y) {
    return [];
  }
  const setting = settingOf(other.plan, other.options, 'max-length');
  const cut = setting && typeof setting.value === 'number' && setting.value > y ? ': cut to what the pool holds' : '';
  return one(
    'length',
    sentence([`requests of up to ${withCommas(y)} tokens, against ${withCommas(x)}${cut || from(setting)}`]),
  );
}

const from = (setting: Setting | undefined): string =>
  setting?.origin === 'default' ? ` (${setting.name}: ${setting.how ?? 'a default'})` : '';

function limit(base: Planned, other: Planned): readonly Difference[] {
  const [x, y] = [base.plan.capacity?.engineLimit, other.plan.capacity?.engineLimit];
  if (!base.plan.capacity || !other.plan.capacity || x?.value === y?.value) {
    return [];
  }
  const setting = settingOf(other.plan, other.options, 'max-sequences');
  const most = (f: Figure | undefined) =>
    f ? `${withCommas(f.value)} request${f.value === 1 ? '' : 's'} at most` : 'no limit on requests';
  return one('limit', sentence([`${most(y)}, against ${most(x)}${from(setting)}`]));
}
