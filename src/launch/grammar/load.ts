/** Grammars of tree-sitter, loaded once and only when a text needs one. The host knows where their files are. */
import type { Parser } from 'web-tree-sitter';
import type { GrammarName, Grammars } from '../launch';

/** The runtime's own file; each grammar is `tree-sitter-NAME.wasm`. */
const RUNTIME_FILE = 'tree-sitter.wasm';

/** `locate` gives the bytes of `tree-sitter.wasm` (of `web-tree-sitter`) and of `tree-sitter-bash.wasm`. */
export async function loadGrammars(
  names: readonly GrammarName[],
  locate: (file: string) => Promise<Uint8Array>,
  known?: Grammars,
): Promise<Grammars> {
  const parsers = new Map<GrammarName, Parser>();
  for (const name of names) {
    parsers.set(name, (known?.get(name) as Parser | undefined) ?? (await loadParser(name, locate)));
  }
  return { get: (name) => parsers.get(name) ?? known?.get(name) };
}

let runtime: Promise<typeof import('web-tree-sitter')> | undefined;

async function loadParser(name: GrammarName, locate: (file: string) => Promise<Uint8Array>): Promise<Parser> {
  runtime ??= startRuntime(locate);
  const { Parser, Language } = await runtime;
  const parser = new Parser();
  parser.setLanguage(await Language.load(await locate(`tree-sitter-${name}.wasm`)));
  return parser;
}

async function startRuntime(locate: (file: string) => Promise<Uint8Array>): Promise<typeof import('web-tree-sitter')> {
  const [tree, wasmBinary] = await Promise.all([import('web-tree-sitter'), locate(RUNTIME_FILE)]);
  // It makes a URL of its own place, though the bytes are given, and in a web worker it has none: a name is enough.
  await tree.Parser.init({ wasmBinary, locateFile: (file: string) => file });
  return tree;
}
