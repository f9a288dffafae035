/** The capacity report: a read-only Markdown document that follows its file. */
import { commands, Disposable, EventEmitter, extensions, l10n, Uri, ViewColumn, window, workspace } from 'vscode';
import { type Plans, planAt } from './plans';

const SCHEME = 'kv-planner-report';

/** The report of a file, and of the launch at an offset when one is named. */
function reportUri(uri: Uri, offset: number | undefined): Uri {
  const name = uri.path.slice(uri.path.lastIndexOf('/') + 1);
  const query = JSON.stringify({ of: uri.toString(), ...(offset !== undefined && { offset }) });
  return Uri.from({ scheme: SCHEME, path: l10n.t('Capacity of {0}', name).concat('.md'), query });
}

export interface Reports extends Disposable {
  show(uri: Uri, offset?: number): Promise<void>;
}

export function registerReports(plans: Plans): Reports {
  const changed = new EventEmitter<Uri>();
  const open = new Map<string, Uri>();

  const provider = workspace.registerTextDocumentContentProvider(SCHEME, {
    onDidChange: changed.event,
    async provideTextDocumentContent(uri) {
      const { of, offset } = JSON.parse(uri.query) as { of: string; offset?: number };
      open.set(of, uri);
      const document = await workspace.openTextDocument(Uri.parse(of));
      const made = await plans.of(document);
      if (!made) {
        return l10n.t('No launch was found in {0}.', workspace.asRelativePath(document.uri));
      }
      const { reportMarkdown, reportOf } = await import('../lazy');
      const plan = offset === undefined ? undefined : planAt(made.plans, offset);
      const result = plan ? { plans: [plan], problems: made.problems } : made;
      const name = workspace.asRelativePath(document.uri, false);
      return reportMarkdown(reportOf([{ name, text: made.text, result }]));
    },
  });

  const listeners = Disposable.from(
    provider,
    changed,
    plans.onDidChange((document) => {
      const report = open.get(document.uri.toString());
      if (report) {
        changed.fire(report);
      }
    }),
  );

  return {
    async show(uri, offset) {
      const report = reportUri(uri, offset);
      // The rendered preview where the editor has one (it may be switched off, and a web editor may lack it).
      if (extensions.getExtension('vscode.markdown-language-features')) {
        await workspace.openTextDocument(report);
        await commands.executeCommand('markdown.showLockedPreviewToSide', report);
        return;
      }
      const document = await workspace.openTextDocument(report);
      await window.showTextDocument(document, { viewColumn: ViewColumn.Beside, preview: true, preserveFocus: true });
    },
    dispose: () => listeners.dispose(),
  };
}
