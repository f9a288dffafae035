/** Several changes to one launch, each made at its place in the text so far: the text they lead to, and edits of the first. */
import { readLaunches } from '.';
import { editDirective } from './directive-edit';
import { editOption, type TextEdit } from './edit';
import type { DirectiveKey, Launch, ReadInput, TextRange } from './launch';
import { edit, editsOf, unedited } from './pieces';

export interface ReadLaunch {
  readonly launch: Launch;
  /** All of the text. */
  readonly launches: readonly Launch[];
}

/** One change; nothing where the text cannot hold it. */
export type EditStep = (read: ReadLaunch, text: string) => readonly TextEdit[];

export interface Rewritten {
  readonly text: string;
  /** Of the text as it was. */
  readonly edits: readonly TextEdit[];
}

/** Undefined when the text cannot hold one of the changes. */
export function rewritten(input: ReadInput, at: number, steps: readonly EditStep[]): Rewritten | undefined {
  let now = unedited(input.text);
  for (const step of steps) {
    const { launches } = readLaunches({ ...input, text: now.text });
    const launch = launches[at];
    const edits = launch ? step({ launch, launches }, now.text) : [];
    if (edits.length === 0) {
      return undefined;
    }
    now = edit(now, edits);
  }
  return { text: now.text, edits: editsOf(now, input.text.length) };
}

export const optionStep =
  (option: string, value: string): EditStep =>
  ({ launch }, text) =>
    editOption(launch, text, option, value);

export const directiveStep =
  (key: DirectiveKey, value: string): EditStep =>
  (read, text) =>
    editDirective(read, text, key, value);

/** Where the number of GPUs that the file offers is written as one; undefined where it says it otherwise, or not. */
function offeredRange(launch: Launch, text: string): TextRange | undefined {
  const said = launch.directives.findLast((d) => d.key === 'gpus')?.valueRange;
  const { count } = launch.hardware;
  const range = said ?? count?.range;
  const written = range ? text.slice(range.start, range.end) : '';
  // One machine's number among several is not the launch's.
  return range && /^\d+$/.test(written) && (said || Number(written) === count?.value) ? range : undefined;
}

export const offeredStep =
  (value: string): EditStep =>
  ({ launch }, text) => {
    const range = offeredRange(launch, text);
    return range ? [{ range, text: value }] : [];
  };
