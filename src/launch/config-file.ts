/** The options an engine reads from a YAML file (`--config FILE`): PyYAML's types, one key an option. */
import { isMap, isScalar, isSeq, type Node } from 'yaml';
import type { OptionReading, OptionValue } from '../core/engines/option';
import { findOption, hasSection } from '../core/engines/option-find';
import { readOptionValue } from '../core/engines/option-read';
import type { LaunchEngine } from './engines';
import type { Launch, LaunchOption } from './launch';
import type { Lines } from './lines';
import { rangeOf, unit, unresolvedIn } from './text/mapped';
import { unknownIn } from './text/placeholder';
import { readDotted } from './words/arguments';
import { expandCompose, type Lookup } from './words/expand';
import type { YamlDocument } from './yaml/document';
import { plainValue, pythonText, pythonValue, scalarPythonText } from './yaml/python';
import { scalarText } from './yaml/scalar';
import { type Entry, entries, follow, nodeRange, trimmedEnd } from './yaml/view';

export interface ConfigOptions {
  readonly options: readonly LaunchOption[];
  readonly model?: Launch['model'];
}

/** `lookup` fills in variables where a shell writes the file. */
export function readConfig(doc: YamlDocument, engine: LaunchEngine, lines: Lines, lookup?: Lookup): ConfigOptions {
  const options = readSettings({ doc, engine, lines, lookup }, doc.root);
  const model = options.findLast((o) => o.name === engine.start.modelOption);
  return model?.valueRange && typeof model.value === 'string'
    ? { options, model: { text: model.value, range: model.valueRange } }
    : { options };
}

export interface SettingsContext {
  readonly doc: YamlDocument;
  readonly engine: LaunchEngine;
  readonly lines: Lines;
  readonly lookup?: Lookup | undefined;
  /** The flag a key stands for, where it is not spelled as one; undefined for a key of the form's own. `false` is then a value. */
  readonly flag?: (key: string) => string | undefined;
}

type Context = SettingsContext;

/** Options that are keys of a map. */
export const readSettings = (c: SettingsContext, map: Node | null): readonly LaunchOption[] =>
  sectionsLast(c, entries(c.doc, map)).flatMap((e) =>
    c.flag && (c.flag(e.key) === undefined || isNothing(e)) ? [] : readSection(c, e),
  );

/** What a section says of an option wins over a key of its own for the same. */
const sectionsLast = (c: Context, all: readonly Entry[]): readonly Entry[] => {
  const inSection = (e: Entry) => isMap(e.value) && hasSection(c.engine.options, e.key);
  return [...all.filter((e) => !inSection(e)), ...all.filter(inSection)];
};

/** Where keys are no flags, an empty value is a default left alone. */
const isNothing = ({ value }: Entry): boolean =>
  !value || (isScalar(value) && value.type === 'PLAIN' && plainValue(String(value.value ?? '')) === null);

/** `maxModelLen` → `max-model-len`, where that is an option of the engine. */
export function camelFlag(engine: LaunchEngine, key: string): string | undefined {
  const parted = key.replace(/([a-z0-9])([A-Z])/g, '$1-$2').replace(/([A-Z])([A-Z][a-z])/g, '$1-$2');
  const flag = parted.toLowerCase();
  const found = findOption(engine.options, `--${flag}`);
  return found && !('ambiguous' in found) && !found.abbreviated ? flag : undefined;
}

/** A section's keys are options by themselves where the table has them dotted (`kv_cache_config.dtype`). */
function readSection(c: Context, e: Entry): readonly LaunchOption[] {
  return isMap(e.value) && hasSection(c.engine.options, e.key)
    ? entries(c.doc, e.value).flatMap((inner) => readEntry(c, inner, `${e.key}.`))
    : readEntry(c, e, '');
}

/** Nothing for a `false` that has no `--no-` form: the engine drops it silently. */
function readEntry(c: Context, e: Entry, section: string): readonly LaunchOption[] {
  const { doc, engine, lines, lookup } = c;
  const key = scalarText(doc, e.keyNode);
  const nameRange = rangeOf(key);
  const written = `${section}${c.flag?.(key.text) ?? key.text}`;
  const found = findOption(engine.options, written.startsWith('-') ? written : `--${written}`);
  const line = lines.line(nameRange.start);
  const base = { name: written.replaceAll('_', '-'), range: nameRange, nameRange, origin: 'file' as const, line };
  const read = lookup ? filledIn(writtenIn(doc, e, lookup), lookup) : writtenIn(doc, e, undefined);
  const placed = { ...base, ...read.place };
  const { unresolved } = read;
  if (found && 'ambiguous' in found) {
    return [{ ...placed, error: `${key.text} is ambiguous: it could be ${found.ambiguous.join(', ')}` }];
  }
  if (!found) {
    return [{ ...placed, ...(unresolved === undefined ? { value: read.value } : { unresolved }) }];
  }
  const name = found.path ? `${found.spec.name}.${found.path.join('.')}` : found.spec.name;
  const known = { ...placed, name, spec: found.spec };
  if (unresolved !== undefined) {
    return [{ ...known, unresolved }];
  }
  if (found.path) {
    return [{ ...known, ...(typeof read.value === 'boolean' ? { value: read.value } : readDotted(read.text)) }];
  }
  if (typeof read.value === 'boolean') {
    return c.flag
      ? [{ ...known, ...keyedBoolean(read.value, found.spec, found.negated) }]
      : readBoolean(read.value, found.spec.type === 'flag', found.negated, known);
  }
  return [{ ...known, ...reading(read, found.spec, name) }];
}

