// Writes docs/options-*.md from the engines' option tables. A test keeps the committed pages equal to them.
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
        export { VLLM_OPTIONS } from './src/core/engines/vllm/options';
        export { VLLM_ENVIRONMENT } from './src/core/engines/vllm/environment';`,
      resolveDir: root,
      loader: 'ts',
    },
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile,
    logLevel: 'warning',
  });
  const { optionDocs, VLLM_OPTIONS, VLLM_ENVIRONMENT } = await import(pathToFileURL(outfile).href);
  mkdirSync(join(root, 'docs'), { recursive: true });
  const page = join(root, 'docs', 'options-vllm.md');
  writeFileSync(page, optionDocs({ engine: 'vLLM', options: VLLM_OPTIONS, environment: VLLM_ENVIRONMENT }));
  console.log(`wrote ${page}`);
} finally {
  rmSync(folder, { recursive: true });
}
