/** `kv-planner report`: reads, plans, renders, judges. */
import { dirname, resolve } from 'node:path';
import type { Form, GrammarName, Grammars } from '../launch/launch';
import type { Overrides, Plan, PlanContext } from '../planner';
import { decidingFinding, whyNot } from '../report/answers';
import { clean } from '../report/document';
import type { PlannedFile } from '../report/planned';
import { type Content, decode, neighbours, readNamed, realPath } from './files';
import type { ExitCode, Io } from './io';
import { type Config, modelSource, namedConfig } from './models';
import { type Requirements, unmet } from './requirements';

export const FORMATS = ['text', 'markdown', 'json', 'csv', 'html'] as const;
export type Format = (typeof FORMATS)[number];

export interface ReportOptions {
  /** Paths; `-` is standard input. */
  readonly files: readonly string[];
  readonly form?: Form;
  /** Name to assume for standard input. */
  readonly name: string;
  readonly flags: Overrides;
  readonly format: Format;
  readonly require: Requirements;
}

export async function report(options: ReportOptions, io: Io): Promise<ExitCode> {
  const files = await planned(options, io);
  io.out(await render(files, options.format, io));
  return verdict(files, options.require, io);
}

async function planned(options: ReportOptions, io: Io): Promise<PlannedFile[]> {
  const name = options.flags['model-config'];
  if (name === undefined) {
    return planAll(options, undefined, io);
  }
  const config = namedConfig(name);
  return 'error' in config ? [unreadable(name, config.error)] : planAll(options, { name, config }, io);
}

type Named = { readonly name: string; readonly config: Config };

/** What holds for all files of one command line. */
interface Session {
  readonly options: ReportOptions;
  readonly io: Io;
  readonly named?: Named;
  /** Real paths of the files that the user named. */
  readonly opened: ReadonlySet<string>;
  /** Loaded when the first file needs them. */
  grammars?: Grammars;
}

async function planAll(options: ReportOptions, named: Named | undefined, io: Io): Promise<PlannedFile[]> {
  const opened = new Set(options.files.map((f) => realPath(f)).filter((f) => f !== undefined));
  const session: Session = { options, io, named, opened };
  const files: PlannedFile[] = [];
  for (const path of options.files) {
    const name = path === '-' ? options.name : path;
    const content = path === '-' ? await readStdin(io) : readNamed(path);
    files.push('error' in content ? unreadable(name, content.error) : await plan(name, content.text, session));
  }
  return files;
}

async function readStdin(io: Io): Promise<Content> {
  try {
    return decode(await io.stdin());
  } catch (error) {
    return { error: (error as Error).message };
  }
}

async function plan(name: string, text: string, session: Session): Promise<PlannedFile> {
  const { options, opened, named, io } = session;
  const note = once(io.note);
  const read = neighbours(dirname(resolve(name)), opened, note);
  const context: PlanContext = { models: modelSource(named, read, note), flags: options.flags };
  const { planText } = await import('../planner');
  const planned = () =>
    planText({ text, name, form: options.form, files: { read }, grammars: session.grammars }, context);
  let result = planned();
  try {
    while (await loaded(result.needs.grammars, session)) {
      result = planned();
    }
  } catch (error) {
    return unreadable(name, `the grammar to read it could not be loaded: ${(error as Error).message}`);
  }
  return { name, text, result: result.plans.length + result.problems.length > 0 ? result : nothing(name) };
}

/** Loads the grammars that are still missing; false when there are none. */
async function loaded(names: readonly GrammarName[], session: Session): Promise<boolean> {
  const missing = names.filter((name) => session.grammars?.get(name) === undefined);
  if (missing.length === 0) {
    return false;
  }
  const { loadGrammars } = await import('../launch/shell/grammar');
  session.grammars = await loadGrammars(missing, session.io.grammarFile, session.grammars);
  return true;
}

const unreadable = (file: string, message: string): PlannedFile => ({
  name: file,
  text: '',
  result: { plans: [], problems: [{ file, message }] },
});

/** A file without a launch is a problem: a pipeline that checks nothing must not look as if it passed. */
const nothing = (file: string): PlannedFile['result'] => ({
  plans: [],
  problems: [{ file, message: 'no launch of a known engine found in it' }],
});

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

/** Says on standard error what is wrong. Not planned weighs more than not met: an unknown answer meets nothing. */
function verdict(files: readonly PlannedFile[], require: Requirements, io: Io): ExitCode {
  const problems = files.flatMap((f) => f.result.problems);
  const plans = files.flatMap((f) => f.result.plans);
  const failed = plans.filter((p) => !p.planned);
  for (const p of problems) {
    io.note(clean(`${p.file}${p.line === undefined ? '' : `:${p.line}`}: ${p.message}`));
  }
  for (const p of failed) {
    io.note(`${where(p)}: could not be planned: ${whyNot(p)}`);
  }
  if (plans.some((p) => p.planned && !p.hardware && !p.kv?.pool)) {
    io.note('The GPU of some launch is not known: --gpu NAME says it');
  }
  const missed = plans
    .filter((p) => p.planned)
    .flatMap((p) => unmet(p, require).map((why) => `${where(p)}: requirement not met: ${why}`));
  missed.forEach(io.note);
  return problems.length + failed.length > 0 ? 1 : missed.length > 0 ? 3 : 0;
}

function where(plan: Plan): string {
  const finding = decidingFinding(plan);
  return clean(`${plan.launch.file}${finding ? `:${finding.line}` : ''} (${plan.launch.title})`);
}

function once(note: (line: string) => void): (line: string) => void {
  const said = new Set<string>();
  return (line) => {
    if (!said.has(line)) {
      said.add(line);
      note(line);
    }
  };
}