/** With variables filled in, a plain value has the type of what it then says. */
function filledIn(written: Written, lookup: Lookup): Written {
  const { valueRange, layers = [] } = written.place;
  if (!valueRange) {
    return written;
  }
  const outer = { kind: 'shell-heredoc' as const, range: valueRange };
  const place = { ...written.place, layers: [outer, ...layers] };
  if (typeof written.value !== 'string' || !written.value.includes('$')) {
    return { ...written, place };
  }
  const filled = expandCompose(unit(written.value, valueRange), lookup);
  const unresolved = unresolvedIn(filled);
  const value = layers[0]?.kind === 'yaml-typed' ? plainValue(filled.text) : filled.text;
  return unresolved === undefined
    ? { place, value, text: pythonText(value) }
    : { place, value, text: written.text, unresolved };
}

type Known = Omit<LaunchOption, 'value' | 'error'> & { readonly raw: string };

/** Where keys are no flags, a flag is on or off, and another option takes the word. */
const keyedBoolean = (value: boolean, spec: NonNullable<LaunchOption['spec']>, negated: boolean): OptionReading =>
  spec.type === 'flag' ? { value: value !== negated } : readOptionValue(spec, String(value));

/** `true` is the bare flag, `false` its `--no-` form where one exists. */
function readBoolean(value: boolean, flag: boolean, negated: boolean, known: Known): readonly LaunchOption[] {
  if (flag) {
    return value || !negated ? [{ ...known, value: value !== negated }] : [];
  }
  return value ? [{ ...known, error: `${known.name} expects a value` }] : [];
}

function reading(written: Written, spec: NonNullable<LaunchOption['spec']>, name: string): OptionReading {
  if (spec.type === 'flag' && !spec.words?.includes(written.text)) {
    return { error: `${name} is a flag: true or false, not ${written.text}` };
  }
  if (spec.type === 'list' && spec.read === undefined && Array.isArray(written.value)) {
    return { value: written.value.map((v) => pythonText(v)) };
  }
  return readOptionValue(spec, written.text);
}

interface Written {
  readonly value: OptionValue;
  /** What the engine puts on its command line. */
  readonly text: string;
  readonly unresolved?: string;
  readonly place: Pick<LaunchOption, 'raw' | 'range' | 'valueRange' | 'layers'>;
}

function writtenIn(doc: YamlDocument, e: Entry, lookup: Lookup | undefined): Written {
  const nameRange = rangeOf(scalarText(doc, e.keyNode));
  const node = e.value;
  const value = toValue(doc, node, { depth: 0, left: MAX_NODES });
  const text = pythonWords(node, value);
  if (!node || (isScalar(node) && node.value === '' && node.type === 'PLAIN')) {
    return { value, text, place: { raw: '', range: nameRange } };
  }
  const scalar = isScalar(node) ? scalarText(doc, node, 'yaml-typed') : undefined;
  const unresolved = scalar && (lookup ? unresolvedIn(scalar) : unknownIn(scalar));
  const valueRange = scalar ? rangeOf(scalar) : nodeRange(doc, node);
  const end = { ...valueRange, end: trimmedEnd(doc.text, valueRange.start, valueRange.end) };
  const range = end.start >= nameRange.start ? { start: nameRange.start, end: end.end } : nameRange;
  const raw = doc.text.slice(end.start, end.end);
  const place = { raw, range, valueRange: end, ...(scalar ? { layers: scalar.layers } : {}) };
  return { value, text, ...(unresolved === undefined ? {} : { unresolved }), place };
}

function pythonWords(node: Node | null, value: OptionValue): string {
  if (isScalar(node)) {
    return scalarPythonText(node);
  }
  return isSeq(node) && Array.isArray(value) ? value.map((v) => pythonText(v)).join(' ') : pythonText(value);
}

/** Deeper, and larger, than any option's value: aliases can stand for more than any memory holds. */
const MAX_DEPTH = 20;
const MAX_NODES = 10_000;

interface Bounds {
  readonly depth: number;
  /** Nodes that may still be read, over the whole value. */
  left: number;
}

function toValue(doc: YamlDocument, node: Node | null, bounds: Bounds): OptionValue {
  const at = follow(doc, node);
  bounds.left -= 1;
  if (bounds.depth > MAX_DEPTH || bounds.left < 0 || at === null) {
    return null;
  }
  const inner = { depth: bounds.depth + 1, left: bounds.left };
  const read = (child: Node | null): OptionValue => (inner.left <= 0 ? null : toValue(doc, child, inner));
  const value = isSeq(at)
    ? at.items.slice(0, inner.left).map((i) => read(i as Node))
    : isMap(at)
      ? Object.fromEntries(entries(doc, at).map((e) => [e.key, read(e.value)]))
      : isScalar(at)
        ? pythonValue(at)
        : null;
  bounds.left = inner.left;
  return value;
}
