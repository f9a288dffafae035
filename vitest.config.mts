/** The unit tests: no editor, no browser, no network. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/unit/**/*.test.ts'],
    testTimeout: 20_000, // a runaway guard, not a measure
  },
});
