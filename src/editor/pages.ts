/** Answers as read-only Markdown documents. Their address says what was asked, so each can be made again at any time. */
import {
  type CancellationToken,
  commands,
  Disposable,
  EventEmitter,
  extensions,
  l10n,
  TabInputText,
  TabInputWebview,
  type Uri,
  ViewColumn,
  window,
  workspace,
} from 'vscode';
import type { TextEdit } from '../launch/edit';
import type { ReportText } from '../report/document';
import { type Ask, addressOf, askOf, SCHEME } from './asks';
import { escaped } from './markdown';
import { answerTo } from './page-content';
import { patiently } from './patience';
import type { Plans } from './plans';

/** An answer, before it is drawn. */
export interface Page {
  readonly report: ReportText;
  readonly json?: object;
  readonly csv?: string;
  /** Changes of the file that it proposes. */
  readonly proposals?: readonly Proposal[];
}

export interface Proposal {
  readonly title: string;
  readonly detail: string;
  readonly edits: readonly TextEdit[];
  /** The text that they are of. */
  readonly text: string;
}

export interface Pages extends Disposable {
  /** Opens the answer beside the file. Undefined where the user cancelled; rejects where there is none. */
  show(ask: Ask, title: string): Promise<Page | undefined>;
  /** The answer to what was asked, without showing it; that of an open page stands. */
  answer(ask: Ask, title: string, token: CancellationToken): Promise<Page>;
  /** What the page that the user looks at answers, and its title. */
  active(): { readonly ask: Ask; readonly title: string } | undefined;
}

export function registerPages(plans: Plans): Pages {
  const changed = new EventEmitter<Uri>();
  const known = new Map<string, Promise<Page>>();

  const tell = (): void => void commands.executeCommand('setContext', 'kvPlanner.hasPage', pages().length > 0);

  const answer = (uri: Uri, ask: Ask, token: CancellationToken): Promise<Page> => {
    const key = uri.toString();
    const page = known.get(key) ?? answerTo(ask, plans, token);
    known.set(key, page);
    page.catch(() => known.delete(key)); // asked again, it may be answered
    return page;
  };

  const listeners = Disposable.from(
    changed,
    workspace.registerTextDocumentContentProvider(SCHEME, {
      onDidChange: changed.event,
      provideTextDocumentContent: async (uri, token) => {
        const ask = askOf(uri);
        if (!ask) {
          return l10n.t('This address asks nothing that KV Planner answers.');
        }
        try {
          const { reportMarkdown } = await import('../lazy');
          return reportMarkdown((await answer(uri, ask, token)).report);
        } catch (error) {
          return escaped(error instanceof Error ? error.message : String(error));
        }
      },
    }),
    plans.onDidChange((document) => {
      for (const { uri } of pages()) {
        if (follows(askOf(uri), document.uri.toString())) {
          known.delete(uri.toString());
          changed.fire(uri);
        }
      }
    }),
    workspace.onDidOpenTextDocument(({ uri }) => uri.scheme === SCHEME && tell()),
    workspace.onDidCloseTextDocument(({ uri }) => {
      known.delete(uri.toString());
      tell();
    }),
  );

  return {
    async show(ask, title) {
      const uri = addressOf(ask, title);
      known.delete(uri.toString());
      const page = await patiently(title, (token) => answer(uri, ask, token));
      if (page) {
        changed.fire(uri); // it may be open, with an older answer
        await open(uri);
      }
      return page;
    },
    answer(ask, title, token) {
      const uri = addressOf(ask, title);
      const isOpen = pages().some((page) => page.uri.toString() === uri.toString());
      return isOpen ? answer(uri, ask, token) : answerTo(ask, plans, token);
    },
    active,
    dispose: () => listeners.dispose(),
  };
}

const pages = () => workspace.textDocuments.filter((d) => d.uri.scheme === SCHEME && !d.isClosed);

/** A search is not done again at every key: it is asked for again. */
const follows = (ask: Ask | undefined, file: string): boolean =>
  (ask?.kind === 'report' && ask.of === file) || (ask?.kind === 'changes' && (ask.of === file || ask.before === file));

async function open(page: Uri): Promise<void> {
  const document = await workspace.openTextDocument(page);
  if (!(await showRendered(page))) {
    await window.showTextDocument(document, { viewColumn: ViewColumn.Beside, preview: true, preserveFocus: true });
  }
}

/** False where the editor has no Markdown preview: it may be switched off, and a web editor may lack it. */
async function showRendered(page: Uri): Promise<boolean> {
  if (!extensions.getExtension('vscode.markdown-language-features')) {
    return false;
  }
  try {
    await commands.executeCommand('markdown.showLockedPreviewToSide', page);
    return true;
  } catch {
    return false;
  }
}

/** A rendered page is known by its tab's label only: it ends with the page's file name. */
function active(): { readonly ask: Ask; readonly title: string } | undefined {
  const tab = window.tabGroups.activeTabGroup.activeTab;
  const shown =
    tab?.input instanceof TabInputText
      ? tab.input.uri
      : tab?.input instanceof TabInputWebview
        ? pages().find(({ uri }) => tab.label.endsWith(uri.path.replace(/^\//, '')))?.uri
        : undefined;
  const ask = shown?.scheme === SCHEME ? askOf(shown) : undefined;
  return ask && shown && { ask, title: shown.path.replace(/^\/|\.md$/g, '') };
}
