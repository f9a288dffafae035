/** Runs the command line in process. */
import { readFile } from 'node:fs/promises';
import { main } from '../../../src/cli/program';

const RUNTIME = 'node_modules/web-tree-sitter/tree-sitter.wasm';
const GRAMMARS = 'node_modules/@vscode/tree-sitter-wasm/wasm';

export interface Run {
  readonly code: number;
  readonly out: string;
  readonly notes: readonly string[];
}

export async function run(args: readonly string[], stdin = ''): Promise<Run> {
  let out = '';
  const notes: string[] = [];
  const code = await main(args, {
    out: (text) => {
      out += text;
    },
    note: (line) => notes.push(line),
    stdin: async () => new TextEncoder().encode(stdin),
    grammarFile: (file) => readFile(file === 'tree-sitter.wasm' ? RUNTIME : `${GRAMMARS}/${file}`),
    colour: false,
    width: 100,
  });
  return { code, out, notes };
}
