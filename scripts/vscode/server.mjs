// Starts a VS Code server on a free port of 127.0.0.1 with a data folder of its own, and stops it with its children.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { run } from '../lib/run.mjs';
import { installServer } from './install-server.mjs';

// The built-in extensions that launch files and screenshots need; the other ninety only slow the start.
const BUILTINS = [
  'configuration-editing',
  'docker',
  'ini',
  'json',
  'markdown-basics',
  'markdown-language-features',
  'python',
  'shellscript',
  'theme-defaults',
  'theme-modern-icons',
  'theme-seti',
  'yaml',
];

const SETTINGS = {
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'telemetry.telemetryLevel': 'off',
  'extensions.autoCheckUpdates': false,
  'extensions.ignoreRecommendations': true,
  'chat.disableAIFeatures': true,
};

const INTERRUPTS = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);

/**
 * @typedef {object} ServerOptions
 * @property {string} [vsix] a packaged extension to install
 * @property {Record<string, unknown>} [settings] user settings, added to quiet defaults
 * @property {readonly string[]} [builtins] further built-in extensions
 * @property {boolean} [tests] heed extensionTestsPath in the address; it also silences toasts and dialogs
 * @property {boolean} [untrusted] the folder opens in restricted mode until somebody trusts it
 * @property {boolean} [guarded] ask for a secret token in the address: for a server that a person keeps running
 */

/** @typedef {Awaited<ReturnType<typeof startServer>>} Server */

/** @param {ServerOptions} [options] */
export async function startServer(options = {}) {
  const { vsix, settings, builtins = [], tests = false, untrusted = false, guarded = false } = options;
  const install = await installServer();
  const data = fs.mkdtempSync(path.join(os.tmpdir(), 'kv-planner-vscode-'));
  const common = prepare(data, install.folder, settings, builtins);
  const env = cleanEnvironment(data);
  if (vsix) {
    await installExtension(install, vsix, common, env, data);
  }
  const token = guarded ? randomBytes(16).toString('hex') : undefined;
  const args = ['--host', '127.0.0.1', '--port', '0', '--disable-experiments'];
  if (!untrusted) {
    args.push('--disable-workspace-trust');
  }
  args.push('--disable-getting-started-override', ...common);
  args.push(...(token ? ['--connection-token', token] : ['--without-connection-token']));
  if (tests) {
    args.push('--enable-smoke-test-driver');
  }
  const log = path.join(data, 'server.log');
  const child = startDetached(install.node, [install.main, ...args], env, data, log);
  const port = await listening(child, log);
  const origin = `http://127.0.0.1:${port}`;
  return {
    version: install.version,
    /** The last lines of its log that say something. */
    tail: () => tail(log),
    /** The workbench's address. @param {string} folder @param {readonly [string, string][]} [payload] */
    url(folder, payload) {
      const query = new URLSearchParams({ ...(token && { tkn: token }), folder });
      if (payload) {
        query.set('payload', JSON.stringify(payload));
      }
      return `${origin}/?${query}`;
    },
    /** A file of this machine, as the workbench names it. @param {string} file */
    uri: (file) => `vscode-remote://127.0.0.1:${port}${file}`,
    stop: () => child.stop(),
  };
}

/**
 * @param {import('./install-server.mjs').ServerInstall} install
 * @param {string} vsix
 * @param {string[]} common
 * @param {NodeJS.ProcessEnv} env
 * @param {string} data
 */
async function installExtension(install, vsix, common, env, data) {
  const args = [install.main, '--install-extension', vsix, ...common];
  const { output } = await run(install.node, args, { env, cwd: data, minutes: 2, quiet: true });
  if (!/successfully installed/.test(output)) {
    fs.rmSync(data, { recursive: true, force: true });
    throw new Error(`${vsix} could not be installed in VS Code's server:\n${withoutNoise(output)}`);
  }
}

/**
 * @param {string} data
 * @param {string} vscode
 * @param {Record<string, unknown> | undefined} settings
 * @param {readonly string[]} builtins
 */
