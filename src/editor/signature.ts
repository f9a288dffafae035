/** A directive as a signature: its keys are the parameters. */
import { directiveIn } from '../launch/directive';
import { DIRECTIVES } from '../launch/directive-keys';
import { escaped } from './markdown';

export interface Signature {
  readonly label: string;
  readonly about: string;
  readonly parameters: readonly { readonly start: number; readonly end: number; readonly about: string }[];
  /** Index of the key that is being written. */
  readonly active: number;
}

export function signatureOf(line: string, column: number): Signature | undefined {
  const entries = directiveIn(line.slice(0, column));
  if (entries === undefined) {
    return undefined;
  }
  let label = 'kv-planner:';
  const parameters = Object.entries(DIRECTIVES).map(([key, { takes, summary }]) => {
    const start = label.length + 1;
    label += ` ${key}=${takes.replace(/:.*/, '')}`;
    return { start, end: label.length, about: `${escaped(summary)}\n\n${escaped(`${key}=${takes}`)}` };
  });
  return {
    label,
    about: 'What the file itself does not say, for the launch below or around the comment. All keys are optional.',
    parameters,
    active: activeKey(entries),
  };
}

/** The key under the cursor, by its beginning; else the first that is not said yet. */
function activeKey(entries: string): number {
  const keys = Object.keys(DIRECTIVES);
  const key = /([^\s=]*)(?:=(?:"[^"]*|'[^']*|\S*))?$/.exec(entries)?.[1] ?? '';
  const said = new Set([...entries.matchAll(/([^\s=]+)=/g)].map((m) => m[1]));
  const exact = keys.indexOf(key);
  return exact >= 0
    ? exact
    : Math.max(
        0,
        keys.findIndex((k) => k.startsWith(key) && !said.has(k)),
      );
}
