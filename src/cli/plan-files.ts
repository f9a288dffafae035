/** From paths to plans: reading, fetching what launches name, loading grammars; and saying what went wrong. */
import { dirname, resolve } from 'node:path';
import type { Form, GrammarName, Grammars, ReadInput } from '../launch/launch';
import type { ModelFacts, Overrides, Plan, PlanContext } from '../planner';
import { decidingFinding, whyNot } from '../report/answers';
import { clean } from '../report/document';
import type { PlannedFile } from '../report/planned';
import { type Content, decode, neighbours, reachable, readNamed, realPath } from './files';
import { cachedFacts } from './hub-cache';
import type { Io } from './io';
import { modelSource, type NamedModel, namedConfig } from './models';

export interface FilesAsked {
  /** Paths; `-` is standard input. */
  readonly files: readonly string[];
  readonly form?: Form;
  /** Name to assume for standard input. */
  readonly name: string;
  readonly flags: Overrides;
}

/** A planned file, and what it takes to plan it again; absent where it could not be read. */
export interface OpenedFile extends PlannedFile {
  readonly input?: ReadInput;
  readonly context?: PlanContext;
}

/** Reads and plans each; what cannot be read is a problem of its file. */
export async function planFiles(options: FilesAsked, io: Io): Promise<OpenedFile[]> {
  const name = options.flags['model-config'];
  if (name === undefined) {
    return planAll(options, undefined, io);
  }
  const config = namedConfig(name);
  return 'error' in config ? [unreadable(name, config.error)] : planAll(options, { name, config }, io);
}

type Named = { readonly name: string; readonly config: NamedModel };

/** What holds for all files of one command line. */
interface Session {
  readonly options: FilesAsked;
  readonly io: Io;
  readonly named?: Named;
  /** Real paths of the files that the user named. */
  readonly opened: ReadonlySet<string>;
  readonly cached: (model: string) => ModelFacts | undefined;
  /** Loaded when the first file needs them. */
  grammars?: Grammars;
}

async function planAll(options: FilesAsked, named: Named | undefined, io: Io): Promise<OpenedFile[]> {
  const opened = new Set(options.files.map((f) => realPath(f)).filter((f) => f !== undefined));
  const session: Session = { options, io, named, opened, cached: cacheOf(io.env) };
  const files: OpenedFile[] = [];
  for (const path of options.files) {
    const name = path === '-' ? options.name : path;
    const content = path === '-' ? await readStdin(io) : readNamed(path);
    files.push('error' in content ? unreadable(name, content.error) : await plan(name, content.text, session));
  }
  return files;
}

/** Each model is looked up once, and stays one object. */
function cacheOf(env: Io['env']): Session['cached'] {
  const known = new Map<string, ModelFacts | undefined>();
  return (model) => {
    if (env && !known.has(model)) {
      known.set(model, cachedFacts(model, env));
    }
    return known.get(model);
  };
}

async function readStdin(io: Io): Promise<Content> {
  try {
    return decode(await io.stdin());
  } catch (error) {
    return { error: (error as Error).message };
  }
}

async function plan(name: string, text: string, session: Session): Promise<OpenedFile> {
  const { options, opened, named, io } = session;
  const note = once(io.note);
  const read = neighbours(dirname(resolve(name)), opened, note);
  const find = reachable(dirname(resolve(name)), opened, note);
  const models = modelSource(named, read, note, find, session.cached);
  const context: PlanContext = { models, flags: options.flags };
  const { planText } = await import('../planner');
  const input = (): ReadInput => ({
    text,
    name,
    form: options.form,
    files: { read },
    grammars: session.grammars,
  });
  const planned = () => planText(input(), context);
  let result = planned();
  for (;;) {
    try {
      if (!(await loaded(result.needs.grammars, session))) {
        break;
      }
    } catch (error) {
      return unreadable(name, `the grammar to read it could not be loaded: ${(error as Error).message}`);
    }
    result = planned();
  }
  const some = result.plans.length + result.problems.length > 0;
  return { name, text, result: some ? result : nothing(name), input: input(), context };
}

/** Loads the grammars that are still missing; false when there are none. */
async function loaded(names: readonly GrammarName[], session: Session): Promise<boolean> {
  const missing = names.filter((name) => session.grammars?.get(name) === undefined);
  if (missing.length === 0) {
    return false;
  }
  const { loadGrammars } = await import('../launch/grammar/load');
  session.grammars = await loadGrammars(missing, session.io.grammarFile, session.grammars);
  return true;
}

const unreadable = (file: string, message: string): OpenedFile => ({
  name: file,
  text: '',
  result: { plans: [], problems: [{ file, message }] },
});

/** A file without a launch is a problem: a pipeline that checks nothing must not look as if it passed. */
const nothing = (file: string): PlannedFile['result'] => ({
  plans: [],
  problems: [{ file, message: 'no launch of a known engine found in it' }],
});

/** Says on standard error what could not be planned, and whether there was any. */
export function failures(files: readonly PlannedFile[], io: Io): boolean {
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
  return problems.length + failed.length > 0;
}

export function where(plan: Plan): string {
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
