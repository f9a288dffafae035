/** Calls whose result can be known: conversions, the environment, lists of words, `argparse` defaults. */
import type { Node } from 'web-tree-sitter';
import type { Layer } from '../launch';
import { type Mapped, part, rangeOf, trimmed } from '../text/mapped';
import { type Replacement, replaceIn } from '../text/replace';
import { splitWords } from '../words/split';
import { joinedTexts, type Program, variable } from './program-values';
import { asOption, asText, type Given, type Placed, plain, textValue, unknown, unknownIn, type Value } from './values';

export interface Call {
  readonly node: Node;
  readonly fn: Node;
  /** As imported, or a name that this file does not define. */
  readonly path: string;
  readonly args: Given;
  /** Evaluates another expression. */
  place(node: Node): Placed;
}

/** Undefined for a call this does not know. */
export function callValue(p: Program, call: Call): Value | undefined {
  const { path } = call;
  if (path === 'os.environ.get' || path === 'os.getenv') {
    return fromEnvironment(p, call);
  }
  if (path === 'argparse.ArgumentParser' || path.endsWith('.FlexibleArgumentParser')) {
    return { kind: 'parser', defaults: new Map() };
  }
  return FUNCTIONS[path]?.(p, call) ?? method(p, call);
}

type Known = (p: Program, call: Call) => Value | undefined;

const first = ({ args }: Call): Placed | undefined => args.positional[0];

const asNumber: Known = (_p, call) => {
  const value = first(call)?.value;
  const text = value && asText(value);
  if (!value || unknownIn(value) !== undefined || text === undefined) {
    return value;
  }
  const number = Number(text.replaceAll('_', ''));
  return Number.isFinite(number) && text.trim() !== ''
    ? plain(call.path === 'int' ? Math.trunc(number) : number)
    : undefined;
};

/** What a class's field holds unless one is made with another. */
const fieldDefault: Known = (_p, { args }) => {
  const said = args.keywords.find((k) => k.key === 'default') ?? args.positional[0];
  return said?.value ?? unknown('it is given when the program runs');
};

const FUNCTIONS: Readonly<Record<string, Known>> = {
  int: asNumber,
  float: asNumber,
  str: (p, call) => {
    const value = first(call)?.value;
    const text = value && asText(value);
    return value && (unknownIn(value) !== undefined || value.kind === 'text')
      ? value
      : text === undefined
        ? undefined
        : textValue(text, p.script, call.node);
  },
  dict: (_p, { args }) => {
    const inner = args.positional[0]?.value;
    const before = inner?.kind === 'map' ? inner.entries : [];
    const open = args.open ?? (inner?.kind === 'unknown' ? inner.reason : undefined);
    return { kind: 'map', entries: [...before, ...args.keywords], ...(open === undefined ? {} : { open }) };
  },
  list: (_p, call) => first(call)?.value ?? { kind: 'list', items: [] },
  tuple: (_p, call) => first(call)?.value ?? { kind: 'list', items: [] },
  'shlex.split': (_p, call) => wordsIn(first(call)),
  'shlex.quote': (_p, call) => first(call)?.value,
  'shlex.join': (p, call) => joinedItems(p, call.node, first(call)?.value, ' '),
  'os.path.expanduser': (_p, call) => first(call)?.value,
  'dataclasses.field': fieldDefault,
  'pydantic.Field': fieldDefault,
  'modal.parameter': fieldDefault,
  'json.dumps': (p, call) => {
    const read = first(call) && asOption((first(call) as Placed).value);
    return read && 'value' in read
      ? textValue(JSON.stringify(read.value), p.script, call.node)
      : read && unknown(read.unresolved);
  },
  'os.path.join': (p, call) => joinedTexts(p, call.node, call.args.positional, '/'),
  len: (_p, call) => {
    const value = first(call)?.value;
    return value?.kind === 'list' && value.items.every((i) => i.maybe === undefined && i.value.kind !== 'unknown')
      ? plain(value.items.length)
      : undefined;
  },
  min: (_p, call) => chosen(call, Math.min),
  max: (_p, call) => chosen(call, Math.max),
};

