// Runs a child process to its end, with a guard against one that never ends.
import { spawn } from 'node:child_process';
import { ROOT } from './paths.mjs';

/**
 * @typedef {object} RunOptions
 * @property {number} [minutes] the guard; the child and its children are killed after it
 * @property {NodeJS.ProcessEnv} [env] added to this process's own
 * @property {string} [cwd]
 * @property {boolean} [quiet] keep the output instead of showing it
 */

/**
 * @param {string} command
 * @param {readonly string[]} args
 * @param {RunOptions} [options]
 * @returns {Promise<{ code: number, output: string, stdout: string, timedOut: boolean }>} `output` holds standard error
 *   as well; code 127: the program is not there
 */
export function run(command, args, { minutes = 5, env, cwd = ROOT, quiet = false } = {}) {
  return new Promise((resolve) => {
    // A group of its own, so that the guard ends the children too; Windows has no groups.
    const grouped = process.platform !== 'win32';
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', quiet ? 'pipe' : 'inherit', quiet ? 'pipe' : 'inherit'],
      detached: grouped,
    });
    let output = '';
    let stdout = '';
    let timedOut = false;
    child.stdout?.on('data', (chunk) => {
      output += chunk;
      stdout += chunk;
    });
    child.stderr?.on('data', (chunk) => {
      output += chunk;
    });
    const kill = () => {
      try {
        if (grouped && child.pid) {
          process.kill(-child.pid, 'SIGKILL');
        } else {
          child.kill('SIGKILL');
        }
      } catch {
        // it ended by itself meanwhile
      }
    };
    const guard = setTimeout(() => {
      timedOut = true;
      kill();
    }, minutes * 60_000);
    const stop = () => {
      kill();
      process.exit(130);
    };
    process.once('SIGINT', stop).once('SIGTERM', stop);
    const done = (/** @type {number} */ code) => {
      clearTimeout(guard);
      process.off('SIGINT', stop).off('SIGTERM', stop);
      resolve({ code, output, stdout, timedOut });
    };
    child.once('error', (error) => {
      output += error.message;
      done(127);
    });
    child.once('close', (code) => done(code ?? 1));
  });
}

/** Runs a Node script of this project. @type {(script: string, args?: readonly string[], options?: RunOptions) => ReturnType<typeof run>} */
export const node = (script, args = [], options) => run(process.execPath, [script, ...args], options);

/** Runs npm as the shell that started us would. @type {(args: readonly string[], options?: RunOptions) => ReturnType<typeof run>} */
export const npm = (args, options) =>
  process.env.npm_execpath?.endsWith('.js')
    ? node(process.env.npm_execpath, args, options)
    : run(process.platform === 'win32' ? 'npm.cmd' : 'npm', args, options);
