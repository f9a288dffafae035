/**
 * What stands for `lazy` in a web worker host, whose loader knows one file: the bundle is fetched from the extension's own
 * folder when it is first asked for, and evaluated as the host has evaluated the entry. Importing a module that has a `then`
 * gives what that gives, so callers write `await import('../lazy')` in either host.
 */
import * as vscode from 'vscode';

type Lazy = typeof import('../lazy');

let loaded: Promise<Lazy> | undefined;

export function then(resolve: (lazy: Lazy) => void, reject: (error: unknown) => void): void {
  loaded ??= load().catch((error: unknown) => {
    loaded = undefined; // a network that failed once is asked again
    throw error;
  });
  loaded.then(resolve, reject);
}

async function load(): Promise<Lazy> {
  const extension = vscode.extensions.getExtension('kv-planner.kv-planner');
  if (!extension) {
    throw new Error('KV Planner does not find its own folder.');
  }
  const file = vscode.Uri.joinPath(extension.extensionUri, 'dist/web/lazy.js');
  const source = new TextDecoder().decode(await vscode.workspace.fs.readFile(file));
  const module = { exports: {} as Lazy };
  new Function('module', 'exports', 'require', `${source}\n//# sourceURL=${file.toString()}`)(
    module,
    module.exports,
    required,
  );
  return module.exports;
}

function required(name: string): unknown {
  if (name === 'vscode') {
    return vscode;
  }
  throw new Error(`KV Planner has no module ${name} in a web worker.`);
}