function chosen({ args }: Call, choose: (...n: number[]) => number): Value | undefined {
  const numbers = args.positional.map((a) => (a.value.kind === 'plain' ? a.value.value : undefined));
  return numbers.length > 1 && numbers.every((n) => typeof n === 'number') ? plain(choose(...numbers)) : undefined;
}

function fromEnvironment(p: Program, { args }: Call): Value {
  const [name, positional] = args.positional;
  const fallback = positional ?? args.keywords.find((k) => k.key === 'default');
  const isNone = fallback?.value.kind === 'plain' && fallback.value.value === null;
  return variable(p, name && asText(name.value), isNone ? undefined : fallback);
}

function method(p: Program, call: Call): Value | undefined {
  const object = call.fn.type === 'attribute' ? call.fn.childForFieldName('object') : null;
  const name = call.fn.childForFieldName('attribute')?.text ?? '';
  const known = object ? METHODS[name] : undefined;
  return object && known ? known(p, call, call.place(object)) : undefined;
}

type Method = (p: Program, call: Call, object: Placed) => Value | undefined;

const METHODS: Readonly<Record<string, Method>> = {
  join: (p, call, { value: of }) => joinedItems(p, call.node, first(call)?.value, asText(of) ?? ' '),
  split: (_p, call, object) =>
    object.value.kind === 'text' && call.args.positional.length === 0 ? wordsIn(object) : splitAt(call, object),
  format: (_p, call, object) => formatted(call, object),
  strip: (_p, call, { value: of }) =>
    of.kind === 'text' && call.args.positional.length === 0 ? { kind: 'text', text: trimmed(of.text) } : undefined,
  copy: (_p, _call, { value: of }) => of,
  get: (_p, call, { value: of }) => {
    const name = first(call) && asText((first(call) as Placed).value);
    return of.kind === 'map' && of.open === undefined && name !== undefined
      ? (of.entries.findLast((e) => e.key === name)?.value ?? call.args.positional[1]?.value ?? plain(null))
      : undefined;
  },
  add_argument: (_p, call, { value: of }) => {
    addArgument(of, call.args);
    return undefined;
  },
  add_argument_group: (_p, _call, { value: of }) => (of.kind === 'parser' ? of : undefined),
  parse_args: (_p, _call, { value: of }) => (of.kind === 'parser' ? of : undefined),
};

/** `"0,1".split(",")`. */
function splitAt(call: Call, { value, range, layers }: Placed): Value | undefined {
  const by = first(call) && asText((first(call) as Placed).value);
  if (value.kind !== 'text' || unknownIn(value) !== undefined || !by || call.args.positional.length > 1) {
    return undefined;
  }
  let at = 0;
  const items = value.text.text.split(by).map((piece): Placed => {
    const text = part(value.text, at, at + piece.length);
    at += piece.length + by.length;
    return { value: { kind: 'text', text }, range, layers, literal: false };
  });
  return { kind: 'list', items };
}

/** `"--model {} --port {port}".format(m, port=1)`; with a way of writing after a colon it is not followed. */
function formatted(call: Call, { value }: Placed): Value | undefined {
  if (value.kind !== 'text') {
    return undefined;
  }
  let next = 0;
  const text = replaceIn(value.text, /\{\{|\}\}|\{(\w*)([!:][^{}]*)?\}/g, ([whole, name, way]): Replacement => {
    if (name === undefined) {
      return { text: whole[0] as string };
    }
    const { positional, keywords } = call.args;
    const said = /\D/.test(name)
      ? keywords.find((k) => k.key === name)
      : positional[name === '' ? next++ : Number(name)];
    return said && way === undefined
      ? replacementOf(said.value)
      : { unresolved: `${whole} is filled in when the program runs` };
  });
  return { kind: 'text', text: inPieces(text) };
}

