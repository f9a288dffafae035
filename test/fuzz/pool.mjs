// The pool's properties with many more runs than the unit tests take: node test/fuzz/pool.mjs [runs] [name of a property]
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { ROOT } from '../../scripts/lib/paths.mjs';

const [runs = '10000', ...names] = process.argv.slice(2);
const vitest = path.join(ROOT, 'node_modules/vitest/vitest.mjs');
const filter = names.length > 0 ? ['-t', names.join(' ')] : [];
const { status } = spawnSync(process.execPath, [vitest, 'run', 'test/unit/pool', '--testTimeout=7200000', ...filter], {
  cwd: ROOT,
  stdio: 'inherit',
  env: { ...process.env, FUZZ_RUNS: runs },
});
process.exitCode = status ?? 1;
