import { readdirSync } from 'node:fs';
import { build } from 'esbuild';
import { expect, test } from 'vitest';

/** What the pure part may bring along: each runs in Node, a web worker, a page and on the command line. */
const LIBRARIES = ['yaml', 'valibot', 'jsonc-parser', 'dockerfile-ast', 'web-tree-sitter', 'pure-rand'];

const sources = ['src/core', 'src/launch'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `${folder}/${file}`),
);

test('core, launch and the planner bundle for a browser with no modules but the listed libraries', async () => {
  const { metafile, errors } = await build({
    entryPoints: [...sources, 'src/planner.ts'],
    bundle: true,
    write: false,
    platform: 'browser',
    format: 'esm',
    mainFields: ['module', 'main'],
    external: ['fs/promises', 'module'], // web-tree-sitter imports them where it finds itself in Node
    metafile: true,
    outdir: 'out',
  });
  expect(errors).toEqual([]);
  const modules = Object.keys(metafile.inputs).map((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1]);
  const foreign = [...new Set(modules)].filter((name) => name !== undefined && !LIBRARIES.includes(name));
  expect(foreign).toEqual([]);
});
