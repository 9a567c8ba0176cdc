import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['packages/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: ['test/setup/global.ts'],
    setupFiles: ['test/setup/each-file.ts'],
    // Files share the modules of their worker: loading them anew took a third of the time of a run.
    isolate: false,
    // Two cores: one worker drives the load while the other keeps a service and a PostgreSQL busy.
    maxWorkers: 2,
    // Ten times what the longest needs: a busy machine is no failure.
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
});
