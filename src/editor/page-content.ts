/** The answer of each kind of page, made from the plans of the file that it is about. */
import { type CancellationToken, l10n, Uri, workspace } from 'vscode';
import { launchAt } from '../launch/at';
import type { PlannedFile } from '../report/planned';
import type { Solved } from '../solve';
import type { Ask } from './asks';
import type { Page, Proposal } from './pages';
import { breathe } from './patience';
import { type Planned, type Source, sourceOf } from './planning';
import { type Plans, planAt } from './plans';

type AskOf<K extends Ask['kind']> = Extract<Ask, { kind: K }>;

/** Rejects with a message for the user where there is no answer. */
export function answerTo(ask: Ask, plans: Plans, token: CancellationToken): Promise<Page> {
  switch (ask.kind) {
    case 'report':
      return report(ask, plans);
    case 'text':
      return textReport(ask, plans);
    case 'solve':
      return solutions(ask, plans, token);
    case 'engines':
      return engines(ask, plans, token);
    case 'changes':
      return changes(ask, plans);
  }
}

interface Read {
  readonly file: PlannedFile;
  readonly planned: Planned;
}

async function planned(source: Source, plans: Plans): Promise<Read> {
  const made = await plans.plan(source);
  if (!made) {
    throw new Error(l10n.t('No launch was found in {0}.', source.name));
  }
  return { planned: made, file: { name: source.name, text: source.text, result: made.result } };
}

const fileAt = async (uri: string): Promise<Source> => sourceOf(await workspace.openTextDocument(Uri.parse(uri, true)));

async function report(ask: AskOf<'report'>, plans: Plans): Promise<Page> {
  const document = await workspace.openTextDocument(Uri.parse(ask.of, true));
  const made = await plans.of(document);
  const name = workspace.asRelativePath(document.uri, false);
  if (!made) {
    throw new Error(l10n.t('No launch was found in {0}.', name));
  }
  const plan = ask.offset === undefined ? undefined : planAt(made.plans, ask.offset);
  const result = plan ? { plans: [plan], problems: made.problems } : made;
  return capacity([{ name, text: made.text, result }]);
}

async function capacity(files: readonly PlannedFile[]): Promise<Page> {
  const { planJson, reportCsv, reportOf } = await import('../lazy');
  return { report: reportOf(files), json: planJson(files), csv: reportCsv(files) };
}

/**
 * The launches of the document that the selection touches, with all that the document says of them. Where it holds none,
 * the text alone: read as the document is, else as what was pasted, a command or YAML.
 */
async function textReport(ask: AskOf<'text'>, plans: Plans): Promise<Page> {
  const uri = Uri.parse(ask.of, true);
  const document = await workspace.openTextDocument(uri);
  const whole = await plans.of(document);
  const touched = whole?.plans.filter(({ launch: { range } }) => range.start < ask.end && ask.start < range.end) ?? [];
  if (whole && touched.length > 0) {
    const name = workspace.asRelativePath(uri, false);
    return capacity([{ name, text: whole.text, result: { plans: touched, problems: [] } }]);
  }
  const { pastedText } = await import('../lazy');
  const own = { uri, text: ask.text, name: workspace.asRelativePath(uri, false) };
  for (const source of [own, { uri, text: pastedText(ask.text), name: l10n.t('selection') }]) {
    const made = await plans.plan(source);
    if (made && made.result.plans.length > 0) {
      return capacity([{ name: source.name, text: source.text, result: made.result }]);
    }
  }
  throw new Error(
    l10n.t(
      'No launch was found in the selection. Select a whole command (vllm serve …), a service of a Compose file or a container.',
    ),
  );
}

async function solutions(ask: AskOf<'solve'>, plans: Plans, token: CancellationToken): Promise<Page> {
  const { solveJson, solveOne, solveReport } = await import('../lazy');
  const { file, planned: made } = await planned(await fileAt(ask.of), plans);
  const target = { concurrency: ask.concurrency, length: ask.length };
  const at = indexAt(made, ask.offset);
  const { solved } = await solveOne(target, made.input, made.context, at, () => breathe(token));
  const files = [{ ...file, solved }];
  const report = solveReport(files);
  return { report, json: solveJson(files, target), proposals: proposalsOf(solved, file.text) };
}

/** Those that need no more GPUs than are offered: an edit of the file cannot add any. */
const proposalsOf = (solved: readonly Solved[], text: string): readonly Proposal[] =>
  solved
    .flatMap((one) => one.solutions)
    .filter(({ edits, moreGpus }) => edits.length > 0 && !moreGpus)
    .map(({ changes, edits, served }) => ({
      title: changes.map(({ option, to }) => `${option} ${to}`).join(', '),
      detail: l10n.t('serves {0} requests at once', served),
      edits,
      text,
    }));

const indexAt = ({ result }: Planned, offset: number): number =>
  launchAt(
    result.plans.map((plan) => plan.launch),
    offset,
  );

/** One engine after the other, so that the editor can breathe between them. */
async function engines(ask: AskOf<'engines'>, plans: Plans, token: CancellationToken): Promise<Page> {
  const { compareEngines, compareJson, compareReport } = await import('../lazy');
  const { file, planned: made } = await planned(await fileAt(ask.of), plans);
  const at = indexAt(made, ask.offset);
  const found = [];
  for (const name of ask.engines) {
    await breathe(token);
    const [id = '', version] = name.split('@', 2);
    const one = compareEngines([version === undefined ? { id } : { id, version }], made.input, made.context);
    found.push(one.compared[at]);
  }
  const [first, ...rest] = found.filter((compared) => compared !== undefined);
  if (!first) {
    throw new Error(l10n.t('No launch was found in {0}.', file.name));
  }
  const others = rest.flatMap((compared) => compared.engines.filter((engine) => !engine.asWritten));
  const files = [{ ...file, compared: [{ ...first, engines: [...first.engines, ...others] }] }];
  return { report: compareReport(files), json: compareJson(files) };
}

async function changes(ask: AskOf<'changes'>, plans: Plans): Promise<Page> {
  const { changesReport } = await import('../lazy');
  const after = await fileAt(ask.of);
  // Files that it names are read as they are now: only the text itself is of another time.
  const before = { text: await otherText(ask), name: ask.name, uri: after.uri };
  const [was, is] = await Promise.all([emptyOr(before, plans), planned(after, plans)]);
  return { report: changesReport(was, is.file) };
}

async function otherText({ before, name }: AskOf<'changes'>): Promise<string> {
  try {
    return (await workspace.openTextDocument(Uri.parse(before, true))).getText();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(l10n.t('{0} could not be read: {1}', name, why));
  }
}

/** The other side may hold no launch: then all are new. */
async function emptyOr(source: Source, plans: Plans): Promise<PlannedFile> {
  const made = await plans.plan(source);
  return { name: source.name, text: source.text, result: made?.result ?? { plans: [], problems: [] } };
}
