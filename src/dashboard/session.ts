/** What one open panel does: follows the launch at the cursor and every edit, and answers its page. */
import {
  Disposable,
  env,
  l10n,
  Selection,
  type TextDocument,
  TextEditorRevealType,
  Uri,
  ViewColumn,
  type Webview,
  type WebviewPanel,
  window,
  workspace,
} from 'vscode';
import { launchAt } from '../launch/at';
import { comparisonOf, pickPin, pinnableOf } from './compare';
import {
  applied,
  documentAt,
  type Followed,
  located,
  sighted,
  studiesFor,
  titlesOf,
  triedOf,
  viewOf,
} from './followed';
import { newNonce, pageHtml } from './html';
import { placeOf, sightingOf } from './place';
import type { DashboardPorts, PanelPorts } from './ports';
import {
  type HostState,
  type KeptState,
  type Params,
  type Pin,
  PROTOCOL,
  readParams,
  readToHost,
  type Shown,
  type ToHost,
  type ToPage,
  type WhatIf,
} from './protocol';
import { saveReport } from './report';
import { type Handlers, save, textFile } from './requests';
import { createTrials } from './trials';
import { createWhereabouts } from './whereabouts';

export interface Session extends Disposable {
  /** Shows the launch at an offset. A file without a launch leaves what is shown. */
  follow(document: TextDocument | undefined, offset: number): Promise<void>;
  /** Shows what a panel of an earlier window showed. */
  resume(state: HostState): Promise<void>;
}

/** Moving through a file should not redraw at every line. */
const PAUSE = 120;
/** A text that is saved under a name is closed, and opened and looked at under that name. */
const SETTLE = 600;

/** What the page keeps, where the host keeps it too. */
export interface Kept {
  readonly state: KeptState | undefined;
  keep(state: KeptState): void;
}

export function startSession(extension: Uri, panel: WebviewPanel, editor: DashboardPorts, kept?: Kept): Session {
  let at: Followed | undefined;
  /** Why nothing is shown, where there was something to show. */
  let missing: string | undefined;
  let ready = false;
  let seen = panel.visible;
  let turn = 0;
  let looks = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let settling: ReturnType<typeof setTimeout> | undefined;
  let closed = false;
  const trials = createTrials();
  /** Files that the page compares with. */
  let pinned: ReadonlyMap<string, Uri> = new Map();
  const where = createWhereabouts(() => void moved());
  const ports: PanelPorts = { ...editor, where };

  /** An answer may be ready only when nobody waits for it any more. */
  const post = (message: ToPage): void => {
    if (!closed) {
      void panel.webview.postMessage(message);
    }
  };

  /** Where a file is opened: it should not cover the page. */
  const besidePage = (): ViewColumn => (panel.viewColumn === ViewColumn.One ? ViewColumn.Beside : ViewColumn.One);

  /** Sends what is shown now, unless something newer is on its way. */
  const refresh = async (): Promise<void> => {
    const mine = ++turn;
    if (closed || !ready || !seen) {
      return; // the page asks when it is there, and while it is hidden nothing is planned for it
    }
    const now = at && (await located(ports, at));
    if (mine !== turn) {
      return;
    }
    at = now;
    watch();
    const answer: Shown =
      at || missing === undefined ? await viewOf(ports, at) : { view: { kind: 'error', text: missing } };
    if (mine === turn) {
      post({ version: PROTOCOL, type: 'show', ...answer });
    }
  };

  const watch = (): void => where.watch([...(at ? [at.document.uri] : []), ...pinned.values()]);

  /** A file has another name, or is gone, or back. */
  const moved = async (): Promise<void> => {
    trials.move(where.now);
    const file = at && where.now(at.document.uri);
    if (file && file.toString() !== at?.document.uri.toString()) {
      const document = await documentAt(ports, file).catch(() => undefined);
      at = document && at && where.now(at.document.uri).toString() === file.toString() ? { ...at, document } : at;
    }
    await refresh();
  };

  const follow = async (document: TextDocument | undefined, offset: number): Promise<void> => {
    const mine = ++looks;
    const made = document && (await ports.of(document));
    if (mine !== looks) {
      return; // looked elsewhere meanwhile
    }
    if (document && made && made.plans.length > 0) {
      const launches = made.plans.map((plan) => plan.launch);
      const index = launchAt(launches, offset);
      const sighting = sightingOf(titlesOf(made), index);
      const shown = at && isSame(at.document, document) ? placeOf(titlesOf(made), at) : undefined;
      if (at && shown && !shown.gone && shown.index === index) {
        const isDrawn = at.document === document;
        at = { ...at, document, index, sighting };
        if (isDrawn) {
          return;
        }
      } else {
        if (at) {
          trials.keep(at);
        }
        const next: Followed = { document, index, sighting, whatIf: {} };
        at = { ...next, whatIf: trials.of(next) };
      }
    } else if (at) {
      return;
    }
    await refresh();
  };

  const followActive = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      const editor = window.activeTextEditor;
      if (editor) {
        void follow(editor.document, editor.document.offsetAt(editor.selection.active));
      }
    }, PAUSE);
  };

  const trying = (now: Followed, whatIf: WhatIf): Followed => {
    const tried = { ...now, whatIf };
    trials.keep(tried);
    return tried;
  };

  /** Whether that launch is still the one that is shown: the cursor may have moved on meanwhile. */
  const still = (one: Followed): boolean =>
    at !== undefined &&
    where.now(at.document.uri).toString() === where.now(one.document.uri).toString() &&
    (at.index === one.index || at.sighting?.name === one.sighting?.name);

  const shownNow = (): Followed => {
    if (!at) {
      throw new Error(l10n.t('No launch is shown.'));
    }
    return at;
  };

  const handlers: Handlers = {
    async whatIf({ whatIf }) {
      const before = at;
      const now = before && (await sighted(ports, before));
      at = now && still(before) ? trying({ ...now, document: at?.document ?? now.document }, whatIf) : at;
      turn++;
      return viewOf(ports, at);
    },
    async apply() {
      const now = shownNow();
      const left = await applied(ports, now, besidePage());
      at = at && still(now) ? trying(at, left) : at;
      turn++;
      return viewOf(ports, at);
    },
    studies: () => studiesFor(ports, at),
    pinnable: () => pinnableOf(ports, shownNow()),
    pickPin: () => pickPin(ports),
    async compare({ pins }) {
      const comparison = await comparisonOf(ports, pins);
      pinned = new Map(comparison.pins.flatMap((pin) => fileOf(pin) ?? []).map((file) => [file.toString(), file]));
      watch();
      return comparison;
    },
    saveReport: (params) => saveReport(ports, shownNow(), params),
    save,
    ...textFile(),
  };

  const answer = async (message: ToHost): Promise<void> => {
    switch (message.type) {
      case 'ready':
        ready = true;
        return refresh();
      case 'kept':
        return kept?.keep(message.state);
      case 'request':
        return post(await replyTo(handlers, message));
      case 'run':
        return at && run(ports, at, besidePage(), message).catch(complain);
    }
  };

  panel.webview.options = {
    enableScripts: true,
    localResourceRoots: ['dist', 'media'].map((folder) => Uri.joinPath(extension, folder)),
  };
  panel.iconPath = Uri.joinPath(extension, 'media', 'icon.png');
  const listeners = Disposable.from(
    panel.webview.onDidReceiveMessage((raw) => {
      const message = readToHost(raw);
      if (message) {
        void answer(message);
      }
    }),
    panel.onDidChangeViewState(() => {
      const before = seen;
      seen = panel.visible;
      if (seen && !before) {
        void refresh();
      }
    }),
    window.onDidChangeActiveTextEditor(followActive),
    window.onDidChangeTextEditorSelection(followActive),
    where,
    workspace.onDidCloseTextDocument((document) => {
      // What was typed and not saved is gone; a file that stays as it was is read again when it is asked for.
      if (document === at?.document && (document.isUntitled || document.version > 1)) {
        clearTimeout(settling);
        settling = setTimeout(refresh, SETTLE);
      }
    }),
    ports.onDidChange((document) => {
      if (document.uri.toString() === at?.document.uri.toString() || pinned.has(document.uri.toString())) {
        void refresh();
      }
    }),
  );
  panel.webview.html = htmlOf(panel.webview, extension, kept && JSON.stringify(kept.state ?? ''));

  return {
    follow,
    async resume({ file, index, sighting, whatIf }) {
      try {
        const document = await documentAt(ports, Uri.parse(file, true));
        const found = await located(ports, { document, index, sighting, whatIf });
        looks++; // a look at the editor that was begun when the window opened comes to nothing
        at = trying(found, whatIf);
      } catch (error) {
        missing = error instanceof Error ? error.message : String(error);
      }
      await refresh();
    },
    dispose() {
      closed = true;
      clearTimeout(timer);
      clearTimeout(settling);
      listeners.dispose();
    },
  };
}

