// Packs the built extension into out/kv-planner.vsix. Needs no network: the bundles hold every dependency.
import fs from 'node:fs';
import path from 'node:path';
import { bin, VSIX } from './lib/paths.mjs';
import { node } from './lib/run.mjs';

fs.mkdirSync(path.dirname(VSIX), { recursive: true });
const { code } = await node(bin('@vscode/vsce/vsce'), [
  'package',
  '--no-dependencies',
  '--allow-missing-repository',
  '--no-rewrite-relative-links', // the manifest names no repository that they could point into
  '--out',
  VSIX,
]);
process.exitCode = code;
