import { join } from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that replace a module (`vi.mock`): what another file has loaded before would keep the real one. */
const REPLACE_MODULES = ['packages/sandbox/test/chain-thread.test.ts'];

/** They take half a minute and more, most of it waiting: a run must not end with one of them alone. */
const LONGEST = [
  ...REPLACE_MODULES,
  'test/e2e/packages.test.ts',
  'test/e2e/cli-faults.test.ts',
  'test/e2e/crash.test.ts',
  'test/e2e/database-killed.test.ts',
  'test/e2e/lifecycle.test.ts',
  'test/e2e/cli.test.ts',
  'test/e2e/live-soak.test.ts',
  'test/e2e/live-desk.test.ts',
  'test/e2e/group-crash.test.ts',
  'test/e2e/console.test.ts',
  'test/e2e/backup.test.ts',
  'test/e2e/silent-leader.test.ts',
  'test/e2e/quoted-crash.test.ts',
  'test/e2e/plans-after-growth.test.ts',
  'test/e2e/rolling-restart.test.ts',
];

/** A run on a fresh copy knows no durations: without this, it would begin with the largest files. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = LONGEST.findIndex((file) => moduleId === join(import.meta.dirname, file));
      return at < 0 ? LONGEST.length : at;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  test: {
    globalSetup: ['test/setup/global.ts'],
    setupFiles: ['test/setup/each-file.ts'],
    // Compiled modules are kept for the chain's threads and for the processes that tests start.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules', '.cache', 'bellwether-tests') },
    // One more than two cores: tests that wait for a process or a deadline leave theirs to the others.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
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