function prepare(data, vscode, settings, builtins) {
  for (const folder of ['data/User', 'tmp', 'builtin']) {
    fs.mkdirSync(path.join(data, folder), { recursive: true });
  }
  fs.writeFileSync(path.join(data, 'data/User/settings.json'), JSON.stringify({ ...SETTINGS, ...settings }));
  for (const name of [...BUILTINS, ...builtins]) {
    const from = path.join(vscode, 'extensions', name);
    if (fs.existsSync(from)) {
      fs.symlinkSync(from, path.join(data, 'builtin', name));
    }
  }
  const builtin = ['--builtin-extensions-dir', path.join(data, 'builtin')];
  return ['--server-data-dir', data, ...builtin, '--accept-server-license-terms', '--telemetry-level', 'off'];
}

/** A terminal may itself run inside VS Code, and its variables would mislead this server. @param {string} data */
function cleanEnvironment(data) {
  /** @type {NodeJS.ProcessEnv} */
  const env = { TMPDIR: path.join(data, 'tmp') }; // its sockets would stay in the common one
  for (const name of Object.keys(process.env)) {
    if (name.startsWith('VSCODE_') || name.startsWith('ELECTRON_') || name === 'NODE_OPTIONS') {
      env[name] = undefined;
    }
  }
  return env;
}

/** @param {string} program @param {string[]} args @param {NodeJS.ProcessEnv} env @param {string} cwd @param {string} log */
function startDetached(program, args, env, cwd, log) {
  const out = fs.openSync(log, 'a');
  // Detached: it leads a process group, which holds its extension hosts as well.
  const child = spawn(program, args, {
    env: { ...process.env, ...env },
    cwd,
    stdio: ['ignore', out, out],
    detached: true,
  });
  fs.closeSync(out);
  /** @type {string | undefined} */
  let ended;
  child.once('exit', (code, signal) => {
    ended = `exit ${code ?? signal}`;
  });
  child.once('error', (error) => {
    ended = error.message;
  });
  const signal = (/** @type {NodeJS.Signals} */ name) => {
    try {
      process.kill(-(child.pid ?? Number.NaN), name);
    } catch {
      // nothing is left of the group
    }
  };
  const remove = () => fs.rmSync(cwd, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  const atExit = () => {
    signal('SIGKILL');
    remove();
  };
  const interrupted = () => process.exit(130);
  process.once('exit', atExit);
  for (const name of INTERRUPTS) {
    process.once(name, interrupted);
  }
  return {
    ended: () => ended,
    async stop() {
      if (!ended) {
        const exit = once(child, 'exit');
        signal('SIGTERM');
        await Promise.race([exit, pause(5000, undefined, { ref: false })]);
      }
      atExit();
      process.off('exit', atExit);
      for (const name of INTERRUPTS) {
        process.off(name, interrupted);
      }
    },
  };
}

/** Waits until the server answers. @param {ReturnType<typeof startDetached>} child @param {string} log */
async function listening(child, log) {
  for (const until = Date.now() + 60_000; Date.now() < until && !child.ended(); await pause(50)) {
    const port = /Extension host agent listening on (\d+)/.exec(fs.readFileSync(log, 'utf8'))?.[1];
    if (port && (await answers(`http://127.0.0.1:${port}/version`))) {
      return Number(port);
    }
  }
  const why = child.ended() ?? 'no answer within a minute';
  const said = tail(log);
  await child.stop();
  throw new Error(`VS Code's server did not start (${why}):\n${said}`);
}

const answers = (/** @type {string} */ url) =>
  fetch(url).then(
    (response) => response.ok,
    () => false,
  );

const tail = (/** @type {string} */ log) => withoutNoise(fs.readFileSync(log, 'utf8'));

/** The native modules that were left out are missed at length, to no purpose. @param {string} text */
function withoutNoise(text) {
  const noise = /^ → |^\s+at |^\s+'|^\s+tries:|^\s*[\]}]$|Could not locate the bindings file/;
  return text
    .split('\n')
    .filter((line) => !noise.test(line))
    .slice(-40)
    .join('\n');
}
