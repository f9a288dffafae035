/**
 * How a form writes options down: one object for each form and engine, exported as `renderers` of a file in this folder.
 * `renderers.test.ts` finds them all: what is rendered must read back, and so must every edit of it.
 */
import type { OptionSpec } from '../../../../src/core/engines/option';
import type { Form } from '../../../../src/launch/launch';
import type { Choice } from '../choices';

export interface Renderer {
  /** Names the test: `compose, list of words`. */
  readonly what: string;
  /** Id of the engine. */
  readonly engine: string;
  /** The file's name. */
  readonly name: string;
  readonly form?: Form;
  /** Files beside it. */
  readonly files?: Readonly<Record<string, string>>;
  /** Options that can be written in this form. */
  holds(spec: OptionSpec): boolean;
  /** A whole text that starts the engine once, with these options and no others but the model. */
  render(choices: readonly Choice[]): string;
  /** Options cannot be added in this form. */
  readonly closed?: true;
}

/** Any option of a command line: no key of a file's section, no variable. */
export const isFlag = (spec: OptionSpec): boolean => !spec.name.includes('.') && spec.name !== spec.name.toUpperCase();

/** Options as the words of a command line; `no-` for a flag that is off. */
export const words = (choices: readonly Choice[]): readonly string[] =>
  choices.flatMap(({ spec, text }) =>
    spec.type === 'flag'
      ? [`--${text === 'true' ? '' : 'no-'}${spec.name}`]
      : [`--${spec.name}`, ...(spec.type === 'list' && spec.read === undefined ? text.split(' ') : [text])],
  );

/** A word in single quotes where a shell would take it apart. */
export const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
