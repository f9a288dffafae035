/** Completion of options, values, models and GPUs, with the words of the option tables. */
import {
  CompletionItem,
  CompletionItemKind,
  type CompletionItemProvider,
  type Disposable,
  languages,
  MarkdownString,
} from 'vscode';
import { rangeIn, SELECTOR } from './documents';
import type { Plans } from './plans';
import type { Proposal } from './proposals';
import { isEnabled } from './settings';
import { mayHoldLaunch } from './sniff';

const KINDS: { readonly [kind in Proposal['kind']]: CompletionItemKind } = {
  option: CompletionItemKind.Property,
  value: CompletionItemKind.EnumMember,
  model: CompletionItemKind.Module,
  gpu: CompletionItemKind.Constant,
  key: CompletionItemKind.Keyword,
};

export function registerCompletion(plans: Plans): Disposable {
  /** Words that are made for the item that is looked at. */
  const abouts = new WeakMap<CompletionItem, () => string>();
  const provider: CompletionItemProvider = {
    async provideCompletionItems(document, position, token) {
      const text = document.getText();
      if (!isEnabled('completion', document) || !mayHoldLaunch(text, document.uri.path)) {
        return undefined;
      }
      const made = await plans.of(document);
      if (token.isCancellationRequested) {
        return undefined;
      }
      const { proposalsAt } = await import('../lazy');
      const found = proposalsAt(text, document.offsetAt(position), made?.plans ?? []);
      return found?.items.map((proposal) => {
        const item = new CompletionItem(proposal.label, KINDS[proposal.kind]);
        item.range = rangeIn(document, found.range);
        item.insertText = proposal.insert ?? proposal.label;
        item.filterText = proposal.insert ?? proposal.label;
        item.sortText = `${String(proposal.rank ?? 0).padStart(3, '0')}${proposal.label}`;
        if (proposal.detail !== undefined) {
          item.detail = proposal.detail;
        }
        if (proposal.about) {
          abouts.set(item, proposal.about);
        }
        return item;
      });
    },
    resolveCompletionItem(item) {
      const about = abouts.get(item)?.();
      if (about !== undefined) {
        item.documentation = new MarkdownString(about);
      }
      return item;
    },
  };
  return languages.registerCompletionItemProvider(SELECTOR, provider, '-', '=', ' ', ':', '"', "'", '/');
}
