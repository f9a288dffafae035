/** Looking through the workspace for launches: file by file, so that what is found shows at once and it can be stopped. */
import { type CancellationToken, FileType, type Uri, workspace } from 'vscode';
import { breathe, type Report } from './patience';
import type { Source } from './planning';
import type { DocumentPlans, Plans } from './plans';
import { mayHoldLaunch, SCANNED } from './sniff';

/** What a file holds. */
export interface Scanned extends Pick<DocumentPlans, 'plans' | 'problems'> {
  readonly uri: Uri;
  readonly name: string;
  readonly text: string;
}

/** Folders that hold what others wrote; `files.exclude` is heeded beside. */
const LEFT_OUT = '**/{node_modules,bower_components,.git,.venv,venv,__pycache__,site-packages,dist,out,target,.tox}/**';
const MOST_FILES = 20_000;
/** No launch file is larger. */
const LARGEST = 2 ** 20;

export async function scanWorkspace(
  plans: Plans,
  found: (file: Scanned) => void,
  token: CancellationToken,
  report: Report,
): Promise<{ readonly files: number; readonly all: boolean }> {
  const uris = await workspace.findFiles(SCANNED, LEFT_OUT, MOST_FILES, token);
  let breath = Date.now();
  for (const [i, uri] of uris.entries()) {
    if (Date.now() - breath > 20) {
      report(i / uris.length, `${i} / ${uris.length}`);
      await breathe(token);
      breath = Date.now();
    }
    const file = await scanFile(plans, uri);
    if (file) {
      found(file);
    }
  }
  return { files: uris.length, all: uris.length < MOST_FILES };
}

/** Undefined where it holds no launch, or cannot be read. */
export async function scanFile(plans: Plans, uri: Uri): Promise<Scanned | undefined> {
  const text = await textOf(uri);
  if (text === undefined || !mayHoldLaunch(text, uri.path)) {
    return undefined;
  }
  const source: Source = { uri, text, name: workspace.asRelativePath(uri, false) };
  const made = await plans.plan(source).catch(() => undefined); // the log of the host has it; the scan goes on
  return made && made.result.plans.length > 0
    ? { uri, name: source.name, text, plans: made.result.plans, problems: made.result.problems }
    : undefined;
}

/** As it stands in the editor, saved or not; else as it stands on the disk. */
async function textOf(uri: Uri): Promise<string | undefined> {
  const open = workspace.textDocuments.find((d) => d.uri.toString() === uri.toString());
  if (open) {
    return open.getText();
  }
  try {
    const { type, size } = await workspace.fs.stat(uri);
    if (!(type & FileType.File) || size > LARGEST || (type & FileType.SymbolicLink && !workspace.isTrusted)) {
      return undefined;
    }
    const text = new TextDecoder().decode(await workspace.fs.readFile(uri));
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}
