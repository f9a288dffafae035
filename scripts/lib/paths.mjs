// Where things lie. Everything made by a run goes below out/ and test/artefacts/, which git ignores;
// what should outlive a fresh clone (an editor is 800 MB) goes into the user's cache folder.
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
export const ARTEFACTS = path.join(ROOT, 'test/artefacts');
export const RESULTS = path.join(ARTEFACTS, 'results');
export const VSIX = path.join(ROOT, 'out/kv-planner.vsix');
export const SAMPLES = path.join(ROOT, 'samples');
export const CACHE = path.join(process.env.XDG_CACHE_HOME ?? path.join(os.homedir(), '.cache'), 'kv-planner');

/** A program installed in this project, for `process.execPath`: its own script, not the shell wrapper of npm. */
export const bin = (/** @type {string} */ script) => path.join(ROOT, 'node_modules', script);
