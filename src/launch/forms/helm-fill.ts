/** What Helm fills in: `{{ .Values.x }}` of a chart's template, from the chart's own `values.yaml` where it can be read. */
import { isScalar } from 'yaml';
import type { Reading } from '../reading';
import { type Mapped, refilled } from '../text/mapped';
import { parseYaml, type YamlDocument } from '../yaml/document';
import { get, textAt } from '../yaml/view';

export interface ChartValues {
  /** The text with what the values say; a place in it belongs to the template, and nothing is written there. */
  fill(m: Mapped): Mapped;
  /** Whether what stands under this `{{ if .Values.x }}` is there; undefined where that cannot be told. */
  holds(action: string): boolean | undefined;
}

const known = new WeakMap<Reading, ChartValues | null>();

/** Undefined for a file that is no chart's template, and for a chart whose values are not at hand. */
export function chartValues(doc: YamlDocument, reading: Reading): ChartValues | undefined {
  if (!doc.template) {
    return undefined;
  }
  const made = known.get(reading) ?? readValues(doc, reading) ?? null;
  known.set(reading, made);
  return made ?? undefined;
}

function readValues(doc: YamlDocument, reading: Reading): ChartValues | undefined {
  const inside = /(?:^|[\\/])templates[\\/]((?:[^\\/]+[\\/]){0,3})[^\\/]+$/.exec(reading.input.name)?.[1];
  const up = inside === undefined ? undefined : '../'.repeat(inside.split(/[\\/]/).length);
  const text = up === undefined || !doc.text.includes('.Values.') ? undefined : reading.file(`${up}values.yaml`);
  const values = typeof text === 'string' ? parseYaml(text, { start: 0, end: text.length }) : undefined;
  if (!values?.root) {
    return undefined;
  }
  const lookup = (path: string): string | undefined => {
    const node = get(values, values.root, ...path.split('.'));
    return isScalar(node) ? (textAt(values, node) ?? '') : undefined;
  };
  return {
    fill: (m) => refilled(m, ({ start, end }) => printed(doc.text.slice(start, end), lookup), true),
    holds: (action) => {
      const path = /^\{\{-?\s*if\s+\$?\.Values\.([\w.]+)\s*-?\}\}$/.exec(action)?.[1];
      const value = path === undefined ? undefined : lookup(path);
      return value === undefined ? undefined : !isEmpty(value);
    },
  };
}

/** As Go's templates take it. */
const isEmpty = (value: string): boolean => /^(?:|0|false|null|~)$/.test(value);

const VALUE = String.raw`\$?\.Values\.([\w.]+)`;
const LITERAL = String.raw`("[^"]*"|-?\d+(?:\.\d+)?)`;
const PLAIN = new RegExp(String.raw`^(?:${VALUE}|default\s+${LITERAL}\s+${VALUE})$`);
const DEFAULT = new RegExp(`^default\\s+${LITERAL}$`);

/** `.Values.x`, through filters that leave the value as it is, and `default`. */
function printed(action: string, lookup: (path: string) => string | undefined): string | undefined {
  const inner = /^\{\{-?\s*([\s\S]*?)\s*-?\}\}$/.exec(action)?.[1] ?? '';
  const [first = '', ...filters] = inner.split('|').map((f) => f.trim());
  const [, direct, before, behind] = PLAIN.exec(first) ?? [];
  const path = direct ?? behind;
  if (path === undefined) {
    return undefined;
  }
  let value = lookup(path);
  if (before !== undefined && (value === undefined || isEmpty(value))) {
    value = before.replaceAll('"', '');
  }
  for (const filter of filters) {
    const isDefault = filter.startsWith('default ');
    if (isDefault && (value === undefined || isEmpty(value))) {
      value = DEFAULT.exec(filter)?.[1]?.replaceAll('"', '');
    } else if (!isDefault && !/^(?:s?quote|int64|int|toString|trim)$/.test(filter)) {
      return undefined;
    }
  }
  return value;
}
