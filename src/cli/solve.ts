/** `kv-planner solve`: from a number of requests to the settings that serve them. */
import type { SolvedFile } from '../report/solve-json';
import type { Target } from '../solve';
import type { ExitCode, Io } from './io';
import { type FilesAsked, failures, planFiles } from './plan-files';

export const SOLVE_FORMATS = ['text', 'json'] as const;

export interface SolveOptions extends FilesAsked {
  readonly target: Target;
  readonly format: (typeof SOLVE_FORMATS)[number];
}

export async function solve(options: SolveOptions, io: Io): Promise<ExitCode> {
  const { solveFor } = await import('../solve');
  const files = (await planFiles(options, io)).map(
    (file): SolvedFile => ({
      ...file,
      solved: file.input && file.context ? solveFor(options.target, file.input, file.context).solved : [],
    }),
  );
  if (options.format === 'json') {
    const { solveJson } = await import('../report/solve-json');
    io.out(`${JSON.stringify(solveJson(files, options.target), undefined, 2)}\n`);
  } else {
    io.out((await import('../report/solve-text')).solveText(files, io));
  }
  const failed = failures(files, io);
  const missed = files.flatMap((f) => f.solved).some((s) => s.plan.planned && !s.met && s.solutions.length === 0);
  return failed ? 1 : missed ? 3 : 0;
}
