/** The suite's entry in a Node extension host. */
import Mocha from 'mocha';
import { runSuite } from './suite';

export async function run(): Promise<void> {
  const mocha = new Mocha({ ui: 'tdd', reporter: 'min', timeout: 20_000 });
  mocha.suite.emit('pre-require', globalThis, '', mocha); // defines suite() and test()
  await import('suite:tests');
  await runSuite(mocha);
}
