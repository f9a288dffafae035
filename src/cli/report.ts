/** `kv-planner report`: plans the files, renders, judges. */
import type { PlannedFile } from '../report/planned';
import type { ExitCode, Io } from './io';
import { type FilesAsked, failures, planFiles, where } from './plan-files';
import { type Requirements, unmet } from './requirements';

export const FORMATS = ['text', 'markdown', 'json', 'csv', 'html'] as const;
export type Format = (typeof FORMATS)[number];

export interface ReportOptions extends FilesAsked {
  readonly format: Format;
  readonly require: Requirements;
}

export async function report(options: ReportOptions, io: Io): Promise<ExitCode> {
  const files = await planFiles(options, io);
  io.out(await render(files, options.format, io));
  return verdict(files, options.require, io);
}

async function render(files: readonly PlannedFile[], format: Format, io: Io): Promise<string> {
  switch (format) {
    case 'json':
      return `${JSON.stringify((await import('../report/json')).planJson(files), undefined, 2)}\n`;
    case 'csv':
      return (await import('../report/csv')).reportCsv(files);
    default: {
      const { reportOf } = await import('../report/sections');
      const description = reportOf(files);
      if (format === 'markdown') {
        return (await import('../report/markdown')).reportMarkdown(description);
      }
      if (format === 'html') {
        return (await import('../report/html')).reportHtml(description);
      }
      return (await import('../report/text')).reportText(description, io);
    }
  }
}

function verdict(files: readonly PlannedFile[], require: Requirements, io: Io): ExitCode {
  const failed = failures(files, io);
  const missed = files
    .flatMap((f) => f.result.plans)
    .filter((p) => p.planned)
    .flatMap((p) => unmet(p, require).map((why) => `${where(p)}: requirement not met: ${why}`));
  missed.forEach(io.note);
  return failed ? 1 : missed.length > 0 ? 3 : 0;
}
