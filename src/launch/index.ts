/** Text of a file → launches with their places. Synchronous and pure; what comes from outside goes through ports. */
import { ENGINES } from '../core/engines';
import { serversOf } from './clients';
import { withDirectives } from './directive';
import type { LaunchEngine } from './engines';
import { FORMS } from './forms';
import { baseName, type TextForm, withoutTemplateEnding, type YamlForm } from './forms/form';
import type { Launch, ReadInput, ReadResult, TextRange } from './launch';
import { remembered } from './memory';
import { mentionsEngine } from './mentions';
import { type Collected, type ReadFenced, type Reading, startReading } from './reading';
import { readScript } from './shell/script';
import { atOnce, type Steps } from './steps';
import { type Mapped, plainText } from './text/mapped';
import type { Surroundings } from './words/start';
import { contentRange, documentRanges, parseYaml, type YamlDocument } from './yaml/document';

export type { LaunchEngine } from './engines';

export const readLaunches = (input: ReadInput, engines: readonly LaunchEngine[] = ENGINES): ReadResult =>
  atOnce(readSteps(input, engines));

/** The same in steps: of a manifest each document is parsed in one and read in another. */
export const readSteps = (input: ReadInput, engines: readonly LaunchEngine[] = ENGINES): Steps<ReadResult> =>
  remembered(input, engines, (asked) => readAll(asked, engines));

function* readAll(input: ReadInput, engines: readonly LaunchEngine[]): Steps<ReadResult> {
  const reading = startReading(input, engines, readEmbedded, readFenced);
  yield* readForms(reading);
  const launches = withDirectives(reading, serversOf(inOrder(reading.launches)));
  return {
    launches,
    problems: reading.problems,
    needs: { grammars: [...reading.grammars], files: [...reading.files] },
  };
}

/** A launch in a part of a file is the file's: its form, and the part's title unless it has one of its own. */
const readFenced: ReadFenced = (reading, language, part, form, title) => {
  const whole = baseName(reading.input.name);
  const found = (launch: Launch) =>
    reading.found({ ...launch, form, title: launch.title === whole ? title : launch.title });
  const { form: _, ...input } = reading.input;
  const inner: Reading = { ...reading, found, input };
  if (/^(?:ya?ml|json)$/.test(language)) {
    fencedYaml(inner, part.extent);
  } else {
    TEXT_FORMS.find((f) => f.fences?.includes(language))?.read(inner, part);
  }
};

function fencedYaml(reading: Reading, part: TextRange): void {
  const shifted = documentRanges(reading.text.slice(part.start, part.end)).map(({ start, end }) => ({
    start: part.start + start,
    end: part.start + end,
  }));
  const known = shifted.flatMap((range) => {
    const form = recogniseYaml(reading, range);
    return form ? [{ form, doc: parseYaml(reading.text, range) }] : [];
  });
  for (const { form, doc } of known) {
    form.read(
      doc,
      reading,
      known.map((k) => k.doc),
    );
  }
}

/** As they stand in the text; a function's body is read when it is called. */
const inOrder = (launches: readonly Launch[]): readonly Launch[] =>
  [...launches].sort((a, b) => a.head.start - b.head.start);

const TEXT_FORMS = FORMS.filter((f) => f.kind === 'text');
const YAML_FORMS = FORMS.filter((f) => f.kind === 'yaml');

function* readForms(reading: Reading & Collected): Steps<void> {
  const { form } = reading.input;
  const name = withoutTemplateEnding(reading.input.name);
  const given = form && FORMS.find((f) => f.form === form);
  const text = given ? (given.kind === 'text' ? given : undefined) : TEXT_FORMS.find((f) => f.names.test(name));
  if (text) {
    readText(reading, text);
    return;
  }
  if (given || /\.(?:ya?ml|json)$/i.test(name)) {
    yield* readYaml(reading, given?.kind === 'yaml' ? given : undefined);
    return;
  }
  const head = reading.text.slice(0, HEAD);
  const recognised = TEXT_FORMS.find((f) => f.recognises(head, reading));
  if (recognised) {
    readText(reading, recognised);
  } else if (!/\.\w+$/.test(name)) {
    yield* readUnnamed(reading);
  }
}

/** A text of commands or settings is not longer, and a manifest of many documents is read as far as this. */
const LONGEST_TEXT = 2 * 1024 * 1024;
const LONGEST_YAML = 4 * 1024 * 1024;

function readText(reading: Reading & Collected, form: TextForm): void {
  const { text } = reading;
  if (text.length <= LONGEST_TEXT) {
    form.read(reading, plainText(text, 0, text.length));
  } else if (reading.engines.some((e) => e.start.names.some((n) => text.includes(n)))) {
    reading.problem('This file is over 2 MB and was not read', { start: 0, end: 0 });
  }
}

/** More objects than this no manifest has that people write. */
const MOST_DOCUMENTS = 2_000;

