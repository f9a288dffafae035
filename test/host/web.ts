/** The suite's start in a web worker extension host: Mocha's build for browsers, which keeps one instance. */
import 'mocha/mocha.js';
import { runSuite } from './suite';

declare const mocha: Mocha & { setup(options: Mocha.MochaOptions): void };

/** Mocha takes a reporter that draws on a page unless it is given one. */
class Silent {}

export function start(loadTests: () => void): Promise<void> {
  mocha.setup({ ui: 'tdd', reporter: Silent as unknown as Mocha.ReporterConstructor, timeout: 20_000 });
  loadTests();
  return runSuite(mocha);
}
