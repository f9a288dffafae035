/** Adding an item to a list of words, in the manner of the items that stand there. */
import { isMap, isSeq, type Node, type YAMLMap, type YAMLSeq } from 'yaml';
import type { Insertion, LayerKind, Spelling, TextRange } from '../launch';
import type { YamlDocument } from './document';
import { conditionAt } from './template';
import { nodeRange } from './view';

/** `outer` = the expansion that the list's texts go through. */
export function listInsertion(doc: YamlDocument, list: Node | null, outer: LayerKind): Insertion | undefined {
  if (!isSeq(list) || list.items.length === 0) {
    return undefined;
  }
  const whole = nodeRange(doc, list);
  // Not where a template would have it under a condition.
  const sure = (list.items as Node[]).findLast(
    (i) => !doc.template || !conditionAt(doc.template, whole.start, nodeRange(doc, i).start),
  );
  if (!sure) {
    return undefined;
  }
  const last = nodeRange(doc, sure);
  const written = doc.text.slice(whole.start, last.end);
  const equals =
    (written.match(/--[\w.-]+=/g)?.length ?? 0) * 2 > (written.match(/(?:^|[\s"'])--?[a-zA-Z]/g)?.length ?? 0);
  return list.flow ? flowInsertion(last.end, equals, outer) : blockInsertion(doc, last.start, last.end, equals, outer);
}

function flowInsertion(at: number, equals: boolean, outer: LayerKind): Insertion {
  return { at, text: equals ? ', "--{name}={value}"' : ', "--{name}", "{value}"', layers: layersAt(at, outer) };
}

function layersAt(at: number, outer: LayerKind): NonNullable<Insertion['layers']> {
  const range = { start: at, end: at };
  return [
    { kind: 'yaml-double', range },
    { kind: outer, range },
  ];
}

function blockInsertion(
  doc: YamlDocument,
  start: number,
  end: number,
  equals: boolean,
  outer: LayerKind,
): Insertion | undefined {
  const dash = dashBefore(doc.text, start);
  if (dash === undefined) {
    return undefined;
  }
  const at = endOfItem(doc.text, end);
  const lead = `${eolOf(doc.text)}${indentOf(doc.text, dash)}- `;
  const quote = doc.text[start] === "'" ? '"' : doc.text[start] === '"' ? '"' : '';
  // The value is the end of a longer text: quotes of its own would be part of it.
  const partial = { start: at, end: at + 1 };
  const text = equals ? `${lead}${quote}--{name}={value}${quote}` : `${lead}--{name}${lead}"{value}"`;
  const layers = layersAt(at, outer);
  return {
    at,
    text,
    layers: equals && quote === '' ? [{ kind: 'yaml-plain', range: partial }, ...layers.slice(1)] : layers,
  };
}

/** The line break this file uses. */
export function eolOf(text: string): string {
  const at = text.indexOf('\n');
  return at > 0 && text[at - 1] === '\r' ? '\r\n' : '\n';
}

/** The `-` an item hangs on, over an anchor or a tag. */
function dashBefore(text: string, start: number): number | undefined {
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  const before = /^([ \t]*(?:- +)*)-[ \t]+(?:[&!]\S*[ \t]+)*$/.exec(text.slice(lineStart, start));
  return before ? lineStart + (before[1] as string).length : undefined;
}

/** As much white space as stands before the dash, whatever else is on its line. */
function indentOf(text: string, dash: number): string {
  const lineStart = text.lastIndexOf('\n', dash - 1) + 1;
  return text.slice(lineStart, dash).replace(/[^\t]/g, ' ');
}

/** After the item's trailing comment, if it has one. */
export function endOfItem(text: string, end: number): number {
  const line = text.indexOf('\n', end);
  const rest = text.slice(end, line === -1 ? text.length : line);
  return /^[ \t\r]*(?:[ \t]#.*)?$/.test(rest) ? end + rest.trimEnd().length : end;
}

/** A list of arguments of its own, after the line of what says which engine runs. */
export function argsInsertion(
  doc: YamlDocument,
  map: YAMLMap,
  key: string,
  beside: TextRange,
  outer: LayerKind,
): Insertion | undefined {
  const indent = map.flow ? undefined : keyIndent(doc, map, beside.start);
  if (indent === undefined) {
    return undefined;
  }
  const at = endOfItem(doc.text, beside.end);
  return { at, text: `${eolOf(doc.text)}${indent}${key}: ["--{name}={value}"]`, layers: layersAt(at, outer) };
}

/** White space before the map's keys; undefined where the place is in none of its own lines. */
function keyIndent(doc: YamlDocument, map: YAMLMap, within: number): string | undefined {
  const holds = map.items.some((pair) => {
    const value = pair.value as Node | null;
    const range = value?.range ? nodeRange(doc, value) : undefined;
    return range !== undefined && range.start <= within && within <= range.end;
  });
  const first = map.items[0]?.key as Node | undefined;
  return holds && first?.range ? columnOf(doc.text, first.range[0] + doc.base) : undefined;
}

function columnOf(text: string, at: number): string | undefined {
  const before = text.slice(text.lastIndexOf('\n', at - 1) + 1, at).replace('\uFEFF', '');
  return /^[ ]*(?:- +)*$/.test(before) ? before.replaceAll('-', ' ') : undefined;
}

/** Another key of a map of options, in the manner of its keys. */
export function keyInsertion(doc: YamlDocument, map: Node | null, spelling?: Spelling): Insertion | undefined {
  const first = isMap(map) ? (map.items[0]?.key as Node | undefined) : undefined;
  if (!isMap(map) || !first?.range) {
    return undefined;
  }
  const end = nodeRange(doc, map).end;
  const spelled = spelling ? { spelling } : {};
  if (map.flow) {
    const at = end - 1;
    const layers = [{ kind: 'yaml-double' as const, range: { start: at, end: at } }];
    return doc.text[at] === '}' ? { at, text: ', {name}: "{value}"', layers, ...spelled } : undefined;
  }
  const indent = columnOf(doc.text, first.range[0] + doc.base);
  const at = endOfItem(doc.text, end);
  const layers = [{ kind: 'yaml-typed' as const, range: { start: at, end: at } }];
  return indent === undefined
    ? undefined
    : { at, text: `${eolOf(doc.text)}${indent}{name}: {value}`, layers, ...spelled };
}

/** Another `- X=value`, or another key where variables are a map: compose's ways. */
export function variableInsertionIn(doc: YamlDocument, environment: Node | null): Insertion | undefined {
  if (!isSeq(environment)) {
    return variableItemInsertion(doc, environment, 'compose');
  }
  const made = environment.flow ? undefined : itemPlace(doc, environment);
  return made && { at: made.at, text: `${made.lead}- "{name}={value}"`, layers: layersAt(made.at, 'compose') };
}

function itemPlace(doc: YamlDocument, list: YAMLSeq): { readonly at: number; readonly lead: string } | undefined {
  const item = list.items.at(-1) as Node | undefined;
  const last = item && nodeRange(doc, item);
  const dash = last && dashBefore(doc.text, last.start);
  return last && dash !== undefined
    ? { at: endOfItem(doc.text, last.end), lead: `${eolOf(doc.text)}${indentOf(doc.text, dash)}` }
    : undefined;
}

/** Another `- name: X` with its `value:`, or another key where variables are a map. */
export function variableItemInsertion(
  doc: YamlDocument,
  env: Node | null,
  outer: LayerKind = 'kubernetes',
): Insertion | undefined {
  if (isMap(env)) {
    const made = env.flow ? undefined : keyInsertion(doc, env);
    return made && { ...made, text: made.text.replace('{value}', '"{value}"'), layers: layersAt(made.at, outer) };
  }
  const made = isSeq(env) && !env.flow ? itemPlace(doc, env) : undefined;
  return (
    made && {
      at: made.at,
      text: `${made.lead}- name: {name}${made.lead}  value: "{value}"`,
      layers: layersAt(made.at, outer),
    }
  );
}
