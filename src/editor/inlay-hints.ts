/** After each value that decides the KV cache, what it comes to; the hover of the option is its tooltip. */
import { Disposable, EventEmitter, InlayHint, type InlayHintsProvider, languages } from 'vscode';
import { SELECTOR } from './documents';
import { trusted } from './hover';
import type { Plans } from './plans';
import { isEnabled } from './settings';

export function registerInlayHints(plans: Plans): Disposable {
  const changed = new EventEmitter<void>();
  /** Words for the tooltip, made when somebody asks. */
  const tooltips = new WeakMap<InlayHint, () => string>();
  const provider: InlayHintsProvider = {
    onDidChangeInlayHints: changed.event,
    async provideInlayHints(document, range, token) {
      const made = isEnabled('inlayHints', document) ? await plans.calm(document) : undefined;
      if (!made || token.isCancellationRequested || made.version !== document.version) {
        return [];
      }
      const { hintsOf, hoverTarget, hoverText } = await import('../lazy');
      return made.plans.flatMap((plan) =>
        hintsOf(plan, made.text)
          .map((hint) => ({ ...hint, at: document.positionAt(hint.offset) }))
          .filter(({ at }) => range.contains(at))
          .map(({ at, text, option }) => {
            const hint = new InlayHint(at, text);
            hint.paddingLeft = true;
            tooltips.set(hint, () => {
              const target = hoverTarget(plan, option.valueRange?.start ?? option.range.start, made.text);
              return target ? hoverText(plan, target, made.tryOptions) : '';
            });
            return hint;
          }),
      );
    },
    resolveInlayHint(hint) {
      const tooltip = tooltips.get(hint)?.();
      if (tooltip !== undefined) {
        hint.tooltip = trusted(tooltip);
      }
      return hint;
    },
  };
  return Disposable.from(
    changed,
    plans.onDidChange(() => changed.fire()),
    languages.registerInlayHintsProvider(SELECTOR, provider),
  );
}
