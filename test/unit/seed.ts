/**
 * The same random cases at every run of `npm test`, so that a commit passes or fails whoever runs it. `npm run fuzz`, and
 * `FUZZ_RUNS=80 npx vitest run FILE`, take others each time.
 */
import fc from 'fast-check';

const SEED = 20261129;

if (process.env.FUZZ_RUNS === undefined) {
  fc.configureGlobal({ seed: SEED });
}
