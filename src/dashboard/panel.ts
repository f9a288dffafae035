/** The dashboard's panel: one beside the file, opened by a command or by the editor's own restart. */
import { type Disposable, type TextDocument, type Uri, ViewColumn, type WebviewPanel, window } from 'vscode';
import type { Memory } from './memory';
import type { DashboardPorts } from './ports';
import { type KeptState, readState } from './protocol';
import { type Session, startSession } from './session';

export const VIEW_TYPE = 'kvPlanner.dashboard';

export interface Dashboard extends Disposable {
  /** Opens the panel, or brings it to the front, on the launch at an offset. */
  show(document: TextDocument | undefined, offset: number): Promise<void>;
  restore(panel: WebviewPanel, state: unknown): Promise<void>;
}

export function createDashboard(extension: Uri, ports: DashboardPorts, memory?: Memory): Dashboard {
  let open: { readonly panel: WebviewPanel; readonly session: Session } | undefined;

  const attach = (panel: WebviewPanel, state?: KeptState): Session => {
    const session = startSession(extension, panel, ports, memory && { state, keep: memory.keep });
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
      if (!open) {
        memory?.forget();
      }
      const session = open?.session ?? attach(window.createWebviewPanel(VIEW_TYPE, 'KV Planner', column));
      await session.follow(document, offset);
    },
    async restore(panel, raw) {
      const state = memory ? memory.latest(raw) : readState(raw);
      const session = attach(panel, state);
      await (state ? session.resume(state) : session.follow(undefined, 0));
    },
    dispose: () => open?.panel.dispose(),
  };
}
