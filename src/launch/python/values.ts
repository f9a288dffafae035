/** What a Python expression stands for, as far as the file says, with the place it is written at. */
import type { Node } from 'web-tree-sitter';
import type { OptionValue } from '../../core/engines/option';
import type { Layer, TextRange } from '../launch';
import { addUnit, builder, finish, type Mapped, rangeOf, segmentAt, unresolvedIn } from '../text/mapped';
import type { Scope } from './scope';

export type Value =
  | { readonly kind: 'text'; readonly text: Mapped }
  /** `asked`: the program's caller may say otherwise, and what depends on it goes both ways. */
  | { readonly kind: 'plain'; readonly value: number | boolean | null; readonly asked?: true }
  | { readonly kind: 'list'; readonly items: readonly Placed[] }
  | { readonly kind: 'map'; readonly entries: readonly MapEntry[]; readonly open?: string }
  /** An object made by a call of something imported: `KvCacheConfig(…)`. */
  | { readonly kind: 'made'; readonly path: string; readonly given: Given }
  | { readonly kind: 'import'; readonly path: string }
  | { readonly kind: 'function'; readonly node: Node; readonly scope: Scope }
  | { readonly kind: 'class'; readonly name: string; readonly members: Scope }
  | { readonly kind: 'parser'; readonly defaults: Map<string, Placed> }
  | { readonly kind: 'unknown'; readonly reason: string; readonly environment?: true };

/** A value at the place it is written, or the reference that stands for it. */
export interface Placed {
  readonly value: Value;
  readonly range: TextRange;
  /** What another value at this place must be encoded for. */
  readonly layers: readonly Layer[];
  /** The text itself is written here, not a name for it. */
  readonly literal: boolean;
  readonly maybe?: string;
}

export interface MapEntry extends Placed {
  readonly key: string;
  readonly keyRange: TextRange;
}

/** Arguments of a call. */
export interface Given {
  readonly positional: readonly Placed[];
  readonly keywords: readonly MapEntry[];
  /** Why there may be more of them: `**kwargs`. */
  readonly open?: string;
}

export const unknown = (reason: string): Value => ({ kind: 'unknown', reason });
export const plain = (value: number | boolean | null): Value => ({ kind: 'plain', value });

/** Ways of writing around a node of the program: a notebook's JSON, a YAML scalar. */
export const aroundNode = (script: Mapped, node: Node): readonly Layer[] => [
  ...script.layers,
  ...(segmentAt(script, node.startIndex)?.outer ?? []),
];

export const nodeRange = (script: Mapped, node: Node): TextRange => rangeOf(script, node.startIndex, node.endIndex);

export function textValue(text: string, script: Mapped, node: Node): Value {
  return { kind: 'text', text: wordOf(text, nodeRange(script, node), aroundNode(script, node)) };
}

function wordOf(text: string, range: TextRange, layers: readonly Layer[], why?: { unresolved?: string }): Mapped {
  const b = builder();
  addUnit(b, text, range, { ...why, outer: [...layers, { kind: 'python-word', range }] });
  return finish(b, [], range);
}

/** Why a text or number cannot be known; undefined when it can. */
export function unknownIn(value: Value): string | undefined {
  return value.kind === 'unknown' ? value.reason : value.kind === 'text' ? unresolvedIn(value.text) : undefined;
}

/** Python's `str(value)` of what a command line or a text can hold. */
export function asText(value: Value): string | undefined {
  switch (value.kind) {
    case 'text':
      return value.text.text;
    case 'plain':
      return value.value === null
        ? 'None'
        : typeof value.value === 'boolean'
          ? pythonBool(value.value)
          : `${value.value}`;
    case 'import':
      return value.path === 'sys.executable' ? 'python' : undefined;
    case 'made':
      return /(?:^|\.)Path$/.test(value.path) && value.given.positional[0]
        ? asText(value.given.positional[0].value)
        : undefined;
    default:
      return undefined;
  }
}

const pythonBool = (value: boolean): string => (value ? 'True' : 'False');

/** An element of a command. Options keep the place they are written at; a value's place is the reference. */
export function asWord(placed: Placed, written: string): Mapped {
  const { value, range, layers } = placed;
  const own = value.kind === 'text' && (placed.literal || /^-|\s/.test(value.text.text)) && value.text.text !== '';
  const text = asText(value);
  const unresolved =
    unknownIn(value) ?? (text === undefined ? `${written.slice(0, 60)} is made when the program runs` : undefined);
  const word = own
    ? value.text
    : wordOf(unresolved === undefined ? (text as string) : written, range, layers.slice(0, -1), {
        ...(unresolved === undefined ? {} : { unresolved }),
      });
  const { maybe } = placed;
  return maybe === undefined ? word : { ...word, segments: word.segments.map((s) => ({ ...s, maybe })) };
}

/** More than any option's value holds: names can stand for more than any memory. */
const MAX_DEPTH = 20;
const MAX_NODES = 10_000;

type Option = { readonly value: OptionValue } | { readonly unresolved: string };

/** As an option's value; or why it cannot be known. */
export const asOption = (value: Value): Option => optionOf(value, { depth: 0, left: MAX_NODES });

interface Bounds {
  depth: number;
  left: number;
}

function optionOf(value: Value, bounds: Bounds): Option {
  bounds.left--;
  if (bounds.depth > MAX_DEPTH || bounds.left < 0) {
    return { unresolved: 'it holds too much' };
  }
  const unresolved = unknownIn(value);
  if (unresolved !== undefined) {
    return { unresolved };
  }
  bounds.depth++;
  const read = knownOption(value, bounds);
  bounds.depth--;
  return read;
}

/** What a function gives is not known; an object is what it is made with. */
const IS_CLASS = /(?:^|\.)_*[A-Z]\w*$/;

function knownOption(value: Value, bounds: Bounds): Option {
  switch (value.kind) {
    case 'plain':
      return { value: value.value };
    case 'list':
      return listOption(value.items, bounds);
    case 'map':
      return value.open === undefined ? mapOption(value.entries, bounds) : { unresolved: value.open };
    case 'made':
      return IS_CLASS.test(value.path) &&
        asText(value) === undefined &&
        value.given.open === undefined &&
        value.given.positional.length === 0
        ? mapOption(value.given.keywords, bounds)
        : madeText(value);
    default:
      return madeText(value);
  }
}

function madeText(value: Value): Option {
  const text = value.kind === 'import' && value.path !== 'sys.executable' ? value.path : asText(value);
  return text === undefined ? { unresolved: 'it is made when the program runs' } : { value: text };
}

function listOption(items: readonly Placed[], bounds: Bounds): Option {
  const values: OptionValue[] = [];
  for (const item of items) {
    const read = item.maybe === undefined ? optionOf(item.value, bounds) : { unresolved: item.maybe };
    if ('unresolved' in read) {
      return read;
    }
    values.push(read.value);
  }
  return { value: values };
}

function mapOption(entries: readonly MapEntry[], bounds: Bounds): Option {
  const values: [string, OptionValue][] = [];
  for (const entry of entries) {
    const read = optionOf(entry.value, bounds);
    if ('unresolved' in read) {
      return read;
    }
    values.push([entry.key, read.value]);
  }
  return { value: Object.fromEntries(values) };
}
