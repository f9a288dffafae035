/** The capacity report: a read-only Markdown document that follows its file. */
import { commands, Disposable, EventEmitter, extensions, l10n, Uri, ViewColumn, window, workspace } from 'vscode';
import { type Plans, planAt } from './plans';

const SCHEME = 'kv-planner-report';

/** What a report's address holds: the file, and the launch at an offset when one is named. */
interface Subject {
  readonly of: string;
  readonly offset?: number;
}

export interface Reports extends Disposable {
  show(uri: Uri, offset?: number): Promise<void>;
}

export function registerReports(plans: Plans): Reports {
  const changed = new EventEmitter<Uri>();
  const listeners = Disposable.from(
    changed,
    workspace.registerTextDocumentContentProvider(SCHEME, {
      onDidChange: changed.event,
      provideTextDocumentContent: (uri) => reportText(plans, uri),
    }),
    plans.onDidChange((document) => {
      for (const { uri } of workspace.textDocuments.filter((d) => d.uri.scheme === SCHEME)) {
        if (subjectOf(uri)?.of === document.uri.toString()) {
          changed.fire(uri);
        }
      }
    }),
  );
  return { show, dispose: () => listeners.dispose() };
}

async function show(uri: Uri, offset?: number): Promise<void> {
  const report = reportUri(uri, offset);
  const document = await workspace.openTextDocument(report);
  if (!(await showRendered(report))) {
    await window.showTextDocument(document, { viewColumn: ViewColumn.Beside, preview: true, preserveFocus: true });
  }
}

/** False where the editor has no Markdown preview: it may be switched off, and a web editor may lack it. */
async function showRendered(report: Uri): Promise<boolean> {
  if (!extensions.getExtension('vscode.markdown-language-features')) {
    return false;
  }
  try {
    await commands.executeCommand('markdown.showLockedPreviewToSide', report);
    return true;
  } catch {
    return false;
  }
}

function reportUri(uri: Uri, offset: number | undefined): Uri {
  const name = uri.path.slice(uri.path.lastIndexOf('/') + 1);
  const subject: Subject = { of: uri.toString(), ...(offset !== undefined && { offset }) };
  return Uri.from({ scheme: SCHEME, path: `${l10n.t('Capacity of {0}', name)}.md`, query: JSON.stringify(subject) });
}

/** Anyone can ask for an address of our scheme: what is not ours has no subject. */
function subjectOf(report: Uri): Subject | undefined {
  try {
    const { of, offset } = JSON.parse(report.query) as Partial<Record<keyof Subject, unknown>>;
    return typeof of === 'string' ? { of, ...(typeof offset === 'number' && { offset }) } : undefined;
  } catch {
    return undefined;
  }
}

async function reportText(plans: Plans, report: Uri): Promise<string> {
  const subject = subjectOf(report);
  if (!subject) {
    return l10n.t('This report names no file.');
  }
  const document = await workspace.openTextDocument(Uri.parse(subject.of));
  const made = await plans.of(document);
  const name = workspace.asRelativePath(document.uri, false);
  if (!made) {
    return l10n.t('No launch was found in {0}.', name);
  }
  const { reportMarkdown, reportOf } = await import('../lazy');
  const plan = subject.offset === undefined ? undefined : planAt(made.plans, subject.offset);
  const result = plan ? { plans: [plan], problems: made.problems } : made;
  return reportMarkdown(reportOf([{ name, text: made.text, result }]));
}
