/** Solve for a Target: how many requests at once are wanted, and what to change for that many. */
import { commands, type Disposable, l10n, type TextDocument, window } from 'vscode';
import { COMMANDS } from './command-names';
import { applyEdits } from './documents';
import { plain } from './markdown';
import type { Pages, Proposal } from './pages';
import { fileName, type LaunchPlace, launchFor } from './places';
import type { Plans } from './plans';
import { shown } from './report-commands';

const MOST = 10_000_000;

export function registerSolve(plans: Plans, pages: Pages): Disposable {
  return commands.registerCommand(COMMANDS.solve, async (argument: unknown) => {
    const place = await launchFor(plans, argument);
    const target = place && (await targetOf(place, argument));
    if (!place || !target) {
      return;
    }
    const { document, plan } = place;
    const title = l10n.t('Solutions for {0}', fileName(document.uri));
    const ask = { kind: 'solve', of: document.uri.toString(), offset: plan.launch.head.start, ...target } as const;
    const page = await shown(pages, ask, title);
    const proposals = page?.proposals ?? [];
    const { apply } = (argument ?? {}) as { apply?: unknown };
    if (typeof apply === 'number') {
      await applyTo(document, proposals[apply]);
    } else if (proposals.length > 0) {
      void offer(document, proposals); // a toast is answered at leisure
    }
  });
}

interface Target {
  readonly concurrency: number;
  readonly length?: number;
}

/** What the caller says, else what the user types. */
async function targetOf({ plan }: LaunchPlace, argument: unknown): Promise<Target | undefined> {
  const { concurrency, length } = (argument ?? {}) as { concurrency?: unknown; length?: unknown };
  if (typeof concurrency === 'number') {
    return { concurrency, ...(typeof length === 'number' && { length }) };
  }
  const wanted = await askNumber(
    l10n.t('Requests at Once'),
    l10n.t('How many requests should “{0}” serve at once, all replicas together?', plan.launch.title),
    plan.capacity ? String(Math.max(1, 2 * plan.capacity.fits.value)) : '64',
    1,
  );
  if (wanted === undefined) {
    return undefined;
  }
  const usual = plan.workload.prompt + plan.workload.output;
  const tokens = await askNumber(
    l10n.t('Tokens of Each Request'),
    l10n.t('Prompt and output together. The workload has {0} + {1}.', plan.workload.prompt, plan.workload.output),
    String(usual),
    2,
  );
  return tokens === undefined ? undefined : { concurrency: wanted, ...(tokens !== usual && { length: tokens }) };
}

async function askNumber(title: string, prompt: string, value: string, least: number): Promise<number | undefined> {
  const text = await window.showInputBox({
    title,
    prompt,
    value,
    ignoreFocusOut: true,
    validateInput: (typed) =>
      /^\d+$/.test(typed.trim()) && Number(typed) >= least && Number(typed) <= MOST
        ? undefined
        : l10n.t('A whole number from {0} to {1}.', least, MOST),
  });
  return text === undefined ? undefined : Number(text);
}

async function offer(document: TextDocument, proposals: readonly Proposal[]): Promise<void> {
  const [first] = proposals;
  const apply = l10n.t('Apply');
  const choose = l10n.t('Choose…');
  const message = l10n.t('Smallest change: {0} ({1}).', plain(first?.title ?? ''), plain(first?.detail ?? ''));
  const answer = await window.showInformationMessage(message, apply, ...(proposals.length > 1 ? [choose] : []));
  if (answer === apply) {
    await applyTo(document, first);
  } else if (answer === choose) {
    const items = proposals.map((proposal) => ({ label: proposal.title, description: proposal.detail, proposal }));
    await applyTo(document, (await window.showQuickPick(items, { title: l10n.t('Apply a Solution') }))?.proposal);
  }
}

/** One step to undo. A file that was edited meanwhile is left alone. */
async function applyTo(document: TextDocument, proposal: Proposal | undefined): Promise<void> {
  if (!proposal) {
    return;
  }
  if (document.getText() !== proposal.text) {
    void window.showWarningMessage(l10n.t('The file has changed since it was solved: solve it again.'));
    return;
  }
  await applyEdits(document, proposal.edits);
}
