// `npm run truth`: bundles test/truth/report.ts and runs it from the root of the project.
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import * as esbuild from 'esbuild';
import { ROOT } from './lib/paths.mjs';

const outfile = path.join(ROOT, 'out/truth.cjs');
await esbuild.build({
  entryPoints: [path.join(ROOT, 'test/truth/report.ts')],
  outfile,
  bundle: true,
  platform: 'node',
  format: 'cjs',
  logLevel: 'warning',
});
try {
  execFileSync(process.execPath, [outfile, ...process.argv.slice(2)], { cwd: ROOT, stdio: 'inherit' });
} catch {
  process.exitCode = 1;
}
