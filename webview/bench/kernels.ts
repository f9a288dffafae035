/// <reference path="./wgsl.d.ts" />
/**
 * Puts the kernels together from the pieces in wgsl/. A contiguous and a paged kernel differ in one function, the address
 * of a token's row; dtypes in two; the ways to sum over lanes in one. What differs between runs of one kernel (block
 * size, layout, heads) is data.
 */

import type { Dtype } from './shape';
import addressContiguous from './wgsl/address-contiguous.wgsl';
import addressPaged from './wgsl/address-paged.wgsl';
import append from './wgsl/append.wgsl';
import attention from './wgsl/attention.wgsl';
import caches from './wgsl/caches.wgsl';
import common from './wgsl/common.wgsl';
import copy from './wgsl/copy.wgsl';
import f16 from './wgsl/dtype-f16.wgsl';
import f16Native from './wgsl/dtype-f16-native.wgsl';
import f32 from './wgsl/dtype-f32.wgsl';
import int8 from './wgsl/dtype-int8.wgsl';
import gather from './wgsl/gather.wgsl';
import merge from './wgsl/merge.wgsl';
import moveForCopy from './wgsl/move-scales-copy.wgsl';
import moveForGather from './wgsl/move-scales-gather.wgsl';
import moveNone from './wgsl/move-scales-none.wgsl';
import naive from './wgsl/naive.wgsl';
import packF16 from './wgsl/pack-f16.wgsl';
import packF32 from './wgsl/pack-f32.wgsl';
import packInt8 from './wgsl/pack-int8.wgsl';
import probe from './wgsl/probe.wgsl';
import read from './wgsl/read.wgsl';
import scales from './wgsl/scales.wgsl';
import sumSubgroup from './wgsl/sum-subgroup.wgsl';
import sumWorkgroup from './wgsl/sum-workgroup.wgsl';

export type Address = 'contiguous' | 'paged';
export type Task = 'attention' | 'naive' | 'merge' | 'read' | 'gather' | 'append' | 'copy';

/** How a kernel uses the machine: no figure of the result depends on it. */
export interface Tuning {
  /** Invocations of a workgroup. */
  readonly threads: number;
  /** Threads that share a row, if it has that many 16-byte pieces. */
  readonly lanes: number;
  /** Query heads that share a load. */
  readonly tile: number;
  /** Rows in flight per thread. */
  readonly depth: number;
  /** Sum over lanes by shuffles: only where a probe has shown that it is sound, and a subgroup holds the lanes. */
  readonly subgroups: boolean;
  /** Unpack f16 as the type f16, where the adapter has it. */
  readonly nativeF16: boolean;
}

export interface KernelSpec {
  readonly task: Task;
  readonly address: Address;
  readonly dtype: Dtype;
  readonly headDim: number;
  readonly tuning: Tuning;
}

export interface KernelSource {
  readonly code: string;
  readonly entry: string;
  /** Of binding 0, 1, 2 …; undefined where there is none. */
  readonly bindings: readonly (BindingKind | undefined)[];
}

export type BindingKind = 'uniform' | 'read-only-storage' | 'storage';

const DTYPES = { f32, f16, int8 } as const;
const PACKS = { f32: packF32, f16: packF16, int8: packInt8 } as const;
/** Elements in 16 bytes. */
const ELEMENTS = { f32: 4, f16: 8, int8: 16 } as const;
const ADDRESSES = { contiguous: addressContiguous, paged: addressPaged } as const;
/** -2^100: exactly a float, and below every score. */
const LOWEST = '-1267650600228229401496703205376f';

/** 16-byte words of one row. */
export const wordsOf = (dtype: Dtype, headDim: number): number => headDim / ELEMENTS[dtype];

export const bytesPerRow = (dtype: Dtype, headDim: number): number =>
  wordsOf(dtype, headDim) * 16 + (dtype === 'int8' ? 4 : 0);

