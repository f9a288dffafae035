/** What one launch would come to at other values of one or two options: rows of figures for charts, each from a plan of its own. */
import type { Waste } from '../core/capacity/capacity';
import { availability, defaultOf } from '../core/engines/option';
import type { Estimate } from '../core/units';
import { type Plan, requestsByLength } from '../planner';
import type { TryOptions } from '../planner/alternatives';
import { optionsOf, type RoleKnob, readChange } from './knobs';

/** The plan with options of some roles at other values; undefined where the engine does not take one. */
type Replan = (changes: Readonly<Partial<Record<RoleKnob, string>>>) => Plan | undefined;

function replanner(plan: Plan, tryOptions: TryOptions): Replan {
  return (changes) => {
    const options: Record<string, string> = {};
    for (const [role, text] of Object.entries(changes) as [RoleKnob, string][]) {
      const read = readChange(plan, role, text);
      if ('error' in read) {
        return undefined;
      }
      for (const { spec } of read.values) {
        options[spec.name] = read.text;
      }
    }
    return tryOptions(plan, options);
  };
}

/** One number format on so many GPUs of a tensor group. */
export interface FormatRow {
  readonly dtype: string;
  readonly tensor: number;
  /** It is what the launch has. */
  readonly current: boolean;
  readonly starts: Plan['starts'];
  /** Why it does not start, or cannot be planned. */
  readonly why?: string;
  /** The longest request that would still start; absent where nothing grows with the length. */
  readonly longest?: { readonly tokens: number; readonly range?: Estimate };
  /** Requests of one replica that memory holds at each of the lengths. */
  readonly requests: readonly number[];
  /** Most that the engine runs at once, whatever memory holds. */
  readonly limit?: number;
  /** GPUs of one replica. */
  readonly gpus: number;
}

export interface FormatStudy {
  readonly lengths: readonly number[];
  readonly rows: readonly FormatRow[];
}

export interface BlockRow {
  readonly blockSize: number;
  readonly current: boolean;
  readonly starts: Plan['starts'];
  readonly blocks: number;
  /** Table entries of one request at the workload. */
  readonly entries: number;
  /** Slots of its last block that stay empty, and their share of what it holds. */
  readonly tailTokens: number;
  readonly tailShare: number;
  readonly requests: number;
}

export interface WasteRow {
  readonly how: 'contiguous' | 'paged';
  readonly requests: number;
  readonly waste: Waste;
}

export interface Studies {
  /** Absent where memory is not known: then nothing below can be. */
  readonly formats?: FormatStudy;
  /** Absent too where the engine has no blocks to size. */
  readonly blocks?: readonly BlockRow[];
  readonly waste?: readonly WasteRow[];
}

/** `tryOptions` of the text that the plan is of. */
export function studiesOf(plan: Plan, tryOptions: TryOptions): Studies {
  if (!plan.kv?.pool || !plan.capacity) {
    return {};
  }
  const replan = replanner(plan, tryOptions);
  const blocks = blockRows(plan, replan);
  return {
    formats: formatStudy(plan, replan),
    ...(blocks.length > 1 && { blocks }),
    waste: wasteRows(plan),
  };
}

function wasteRows({ capacity }: Plan): readonly WasteRow[] | undefined {
  return (
    capacity &&
    (['contiguous', 'paged'] as const).map((how) => {
      const { requests, waste } = capacity[how];
      return { how, requests: requests.value, waste };
    })
  );
}

/** Lengths of a heat map: powers of two up to the longest request, and that one. */
export function lengthsOf(maxLength: number): readonly number[] {
  const lengths: number[] = [];
  for (let length = maxLength; length >= 1 && lengths.length < MOST_LENGTHS; length = powerBelow(length)) {
    if (length >= Math.min(SHORTEST, maxLength)) {
      lengths.unshift(length);
    }
  }
  return lengths;
}

const SHORTEST = 512;
const MOST_LENGTHS = 9;

const powerBelow = (n: number): number => 2 ** (Math.ceil(Math.log2(n)) - 1);

/** Formats and sizes that make a chart still readable. */
const MOST_FORMATS = 4;
const TENSORS = [1, 2, 4, 8, 16] as const;

function formatStudy(plan: Plan, replan: Replan): FormatStudy {
  const lengths = lengthsOf(plan.capacity?.maxLength ?? 1);
  const formats = formatsOf(plan, replan);
  const now = plan.placement?.tensor ?? 1;
  const rows = formats.flatMap(({ text, plan: there }) =>
    tensorsOf(plan).flatMap((tensor) => {
      const made = tensor === now ? there : replan({ ...(text && { 'kv-dtype': text }), tensor: String(tensor) });
      const row = made && formatRow(made, there.kv?.layout.dtype.value ?? text, tensor, lengths);
      return row ? [{ ...row, current: text === '' && tensor === now }] : [];
    }),
  );
  return { lengths, rows };
}

interface Format {
  /** As it is written; empty for what the launch has. */
  readonly text: string;
  readonly plan: Plan;
}

