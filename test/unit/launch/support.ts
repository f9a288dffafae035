/** Readable pictures of launches for tests. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { readLaunches } from '../../../src/launch';
import { loadGrammars } from '../../../src/launch/grammar/load';
import type {
  Form,
  GrammarName,
  Grammars,
  Launch,
  LaunchOption,
  ReadInput,
  ReadResult,
} from '../../../src/launch/launch';

export interface Given {
  readonly form?: Form;
  readonly files?: Readonly<Record<string, string>>;
  readonly grammars?: Grammars;
}

export function read(text: string, name: string, given: Given = {}): ReadResult {
  const files = { read: (path: string) => given.files?.[path] ?? null };
  const input: ReadInput = {
    text,
    name,
    files,
    ...(given.form ? { form: given.form } : {}),
    ...(given.grammars ? { grammars: given.grammars } : {}),
  };
  return readLaunches(input);
}

/** `name = value @line «text at the value»`; everything a reader says about an option, on one line. */
function show(text: string, option: LaunchOption): string {
  const value =
    option.unresolved !== undefined
      ? `? ${option.unresolved}`
      : option.error !== undefined
        ? `! ${option.error}`
        : JSON.stringify(option.value);
  const at = option.valueRange ? ` «${text.slice(option.valueRange.start, option.valueRange.end)}»` : '';
  const known = option.spec || option.name === 'model' ? '' : ' (unknown)';
  const origin = option.origin === 'file' ? '' : ` from ${option.origin}`;
  return `${option.line}: ${text.slice(option.nameRange.start, option.nameRange.end)} ${option.name}=${value}${at}${known}${origin}`;
}

const shown = (text: string, launch: Launch): readonly string[] => launch.options.map((o) => show(text, o));

/** Everything read of a text, one fact a line. */
export function picture(text: string, result: ReadResult): string {
  const cut = (r: { readonly start: number; readonly end: number }) => text.slice(r.start, r.end);
  const launches = result.launches.flatMap((l) => [
    `== ${l.engine}${l.version ? ` ${l.version.text} «${cut(l.version.range)}»` : ''} ${l.form} ${l.title}, ${l.role} «${cut(l.head)}»`,
    l.model
      ? `model ${l.model.text} «${cut(l.model.range)}»${l.model.unresolved ? ` ? ${l.model.unresolved}` : ''}`
      : 'no model',
    ...shown(text, l),
    ...(l.hardware.gpu ? [`gpu ${l.hardware.gpu.text} «${cut(l.hardware.gpu.range)}»`] : []),
    ...(l.hardware.count ? [`count ${l.hardware.count.value} «${cut(l.hardware.count.range)}»`] : []),
    ...(l.hardware.nodes ? [`nodes ${l.hardware.nodes}`] : []),
    ...[...l.environment].map(([k, v]) => `env ${k}=${v}`),
    ...l.directives.map((d) => `directive ${d.key}=${d.value} «${cut(d.valueRange)}»`),
  ]);
  const problems = result.problems.map((p) => `problem ${p.message}${p.range ? ` «${cut(p.range)}»` : ''}`);
  const needs = [...result.needs.grammars, ...result.needs.files].map((n) => `needs ${n}`);
  return `${[...launches, ...problems, ...needs].join('\n')}\n`;
}

const require = createRequire(import.meta.url);
let loaded: Promise<Grammars> | undefined;

const bytesOf = (file: string) =>
  readFile(
    require.resolve(file === 'tree-sitter.wasm' ? `web-tree-sitter/${file}` : `@vscode/tree-sitter-wasm/wasm/${file}`),
  );

/** The bash grammar, loaded once for a test file. */
export function bash(): Promise<Grammars> {
  loaded ??= loadGrammars(['bash'], bytesOf);
  return loaded;
}

let known: Grammars | undefined;

/** As a host reads: grammars that are asked for are loaded, and the text is read again. For tests that read many forms. */
export async function readFully(text: string, name: string, given: Given = {}): Promise<ReadResult> {
  const asked = new Set<GrammarName>();
  for (;;) {
    const result = read(text, name, { ...given, ...(known ? { grammars: known } : {}) });
    const missing = result.needs.grammars.filter((g) => !asked.has(g));
    if (missing.length === 0) {
      return result;
    }
    missing.forEach((g) => {
      asked.add(g);
    });
    known = await loadGrammars(missing, bytesOf, known);
  }
}

/** Grammars that `readFully` has loaded so far, for synchronous reading of the same texts. */
export const loadedGrammars = (): Grammars | undefined => known;

/** Runs of a property: few in the tests, `FUZZ_RUNS` of them in `test/fuzz`. */
export const runs = (usual: number): number => Number(process.env.FUZZ_RUNS ?? usual);
