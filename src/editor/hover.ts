/** Hover on the model, on every option and on the launch. */

import type { Disposable } from 'vscode';
import { Hover, type HoverProvider, languages, MarkdownString, type TextDocument } from 'vscode';
import type { Plan } from '../planner';
import { COMMANDS, type CommandTarget } from './command-names';
import { rangeIn, SELECTOR } from './documents';
import { commandLink } from './markdown';
import type { Plans } from './plans';
import { isEnabled } from './settings';

export function registerHover(plans: Plans): Disposable {
  const provider: HoverProvider = {
    async provideHover(document, position, token) {
      if (!isEnabled('hover', document)) {
        return undefined;
      }
      const made = await plans.of(document);
      if (!made || token.isCancellationRequested) {
        return undefined;
      }
      const { hoverTarget, hoverText } = await import('../lazy');
      const offset = document.offsetAt(position);
      for (const plan of made.plans) {
        const target = hoverTarget(plan, offset);
        if (target) {
          const text = `${hoverText(plan, target)}\n\n${links(document, plan)}`;
          return new Hover(trusted(text), rangeIn(document, target.range));
        }
      }
      return undefined;
    },
  };
  return languages.registerHoverProvider(SELECTOR, provider);
}

/** Markdown whose links may run our own commands and no others; it holds text of the file only escaped. */
export function trusted(text: string): MarkdownString {
  const markdown = new MarkdownString(text, true);
  markdown.isTrusted = { enabledCommands: Object.values(COMMANDS) };
  return markdown;
}

function links(document: TextDocument, plan: Plan): string {
  const target: CommandTarget = { uri: document.uri.toString(), offset: plan.launch.head.start };
  const shown = [
    commandLink('Open Dashboard', COMMANDS.openDashboard, [target]),
    commandLink('Show Capacity Report', COMMANDS.showReport, [target]),
  ];
  if (!plan.hardware) {
    shown.unshift(commandLink('Set GPU', COMMANDS.setGpu, [target]));
  }
  return shown.join(' · ');
}
