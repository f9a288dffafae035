/** Findings and problems as diagnostics: an error only where the engine is certain to refuse. */
import {
  Diagnostic,
  DiagnosticSeverity,
  DiagnosticTag,
  Disposable,
  l10n,
  languages,
  Range,
  type TextDocument,
  workspace,
} from 'vscode';
import type { Severity } from '../core/engines/engine';
import type { PlacedFinding } from '../planner';
import { clean } from '../report/document';
import { isFile, isSupported, rangeIn } from './documents';
import type { DocumentPlans, Plans } from './plans';
import { isEnabled } from './settings';

export const SOURCE = 'KV Planner';

const severities: { readonly [s in Severity]: DiagnosticSeverity } = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  information: DiagnosticSeverity.Information,
  hint: DiagnosticSeverity.Hint,
};

export function registerDiagnostics(plans: Plans): Disposable {
  const collection = languages.createDiagnosticCollection('kvPlanner');

  const update = async (document: TextDocument): Promise<void> => {
    if (!isFile(document.uri)) {
      return;
    }
    const made = isEnabled('diagnostics', document) ? await plans.of(document) : undefined;
    if (!document.isClosed && (!made || made.version === document.version)) {
      collection.set(document.uri, made && diagnosticsOf(made));
    }
  };

  for (const document of workspace.textDocuments.filter(isSupported)) {
    void update(document);
  }
  return Disposable.from(
    collection,
    plans.onDidChange((document) => void update(document)),
    plans.onDidClose((uri) => collection.delete(uri)),
  );
}

function diagnosticsOf({ document, plans, problems }: DocumentPlans): Diagnostic[] {
  const findings = plans.flatMap((plan) => plan.findings);
  return [
    ...findings.map((finding) => {
      const range = rangeIn(document, finding.range);
      const diagnostic = new Diagnostic(range, clean(messageOf(finding)), severities[finding.severity]);
      diagnostic.source = SOURCE;
      diagnostic.code = finding.code;
      if (finding.code === 'option-removed') {
        diagnostic.tags = [DiagnosticTag.Deprecated];
      }
      return diagnostic;
    }),
    ...problems.map((problem) => {
      const range = problem.range ? rangeIn(document, problem.range) : new Range(0, 0, 0, 0);
      const diagnostic = new Diagnostic(range, clean(problem.message), DiagnosticSeverity.Warning);
      diagnostic.source = SOURCE;
      diagnostic.code = 'not-read';
      return diagnostic;
    }),
  ];
}

/** The planner knows nothing of trust, which may be why a file could not be read. */
const messageOf = ({ code, message }: PlacedFinding): string =>
  code === 'config-not-at-hand' && !workspace.isTrusted
    ? `${message} ${l10n.t('Links are not followed until this folder is trusted.')}`
    : message;
