/** Environment variables around a command. */
import { type Mapped, unresolvedIn } from '../text/mapped';

export interface Variable {
  readonly name: string;
  readonly value: Mapped;
  /** It stands in a command: where a shell reads that, it is quoted as its words are. */
  readonly word?: true;
}

/** The name in `NAME=value`. */
export function assignedName(text: string): string | undefined {
  return /^([A-Za-z_][A-Za-z0-9_]*)=/.exec(text)?.[1];
}

/** Texts that are known, the last of a name. */
export function knownTexts(variables: readonly Variable[]): ReadonlyMap<string, string> {
  return new Map(variables.filter((v) => unresolvedIn(v.value) === undefined).map((v) => [v.name, v.value.text]));
}
