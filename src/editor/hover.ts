/** Hover on the model, on every option and on the launch. */
import {
  commands,
  Disposable,
  env,
  Hover,
  type HoverProvider,
  l10n,
  languages,
  MarkdownString,
  Uri,
  workspace,
} from 'vscode';
import type { Plan } from '../planner';
import { COMMANDS, type CommandTarget, targetOf } from './command-names';
import { rangeIn, SELECTOR } from './documents';
import type { HoverTarget } from './hover-text';
import { commandLink } from './markdown';
import type { DocumentPlans, Plans } from './plans';
import type { FixTarget } from './quick-fix';
import { isEnabled } from './settings';

export function registerHover(plans: Plans): Disposable {
  const provider: HoverProvider = {
    async provideHover(document, position, token) {
      const made = isEnabled('hover', document) ? await plans.of(document) : undefined;
      if (!made || token.isCancellationRequested) {
        return undefined;
      }
      const said = await saidAt(made, document.offsetAt(position));
      if (!said) {
        return undefined;
      }
      const text = `${said.text}\n\n${await links(made, said)}`;
      return new Hover(trusted(text), rangeIn(document, said.target.range));
    },
  };
  return Disposable.from(
    languages.registerHoverProvider(SELECTOR, provider),
    commands.registerCommand(COMMANDS.copyHover, (argument: unknown) => copy(plans, argument)),
  );
}

/** What links may run: of our own commands those that show, copy, or ask before they change anything but a fix. */
const LINKED = [COMMANDS.openDashboard, COMMANDS.showReport, COMMANDS.setGpu, COMMANDS.applyFix, COMMANDS.copyHover];

/** Markdown whose links may run these and no others; it holds text of the file only escaped. */
export function trusted(text: string): MarkdownString {
  const markdown = new MarkdownString(text, true);
  markdown.isTrusted = { enabledCommands: LINKED };
  return markdown;
}

interface Said {
  readonly plan: Plan;
  readonly target: HoverTarget;
  readonly text: string;
}

async function saidAt({ plans, text, tryOptions }: DocumentPlans, offset: number): Promise<Said | undefined> {
  const { hoverTarget, hoverText } = await import('../lazy');
  for (const plan of plans) {
    const target = hoverTarget(plan, offset, text);
    if (target) {
      return { plan, target, text: hoverText(plan, target, tryOptions) };
    }
  }
  return undefined;
}

/** More is in the lightbulb. */
const MOST_FIXES = 2;

async function links({ document, tryOptions }: DocumentPlans, { plan, target }: Said): Promise<string> {
  const { findingsAt, fixTitle } = await import('../lazy');
  const place: CommandTarget = { uri: document.uri.toString(), offset: plan.launch.head.start };
  const fixes = findingsAt(plan, target)
    .flatMap((finding) => finding.fixes)
    .slice(0, MOST_FIXES)
    .map((fix) => {
      const argument: FixTarget = { ...place, option: fix.option, value: fix.value };
      return `$(lightbulb) ${commandLink(fixTitle(plan, fix, tryOptions), COMMANDS.applyFix, [argument])}`;
    });
  const here: CommandTarget = { ...place, offset: target.range.start };
  const shown = [
    ...(plan.hardware ? [] : [commandLink(l10n.t('Set GPU'), COMMANDS.setGpu, [place])]),
    commandLink(l10n.t('Open Dashboard'), COMMANDS.openDashboard, [place]),
    commandLink(l10n.t('Show Capacity Report'), COMMANDS.showReport, [place]),
    commandLink(l10n.t('Copy'), COMMANDS.copyHover, [here]),
  ];
  return [...fixes, shown.join(' · ')].join('\n\n');
}

/** As Markdown, without the links. */
async function copy(plans: Plans, argument: unknown): Promise<void> {
  const target = targetOf(argument);
  const document = target && (await workspace.openTextDocument(Uri.parse(target.uri, true)));
  const made = document && (await plans.of(document));
  const said = target && made && (await saidAt(made, target.offset));
  if (said) {
    await env.clipboard.writeText(said.text.replace(/\u00a0|&nbsp;/g, ' '));
  }
}