/** Whole documents only, as many as are read; `cut` is where the first one stands that is not. */
function documentsOf(text: string): { readonly ranges: readonly TextRange[]; readonly cut?: number } {
  const before = text.length > LONGEST_YAML ? text.lastIndexOf('\n---', LONGEST_YAML) : -1;
  const end = before > 0 || text.length <= LONGEST_YAML ? before : text.indexOf('\n---', LONGEST_YAML);
  const ranges = documentRanges(end < 0 ? text : text.slice(0, end + 1));
  const cut = ranges[MOST_DOCUMENTS]?.start ?? (end < 0 ? undefined : end + 1);
  return { ranges: ranges.slice(0, MOST_DOCUMENTS), ...(cut === undefined ? {} : { cut }) };
}

/** Standard input, or a file whose name says nothing: YAML when its keys say so, else commands. */
function* readUnnamed(reading: Reading & Collected): Steps<void> {
  const isKnown = documentRanges(reading.text).some((r) => recogniseYaml(reading, r) !== undefined);
  if (isKnown) {
    yield* readYaml(reading, undefined);
  } else {
    const shell = TEXT_FORMS.find((f) => f.form === 'shell');
    if (shell) {
      readText(reading, shell);
    }
  }
}

/** A file shows its form in its first characters. */
const HEAD = 8192;

/** One slip may upset all that follows it. */
const MOST_ERRORS = 20;

function* readYaml(reading: Reading & Collected, given: YamlForm | undefined): Steps<void> {
  const named = YAML_FORMS.find((f) => f.names?.test(withoutTemplateEnding(reading.input.name)));
  const { ranges, cut } = documentsOf(reading.text);
  const forms: YamlForm[] = [];
  const documents: YamlDocument[] = [];
  for (const range of ranges) {
    const form = given ?? named ?? recogniseYaml(reading, range);
    if (form) {
      forms.push(form);
      documents.push(parseYaml(reading.text, range));
    }
    yield;
  }
  for (const [i, doc] of documents.entries()) {
    forms[i]?.read(doc, reading, documents);
    yield;
  }
  reportErrors(reading, documents);
  if (cut !== undefined && reading.launches.length > 0) {
    const message = `YAML: a file is read up to 4 MB and ${MOST_DOCUMENTS} documents; what stands from here on was not`;
    reading.problem(message, { start: cut, end: cut });
  }
}

/** Files inside a file: scripts and configs of ConfigMaps, `serveConfigV2`. */
function readEmbedded(reading: Reading & Collected, name: string, block: Mapped, around: Surroundings): void {
  if (/\.(?:ba|z|da)?sh$/.test(name) || /^#!.*sh\b/.test(block.text)) {
    readScript(reading, { kind: 'script', ...around, script: block }, { form: 'shell', title: name });
    return;
  }
  if (/\.py$/.test(name)) {
    readFenced(reading, 'python', block, 'python', name);
    return;
  }
  const range = contentRange(reading.text, block.extent);
  const form = range && /\.(?:ya?ml|json)$/.test(name) ? recogniseYaml(reading, range) : undefined;
  if (range && form) {
    const doc = parseYaml(reading.text, range);
    form.read(doc, reading, [doc]);
  }
}

function recogniseYaml(reading: Reading, range: TextRange): YamlForm | undefined {
  const keys = topKeys(unindented(reading.text.slice(range.start, Math.min(range.end, range.start + HEAD))));
  return YAML_FORMS.find((f) => f.recognises(keys, reading));
}

/** The margin of a text that stands in another is where its first line begins. */
function unindented(head: string): string {
  const margin = /^(?:[ \t]*(?:#.*)?\r?\n)*( +)[^\s#]/.exec(head)?.[1];
  return margin === undefined ? head : head.replaceAll(`\n${margin}`, '\n').replace(margin, '');
}

/** Keys at the left margin, or of a map in braces (JSON). */
function topKeys(head: string): ReadonlySet<string> {
  const pattern = /^\uFEFF?(?:[ \t]*#.*\r?\n)*\s*\{(?![{%])/.test(head)
    ? /["']?([A-Za-z_][\w.-]*)["']?\s*:/g
    : /^\uFEFF?(["']?)([A-Za-z_][\w.-]*)\1[ \t]*:(?=\s|$)/gm;
  return new Set([...head.matchAll(pattern)].map((m) => m[2] ?? (m[1] as string)));
}

/** A file that starts no engine is not ours to complain about. */
function reportErrors(reading: Reading & Collected, documents: readonly YamlDocument[]): void {
  const errors = documents.flatMap((d) => d.errors);
  const ours = () =>
    reading.launches.length > 0 || reading.input.form !== undefined || mentionsEngine(reading.text, reading.engines);
  if (errors.length > 0 && ours()) {
    for (const error of errors.slice(0, MOST_ERRORS)) {
      reading.problem(error.message, error.range);
    }
  }
}
