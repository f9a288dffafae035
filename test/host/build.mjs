// Bundles the suite for both extension hosts into out/host/.
import fs from 'node:fs';
import path from 'node:path';
import * as esbuild from 'esbuild';
import { ROOT } from '../../scripts/lib/paths.mjs';

const HERE = path.join(ROOT, 'test/host');
export const NODE_SUITE = path.join(ROOT, 'out/host/node.js');
export const WEB_SUITE = path.join(ROOT, 'out/host/web.js');

/** What VS Code calls: run(). The tests are loaded late, when suite() and test() exist. @param {string} start */
function entry(start) {
  const files = fs.readdirSync(HERE).filter((file) => file.endsWith('.test.ts'));
  const tests = files.map((file) => `require('./${file}');`).join(' ');
  const contents = `import { start } from './${start}'; export const run = () => start(() => { ${tests} });`;
  return { contents, resolveDir: HERE, loader: /** @type {const} */ ('ts') };
}

export async function buildSuite() {
  /** @type {esbuild.BuildOptions} */
  const shared = { bundle: true, format: 'cjs', sourcemap: 'inline', logLevel: 'warning' };
  await esbuild.build({
    ...shared,
    stdin: entry('node'),
    outfile: NODE_SUITE,
    platform: 'node',
    target: 'node20',
    external: ['vscode', 'mocha'],
  });
  await esbuild.build({
    ...shared,
    stdin: entry('web'),
    outfile: WEB_SUITE,
    platform: 'browser',
    target: 'es2022',
    external: ['vscode'],
    define: { global: 'globalThis' },
  });
}
