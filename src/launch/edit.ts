/** Changing an option in the text of a file: only its value, or one new option in the manner of the others. */
import type { Fix } from '../core/engines/engine';
import { editDirective } from './directive-edit';
import { isDirectiveKey } from './directive-keys';
import type { Insertion, Launch, LaunchOption, Layer, TextRange } from './launch';
import { optionOf } from './launch';
import { encode } from './text/encode';

export interface TextEdit {
  readonly range: TextRange;
  readonly text: string;
}

/** Gives the option this value; nothing when the place it stands at cannot hold it. */
export function editOption(launch: Launch, text: string, name: string, value: string): readonly TextEdit[] {
  const option = optionOf(launch, name);
  const written = spelt(launch.spellings?.[name], value);
  if (written === undefined) {
    return [];
  }
  const isWritten = option && option.from === undefined && option.origin !== 'default';
  if (isWritten && (option.origin !== 'env' || standsHere(option))) {
    return option.valueRange
      ? replaceValue(text, option.valueRange, option.layers ?? [], written)
      : replaceFlag(text, option, value);
  }
  // Where the file wins, a word here would say nothing.
  return option?.from?.wins ? [] : insert(launch, text, name, written);
}

/** As it is called there; a number that is no other value's name stays. */
function spelt(spellings: Readonly<Record<string, string>> | undefined, value: string): string | undefined {
  const plain = /^-?\d+$/.test(value) && !Object.values(spellings ?? {}).includes(value);
  return spellings === undefined ? value : (spellings[value] ?? (plain ? value : undefined));
}

/** What a fix of a finding changes: an option's value, its name, or the model, by whatever option the launch names it. */
export function editFix(
  launch: Launch,
  text: string,
  fix: Fix,
  launches: readonly Launch[] = [launch],
): readonly TextEdit[] {
  if (fix.directive && isDirectiveKey(fix.option)) {
    return editDirective({ launch, launches }, text, fix.option, fix.value);
  }
  if (fix.replaces !== undefined) {
    const option = optionOf(launch, fix.replaces);
    return option ? renamed(text, option, fix.option) : [];
  }
  const model = fix.option === 'model' && launch.options.findLast((o) => o.spec?.role === 'model');
  const edits = [[model ? model.name : fix.option, fix.value] as const, ...Object.entries(fix.with ?? {})].map(
    ([name, value]) => editOption(launch, text, name, value),
  );
  // Half of it would say something else.
  return edits.every((e) => e.length > 0) ? edits.flat() : [];
}

/** Written as the name before it was: with its dashes, quotes and underscores. */
function renamed(text: string, { name, nameRange, from }: LaunchOption, to: string): readonly TextEdit[] {
  const written = text.slice(nameRange.start, nameRange.end);
  const known = [name, name.replaceAll('-', '_')].find((form) => written.includes(form));
  if (known === undefined || from !== undefined) {
    return [];
  }
  const start = nameRange.start + written.indexOf(known);
  const replacement = known.includes('_') ? to.replaceAll('-', '_') : to;
  return [{ range: { start, end: start + known.length }, text: replacement }];
}

/** A variable may come from another file, and then stands where that file is named. */
const standsHere = (option: LaunchOption): boolean =>
  String(option.value) === option.raw || /^(?:true|false|on|off|yes|no|[01])$/i.test(option.raw);

function replaceValue(text: string, range: TextRange, layers: readonly Layer[], value: string): readonly TextEdit[] {
  const encoded = encode(text, range, layers, value);
  return encoded ? [{ range: encoded.range, text: encoded.text }] : [];
}

/** `--x` and `--no-x` for a flag without a value; a missing value is added. */
function replaceFlag(text: string, option: LaunchOption, value: string): readonly TextEdit[] {
  const written = text.slice(option.nameRange.start, option.nameRange.end);
  if (option.spec?.type !== 'flag' || !written.startsWith('--')) {
    return [];
  }
  const bare = written.replace(/^--(?:no[-_])?/, '');
  const turned = value === 'true' ? `--${bare}` : value === 'false' ? `--no-${bare}` : undefined;
  return turned === undefined ? [] : [{ range: option.nameRange, text: turned }];
}

function insert({ insertion }: Launch, text: string, name: string, value: string): readonly TextEdit[] {
  const written = nameAt(insertion, name);
  const [section, key] = written.split('.');
  if (insertion?.newSection === undefined || section === undefined || key === undefined) {
    return insertion ? insertAt(insertion, text, name, written, value) : [];
  }
  const made = { ...insertion, text: insertion.newSection.replace('{section}', () => section) };
  return insertAt(insertion.sections?.[section] ?? made, text, key, key, value);
}

function insertAt(
  insertion: Insertion,
  text: string,
  name: string,
  written: string,
  value: string,
): readonly TextEdit[] {
  if (insertion.only?.test(written) === false || (/--\{name\}|\{keyword\}/.test(insertion.text) && !isFlagName(name))) {
    return [];
  }
  const range = { start: insertion.at, end: insertion.at };
  if ((value === 'true' || value === 'false') && insertion.text.includes('--{name}')) {
    return [{ range, text: flagOf(insertion.text).replace('{name}', () => (value === 'true' ? name : `no-${name}`)) }];
  }
  const encoded = encode(text, range, insertion.layers ?? [], value);
  const line = insertion.text
    .replace('{name}', () => written)
    .replace('{keyword}', () => written.replaceAll('-', '_'))
    .replace('{value}', () => encoded?.text ?? '');
  return encoded && encoded.range.start === insertion.at ? [{ range, text: line }] : [];
}

/** An option as the place spells it. */
export const nameAt = (insertion: Insertion | undefined, name: string): string =>
  insertion?.names?.[name] ?? spelled(name, insertion?.spelling);

function spelled(name: string, spelling: Insertion['spelling']): string {
  return spelling === 'camel'
    ? name.replace(/[-_](\w)/g, (_, c: string) => c.toUpperCase())
    : spelling === 'snake'
      ? name.replaceAll('-', '_')
      : name;
}

/** Keys of a file's section and variables cannot be said on a command line. */
const isFlagName = (name: string): boolean => !name.includes('.') && name !== name.toUpperCase();

/** The word alone: flags are turned on and off by their name. */
const flagOf = (template: string): string =>
  template
    .replace('{name}", "{value}"', '{name}"')
    .replace(/\{name\}\s*- "\{value\}"/, '{name}')
    .replace(/\{name\}[= ]\{value\}/, '{name}');
