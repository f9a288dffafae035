/**
 * GPUs by any of their names: as sold, as nvidia-smi prints them, as Kubernetes labels spell them, as clouds rent them.
 * The rows are a JSON text written by `scripts/make-catalogue.mjs`, parsed when the first GPU is asked for.
 */
import { nearest } from '../nearest';
import { between, MiB } from '../units';
import type { Gpu } from './gpu';
import { gpusJson } from './gpus.generated';

interface GpuRow {
  readonly name: string;
  /** Other names. */
  readonly a: readonly string[];
  readonly v: string;
  /** Total memory as CUDA or HIP reports it: `[low, usual, high]` in MiB. */
  readonly m: readonly [number, number, number];
  /** How it is known: `t` totals in logs, `s` estimated from nvidia-smi's figure, `n` from the size on the box. */
  readonly how: 't' | 's' | 'n';
  /** Total as nvidia-smi or rocm-smi prints it, in MiB. */
  readonly r?: number;
  /** Bandwidth in GB/s. */
  readonly b?: number;
  /** Dense 16-bit operations, 10^12 a second. */
  readonly t?: number;
  /** Architecture, compute capability. */
  readonly c?: string;
  readonly cc?: string;
  readonly u?: 1;
  readonly s: readonly number[];
}

interface Index {
  readonly rows: readonly GpuRow[];
  readonly sources: readonly string[];
  /** Row by squeezed name. */
  readonly names: ReadonlyMap<string, number>;
  readonly instances: ReadonlyMap<string, readonly [row: number, count: number]>;
}

let index: Index | undefined;
/** Row by name without the words of packaging: made when a name is not known as it stands. */
let loose: ReadonlyMap<string, number> | undefined;
const made = new Map<number, Gpu>();

/** A name without a size means the card most servers have: NVIDIA's 80 GB SXM boards of these generations. */
const COMMON: readonly (readonly [string, string])[] = [
  ['a100', 'A100 80GB SXM'],
  ['a100 sxm', 'A100 80GB SXM'],
  ['a100 pcie', 'A100 80GB PCIe'],
  ['h100', 'H100 80GB SXM'],
  ['h100 pcie', 'H100 80GB PCIe'],
  ['h800', 'H800 80GB'],
  ['v100', 'V100 16GB'],
  ['rtx pro 6000', 'RTX PRO 6000 Blackwell Server Edition'],
];

function load(): Index {
  if (!index) {
    const json = JSON.parse(gpusJson) as {
      gpus: GpuRow[];
      sources: string[];
      instances: [number, number, ...string[]][];
    };
    index = {
      rows: json.gpus,
      sources: json.sources,
      names: nameMap(json.gpus, squeeze),
      instances: new Map(json.instances.flatMap(([row, count, ...names]) => names.map((n) => [n, [row, count]]))),
    };
  }
  return index;
}

/** Common short names first, then proper names, then all others; the first that claims a name keeps it. */
function nameMap(rows: readonly GpuRow[], key: (name: string) => string): ReadonlyMap<string, number> {
  const map = new Map<string, number>();
  const add = (name: string, row: number) => {
    const squeezed = key(name);
    if (squeezed !== '' && !map.has(squeezed)) {
      map.set(squeezed, row);
    }
  };
  for (const [name, row] of COMMON) {
    add(
      name,
      rows.findIndex((r) => r.name === row),
    );
  }
  rows.forEach((row, at) => {
    add(row.name, at);
  });
  rows.forEach((row, at) => {
    for (const name of row.a) {
      add(name, at);
    }
  });
  return map;
}

/** Lower case, without maker, family and punctuation: `NVIDIA GeForce RTX 4090` and `rtx-4090` are `rtx4090`. */
function squeeze(name: string): string {
  return name
    .toLowerCase()
    .replace(/\((?:r|tm|c)\)/g, '')
    .replace(/^(?:(?:nvidia|amd|intel|tesla|geforce|instinct|radeon)[-_ ]+)+/, '')
    .replace(/[^a-z0-9+]/g, '');
}

