/** The suite's start in a Node extension host. */
import Module from 'node:module';
import Mocha from 'mocha';
import { extensions } from 'vscode';
import { runSuite } from './suite';

globalThis.loadedBundles = () => {
  const { _cache } = Module as unknown as { readonly _cache: Readonly<Record<string, unknown>> };
  const ours = extensions.getExtension('kv-planner.kv-planner')?.extensionPath ?? '';
  const files = Object.keys(_cache).filter((file) => file.startsWith(ours)); // others have an extension.js too
  const names = files.map((file) => /[\\/]dist[\\/]((?:extension|lazy)[\w-]*\.js)$/.exec(file)?.[1]);
  return names.filter((name) => name !== undefined);
};

export function start(loadTests: () => void): Promise<void> {
  const mocha = new Mocha({ ui: 'tdd', reporter: 'min', timeout: 20_000 });
  mocha.suite.emit('pre-require', globalThis, '', mocha); // defines suite() and test()
  loadTests();
  return runSuite(mocha);
}
