/** npm run soak: ten minutes of animation and a thousand edits, twice; `SOAK_MINUTES=1 SOAK_EDITS=100 npm run soak` for less. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    include: ['test/soak/**/*.test.ts'],
    testTimeout: 3_600_000,
    hookTimeout: 240_000,
    fileParallelism: false,
    // Node 20 has the socket that the extension host's inspector speaks through, but hides it.
    execArgv: ['--experimental-websocket'],
  },
});