/** The same without the words of packaging, and in any order. */
function looser(name: string): string {
  return name
    .toLowerCase()
    .replace(/\((?:r|tm|c)\)/g, '')
    .replace(/\b(\d+)[ -_]?g(?:i?b)?\b/g, '$1gb')
    .split(/[^a-z0-9+]+/)
    .flatMap((word) => /^([a-z]+\d+[a-z]*?)(\d{2,3}gb)$/.exec(word)?.slice(1) ?? [word])
    .filter((word) => word !== '' && !NOISE.test(word))
    .sort()
    .join(' ');
}

const NOISE =
  /^(?:nvidia|amd|intel|apple|tesla|geforce|instinct|radeon|quadro|gpu|graphics|card|sxm\d?|oam|hbm\d?e?|gddr\d|tensor|core|generation|edition|shared)$/;

/** The GPU of this name, or of this cloud instance when all its GPUs are of one kind. Undefined when it is not known. */
export function findGpu(name: string): Gpu | undefined {
  const { rows, names, instances } = load();
  const trimmed = name.trim().replace(/-SHARED$/i, '');
  if (trimmed === '') {
    return undefined;
  }
  const squeezed = squeeze(trimmed);
  const row =
    names.get(squeezed) ?? names.get(`rtx${squeezed}`) ?? instances.get(trimmed)?.[0] ?? looseRow(trimmed, rows);
  return row === undefined ? undefined : gpuAt(row);
}

/** By the words of the name without packaging; a size that fits the card may be left out (`L4 24GB`). */
function looseRow(name: string, rows: readonly GpuRow[]): number | undefined {
  loose ??= nameMap(rows, looser);
  const words = looser(name);
  const whole = loose.get(words);
  const size = /(?:^| )(\d+)gb(?: |$)/.exec(words);
  if (whole !== undefined || !size) {
    return whole;
  }
  const row = loose.get(words.replace(size[0], ' ').trim());
  const most = (rows[row ?? -1]?.m[2] ?? 0) / 1024;
  const fits = most > Number(size[1]) * 0.9 && most < Number(size[1]) * 1.02;
  return fits ? row : undefined;
}

/** What a cloud's instance type holds. Types that give a part of a GPU are not known. */
export function findInstance(type: string): { gpu: Gpu; count: number } | undefined {
  const found = load().instances.get(type.trim());
  return found && { gpu: gpuAt(found[0]), count: found[1] };
}

const MEMORY_KNOWN = {
  t: 'memory: total that CUDA or HIP reports, as logs show it',
  s: 'memory: estimated from the figure of nvidia-smi, which counts what the driver keeps (0.25 to 0.75 GiB)',
  n: 'memory: estimated from the size it is sold with',
};

function gpuAt(at: number): Gpu {
  const known = made.get(at);
  if (known) {
    return known;
  }
  const { rows, sources } = load();
  const row = rows[at] as GpuRow;
  const [low, usual, high] = row.m;
  const gpu: Gpu = {
    name: row.name,
    vendor: row.v,
    memory: between(low * MiB, usual * MiB, high * MiB),
    ...(row.r === undefined ? {} : { reported: row.r * MiB }),
    ...(row.b === undefined ? {} : { bandwidthGBs: row.b }),
    ...(row.t === undefined ? {} : { teraflops: row.t }),
    ...(row.c === undefined ? {} : { architecture: row.c }),
    ...(row.cc === undefined ? {} : { computeCapability: row.cc }),
    unifiedMemory: row.u === 1,
    sources: [MEMORY_KNOWN[row.how], ...row.s.flatMap((i) => sources[i] ?? [])],
  };
  made.set(at, gpu);
  return gpu;
}

/** Every GPU's name, for completion. */
export const gpuNames = (): string[] => load().rows.map((row) => row.name);

/** Known names nearest to this one, nearest first: `Did you mean …?`. A name that was left unfinished goes before a slip. */
export function nearestGpus(name: string, n: number): string[] {
  const begun = squeeze(name);
  const longer = begun.length < 3 ? [] : gpuNames().filter((known) => squeeze(known).startsWith(begun));
  return [...new Set([...longer, ...nearest(name, gpuNames(), n, squeeze)])].slice(0, n);
}
