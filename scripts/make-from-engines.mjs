// Writes docs/options-*.md from the engines' option tables, and the names of engines that the editor looks for before it
// loads them. Tests keep the committed files equal to the tables.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = mkdtempSync(join(tmpdir(), 'option-docs-'));
try {
  const outfile = join(folder, 'tables.mjs');
  await build({
    stdin: {
      contents: `
        export { optionDocs } from './src/core/engines/option-docs';
        export { ENGINES } from './src/core/engines';`,
      resolveDir: root,
      loader: 'ts',
    },
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile,
    logLevel: 'warning',
  });
  const { optionDocs, ENGINES } = await import(pathToFileURL(outfile).href);
  mkdirSync(join(root, 'docs'), { recursive: true });
  for (const { id, title, options, environment = [] } of ENGINES) {
    const page = join(root, 'docs', `options-${id}.md`);
    writeFileSync(page, optionDocs({ engine: title, options, environment }));
    console.log(`wrote ${page}`);
  }
  const names = ENGINES.flatMap((engine) => engine.start.names.map((name) => `  '${name}',\n`));
  writeFileSync(
    join(root, 'src/editor/engine-names.generated.ts'),
    `// Written by scripts/make-from-engines.mjs: do not edit.\nexport const ENGINE_NAMES: readonly string[] = [\n${names.join('')}];\n`,
  );
} finally {
  rmSync(folder, { recursive: true });
}
