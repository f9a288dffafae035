// One activation of the built extension in a fresh process, against an editor that answers everything with nothing.
// Prints milliseconds: loading the bundle and activate() together. The editor's own share is not in it.
import Module, { createRequire } from 'node:module';
import path from 'node:path';
import { ROOT } from '../../scripts/lib/paths.mjs';

/** Callable, constructible, and every property is another of its kind. @type {any} */
const anything = new Proxy(class {}, {
  get: (_target, key) =>
    key === Symbol.toPrimitive ? () => '' : key === Symbol.iterator ? () => [].values() : anything,
  set: () => true,
  apply: () => anything,
  construct: () => anything,
});
/** @type {any} */
const loader = Module;
const load = loader._load;
loader._load = (/** @type {string} */ name, /** @type {unknown[]} */ ...rest) =>
  name === 'vscode' ? anything : load(name, ...rest);

const start = performance.now();
const extension = createRequire(import.meta.url)(path.join(ROOT, 'dist/extension.js'));
await extension.activate({
  subscriptions: [],
  extensionUri: anything,
  extension: anything,
  globalState: anything,
  workspaceState: anything,
});
console.log(performance.now() - start);
process.exit(0); // what it registered may keep a timer
