import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['packages/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts', 'test/**/*.test.ts'],
    // Two cores: one worker drives the load while the other keeps a service and a PostgreSQL busy.
    maxWorkers: 2,
    // Ten times what the longest needs: a busy machine is no failure.
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
});
