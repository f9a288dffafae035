// `npm run truth`: bundles test/truth/report.ts and runs it from the root of the project.
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import * as esbuild from 'esbuild';
import { ROOT } from './lib/paths.mjs';

process.chdir(ROOT);
const outfile = path.join(ROOT, 'out/truth.mjs');
await esbuild.build({
  entryPoints: ['test/truth/report.ts'],
  outfile,
  bundle: true,
  platform: 'node',
  format: 'esm',
  logLevel: 'warning',
});
await import(pathToFileURL(outfile).href);
