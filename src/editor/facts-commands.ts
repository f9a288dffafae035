/** Fetch Model Facts, and the token for models that need one. */
import { CodeAction, CodeActionKind, commands, Disposable, l10n, languages, window, workspace } from 'vscode';
import { hubName } from '../core/model/hub-names';
import { COMMANDS, type CommandTarget } from './command-names';
import { SOURCE } from './diagnostics';
import { SELECTOR } from './documents';
import type { HubProblem } from './hub-client';
import { plain } from './markdown';
import { endpointOf, type ModelFacts } from './model-facts';
import { patiently } from './patience';
import { launchFor } from './places';
import type { Plans } from './plans';

export function registerFacts(plans: Plans, facts: ModelFacts): Disposable {
  return Disposable.from(
    commands.registerCommand(COMMANDS.fetchModelFacts, (argument: unknown) => fetchFacts(plans, facts, argument)),
    commands.registerCommand(COMMANDS.setHubToken, () => setToken(facts)),
    languages.registerCodeActionsProvider(
      SELECTOR,
      {
        provideCodeActions(document, range, { diagnostics }) {
          const unknown = diagnostics.filter((d) => d.source === SOURCE && d.code === 'model-unknown');
          if (unknown.length === 0 || !workspace.isTrusted) {
            return [];
          }
          const target: CommandTarget = { uri: document.uri.toString(), offset: document.offsetAt(range.start) };
          const title = l10n.t('Fetch its facts from {0}', hostOf());
          const action = new CodeAction(title, CodeActionKind.QuickFix);
          action.command = { command: COMMANDS.fetchModelFacts, title, arguments: [target] };
          action.diagnostics = unknown;
          return [action];
        },
      },
      { providedCodeActionKinds: [CodeActionKind.QuickFix] },
    ),
  );
}

const hostOf = (): string => new URL(endpointOf()).host;

/** Says why not, as well: true when there are facts now. */
async function fetchFacts(plans: Plans, facts: ModelFacts, argument: unknown): Promise<boolean> {
  if (!workspace.isTrusted) {
    void window.showWarningMessage(l10n.t('In a folder that is not trusted nothing is fetched.'));
    return false;
  }
  const place = await launchFor(plans, argument);
  if (!place) {
    return false;
  }
  const { model, launch } = place.plan;
  const text = launch.directives.find((d) => d.key === 'model')?.value ?? launch.model?.text ?? '';
  const name = hubName(text);
  if (!name) {
    void window.showInformationMessage(
      l10n.t('“{0}” is no model id of the Hub, so there is nothing to fetch.', plain(text || launch.title)),
    );
    return false;
  }
  if (model && model.source.kind === 'catalogue') {
    void window.showInformationMessage(l10n.t('{0} is in the catalogue: nothing need be fetched.', plain(text)));
    return true;
  }
  try {
    const found = await patiently(l10n.t('Fetching facts of {0} from {1}', text, hostOf()), (token) =>
      facts.fetch(name, token),
    );
    if (found) {
      void window.setStatusBarMessage(l10n.t('$(check) Facts of {0} fetched', plain(name.repo)), 5000);
    }
    return found !== undefined;
  } catch (error) {
    void tell(error, text, facts);
    return false;
  }
}

async function tell(error: unknown, model: string, facts: ModelFacts): Promise<void> {
  const { HubError } = await import('../lazy');
  if (!(error instanceof HubError)) {
    void window.showErrorMessage(plain(error instanceof Error ? error.message : String(error)));
    return;
  }
  const action = l10n.t('Set Token');
  const actions = error.problem === 'unauthorised' || error.problem === 'forbidden' ? [action] : [];
  const answer = await window.showErrorMessage(
    problemText(error.problem, plain(error.detail), plain(model), hostOf()),
    ...actions,
  );
  if (answer === action) {
    await setToken(facts);
  }
}

function problemText(problem: HubProblem, detail: string, model: string, host: string): string {
  switch (problem) {
    case 'unauthorised':
      return l10n.t(
        '{0} does not show {1} to everyone: it is gated or private, or there is no such model. A token may help: HF_TOKEN, or the command Set Hugging Face Token.',
        host,
        model,
      );
    case 'forbidden':
      return l10n.t('{0} refused {1}: this token has no access. Ask for it on the model’s page.', host, model);
    case 'missing':
      return l10n.t('There is no model {0} on {1}.', model, host);
    case 'no-facts':
      return l10n.t('{0} has neither a config.json nor such a GGUF file on {1}.', model, host);
    case 'too-many':
      return l10n.t('{0} asks to wait: too many requests. Try again later.', host);
    case 'timeout':
      return l10n.t('{0} did not answer in time.', host);
    case 'offline':
      return l10n.t('{0} could not be reached ({1}). Plans go on without it.', host, detail);
    case 'too-large':
      return l10n.t('What {0} sent for {1} is larger than such a file can be.', host, model);
    case 'not-json':
      return l10n.t('What {0} sent for {1} is not JSON.', host, model);
    case 'redirect':
      return l10n.t('{0} led in circles for {1}.', host, model);
    case 'server':
      return l10n.t('{0} failed for {1} (HTTP {2}).', host, model, detail);
  }
}

async function setToken(facts: ModelFacts): Promise<void> {
  const token = await window.showInputBox({
    title: l10n.t('Hugging Face Token'),
    prompt: l10n.t('Kept in the editor’s secret storage and sent to {0} only. Empty removes it.', hostOf()),
    password: true,
    ignoreFocusOut: true,
    validateInput: (text) => (/^[\x21-\x7e]*$/.test(text.trim()) ? undefined : l10n.t('A token has no spaces.')),
  });
  if (token !== undefined) {
    await facts.setToken(token.trim() || undefined);
  }
}
