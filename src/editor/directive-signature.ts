/** The keys of a `kv-planner:` comment, shown while one is written. */
import {
  type Disposable,
  languages,
  MarkdownString,
  ParameterInformation,
  SignatureHelp,
  type SignatureHelpProvider,
  SignatureInformation,
} from 'vscode';
import { SELECTOR } from './documents';
import { isEnabled } from './settings';

export function registerDirectiveSignature(): Disposable {
  const provider: SignatureHelpProvider = {
    async provideSignatureHelp(document, position) {
      const line = document.lineAt(position.line).text;
      if (!line.includes('kv-planner:') || !isEnabled('completion', document)) {
        return undefined;
      }
      const { signatureOf } = await import('../lazy');
      const signature = signatureOf(line, position.character);
      if (!signature) {
        return undefined;
      }
      const information = new SignatureInformation(signature.label, new MarkdownString(signature.about));
      information.parameters = signature.parameters.map(
        ({ start, end, about }) => new ParameterInformation([start, end], new MarkdownString(about)),
      );
      const help = new SignatureHelp();
      help.signatures = [information];
      help.activeSignature = 0;
      help.activeParameter = signature.active;
      return help;
    },
  };
  return languages.registerSignatureHelpProvider(SELECTOR, provider, ':', ' ', '=');
}
