/** Text of a file → launches with their places. Synchronous and pure; what comes from outside goes through ports. */
import { withDirectives } from './directive';
import type { LaunchEngine } from './engines';
import { FORMS } from './forms';
import type { FormReader, TextForm, YamlForm } from './forms/form';
import type { ReadInput, ReadResult, TextRange } from './launch';
import { type Collected, type Reading, startReading } from './reading';
import { documentRanges, parseYaml } from './yaml/document';

export type { LaunchEngine } from './engines';

export function readLaunches(input: ReadInput, engines: readonly LaunchEngine[]): ReadResult {
  const reading = startReading(input, engines);
  readForms(reading);
  const launches = withDirectives(reading, reading.launches);
  return {
    launches,
    problems: reading.problems,
    needs: { grammars: [...reading.grammars], files: [...reading.files] },
  };
}

const isYaml = (f: FormReader): f is YamlForm => f.kind === 'yaml';
const isText = (f: FormReader): f is TextForm => f.kind === 'text';

function readForms(reading: Reading & Collected): void {
  const { name, form } = reading.input;
  const given = FORMS.find((f) => f.form === form);
  const text = given ? (isText(given) ? given : undefined) : FORMS.filter(isText).find((f) => f.names.test(name));
  if (text) {
    text.read(reading);
    return;
  }
  if (given || /\.(?:ya?ml|json)$/i.test(name)) {
    readYaml(reading, given && isYaml(given) ? given : undefined);
    return;
  }
  const head = reading.text.slice(0, HEAD);
  const recognised = FORMS.filter(isText).find((f) => f.recognises(head, reading));
  if (recognised) {
    recognised.read(reading);
  } else if (!/\.\w+$/.test(name)) {
    readYaml(reading, undefined);
  }
}

/** A file shows its form in its first characters. */
const HEAD = 8192;

function readYaml(reading: Reading & Collected, given: YamlForm | undefined): void {
  const named = FORMS.filter(isYaml).find((f) => f.names?.test(reading.input.name));
  for (const range of documentRanges(reading.text)) {
    const form = given ?? named ?? recogniseYaml(reading, range);
    if (form) {
      readDocument(reading, form, range);
    }
  }
}

function recogniseYaml(reading: Reading, range: TextRange): YamlForm | undefined {
  const keys = topKeys(reading.text.slice(range.start, Math.min(range.end, range.start + HEAD)));
  return FORMS.filter(isYaml).find((f) => f.recognises(keys, reading));
}

/** Keys at the left margin, or of a map in braces (JSON). */
function topKeys(head: string): ReadonlySet<string> {
  const pattern = /^\s*\{/.test(head)
    ? /["']?([A-Za-z_][\w.-]*)["']?\s*:/g
    : /^\uFEFF?(["']?)([A-Za-z_][\w.-]*)\1[ \t]*:(?=\s|$)/gm;
  return new Set([...head.matchAll(pattern)].map((m) => m[2] ?? (m[1] as string)));
}

/** A file that starts no engine is not ours to complain about. */
function readDocument(reading: Reading & Collected, form: YamlForm, range: TextRange): void {
  const doc = parseYaml(reading.text, range);
  const before = reading.launches.length;
  form.read(doc, reading);
  const ours = reading.launches.length > before || reading.input.form !== undefined || mentionsEngine(reading, range);
  if (ours) {
    for (const error of doc.errors) {
      reading.problem(error.message, error.range);
    }
  }
}

function mentionsEngine(reading: Reading, range: TextRange): boolean {
  const text = reading.text.slice(range.start, range.end);
  return reading.engines.some(({ start }) =>
    [
      ...start.commands.map((c) => c.join(' ')),
      ...start.modules,
      start.imageEntry.join(' '),
      ...start.commands.map((c) => c[0] ?? ''),
    ].some((w) => w !== '' && text.includes(w)),
  );
}
