/** Runs the command line in process. */
import { main } from '../../../src/cli/program';

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
    colour: false,
    width: 100,
  });
  return { code, out, notes };
}
