/** The unit tests: no editor, no browser, no network. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  plugins: [
    {
      name: 'shaders as text, as the bundles have them',
      transform: (code, id) => (id.endsWith('.wgsl') ? `export default ${JSON.stringify(code)}` : undefined),
    },
  ],
  test: {
    include: ['test/unit/**/*.test.ts'],
    setupFiles: ['test/unit/seed.ts'],
    testTimeout: 20_000, // a runaway guard, not a measure
  },
});
