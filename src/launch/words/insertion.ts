/** Where an option that is not written can be added, in the manner of the ones that are. */
import type { Insertion, LaunchOption, Layer } from '../launch';
import { type Mapped, maybeIn } from '../text/mapped';
import type { ArgumentWords } from './arguments';
import { rolloutNames } from './hydra';
import type { Start } from './start';

/** After the last word of a command. */
export function wordInsertion(
  input: ArgumentWords,
  start: Start,
  options: readonly LaunchOption[],
): Insertion | undefined {
  if (!input.shell) {
    return undefined;
  }
  // Not where only one branch would have it, nor in a variable whose own quotes are not known here.
  const layered = start.words.some(({ layers }) => layers.length > 0);
  const last = start.words.findLast(
    (w) => maybeIn(w) === undefined && standsInside(w) && (w.layers.length > 0 || !layered),
  );
  if (layered && !last) {
    return undefined;
  }
  const at = last ? last.extent.end : start.head.end;
  const around = [...(last?.layers ?? []), ...(last?.segments.at(-1)?.outer ?? [])];
  // Behind a name that stands for the last word there is no text to write on, and in a text in pieces no place.
  if (around.at(-1)?.kind === 'python-word' || around.some((l) => l.kind === 'pieces')) {
    return undefined;
  }
  const layers: readonly Layer[] = [...around, { kind: 'shell-bare', range: { start: at, end: at } }];
  const separator = separatorOf(input.text, options);
  return { at, text: `${separator}--{name}${usesEquals(input.text, options) ? '=' : ' '}{value}`, layers };
}

/** It ends where all that is written around it is: a variable's text lies elsewhere. */
const standsInside = ({ layers, extent }: Mapped): boolean =>
  layers.every(({ range }) => range.start <= extent.end && extent.end <= range.end);

/** Another override of a trainer's command, after the last one. */
export function overrideInsertion({ rollout, engine }: Start): Insertion | undefined {
  const last = rollout?.pairs.at(-1);
  if (!rollout || !last) {
    return undefined;
  }
  const at = last.value.extent.end;
  const layers: readonly Layer[] = [...last.value.layers, { kind: 'shell-bare', range: { start: at, end: at } }];
  const names = rolloutNames(engine);
  const only = new RegExp(`^(?:${Object.values(names).join('|')})$`);
  return { at, text: ` ${rollout.prefix}{name}={value}`, layers, names, only };
}

/** Before the command, where it is no container's and stands bare in a script. */
export function variableInsertion(input: ArgumentWords, start: Start): Insertion | undefined {
  if (!input.shell || start.contained) {
    return undefined;
  }
  const at = start.head.start;
  return {
    at,
    text: '{name}={value} ',
    only: VARIABLE,
    layers: [{ kind: 'shell-bare', range: { start: at, end: at } }],
  };
}

/** What stands between the last two options: a space, or a continuation and an indent. */
function separatorOf(text: string, options: readonly LaunchOption[]): string {
  const [before, last] = options.slice(-2);
  const between = before && last ? text.slice(before.range.end, last.nameRange.start) : ' ';
  return /^[\s\\]+$/.test(between) ? between : ' ';
}

/** Most options that have a value are written `--a=b`. */
function usesEquals(text: string, options: readonly LaunchOption[]): boolean {
  const valued = options.filter(
    (o) => o.valueRange !== undefined && o.nameRange.end <= o.valueRange.start && o.from === undefined,
  );
  return valued.filter((o) => text[o.nameRange.end] === '=').length * 2 > valued.length;
}

/** Names of environment variables. */
export const VARIABLE = /^[A-Z][A-Z0-9_]*$/;
