/** Text in double quotes with the escapes of JSON, each character at its place. */
import type { Layer } from '../launch';
import { addPart, addUnit, builder, finish, type Mapped, rangeOf } from './mapped';

const ESCAPES = /\\(?:u[0-9a-fA-F]{4}|[\s\S])/g;

const NAMED: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' };

const decoded = (written: string): string =>
  written[1] === 'u'
    ? String.fromCharCode(Number.parseInt(written.slice(2), 16))
    : (NAMED[written[1] ?? ''] ?? written.slice(1));

/** The string whose content stands between two decoded offsets of `m`; its quotes stand around it. */
export function jsonString(m: Mapped, from: number, to: number): Mapped {
  const b = builder();
  const text = m.text.slice(from, to);
  let at = 0;
  for (const found of text.matchAll(ESCAPES)) {
    addPart(b, m, from + at, from + found.index);
    at = found.index + found[0].length;
    addUnit(b, decoded(found[0]), rangeOf(m, from + found.index, from + at));
  }
  addPart(b, m, from + at, to);
  const extent = rangeOf(m, Math.max(0, from - 1), Math.min(to + 1, m.text.length));
  if (text === '') {
    addUnit(b, '', { start: extent.start + 1, end: extent.start + 1 });
  }
  const layer: Layer = { kind: 'yaml-double', range: extent };
  return finish(b, [...m.layers, layer], extent);
}
