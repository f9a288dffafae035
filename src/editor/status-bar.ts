/** The launch at the cursor, in the status bar; hidden where there is none. Also keeps the context key of menus. */
import { commands, Disposable, l10n, StatusBarAlignment, type TextEditor, window } from 'vscode';
import { COMMANDS, type CommandTarget } from './command-names';
import { isSupported } from './documents';
import { trusted } from './hover';
import { type Plans, planAt } from './plans';
import { isEnabled } from './settings';

const CONTEXT_KEY = 'kvPlanner.hasLaunch';

export function registerStatusBar(plans: Plans): Disposable {
  const item = window.createStatusBarItem('kvPlanner.launch', StatusBarAlignment.Right, 90);
  item.name = 'KV Planner';
  let shown = 0;

  const update = async (editor: TextEditor | undefined): Promise<void> => {
    const turn = ++shown;
    const made = editor && isSupported(editor.document) ? await plans.of(editor.document) : undefined;
    if (turn !== shown) {
      return; // a newer update is on its way
    }
    const plan = made && editor && planAt(made.plans, editor.document.offsetAt(editor.selection.active));
    void commands.executeCommand('setContext', CONTEXT_KEY, plan !== undefined);
    if (!plan || !editor || !isEnabled('statusBar')) {
      item.hide();
      return;
    }
    const { hoverText, statusLine } = await import('../lazy');
    const target: CommandTarget = { uri: editor.document.uri.toString(), offset: plan.launch.head.start };
    item.text = `$(server) ${statusLine(plan)}`;
    item.tooltip = trusted(hoverText(plan, { kind: 'launch', range: plan.launch.head }));
    item.accessibilityInformation = { label: l10n.t('KV Planner: {0}', statusLine(plan)) };
    item.command = { command: COMMANDS.openDashboard, title: l10n.t('Open Dashboard'), arguments: [target] };
    item.show();
  };

  const updateActive = (): void => void update(window.activeTextEditor);
  updateActive();
  return Disposable.from(
    item,
    window.onDidChangeActiveTextEditor(updateActive),
    window.onDidChangeTextEditorSelection(({ textEditor }) => {
      // While somebody types every key moves the cursor: the plans' own change comes after.
      if (textEditor === window.activeTextEditor && plans.isCalm(textEditor.document)) {
        updateActive();
      }
    }),
    plans.onDidChange((document) => {
      if (document === window.activeTextEditor?.document) {
        updateActive();
      }
    }),
  );
}
