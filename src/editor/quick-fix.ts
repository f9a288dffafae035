/** Fixes of findings as quick fixes: each edits the file in the way its form writes the option. */
import {
  CodeAction,
  CodeActionKind,
  type CodeActionProvider,
  type Diagnostic,
  type Disposable,
  languages,
  type TextDocument,
  WorkspaceEdit,
} from 'vscode';
import type { Fix } from '../core/engines/engine';
import type { PlacedFinding, Plan } from '../planner';
import { SOURCE } from './diagnostics';
import { rangeIn, SELECTOR } from './documents';
import type { Plans } from './plans';

export function registerQuickFixes(plans: Plans): Disposable {
  const provider: CodeActionProvider = {
    async provideCodeActions(document, _range, context, token) {
      const ours = context.diagnostics.filter((d) => d.source === SOURCE);
      const made = ours.length > 0 ? await plans.of(document) : undefined;
      if (!made || token.isCancellationRequested) {
        return [];
      }
      const found = made.plans.flatMap((plan) => plan.findings.map((finding) => ({ plan, finding })));
      const actions = ours.flatMap((diagnostic) =>
        found
          .filter(({ finding }) => isOf(document, finding, diagnostic))
          .flatMap(({ plan, finding }) =>
            finding.fixes.map((fix, i) => actionFor(document, made.text, plan, fix, diagnostic, i === 0)),
          ),
      );
      return (await Promise.all(actions)).filter((action) => action !== undefined);
    },
  };
  return languages.registerCodeActionsProvider(SELECTOR, provider, {
    providedCodeActionKinds: [CodeActionKind.QuickFix],
  });
}

const isOf = (document: TextDocument, finding: PlacedFinding, diagnostic: Diagnostic): boolean =>
  finding.code === diagnostic.code &&
  finding.message === diagnostic.message &&
  rangeIn(document, finding.range).isEqual(diagnostic.range);

/** Undefined where the form gives no place for the option. */
async function actionFor(
  document: TextDocument,
  text: string,
  plan: Plan,
  fix: Fix,
  diagnostic: Diagnostic,
  preferred: boolean,
): Promise<CodeAction | undefined> {
  const { editOption } = await import('../lazy');
  const edits = editOption(plan.launch, text, fix.option, fix.value);
  if (edits.length === 0) {
    return undefined;
  }
  const action = new CodeAction(fix.title, CodeActionKind.QuickFix);
  action.edit = new WorkspaceEdit();
  for (const edit of edits) {
    action.edit.replace(document.uri, rangeIn(document, edit.range), edit.text);
  }
  action.diagnostics = [diagnostic];
  action.isPreferred = preferred;
  return action;
}
