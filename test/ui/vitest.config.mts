/** The browser tests: one real workbench, driven as a person would. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    include: ['test/ui/**/*.test.ts'],
    testTimeout: 90_000,
    hookTimeout: 240_000, // the first run may have to install Chromium and the server
    fileParallelism: false, // one workbench at a time is enough for two cores
  },
});
