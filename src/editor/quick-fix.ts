/** Fixes of findings as quick fixes: each edits the file in the way its form writes the option, and says what it comes to. */
import {
  CodeAction,
  CodeActionKind,
  type CodeActionProvider,
  commands,
  type Diagnostic,
  Disposable,
  l10n,
  languages,
  type TextDocument,
  Uri,
  WorkspaceEdit,
  window,
  workspace,
} from 'vscode';
import type { Fix } from '../core/engines/engine';
import type { TextEdit } from '../launch/edit';
import type { PlacedFinding, Plan } from '../planner';
import { clean } from '../report/document';
import { COMMANDS, type CommandTarget, targetOf } from './command-names';
import { SOURCE } from './diagnostics';
import { rangeIn, SELECTOR } from './documents';
import { type DocumentPlans, type Plans, planAt } from './plans';

/** Run by *Fix All* and on saving, where a person asked for that. */
const FIX_ALL = CodeActionKind.SourceFixAll.append('kvPlanner');

export function registerQuickFixes(plans: Plans): Disposable {
  const provider: CodeActionProvider = {
    async provideCodeActions(document, _range, context, token) {
      const all = context.only && FIX_ALL.intersects(context.only) && context.only.contains(FIX_ALL);
      const ours = context.diagnostics.filter((d) => d.source === SOURCE);
      const made = all || ours.length > 0 ? await plans.of(document) : undefined;
      if (!made || token.isCancellationRequested) {
        return [];
      }
      return all ? fixAll(made) : (await Promise.all(ours.map((diagnostic) => fixesOf(made, diagnostic)))).flat();
    },
  };
  return Disposable.from(
    commands.registerCommand(COMMANDS.applyFix, (argument: unknown) => applyFix(plans, argument)),
    languages.registerCodeActionsProvider(SELECTOR, provider, {
      providedCodeActionKinds: [CodeActionKind.QuickFix, FIX_ALL],
    }),
  );
}

/** What a link sends to apply a fix; it is done only where the plan of that moment has the same fix. */
export interface FixTarget extends CommandTarget {
  readonly option: string;
  readonly value: string;
}

const isOf = (document: TextDocument, finding: PlacedFinding, diagnostic: Diagnostic): boolean =>
  finding.code === diagnostic.code &&
  clean(finding.message) === diagnostic.message &&
  rangeIn(document, finding.range).isEqual(diagnostic.range);

async function fixesOf(made: DocumentPlans, diagnostic: Diagnostic): Promise<CodeAction[]> {
  const { document, plans, text, tryOptions } = made;
  const { editFix, fixTitle } = await import('../lazy');
  const found = plans.flatMap((plan) => plan.findings.map((finding) => ({ plan, finding })));
  const launches = plans.map((plan) => plan.launch);
  const actions: CodeAction[] = [];
  for (const { plan, finding } of found.filter((f) => isOf(document, f.finding, diagnostic))) {
    for (const [i, fix] of finding.fixes.entries()) {
      const edits = editFix(plan.launch, text, fix, launches);
      if (edits.length > 0) {
        actions.push(actionOf(document, fixTitle(plan, fix, tryOptions), edits, diagnostic, i === 0));
      }
    }
    if (finding.code === 'gpu-unknown') {
      actions.push(...(await gpuActions(made, plan, diagnostic)));
    }
  }
  return actions;
}

function actionOf(
  document: TextDocument,
  title: string,
  edits: readonly TextEdit[],
  diagnostic: Diagnostic,
  preferred: boolean,
): CodeAction {
  const action = new CodeAction(title, CodeActionKind.QuickFix);
  action.edit = editOf(document, edits);
  action.diagnostics = [diagnostic];
  action.isPreferred = preferred;
  return action;
}

function editOf(document: TextDocument, edits: readonly TextEdit[]): WorkspaceEdit {
  const edit = new WorkspaceEdit();
  for (const { range, text } of edits) {
    edit.replace(document.uri, rangeIn(document, range), text);
  }
  return edit;
}

/** A comment that names the GPU, for a few of them, and the list of all. */
async function gpuActions(made: DocumentPlans, plan: Plan, diagnostic: Diagnostic): Promise<CodeAction[]> {
  const { editDirective, effectLine, gpuOffers } = await import('../lazy');
  const { document, plans, text, tryOptions } = made;
  const place = { launch: plan.launch, launches: plans.map((p) => p.launch) };
  const actions = gpuOffers(plan, tryOptions).flatMap(({ name, plan: after }, i) => {
    const edits = editDirective(place, text, 'gpu', name);
    const title = l10n.t('Say in a comment that the GPU is {0} → {1}', name, effectLine(plan, after));
    return edits.length > 0 ? [actionOf(document, title, edits, diagnostic, i === 0)] : [];
  });
  const pick = new CodeAction(l10n.t('Set the GPU for the workspace…'), CodeActionKind.QuickFix);
  const target: CommandTarget = { uri: document.uri.toString(), offset: plan.launch.head.start };
  pick.command = { command: COMMANDS.setGpu, title: pick.title, arguments: [target] };
  pick.diagnostics = [diagnostic];
  return [...actions, pick];
}

async function fixAll({ document, plans, text, tryOptions }: DocumentPlans): Promise<CodeAction[]> {
  const { editFix, safeFixes } = await import('../lazy');
  const launches = plans.map((plan) => plan.launch);
  const edits = plans.flatMap((plan) =>
    safeFixes(plan, tryOptions).flatMap((fix) => editFix(plan.launch, text, fix, launches)),
  );
  // Launches may share a part of the text: what two of them would write otherwise is left alone.
  const apart = edits.filter((a, i) =>
    edits.every((b, j) => i === j || a.range.end <= b.range.start || b.range.end <= a.range.start),
  );
  if (apart.length === 0) {
    return [];
  }
  const action = new CodeAction(l10n.t('Fix all that KV Planner can fix safely'), FIX_ALL);
  action.edit = editOf(document, apart);
  return [action];
}

/** From a link of a hover. Anyone can send anything: only a fix that the plan has is applied. */
async function applyFix(plans: Plans, argument: unknown): Promise<void> {
  const target = targetOf(argument);
  if (!target) {
    return;
  }
  const { option, value } = argument as Partial<Record<keyof FixTarget, unknown>>;
  const document = await workspace.openTextDocument(Uri.parse(target.uri, true));
  const made = await plans.of(document);
  const plan = made && planAt(made.plans, target.offset);
  const fix = plan?.findings.flatMap((f) => f.fixes).find((f: Fix) => f.option === option && f.value === value);
  const { editFix } = await import('../lazy');
  const launches = made?.plans.map((p) => p.launch) ?? [];
  const edits = plan && fix && made.version === document.version ? editFix(plan.launch, made.text, fix, launches) : [];
  if (edits.length === 0) {
    void window.showInformationMessage(
      l10n.t('Nothing was changed: the text is another by now, or has no place for it.'),
    );
  } else if (!(await workspace.applyEdit(editOf(document, edits)))) {
    void window.showWarningMessage(l10n.t('Nothing was changed: this file cannot be written to.'));
  }
}
