/** `kv-planner compare`: the model of each launch on several engines. */
import type { EngineAsked } from '../compare';
import type { ComparedFile } from '../report/compare-json';
import type { ExitCode, Io } from './io';
import { type FilesAsked, failures, planFiles } from './plan-files';

export const COMPARE_FORMATS = ['text', 'json'] as const;

export interface CompareOptions extends FilesAsked {
  readonly engines: readonly EngineAsked[];
  readonly format: (typeof COMPARE_FORMATS)[number];
}

/** 0 when the launches as written were planned: that another engine refuses one is an answer. */
export async function compare(options: CompareOptions, io: Io): Promise<ExitCode> {
  const { compareEngines } = await import('../compare');
  const files = (await planFiles(options, io)).map(
    (file): ComparedFile => ({
      ...file,
      compared: file.input && file.context ? compareEngines(options.engines, file.input, file.context).compared : [],
    }),
  );
  if (options.format === 'json') {
    const { compareJson } = await import('../report/compare-json');
    io.out(`${JSON.stringify(compareJson(files), undefined, 2)}\n`);
  } else {
    io.out((await import('../report/compare-text')).compareText(files, io));
  }
  return failures(files, io) ? 1 : 0;
}
