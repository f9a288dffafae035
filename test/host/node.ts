/** The suite's start in a Node extension host. */
import Module from 'node:module';
import Mocha from 'mocha';
import { runSuite } from './suite';

globalThis.loadedBundles = () => {
  const { _cache } = Module as unknown as { readonly _cache: Readonly<Record<string, unknown>> };
  const names = Object.keys(_cache).map((file) => /[\\/]dist[\\/]((?:extension|lazy)[\w-]*\.js)$/.exec(file)?.[1]);
  return names.filter((name) => name !== undefined);
};

export function start(loadTests: () => void): Promise<void> {
  const mocha = new Mocha({ ui: 'tdd', reporter: 'min', timeout: 20_000 });
  mocha.suite.emit('pre-require', globalThis, '', mocha); // defines suite() and test()
  loadTests();
  return runSuite(mocha);
}
