/** A YAML text as documents, each parsed by itself and tolerantly; what is too big or too deep is not parsed. */
import { type Alias, type Document, isAlias, isCollection, isPair, type Node, parseDocument, Schema } from 'yaml';
import type { TextRange } from '../launch';
import { type Template, templateOf } from './template';

/** Beyond these a document is not parsed. */
const MAX_LENGTH = 2 * 1024 * 1024;
const MAX_NESTING = 100;

export interface YamlDocument {
  /** The whole file. */
  readonly text: string;
  /** Where this document begins; node ranges count from here. */
  readonly base: number;
  readonly end: number;
  readonly root: Node | null;
  /** Set where the text holds templates. */
  readonly template?: Template;
  readonly errors: readonly { readonly message: string; readonly range: TextRange }[];
  /** What an alias stands for. */
  target(alias: Alias): Node | undefined;
}

/** Where each document of the text stands. A line that begins with `---` starts one wherever it stands. */
export function documentRanges(text: string): readonly TextRange[] {
  const starts = [...separators(text)];
  const ranges = [0, ...starts].map((start, i) => ({ start, end: starts[i] ?? text.length }));
  return ranges.length === 1
    ? ranges
    : ranges.filter((r) => /[^\s#%-]/.test(text.slice(r.start, r.end).replace(/#.*/g, '')));
}

function* separators(text: string): Generator<number> {
  for (let at = text.indexOf('\n---'); at !== -1; at = text.indexOf('\n---', at + 1)) {
    if (/\s|^$/.test(text.charAt(at + 4))) {
      yield at + 1;
    }
  }
}

/** Where the text of a block scalar stands, without its header: parsed there, every place is right as it is. */
export function contentRange(text: string, scalar: TextRange): TextRange | undefined {
  const newline = text.indexOf('\n', scalar.start);
  const isBlock = /^\|/.test(text.slice(scalar.start, scalar.start + 1));
  return isBlock && newline !== -1 && newline < scalar.end ? { start: newline + 1, end: scalar.end } : undefined;
}

export function parseYaml(text: string, range: TextRange): YamlDocument {
  const template = templateOf(text);
  const source = template?.text ?? text;
  // A text of one document is another one after every edit: what is kept of it would only be in the way.
  const isWhole = range.start === 0 && range.end === text.length;
  const { root, errors, target } = isWhole ? parse(source) : remembered(source.slice(range.start, range.end));
  // The line of a template's `{{- if }}` may be longer than the indent of the text it begins.
  const own = template ? errors.filter((e) => !/more-indented leading empty lines/.test(e.message)) : errors;
  const placed = own.map((e) => ({ message: e.message, range: shift(e.range, range.start) }));
  const made = template ? { template } : {};
  return { text, base: range.start, end: range.end, root, errors: placed, target, ...made };
}

/** What depends on the document's own text alone. */
type Parsed = Pick<YamlDocument, 'root' | 'errors' | 'target'>;

/**
 * Documents that did not change are not parsed again: in a manifest of many, an edit of one leaves the others as they were.
 * The oldest go first, when all that is kept is longer than this.
 */
const KEPT_LENGTH = 1024 * 1024;
const kept = new Map<string, Parsed>();
let keptLength = 0;

function remembered(part: string): Parsed {
  const known = kept.get(part);
  if (known) {
    return known;
  }
  const parsed = parse(part);
  if (part.length <= KEPT_LENGTH) {
    kept.set(part, parsed);
    keptLength += part.length;
    for (const oldest of kept.keys()) {
      if (keptLength <= KEPT_LENGTH) {
        break;
      }
      kept.delete(oldest);
      keptLength -= oldest.length;
    }
  }
  return parsed;
}

/** No types are resolved, every scalar keeps its text: readers apply their engine's own types. One for all documents. */
const SCHEMA = new Schema({ schema: 'failsafe', resolveKnownTags: true });

function parse(part: string): Parsed {
  const refusal = tooMuch(part);
  if (refusal !== undefined) {
    return { root: null, errors: [refusal], target: () => undefined };
  }
  const document = parseDocument(part, {
    schema: SCHEMA,
    uniqueKeys: false,
    prettyErrors: false,
    strict: false,
    logLevel: 'silent',
  });
  const errors = document.errors.map((e) => ({
    message: `YAML: ${e.message.charAt(0).toLowerCase()}${e.message.slice(1)}`,
    range: within(part.length, e.pos),
  }));
  let targets: ReadonlyMap<Alias, Node> | undefined;
  return {
    root: document.contents,
    errors,
    target: (alias) => {
      targets ??= aliasTargets(document);
      return targets.get(alias);
    },
  };
}

/** An error at the end of the text is said to go on past it. */
const within = (length: number, [start, end]: readonly [number, number]): TextRange => ({
  start: Math.min(start, length),
  end: Math.min(Math.max(start, end), length),
});

const shift = (r: TextRange, by: number): TextRange => ({ start: r.start + by, end: r.end + by });

/** One walk in document order: an alias means the last anchor of its name before it. */
function aliasTargets(document: Document): ReadonlyMap<Alias, Node> {
  const anchors = new Map<string, Node>();
  const targets = new Map<Alias, Node>();
  const visit = (node: unknown): void => {
    if (isPair(node)) {
      visit(node.key);
      visit(node.value);
    } else if (isAlias(node)) {
      const target = anchors.get(node.source);
      if (target) {
        targets.set(node, target);
      }
    } else if (node !== null && typeof node === 'object') {
      remember(node as Node);
      if (isCollection(node)) {
        node.items.forEach(visit);
      }
    }
  };
  const remember = (node: Node): void => {
    if ('anchor' in node && typeof node.anchor === 'string') {
      anchors.set(node.anchor, node);
    }
  };
  visit(document.contents);
  return targets;
}

/** The parser's time grows faster than its input when nesting is deep, so depth is estimated before parsing. */
function tooMuch(text: string): { readonly message: string; readonly range: TextRange } | undefined {
  if (text.length > MAX_LENGTH) {
    return { message: 'YAML: this document is over 2 MB and was not read', range: { start: 0, end: 0 } };
  }
  const at = isShallow(text) ? undefined : deepPlace(text);
  return at === undefined
    ? undefined
    : {
        message: `YAML: nested more than ${MAX_NESTING} deep here; the document was not read`,
        range: { start: at, end: at + 1 },
      };
}

const [LF, SPACE, DASH, QUESTION, OPEN, CLOSE, OPEN_MAP, CLOSE_MAP] = [10, 32, 45, 63, 91, 93, 123, 125];

/** Told at a glance, and so of nearly every text: few brackets open, and no line begins so far in that many indents fit. */
function isShallow(text: string): boolean {
  const most = MAX_NESTING / 2;
  let opened = 0;
  for (const bracket of '[{') {
    for (let at = text.indexOf(bracket); at !== -1 && opened <= most; at = text.indexOf(bracket, at + 1)) {
      opened++;
    }
  }
  for (let line = 0; line !== -1 && opened <= most; ) {
    // Only spaces and the signs of items and keys lead further in: mostly the last of so many is none.
    if (/[ ?-]/.test(text.charAt(line + most - 1)) && /^[ ?-]*$/.test(text.slice(line, line + most))) {
      return false;
    }
    const end = text.indexOf('\n', line);
    line = end === -1 ? -1 : end + 1;
  }
  return opened <= most;
}

/** Where brackets, indents and `- - -` first add up to more than allowed. Text in quotes counts as well: an upper bound. */
function deepPlace(text: string): number | undefined {
  let flow = 0;
  const indents: number[] = [];
  let depth = 0;
  let lineStart = 0;
  let inIndent = true;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === LF) {
      lineStart = i + 1;
      inIndent = true;
    } else if (inIndent && c !== SPACE) {
      const column = i - lineStart;
      while (indents.length > 0 && (indents.at(-1) as number) >= column) {
        indents.pop();
      }
      indents.push(column);
      depth = indents.length;
      const next = text.charCodeAt(i + 1);
      inIndent = (c === DASH || c === QUESTION) && (next === SPACE || next === DASH);
    }
    if (c === OPEN || c === OPEN_MAP) {
      flow++;
    } else if (flow > 0 && (c === CLOSE || c === CLOSE_MAP)) {
      flow--;
    }
    if (flow + depth > MAX_NESTING) {
      return i;
    }
  }
  return undefined;
}
