import { join } from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';

/** Files that replace a module (`vi.mock`): what another file has loaded before would keep the real one. */
const REPLACE_MODULES = ['packages/sandbox/test/chain-thread.test.ts'];

export default defineConfig({
  test: {
    globalSetup: ['test/setup/global.ts'],
    setupFiles: ['test/setup/each-file.ts'],
    // Compiled modules are kept for the chain's threads and for the processes that tests start.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules', '.cache', 'bellwether-tests') },
    // One more than two cores: tests that wait for a process or a deadline leave theirs to the others.
    maxWorkers: 3,
    // Ten times what the longest needs: a busy machine is no failure.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 30_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'files',
          include: ['packages/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...REPLACE_MODULES],
          // Files share the modules of their worker: loading them anew took a third of the time of a run.
          isolate: false,
        },
      },
      { extends: true, test: { name: 'isolated files', include: REPLACE_MODULES, isolate: true } },
    ],
  },
});
