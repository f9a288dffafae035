/** The suite's start in a Node extension host. */
import Mocha from 'mocha';
import { runSuite } from './suite';

export function start(loadTests: () => void): Promise<void> {
  const mocha = new Mocha({ ui: 'tdd', reporter: 'min', timeout: 20_000 });
  mocha.suite.emit('pre-require', globalThis, '', mocha); // defines suite() and test()
  loadTests();
  return runSuite(mocha);
}
