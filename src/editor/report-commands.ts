/** Reports of a selection, and saving or copying what a page says. */
import { commands, Disposable, env, l10n, type QuickPickItem, Uri, window, workspace } from 'vscode';
import type { Ask } from './asks';
import { COMMANDS } from './command-names';
import { plain } from './markdown';
import type { Page, Pages } from './pages';
import { patiently } from './patience';
import { fileName, launchFor } from './places';
import type { Plans } from './plans';

/** A command pasted from a chat is far shorter; the text travels in the page's address. */
const LONGEST_SELECTION = 50_000;

export function registerReportCommands(plans: Plans, pages: Pages): Disposable {
  return Disposable.from(
    commands.registerCommand(COMMANDS.planSelection, () => planSelection(pages)),
    commands.registerCommand(COMMANDS.saveReport, (argument: unknown) => saveReport(plans, pages, argument)),
    commands.registerCommand(COMMANDS.copyReport, (argument: unknown) => copyReport(plans, pages, argument)),
  );
}

async function planSelection(pages: Pages): Promise<void> {
  const editor = window.activeTextEditor;
  const text = editor?.selections
    .map((selection) => editor.document.getText(selection))
    .filter((part) => part.trim() !== '')
    .join('\n');
  if (!editor || !text) {
    void window.showInformationMessage(l10n.t('Select a command that starts an LLM engine, then run this again.'));
    return;
  }
  if (text.length > LONGEST_SELECTION) {
    void window.showWarningMessage(l10n.t('The selection is too long for a launch: select the command alone.'));
    return;
  }
  const { document, selection } = editor;
  const [start, end] = [document.offsetAt(selection.start), document.offsetAt(selection.end)];
  const ask = { kind: 'text', of: document.uri.toString(), text, start, end } as const;
  await shown(pages, ask, l10n.t('Capacity of the selection'));
}

/** Shows a page, or says why there is none. */
export async function shown(pages: Pages, ask: Ask, title: string): Promise<Page | undefined> {
  try {
    return await pages.show(ask, title);
  } catch (error) {
    void window.showErrorMessage(plain(error instanceof Error ? error.message : String(error)));
    return undefined;
  }
}

const FORMATS = ['markdown', 'html', 'csv', 'json'] as const;
type Format = (typeof FORMATS)[number];

const ENDINGS: Readonly<Record<Format, string>> = { markdown: 'md', html: 'html', csv: 'csv', json: 'json' };

/** A page that is looked at, else the report of the file that is. */
async function subjectOf(plans: Plans, pages: Pages): Promise<{ ask: Ask; title: string } | undefined> {
  const page = pages.active();
  if (page) {
    return page;
  }
  const place = await launchFor(plans, undefined);
  return (
    place && {
      ask: { kind: 'report', of: place.document.uri.toString() },
      title: l10n.t('Capacity of {0}', fileName(place.document.uri)),
    }
  );
}

interface Chosen {
  readonly title: string;
  readonly format: Format;
  readonly text: string;
}

async function chosenText(plans: Plans, pages: Pages, argument: unknown): Promise<Chosen | undefined> {
  const subject = await subjectOf(plans, pages);
  if (!subject) {
    return undefined;
  }
  const { ask, title } = subject;
  const page = await patiently(title, (token) => pages.answer(ask, title, token));
  if (!page) {
    return undefined;
  }
  const format = FORMATS.find((f) => f === argument) ?? (await pickFormat(page));
  const text = format && (await textIn(format, page));
  if (format && text === undefined) {
    void window.showWarningMessage(l10n.t('This report has no rows for {0}.', format.toUpperCase()));
  }
  return format && text !== undefined ? { title, format, text } : undefined;
}

interface FormatItem extends QuickPickItem {
  readonly format: Format;
}

async function pickFormat(page: Page): Promise<Format | undefined> {
  const items: readonly FormatItem[] = [
    { format: 'markdown', label: 'Markdown', description: l10n.t('tables, as shown') },
    { format: 'html', label: 'HTML', description: l10n.t('one page, no scripts') },
    ...(page.csv === undefined
      ? []
      : [{ format: 'csv', label: 'CSV', description: l10n.t('one row for each launch') } as const]),
    ...(page.json === undefined
      ? []
      : [{ format: 'json', label: 'JSON', description: l10n.t('exact numbers, for programs') } as const]),
  ];
  return (await window.showQuickPick(items, { title: l10n.t('Format of the Report') }))?.format;
}

async function textIn(format: Format, { report, json, csv }: Page): Promise<string | undefined> {
  const { reportHtml, reportMarkdown } = await import('../lazy');
  switch (format) {
    case 'markdown':
      return reportMarkdown(report);
    case 'html':
      return reportHtml(report);
    case 'csv':
      return csv;
    case 'json':
      return json && `${JSON.stringify(json, undefined, 2)}\n`;
  }
}

async function copyReport(plans: Plans, pages: Pages, argument: unknown): Promise<void> {
  const chosen = await chosenText(plans, pages, argument);
  if (chosen) {
    await env.clipboard.writeText(chosen.text);
    void window.setStatusBarMessage(l10n.t('$(check) Report copied'), 3000);
  }
}

async function saveReport(plans: Plans, pages: Pages, argument: unknown): Promise<void> {
  const { format: asked, to } = (argument ?? {}) as { format?: unknown; to?: unknown };
  const chosen = await chosenText(plans, pages, asked);
  if (!chosen) {
    return;
  }
  const folder = workspace.workspaceFolders?.[0]?.uri;
  const ending = ENDINGS[chosen.format];
  const name = `${chosen.title}.${ending}`;
  const target =
    to instanceof Uri
      ? to
      : await window.showSaveDialog({
          ...(folder && { defaultUri: Uri.joinPath(folder, name) }),
          filters: { [chosen.format === 'markdown' ? 'Markdown' : chosen.format.toUpperCase()]: [ending] },
          title: l10n.t('Save Report'),
        });
  if (target) {
    await workspace.fs.writeFile(target, new TextEncoder().encode(chosen.text));
  }
}
