/** The dashboard's panel: one beside the file, opened by a command or by the editor's own restart. */
import { type Disposable, type TextDocument, type Uri, ViewColumn, type WebviewPanel, window } from 'vscode';
import type { DashboardPorts } from './ports';
import { readState } from './protocol';
import { type Session, startSession } from './session';

export const VIEW_TYPE = 'kvPlanner.dashboard';

export interface Dashboard extends Disposable {
  /** Opens the panel, or brings it to the front, on the launch at an offset. */
  show(document: TextDocument | undefined, offset: number): Promise<void>;
  restore(panel: WebviewPanel, state: unknown): Promise<void>;
}

export function createDashboard(extension: Uri, ports: DashboardPorts): Dashboard {
  let open: { readonly panel: WebviewPanel; readonly session: Session } | undefined;

  const attach = (panel: WebviewPanel): Session => {
    const session = startSession(extension, panel, ports);
    const before = open?.panel;
    open = { panel, session };
    before?.dispose(); // an earlier window may have left two: the one that is looked at stays
    const closed = panel.onDidDispose(() => {
      closed.dispose();
      session.dispose();
      if (open?.panel === panel) {
        open = undefined;
      }
    });
    return session;
  };

  return {
    async show(document, offset) {
      open?.panel.reveal(undefined, true);
      const column = { viewColumn: ViewColumn.Beside, preserveFocus: true };
      const session = open?.session ?? attach(window.createWebviewPanel(VIEW_TYPE, 'KV Planner', column));
      await session.follow(document, offset);
    },
    async restore(panel, raw) {
      const session = attach(panel);
      const state = readState(raw);
      await (state ? session.resume(state) : session.follow(undefined, 0));
    },
    dispose: () => open?.panel.dispose(),
  };
}
