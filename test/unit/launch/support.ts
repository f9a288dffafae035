/** Readable pictures of launches for tests. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { VLLM_OPTIONS } from '../../../src/core/engines/vllm/options';
import { VLLM_START } from '../../../src/core/engines/vllm/start';
import { type LaunchEngine, loadGrammars, readLaunches } from '../../../src/launch';
import type { Form, Grammars, Launch, LaunchOption, ReadInput, ReadResult } from '../../../src/launch/launch';

export const ENGINES: readonly LaunchEngine[] = [{ id: 'vllm', options: VLLM_OPTIONS, start: VLLM_START }];

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
  return readLaunches(input, ENGINES);
}

/** `name = value @line «text at the value»`; everything a reader says about an option, on one line. */
export function show(text: string, option: LaunchOption): string {
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

export const shown = (text: string, launch: Launch): readonly string[] => launch.options.map((o) => show(text, o));

const require = createRequire(import.meta.url);
let loaded: Promise<Grammars> | undefined;

/** The bash grammar, loaded once for a test file. */
export function bash(): Promise<Grammars> {
  loaded ??= loadGrammars(['bash'], (file) =>
    readFile(
      require.resolve(
        file === 'tree-sitter.wasm' ? `web-tree-sitter/${file}` : `@vscode/tree-sitter-wasm/wasm/${file}`,
      ),
    ),
  );
  return loaded;
}
