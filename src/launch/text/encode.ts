/** A value written so that it reads back as itself, through every way of writing that stands around it. */
import type { Layer, TextRange } from '../launch';
import { plainValue, pythonText } from '../yaml/python';

export interface Encoded {
  /** What the text replaces: more than the value where quotes must be added. */
  readonly range: TextRange;
  readonly text: string;
}

/** `layers` are outermost first, so the innermost is applied first. Undefined when a layer cannot hold the value. */
export function encode(source: string, range: TextRange, layers: readonly Layer[], value: string): Encoded | undefined {
  if (/\{[{%]/.test(value) && layers.some((l) => l.kind.startsWith('yaml'))) {
    // It would be read as a template.
    return undefined;
  }
  let at: Encoded | undefined = { range, text: value };
  for (const layer of [...layers].reverse()) {
    at = at && ENCODERS[layer.kind](at, layer, source);
  }
  return at;
}

type Encoder = (at: Encoded, layer: Layer, source: string) => Encoded | undefined;

const mapText =
  (map: (text: string) => string | undefined): Encoder =>
  (at) => {
    const text = map(at.text);
    return text === undefined ? undefined : { ...at, text };
  };

const isWhole = (at: Encoded, layer: Layer): boolean =>
  at.range.start === layer.range.start && at.range.end === layer.range.end;

/** Neither the start of another kind of node, nor a comment, nor a key; white space at the ends would be lost. */
const PLAIN =
  /^(?![-?:](?:\s|$)|[\s,[\]{}#&*!|>'"%@`])(?:(?!:(?:\s|$)|\s#)[\x20-\x7e\u00a0-\ud7ff\ue000-\uffef\ud800-\udfff])*(?<!\s)$/;

const quoted = (text: string): string => `"${doubleEscaped(text)}"`;

const doubleEscaped = (text: string): string =>
  text
    .replace(/["\\]/g, (c) => `\\${c}`)
    .replace(/[\p{Cc}\u2028\u2029\ufeff]/gu, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);

const plain: Encoder = (at, layer) => {
  const whole = isWhole(at, layer) || layer.range.start === layer.range.end;
  // In a flow list a comma or bracket ends the text; whether it is one is not known here.
  const safe = whole
    ? PLAIN.test(at.text) && !/[,[\]{}]|^(?:~|null)$/i.test(at.text)
    : /^[\w./:@%+=~^-]*$/.test(at.text) && !/:$/.test(at.text);
  return safe ? at : whole ? { ...at, text: quoted(at.text) } : undefined;
};

/** Readers of such files differ in what a backslash does: a value that would need one is not written. */
const envValue: Encoder = (at, layer, source) => {
  const quote = source[layer.range.start];
  if (quote === "'" || quote === '"') {
    return (quote === "'" ? /['\p{Cc}]/u : /["\\$`\p{Cc}]/u).test(at.text) ? undefined : at;
  }
  if (/^[\w@%+=:,./-]*$/.test(at.text)) {
    return at;
  }
  const whole = isWhole(at, layer) || layer.range.start === layer.range.end;
  return whole && !/['\p{Cc}]/u.test(at.text) ? { ...at, text: `'${at.text}'` } : undefined;
};

/** The literal's own prefix and quotes decide; a raw string has no escapes. In a notebook they are escaped themselves. */
const pythonString: Encoder = (at, layer, source) => {
  const head = source.slice(layer.range.start, layer.range.end);
  const [, prefix = '', quote = '"'] = /^([A-Za-z]*)\\?("|')/.exec(head) ?? [];
  if (/r/i.test(prefix)) {
    return /["'\\\p{Cc}{}]/u.test(at.text) ? undefined : at;
  }
  const escaped = doubleEscaped(at.text).replaceAll('\\"', quote === '"' ? '\\"' : '"');
  const text = quote === "'" ? escaped.replaceAll("'", "\\'") : escaped;
  return { ...at, text: /f/i.test(prefix) ? text.replace(/[{}]/g, (c) => c + c) : text };
};

const pythonLiteral = (text: string): string => {
  if (/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/.test(text)) {
    return text;
  }
  return PYTHON_WORDS[text] ?? (/^[[{]/.test(text) ? pythonJson(text) : undefined) ?? quoted(text);
};

const PYTHON_WORDS: Readonly<Record<string, string>> = { true: 'True', false: 'False', None: 'None', null: 'None' };

/** JSON is Python but for three words outside of its strings. */
function pythonJson(text: string): string | undefined {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  return text.replace(/"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g, (w) => PYTHON_WORDS[w] ?? w);
}

/** Any other spelling may come back as another text. */
const PLAIN_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;

const batchQuoted = (text: string): string | undefined => (/["%!\\\p{Cc}]/u.test(text) ? undefined : `"${text}"`);

const ENCODERS: Readonly<Record<Layer['kind'], Encoder>> = {
  'yaml-plain': plain,
  'yaml-typed': (at, layer, source) => {
    const value = plainValue(at.text);
    const same =
      typeof value === 'boolean' ||
      pythonText(value) === at.text ||
      (typeof value === 'number' && value === Number(at.text) && PLAIN_NUMBER.test(at.text));
    return same ? plain(at, layer, source) : { ...at, text: quoted(at.text) };
  },
  'yaml-single': mapText((text) => (/\p{Cc}/u.test(text) ? undefined : text.replaceAll("'", "''"))),
  'yaml-double': mapText(doubleEscaped),
  'yaml-block': mapText((text) => (/^[ \t]|\p{Cc}/u.test(text) ? undefined : text)),
  compose: mapText((text) => text.replaceAll('$', '$$$$')),
  kubernetes: mapText((text) => text.replaceAll('$(', '$$$$(')),
  'shell-bare': mapText((text) =>
    /^[\w@%+:,./-][\w@%+=:,./-]*$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`,
  ),
  'shell-single': mapText((text) => text.replaceAll("'", `'\\''`)),
  'shell-split': mapText((text) => (/^[^\s*?[\]]+$/.test(text) ? text : undefined)),
  'shell-heredoc': mapText((text) => (/[$`\\]/.test(text) ? undefined : text)),
  json: mapText((text) => (/^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?|true|false)$/.test(text) ? text : JSON.stringify(text))),
  pbtxt: mapText((text) => (/["\\\p{Cc}]/u.test(text) || text === '' ? undefined : text)),
  'env-value': envValue,
  systemd: mapText((text) => (/[\\$%\p{Cc}]/u.test(text) ? undefined : text)),
  // A comment begins at white space, and a quote at either end would be taken off.
  ini: mapText((text) =>
    /^(?!["'\s;#])[^\p{Cc}]*(?<![\s"'\\])$/u.test(text) && !/\s[;#]/.test(text) ? text : undefined,
  ),
  'python-string': pythonString,
  'python-word': mapText(quoted),
  'python-value': mapText(pythonLiteral),
  pieces: () => undefined,
  'ps-bare': mapText((text) => (/^[\w:./][\w+:./=%-]*$/.test(text) ? text : `'${text.replaceAll("'", "''")}'`)),
  'ps-single': mapText((text) => text.replaceAll("'", "''")),
  'ps-double': mapText((text) => text.replace(/["`$]/g, (c) => `\`${c}`)),
  // No way of writing `%` and `!` holds in every place.
  'batch-bare': mapText((text) => (/^[\w+:./\\-][\w+:./=,@~\\-]*$/.test(text) ? text : batchQuoted(text))),
  'batch-quoted': mapText((text) => (/["%!\\\p{Cc}]/u.test(text) ? undefined : text)),
  hcl: mapText((text) => text.replace(/[$%]\{/g, (c) => `${c[0]}${c}`)),
  make: mapText((text) => (/^\s|[#\p{Cc}]/u.test(text) ? undefined : text.replaceAll('$', '$$$$'))),
  // It may stand in quotes where it is used, and a comma or a bracket would end it.
  'make-argument': mapText((text) => (/^[\w@%+=:./-]+$/.test(text) ? text : undefined)),
  'shell-double': mapText((text) => text.replace(/["\\$`]/g, (c) => `\\${c}`)),
};
