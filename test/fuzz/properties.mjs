// Properties of unit tests with many more runs than those take: node test/fuzz/NAME.mjs [runs] [name of a property]
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { ROOT } from '../../scripts/lib/paths.mjs';

/** @param {string} tests a folder or a file of unit tests @param {string} usual runs of each property, unless told */
export function properties(tests, usual) {
  const [runs = usual, ...names] = process.argv.slice(2);
  const vitest = path.join(ROOT, 'node_modules/vitest/vitest.mjs');
  const filter = names.length > 0 ? ['-t', names.join(' ')] : [];
  const { status } = spawnSync(process.execPath, [vitest, 'run', tests, '--testTimeout=7200000', ...filter], {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, FUZZ_RUNS: runs },
  });
  process.exitCode = status ?? 1;
}
