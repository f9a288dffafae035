/** What somebody fills in before the file is used, where nothing that reads the file does: `${TP}` of envsubst or Terraform, `__TP__`. */
import { type Mapped, unresolvedIn } from './mapped';

const FILLED_IN = /\$\{[A-Za-z_][^{}]*\}|^__[A-Za-z]\w*__$/;

/** Why the value is not known; undefined for a value that is one. */
function filledInLater(text: string): string | undefined {
  const found = FILLED_IN.exec(text)?.[0];
  return found === undefined ? undefined : `${found} is filled in before the file is used`;
}

/** Why a word's value, from character `from` on, is not known. */
export const unknownIn = (m: Mapped, from = 0): string | undefined =>
  unresolvedIn(m, from) ?? filledInLater(m.text.slice(from));
