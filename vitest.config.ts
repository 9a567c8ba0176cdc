import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['packages/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: ['test/setup/global.ts'],
    setupFiles: ['test/setup/each-file.ts'],
    // Files share the modules of their worker: loading them anew took a third of the time of a run.
    isolate: false,
    // Compiled modules are kept for the chain's threads and for the processes that tests start.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules', '.cache', 'bellwether-tests') },
    // One more than two cores: tests that wait for a process or a deadline leave theirs to the others.
    maxWorkers: 3,
    // Ten times what the longest needs: a busy machine is no failure.
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
});
