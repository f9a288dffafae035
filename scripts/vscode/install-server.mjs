// Installs VS Code's own server and web workbench from the npm registry, with a Node that runs it.
// The package `code-server` 4.N holds VS Code 1.N. No install script runs: VS Code's native modules (terminals,
// its log writer) are not needed to edit, hover, run commands, show webviews or run extension tests.
import fs from 'node:fs';
import path from 'node:path';
import { CACHE } from '../lib/paths.mjs';
import { npm } from '../lib/run.mjs';

const CODE_SERVER = '4.139.1';
const NODE = '24.22.3'; // this VS Code wants Node 22.15 or newer, the project itself 20

const platform = process.platform === 'win32' ? 'win' : process.platform;
const nodePackage = `node-${platform}-${process.arch}`;
const versions = { 'code-server': CODE_SERVER, [nodePackage]: NODE };

/**
 * @typedef {object} ServerInstall
 * @property {string} node the Node program that runs the server
 * @property {string} main the server's entry
 * @property {string} folder VS Code's own folder
 * @property {string} version VS Code's version
 */

/** @param {string} home @returns {ServerInstall} */
function layout(home) {
  const folder = path.join(home, 'node_modules/code-server/lib/vscode');
  return {
    node: path.join(home, 'node_modules', nodePackage, 'bin/node'),
    main: path.join(folder, 'out/server-main.js'),
    folder,
    version: `1.${CODE_SERVER.split('.')[1]}`,
  };
}

const finished = (/** @type {string} */ home) => fs.existsSync(path.join(home, '.finished'));

/**
 * The server, installed once per version into the user's cache folder (about 800 MB).
 * Built beside its place and moved there when whole, so that a run cut short or a second run at the same time does no harm.
 * @returns {Promise<ServerInstall>}
 */
export async function installServer() {
  const home = path.join(CACHE, `vscode-server-${CODE_SERVER}-${nodePackage}-${NODE}`);
  if (finished(home)) {
    return layout(home);
  }
  console.log(
    `Installing VS Code's server (npm packages code-server@${CODE_SERVER}, ${nodePackage}@${NODE}) into ${home} …`,
  );
  fs.mkdirSync(CACHE, { recursive: true });
  const building = fs.mkdtempSync(`${home}.building-`);
  try {
    fs.writeFileSync(path.join(building, 'package.json'), JSON.stringify({ private: true, dependencies: versions }));
    const built = layout(building);
    await npmInstall(building, []);
    // What code-server's own post-install script does, less its native builds.
    await npmInstall(built.folder, ['--omit=dev']);
    if (!fs.existsSync(built.main) || !fs.existsSync(built.node)) {
      throw new Error(`The npm packages hold no server at ${built.main}.`);
    }
    fs.writeFileSync(path.join(building, '.finished'), '');
    put(building, home);
  } finally {
    fs.rmSync(building, { recursive: true, force: true });
  }
  return layout(home);
}

/** @param {string} building @param {string} home */
function put(building, home) {
  if (!finished(home)) {
    fs.rmSync(home, { recursive: true, force: true });
  }
  try {
    fs.renameSync(building, home);
  } catch (error) {
    if (!finished(home)) {
      throw error;
    } // another run was first, and its install is as good
  }
}

/** @param {string} cwd @param {readonly string[]} extra */
async function npmInstall(cwd, extra) {
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const { code, output } = await npm(['install', ...quiet, ...extra], { cwd, minutes: 10, quiet: true });
  if (code !== 0) {
    throw new Error(`VS Code's server could not be installed (npm install in ${cwd} ended with ${code}):\n${output}`);
  }
}
