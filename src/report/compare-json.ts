/** A comparison as JSON, schema `kv-planner/compare@1`. This file and `schema/compare.schema.json` spell the contract. */
import type { Compared, ComparedEngine } from '../compare';
import type { Figure } from '../core/figure';
import { linesOf, type Position } from '../launch/lines';
import type { Plan } from '../planner';
import type { PlannedFile } from './planned';

const COMPARE_SCHEMA = 'kv-planner/compare@1';

export interface ComparedFile extends PlannedFile {
  readonly compared: readonly Compared[];
}

type Places = (offset: number) => Position;

export function compareJson(files: readonly ComparedFile[]): object {
  return known({
    schema: COMPARE_SCHEMA,
    launches: files.flatMap((f) => {
      const places = linesOf(f.text).position;
      return f.compared.map((c) => oneLaunch(c, places));
    }),
    problems: files.flatMap((f) => {
      const places = linesOf(f.text).position;
      return f.result.problems.map((p) => ({
        file: p.file,
        line: p.line ?? (p.range && places(p.range.start).line),
        message: p.message,
      }));
    }),
  });
}

function oneLaunch({ plan, engines }: Compared, places: Places): object {
  const { launch, hardware } = plan;
  return {
    launch: {
      file: launch.file,
      title: launch.title,
      form: launch.form,
      engine: plan.engine.id,
      engineVersion: plan.engine.version.text,
      range: { start: places(launch.range.start), end: places(launch.range.end) },
    },
    model: plan.model?.id,
    hardware: hardware && { gpu: hardware.name, count: hardware.count, memoryBytes: Math.round(hardware.memory.value) },
    workload: { ...plan.workload },
    engines: engines.map(engineJson),
  };
}

const engineJson = ({ plan, asWritten, carried, leftOut, differences }: ComparedEngine): object => ({
  engine: plan.engine.id,
  title: plan.engine.title,
  version: plan.engine.version.text,
  asWritten,
  planned: plan.planned,
  starts: plan.starts,
  translated: carried.map(({ from, to, value }) => ({ from, to, value })),
  leftOut: leftOut.map(({ option, raw, why }) => ({ option, raw, why })),
  result: resultOf(plan),
  differences: differences.map(({ topic, text }) => ({ topic, text })),
  findings: plan.findings.map(({ code, severity, message, option }) => ({ code, severity, message, option })),
});

/** Figures of one GPU, and of one replica. */
function resultOf({ kv, capacity, placement, budget }: Plan): object | undefined {
  if (!kv) {
    return undefined;
  }
  const { layout, pool } = kv;
  return {
    kvDtype: layout.dtype.value,
    allocator: layout.allocator,
    blockSize: layout.blockSize,
    bytesPerTokenPerGpu: whole(layout.bytesPerToken),
    fixedBytesPerRequestPerGpu: whole(layout.fixedBytes),
    bytesPerBlockPerGpu: whole(layout.bytesPerBlock),
    limitBytes: budget && whole(budget.limit),
    kvBytesPerGpu: pool && whole(pool.bytes),
    kvBytesLow: pool?.bytes.range && Math.floor(pool.bytes.range.low),
    kvBytesHigh: pool?.bytes.range && Math.ceil(pool.bytes.range.high),
    blocks: pool && whole(pool.blocks),
    usableBlocks: pool?.usableBlocks,
    maxLength: capacity?.maxLength,
    longestContext: capacity?.longestContext && whole(capacity.longestContext),
    contiguousRequests: capacity && whole(capacity.contiguous.requests),
    pagedRequests: capacity && whole(capacity.paged.requests),
    engineLimit: capacity?.engineLimit && whole(capacity.engineLimit),
    fits: capacity && whole(capacity.fits),
    fitsLow: capacity?.fits.range && Math.floor(capacity.fits.range.low),
    fitsHigh: capacity?.fits.range && Math.floor(capacity.fits.range.high),
    limitedBy: capacity?.limitedBy,
    replicas: placement?.replicas,
  };
}

const whole = (figure: Figure): number => Math.round(figure.value);

/** The same without the keys whose value is unknown. */
function known<T extends object>(value: T): T {
  return JSON.parse(JSON.stringify(value));
}