export function kernelSource(spec: KernelSpec): KernelSource {
  const { task, address, dtype } = spec;
  if (task === 'merge') {
    const code = [common.slice(0, common.indexOf('/** Tokens begin')), merge];
    return compose(spec, code, 'merge', false);
  }
  const place = [common, ADDRESSES[address]];
  const unpacking = spec.tuning.nativeF16 && dtype === 'f16' ? f16Native : DTYPES[dtype];
  const withScales = dtype === 'int8' ? [scales] : [];
  const reading = [...place, caches, ...withScales, unpacking];
  const moving = [...place, caches, ...withScales];
  const plain = dtype === 'int8' ? undefined : moveNone;
  switch (task) {
    case 'attention':
      return compose(
        spec,
        [...reading, spec.tuning.subgroups ? sumSubgroup : sumWorkgroup, attention],
        'attend',
        false,
      );
    case 'naive':
      return compose(spec, [...reading, naive], 'attend', false);
    case 'read':
      return compose(spec, [...reading, read], 'readOnly', false);
    case 'gather':
      return compose(spec, [...moving, plain ?? moveForGather, gather], 'gather', false);
    case 'append':
      return compose(spec, [...moving, PACKS[dtype], append], 'append', true);
    case 'copy':
      return compose(spec, [...moving, plain ?? moveForCopy, copy], 'copyBlock', true);
  }
}

/** Writes where each invocation's neighbours are; `size` threads in a group. */
export function probeSource(threads: number): KernelSource {
  const code = `enable subgroups;\nconst THREADS = ${threads}u;\n${probe}`;
  return { code, entry: 'probe', bindings: bindingsOf(code) };
}

function compose(spec: KernelSpec, pieces: readonly string[], entry: string, writes: boolean): KernelSource {
  const constants = constantsOf(spec);
  const body = unroll(pieces.join('\n').replaceAll('ACCESS', writes ? 'read_write' : 'read'), constants);
  const needs = [
    ...(body.includes('subgroupShuffle') ? ['enable subgroups;'] : []),
    ...(/\bvec2h\b/.test(body) ? ['enable f16;'] : []),
  ];
  const lines = Object.entries(constants).map(([name, value]) => `const ${name} = ${value}u;`);
  const code = [...needs, ...lines, `const LOWEST = ${LOWEST};`, body].join('\n');
  return { code, entry, bindings: bindingsOf(code) };
}

/** The numbers that make up a kernel's shape. */
function constantsOf({ dtype, headDim, tuning }: KernelSpec): Record<string, number> {
  const words = wordsOf(dtype, headDim);
  const lanes = Math.min(tuning.lanes, words);
  const quads = headDim / 4 / lanes;
  const rows = tuning.threads / lanes;
  return {
    THREADS: tuning.threads,
    DIM: headDim,
    WORDS: words,
    LANES: lanes,
    ROWS: rows,
    DEPTH: tuning.depth,
    TILE: tuning.tile,
    SCORES: tuning.tile * tuning.depth,
    QUADS: quads,
    LOADS: words / lanes,
    EACH: ELEMENTS[dtype] / 4,
    POSTED: Math.max(1, (rows / 2) * quads * lanes),
  };
}

const LOOP = /for \(var (\w+) = 0u; \w+ < (\w+); \w+\+\+\) \{ \/\/ unroll\n/;

/**
 * Writes out the loops marked `// unroll`. Their counters index small arrays that should lie in registers, and not every
 * shader compiler does this by itself.
 */
function unroll(code: string, constants: Readonly<Record<string, number>>): string {
  const found = LOOP.exec(code);
  if (!found) {
    return code;
  }
  const [head, counter = '', bound = ''] = found;
  const times = constants[bound];
  if (times === undefined) {
    throw new Error(`The kernel counts to ${bound}, which is no constant.`);
  }
  const start = found.index + head.length;
  const end = closing(code, start);
  const body = unroll(code.slice(start, end), constants);
  const name = new RegExp(`\\b${counter}\\b`, 'g');
  const copies = Array.from({ length: times }, (_, n) => `{\n${body.replace(name, `${n}u`)}}`);
  return code.slice(0, found.index) + copies.join(' ') + unroll(code.slice(end + 1), constants);
}

/** The brace that closes the block which begins at `start`. */
function closing(code: string, start: number): number {
  let depth = 1;
  for (let i = start; i < code.length; i++) {
    depth += code[i] === '{' ? 1 : code[i] === '}' ? -1 : 0;
    if (depth === 0) {
      return i;
    }
  }
  throw new Error('A loop of the kernel has no end.');
}

/** Read from the code itself, so that layout and shader cannot disagree. */
function bindingsOf(code: string): readonly (BindingKind | undefined)[] {
  const bindings: (BindingKind | undefined)[] = [];
  for (const [, binding, kind] of code.matchAll(/@binding\((\d+)\) var<([^>]+)>/g)) {
    bindings[Number(binding)] =
      kind === 'uniform' ? 'uniform' : kind === 'storage, read' ? 'read-only-storage' : 'storage';
  }
  return bindings;
}