/** A text that was not yet saved is the same under its name. */
const isSame = (shown: TextDocument, document: TextDocument): boolean =>
  shown.uri.toString() === document.uri.toString() ||
  (shown.isUntitled && !document.isUntitled && shown.getText() === document.getText());

/** Undefined where it is no address. */
function fileOf({ file }: Pin): Uri | undefined {
  try {
    return Uri.parse(file, true);
  } catch {
    return undefined;
  }
}

/** Every request gets an answer, if only why there is none. */
async function replyTo(handlers: Handlers, message: Extract<ToHost, { type: 'request' }>): Promise<ToPage> {
  const { id, method } = message;
  const params = readParams(method, message.params);
  try {
    if (!params) {
      throw new Error(`The page asked for ${method} with values of another shape.`);
    }
    const handler = handlers[method] as (params: Params<typeof method>) => Promise<unknown>;
    return { version: PROTOCOL, type: 'reply', to: id, ok: true, result: await handler(params) };
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    return { version: PROTOCOL, type: 'refusal', to: id, error: words };
  }
}

async function run(
  ports: PanelPorts,
  at: Followed,
  beside: ViewColumn,
  message: Extract<ToHost, { type: 'run' }>,
): Promise<void> {
  const found = await triedOf(ports, at);
  const document = found?.document ?? at.document;
  if (message.command !== 'reveal') {
    ports.run(message.command, document.uri, found?.tried.written.launch.head.start ?? 0);
    return;
  }
  const { range } = document.lineAt(Math.max(1, Math.min(message.line ?? 1, document.lineCount)) - 1);
  const shown = window.visibleTextEditors.find((editor) => editor.document === document);
  const editor = await window.showTextDocument(document, { viewColumn: shown?.viewColumn ?? beside });
  editor.selection = new Selection(range.start, range.start);
  editor.revealRange(range, TextEditorRevealType.InCenterIfOutsideViewport);
}

const complain = (error: unknown): void =>
  void window.showWarningMessage(error instanceof Error ? error.message : String(error));

function htmlOf(webview: Webview, extension: Uri, kept: string | undefined): string {
  const uri = (...path: string[]): string => webview.asWebviewUri(Uri.joinPath(extension, 'dist', ...path)).toString();
  return pageHtml({
    script: uri('webview', 'main.js'),
    style: uri('webview', 'main.css'),
    workers: uri('webview'),
    cspSource: webview.cspSource,
    nonce: newNonce(),
    styleNonce: newNonce(),
    language: env.language,
    kept,
  });
}
