/**
 * What the page keeps, kept by the host too. VS Code in a browser saves the state of panels every five seconds and not when
 * its page is left; what an extension stores is saved at once. A desktop saves both when its window closes.
 */
import { env, type Memento, UIKind } from 'vscode';
import { type KeptState, readState } from './protocol';

export interface Memory {
  /** The later of what was kept here and what the editor gives back. */
  latest(given: unknown): KeptState | undefined;
  keep(state: KeptState): void;
  /** A panel is opened that nothing is kept of. */
  forget(): void;
}

const KEY = 'dashboard';

/** Undefined where the editor itself loses nothing. */
export function memoryIn(storage: Memento, kind = env.uiKind): Memory | undefined {
  if (kind !== UIKind.Web) {
    return undefined;
  }
  const put = (state: KeptState | undefined): void => void storage.update(KEY, state);
  return {
    latest(given) {
      const [theirs, ours] = [readState(given), readState(storage.get(KEY))];
      return (ours?.edition ?? 0) > (theirs?.edition ?? 0) ? ours : theirs;
    },
    keep: put,
    forget: () => put(undefined),
  };
}
