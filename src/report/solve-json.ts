/** Solutions as JSON, schema `kv-planner/solve@1`. This file and `schema/solve.schema.json` spell the contract. */
import type { TextEdit } from '../launch/edit';
import { linesOf, type Position } from '../launch/lines';
import type { Plan } from '../planner';
import type { Change, Solution, Solved, Target } from '../solve';
import type { PlannedFile } from './planned';

const SOLVE_SCHEMA = 'kv-planner/solve@1';

export interface SolvedFile extends PlannedFile {
  readonly solved: readonly Solved[];
}

type Places = (offset: number) => Position;

export function solveJson(files: readonly SolvedFile[], target: Target): object {
  return known({
    schema: SOLVE_SCHEMA,
    target: { concurrency: target.concurrency, length: target.length },
    launches: files.flatMap((f) => {
      const places = linesOf(f.text).position;
      return f.solved.map((solved) => oneLaunch(solved, places));
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

function oneLaunch(solved: Solved, places: Places): object {
  const { plan, target, met, solutions, nearest, reason, gpus } = solved;
  return {
    launch: {
      file: plan.launch.file,
      title: plan.launch.title,
      form: plan.launch.form,
      engine: plan.engine.id,
      engineVersion: plan.engine.version.text,
      range: { start: places(plan.launch.range.start), end: places(plan.launch.range.end) },
    },
    model: plan.model?.id,
    requestTokens: target.length,
    workload: { ...plan.workload },
    gpusOffered: gpus,
    met,
    now: outcomeOf(plan, solved.served),
    solutions: solutions.map((s) => solutionOf(s, places)),
    nearest: nearest && solutionOf(nearest, places),
    reason,
  };
}

const solutionOf = ({ changes, edits, gpus, moreGpus, plan, served }: Solution, places: Places): object => ({
  changes: changes.map(({ option, from, to }: Change) => ({ option, from, to })),
  edits: edits.map(({ range, text }: TextEdit) => ({
    range: { start: places(range.start), end: places(range.end) },
    text,
  })),
  gpus,
  moreGpus,
  result: outcomeOf(plan, served),
});

/** The numbers of a plan that a target is held against; what is not known is left out. */
function outcomeOf(plan: Plan, served: number): object {
  const { capacity, kv, placement } = plan;
  const replicas = placement?.replicas ?? 1;
  const range = capacity?.fits.range;
  return {
    starts: plan.starts,
    served,
    servedLow: range && served > 0 ? Math.floor(range.low) * replicas : undefined,
    servedHigh: range && served > 0 ? Math.floor(range.high) * replicas : undefined,
    fits: capacity && Math.floor(capacity.fits.value),
    replicas: placement && replicas,
    limitedBy: capacity?.limitedBy,
    maxLength: capacity?.maxLength,
    longestContext: capacity?.longestContext && Math.floor(capacity.longestContext.value),
    blocksPerRequest: capacity?.paged.blocksPerRequest.value,
    blocks: kv?.pool?.blocks.value,
    kvBytesPerGpu: kv?.pool && Math.floor(kv.pool.bytes.value),
    bytesPerTokenPerGpu: kv && Math.round(kv.layout.bytesPerToken.value),
    kvDtype: kv?.layout.dtype.value,
  };
}

/** The same without the keys whose value is unknown. */
function known<T extends object>(value: T): T {
  return JSON.parse(JSON.stringify(value));
}
