/**
 * Runs the suite inside an extension host and leaves its result in the opened folder, through the editor's own file
 * system: that works alike in a desktop VS Code, in a server and in a browser's web worker.
 */
import { Uri, workspace } from 'vscode';

declare global {
  /** In a Node host: the extension's bundles that are loaded. */
  var loadedBundles: (() => readonly string[]) | undefined;
}

export interface TestResult {
  readonly title: string;
  readonly state: 'passed' | 'failed' | 'skipped';
  readonly milliseconds?: number;
  readonly error?: string;
}

export interface SuiteResult {
  /** Where it really ran: an editor may pick another host than the one asked for. */
  readonly host: 'node' | 'worker';
  readonly tests: readonly TestResult[];
}

const RESULT = '.kv-planner-tests.json';

/** Resolves when every test passed; VS Code takes a rejection for a failed run. */
export async function runSuite(runner: Mocha): Promise<void> {
  const tests: TestResult[] = [];
  await new Promise<void>((resolve) => {
    runner
      .run(() => resolve())
      .on('pass', (test) => tests.push({ title: test.fullTitle(), state: 'passed', milliseconds: test.duration }))
      .on('pending', (test) => tests.push({ title: test.fullTitle(), state: 'skipped' }))
      .on('fail', (test, error) =>
        tests.push({ title: test.fullTitle(), state: 'failed', error: error.stack ?? String(error) }),
      );
  });
  await leave(tests);
  const failed = tests.filter((test) => test.state === 'failed').length;
  if (failed > 0) {
    throw new Error(`${failed} failed`);
  }
}

async function leave(tests: readonly TestResult[]): Promise<void> {
  const folder = workspace.workspaceFolders?.[0];
  if (!folder) {
    throw new Error('The suite needs an opened folder to leave its result in.');
  }
  const bytes = new TextEncoder().encode(
    JSON.stringify({ host: 'importScripts' in globalThis ? 'worker' : 'node', tests } satisfies SuiteResult),
  );
  await workspace.fs.writeFile(Uri.joinPath(folder.uri, RESULT), bytes);
}