/** What the launch has, and other formats that the engine takes for this model: largest first, none twice in another word. */
function formatsOf(plan: Plan, replan: Replan): readonly Format[] {
  const formats: Format[] = [{ text: '', plan }];
  const usual = defaultFormat(plan, replan);
  const most = Math.max(sizeOf(plan), usual ? sizeOf(usual) : Number.POSITIVE_INFINITY);
  for (const text of formatTexts(plan)) {
    const made = formats.length < MOST_FORMATS ? replan({ 'kv-dtype': text }) : undefined;
    if (made?.planned && made.kv?.pool && sizeOf(made) <= most && !isRefusedFor(made, plan, 'kv-dtype')) {
      if (!formats.some((f) => isClose(sizeOf(f.plan), sizeOf(made)))) {
        formats.push({ text, plan: made });
      }
    }
  }
  return formats.sort((a, b) => sizeOf(b.plan) - sizeOf(a.plan));
}

/** Formats that differ by their scales alone would be the same row twice. */
const isClose = (a: number, b: number): boolean => Math.abs(a - b) < 0.1 * Math.max(a, b);

/** What nobody asks for is larger than what the engine does of its own accord. */
function defaultFormat(plan: Plan, replan: Replan): Plan | undefined {
  const [spec] = optionsOf(plan, 'kv-dtype');
  const value = spec && defaultOf(spec, plan.engine.version.text)?.value;
  return value === undefined ? undefined : replan({ 'kv-dtype': String(value) });
}

const sizeOf = (plan: Plan): number => plan.kv?.layout.bytesPerToken.value ?? 0;

function formatTexts(plan: Plan): readonly string[] {
  const [spec] = optionsOf(plan, 'kv-dtype');
  return spec?.values?.filter((value) => availability(spec, plan.engine.version.text, value) === 'ok') ?? [];
}

/** It is the changed option that the engine has something against. */
function isRefusedFor(made: Plan, before: Plan, role: RoleKnob): boolean {
  const names = optionsOf(made, role).map((o) => o.name);
  return made.findings.some(
    (f) =>
      f.severity === 'error' &&
      names.includes(f.option ?? '') &&
      !before.findings.some((b) => b.code === f.code && b.option === f.option),
  );
}

/** Sizes of a tensor group: on one machine, and what the launch has; that alone where the engine has no option for it. */
function tensorsOf(plan: Plan): readonly number[] {
  const now = plan.placement?.tensor ?? 1;
  const free = optionsOf(plan, 'tensor').length > 0 && (plan.placement?.attentionData ?? 1) === 1;
  const most = Math.max(8, now, plan.hardware?.count ?? 1);
  return free ? [...new Set([...TENSORS.filter((t) => t <= most), now])].sort((a, b) => a - b) : [now];
}

function formatRow(
  plan: Plan,
  dtype: string,
  tensor: number,
  lengths: readonly number[],
): Omit<FormatRow, 'current'> | undefined {
  if (!plan.planned) {
    return undefined; // heads that do not divide, and what else the engine has no layout for
  }
  const { capacity, placement } = plan;
  const limit = capacity?.engineLimit?.value;
  const points = requestsByLength(plan, lengths);
  const longest = capacity?.longestContext;
  const why = plan.findings.find((f) => f.severity === 'error') ?? plan.findings.find((f) => f.refuses === 'perhaps');
  return {
    dtype,
    tensor,
    starts: plan.starts,
    ...(plan.starts !== true && why && { why: why.message }),
    ...(longest && longest.value < ANY_LENGTH && { longest: { tokens: longest.value, range: longest.range } }),
    requests: points.map(({ paged }) => paged),
    ...(limit !== undefined && { limit }),
    gpus: tensor * (placement?.pipeline ?? 1),
  };
}

/** Where nothing grows with the length, no length is the longest. */
const ANY_LENGTH = 2 ** 31;

const BLOCK_SIZES = [1, 8, 16, 32, 64, 128, 256] as const;

/** Sizes that the engine takes and keeps to: some attention kernels know one size only. */
function blockRows(plan: Plan, replan: Replan): readonly BlockRow[] {
  if (optionsOf(plan, 'block-size').length === 0) {
    return [];
  }
  const now = plan.kv?.layout.blockSize;
  const rows = new Map<number, BlockRow>();
  for (const size of new Set([...BLOCK_SIZES, ...(now === undefined ? [] : [now])])) {
    const made = size === now ? plan : replan({ 'block-size': String(size) });
    if (made?.planned && made.kv?.pool && made.capacity && made.kv.layout.blockSize === size) {
      if (size === now || !isRefusedFor(made, plan, 'block-size')) {
        rows.set(size, blockRow(made, size, size === now));
      }
    }
  }
  return [...rows.values()].sort((a, b) => a.blockSize - b.blockSize);
}

function blockRow({ capacity, kv, starts }: Plan, blockSize: number, current: boolean): BlockRow {
  const { paged } = capacity as NonNullable<typeof capacity>;
  const { tail, payload } = paged.waste;
  return {
    blockSize,
    current,
    starts,
    blocks: kv?.pool?.blocks.value ?? 0,
    entries: paged.blocksPerRequest.value,
    tailTokens: paged.tailTokens.value,
    tailShare: payload + tail > 0 ? tail / (payload + tail) : 0,
    requests: paged.requests.value,
  };
}