/** Braces and per cent signs mean something in it: nothing is written into it. */
const inPieces = (m: Mapped): Mapped => ({ ...m, layers: [...m.layers, { kind: 'pieces', range: m.extent }] });

/** `"--model %s --port %d" % (m, 1)`. */
export function percentFormatted(text: Mapped, value: Value): Value {
  const values = value.kind === 'list' ? value.items.map((i) => i.value) : [value];
  let next = 0;
  const filled = replaceIn(text, /%%|%[sdi]|%\S/g, ([whole]): Replacement => {
    if (whole === '%%') {
      return { text: '%' };
    }
    const said = /^%[sdi]$/.test(whole) ? values[next++] : undefined;
    return said ? replacementOf(said) : { unresolved: `${whole} is filled in when the program runs` };
  });
  return { kind: 'text', text: inPieces(filled) };
}

function replacementOf(value: Value): Replacement {
  const text = asText(value);
  const unresolved = unknownIn(value) ?? (text === undefined ? 'it is made when the program runs' : undefined);
  return unresolved !== undefined
    ? { unresolved }
    : value.kind === 'text'
      ? { mapped: value.text }
      : { text: text ?? '' };
}

/** What the command line may say otherwise: the default counts, as it does for `${1:-x}` in a shell. */
function addArgument(of: Value, args: Given): void {
  const names = args.positional.map((a) => asText(a.value) ?? '');
  const long = names.find((n) => n.startsWith('--')) ?? names[0];
  const value = args.keywords.find((k) => k.key === 'default');
  const dest = args.keywords.find((k) => k.key === 'dest');
  if (of.kind !== 'parser' || long === undefined) {
    return;
  }
  const key = (dest && asText(dest.value)) ?? long.replace(/^-+/, '').replaceAll('-', '_');
  const action = args.keywords.find((k) => k.key === 'action');
  const stores = /^store_(true|false)$/.exec((action && asText(action.value)) ?? '')?.[1];
  if (value) {
    of.defaults.set(key, value);
  } else if (action && stores !== undefined) {
    of.defaults.set(key, { ...action, value: { kind: 'plain', value: stores === 'false', asked: true } });
  } else {
    const value = unknown(`${long} is what the program is called with`);
    of.defaults.set(key, { value, range: { start: 0, end: 0 }, layers: [], literal: false });
  }
}

/** The words of a text, each at its own place: there it is quoted as for a shell. */
function wordsIn(placed: Placed | undefined): Value | undefined {
  if (placed?.value.kind !== 'text') {
    return placed?.value;
  }
  const words = splitWords(placed.value.text);
  return {
    kind: 'list',
    items: words.map((word) => ({
      value: { kind: 'text', text: withQuotes(word) },
      range: word.extent,
      layers: [{ kind: 'pieces', range: word.extent }],
      literal: true,
    })),
  };
}

function withQuotes(word: Mapped): Mapped {
  const bare: Layer = { kind: 'shell-bare', range: rangeOf(word) };
  const known = new Map<string, readonly Layer[]>();
  const outerOf = ({ span, outer = [] }: Mapped['segments'][number]): readonly Layer[] => {
    const quotes: Layer = span ? { kind: span.kind, range: { start: span.start, end: span.end } } : bare;
    const key = `${quotes.range.start} ${outer.map((o) => o.range.start).join(' ')}`;
    const layers = known.get(key) ?? [...outer, quotes];
    known.set(key, layers);
    return layers;
  };
  return { ...word, segments: word.segments.map((s) => ({ ...s, span: undefined, outer: outerOf(s) })) };
}

function joinedItems(p: Program, node: Node, list: Value | undefined, separator: string): Value | undefined {
  return list?.kind === 'list'
    ? joinedTexts(p, node, list.items, separator)
    : list?.kind === 'unknown'
      ? list
      : undefined;
}
