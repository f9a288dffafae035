/** One line over each launch: what it holds, and whether it starts. */
import { CodeLens, type CodeLensProvider, Disposable, EventEmitter, l10n, languages } from 'vscode';
import { COMMANDS, type CommandTarget } from './command-names';
import { rangeIn, SELECTOR } from './documents';
import { plain } from './markdown';
import type { Plans } from './plans';
import { isEnabled } from './settings';

/** A lens is one line. */
const LONGEST = 160;

export function registerCodeLens(plans: Plans): Disposable {
  const changed = new EventEmitter<void>();
  const provider: CodeLensProvider = {
    onDidChangeCodeLenses: changed.event,
    async provideCodeLenses(document, token) {
      if (!isEnabled('codeLens', document)) {
        return [];
      }
      const made = await plans.calm(document);
      if (!made || token.isCancellationRequested) {
        return [];
      }
      const { lensLine } = await import('../lazy');
      return made.plans.map((plan) => {
        const target: CommandTarget = { uri: document.uri.toString(), offset: plan.launch.head.start };
        return new CodeLens(rangeIn(document, plan.launch.head), {
          title: titleOf(lensLine(plan)),
          tooltip: l10n.t('Open the KV Planner dashboard'),
          command: COMMANDS.openDashboard,
          arguments: [target],
        });
      });
    },
  };
  return Disposable.from(
    changed,
    plans.onDidChange(() => changed.fire()),
    languages.registerCodeLensProvider(SELECTOR, provider),
  );
}

function titleOf(line: string): string {
  const text = plain(line);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
