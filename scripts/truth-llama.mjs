// `npm run truth:llama`: puts llama.cpp's library (npm package node-llama-cpp and its CPU binary) into a cache folder
// outside the project, and runs test/truth/llama-real.ts against it.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import * as esbuild from 'esbuild';
import { ROOT } from './lib/paths.mjs';

/** Ships llama.cpp v0.5.0. The package with all of its binaries is 725 MB; with one it is 85. */
const VERSION = '3.22.1';
/** @type {Readonly<Partial<Record<NodeJS.Platform, string>>>} */
const BINARIES = { linux: 'linux-x64', darwin: 'mac-arm64-metal', win32: 'win-x64' };
const BINARY = BINARIES[process.platform];

const home =
  process.env.LLAMA_HOME ??
  path.join(process.env.XDG_CACHE_HOME ?? path.join(os.homedir(), '.cache'), 'kv-planner', `node-llama-cpp-${VERSION}`);

if (!existsSync(path.join(home, 'node_modules/node-llama-cpp/dist/index.js'))) {
  if (!BINARY) {
    throw new Error(`no binary of llama.cpp for ${process.platform}`);
  }
  console.log(`fetching node-llama-cpp ${VERSION} into ${home}`);
  mkdirSync(home, { recursive: true });
  writeFileSync(path.join(home, 'package.json'), '{ "private": true }\n');
  execFileSync(
    'npm',
    [
      'install',
      '--ignore-scripts',
      '--omit=optional',
      '--no-audit',
      '--no-fund',
      '--no-save',
      `node-llama-cpp@${VERSION}`,
      `@node-llama-cpp/${BINARY}@${VERSION}`,
    ],
    { cwd: home, stdio: 'inherit', shell: process.platform === 'win32' },
  );
}

const outfile = path.join(ROOT, 'out/truth-llama.mjs');
await esbuild.build({
  entryPoints: [path.join(ROOT, 'test/truth/llama-real.ts')],
  outfile,
  bundle: true,
  platform: 'node',
  format: 'esm',
  banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  logLevel: 'warning',
});
try {
  execFileSync(process.execPath, [outfile], { cwd: ROOT, stdio: 'inherit', env: { ...process.env, LLAMA_HOME: home } });
} catch {
  process.exitCode = 1;
}
