// Bundles the suite for both extension hosts into out/host/.
import fs from 'node:fs';
import path from 'node:path';
import * as esbuild from 'esbuild';
import { ROOT } from '../../scripts/lib/paths.mjs';

const HERE = path.join(ROOT, 'test/host');
export const NODE_SUITE = path.join(ROOT, 'out/host/node.js');
export const WEB_SUITE = path.join(ROOT, 'out/host/web.js');

/** @type {esbuild.Plugin} */
const everyTest = {
  name: 'every test',
  setup(build) {
    build.onResolve({ filter: /^suite:tests$/ }, () => ({ path: 'tests', namespace: 'suite' }));
    build.onLoad({ filter: /.*/, namespace: 'suite' }, () => {
      const files = fs.readdirSync(HERE).filter((file) => file.endsWith('.test.ts'));
      return { contents: files.map((file) => `import './${file}';`).join('\n'), resolveDir: HERE };
    });
  },
};

export async function buildSuite() {
  /** @type {esbuild.BuildOptions} */
  const shared = { bundle: true, format: 'cjs', sourcemap: 'inline', logLevel: 'warning', plugins: [everyTest] };
  await esbuild.build({
    ...shared,
    entryPoints: [path.join(HERE, 'node.ts')],
    outfile: NODE_SUITE,
    platform: 'node',
    target: 'node20',
    external: ['vscode', 'mocha'],
  });
  await esbuild.build({
    ...shared,
    entryPoints: [path.join(HERE, 'web.ts')],
    outfile: WEB_SUITE,
    platform: 'browser',
    target: 'es2022',
    external: ['vscode'],
    define: { global: 'globalThis' },
  });
}
