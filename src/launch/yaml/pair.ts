/** A key of a YAML map and its value as an option. */
import { isScalar } from 'yaml';
import type { Pair } from '../setting';
import { rangeOf, unit, unresolvedIn } from '../text/mapped';
import type { YamlDocument } from './document';
import { plainValue, pythonText } from './python';
import { scalarText } from './scalar';
import type { Entry } from './view';

/** Undefined for a value that is no scalar, or is none at all. */
export function pairOf(doc: YamlDocument, { keyNode, value }: Entry, flag: string): Pair | undefined {
  if (!isScalar(value) || (value.value === '' && value.type === 'PLAIN')) {
    return undefined;
  }
  const text = scalarText(doc, value, 'yaml-typed');
  const typed = value.type === 'PLAIN' ? plainValue(text.text) : text.text;
  if (typed === null) {
    return undefined;
  }
  const keyRange = rangeOf(scalarText(doc, keyNode));
  // What YAML makes of it, where that is another text: `010`, `yes`.
  const same = typeof typed === 'string' || pythonText(typed) === text.text || unresolvedIn(text) !== undefined;
  const read = same ? text : { ...unit(pythonText(typed), rangeOf(text)), layers: text.layers, extent: text.extent };
  return { keyRange, flag, value: read };
}
