import { join } from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { Results } from './test/setup/results.ts';

/** What kills, freezes, takes over, runs replicas, programs or a browser: `npm run test:faults`. */
const FAULTS = ['packages/*/test/faults/**/*.test.ts', 'test/faults/**/*.test.ts'];

/** Files that replace a module (`vi.mock`): what another file has loaded before would keep the real one. */
const REPLACE_MODULES = ['packages/sandbox/test/faults/chain-thread.test.ts'];

/** Their random runs are few in `npm test`, and all of them beside the faults (`budget`). */
const PROPERTIES = [
  'packages/exchange/test/engine/engine.property.test.ts',
  'packages/exchange/test/engine/sweeps.test.ts',
  'packages/server/test/polymarket-matches.test.ts',
  'packages/exchange/src/world/world.test.ts',
  'test/ledger-model/ledger.test.ts',
];

/**
 * They take longest, in the order in which they begin: no run ends with one of them alone, and those that wait most (silence, the venue's
 * patience, a page that stands still) follow one another, while the others compute.
 */
const LONGEST = [
  'test/faults/silent-agents.test.ts',
  'test/faults/simulation.test.ts',
  'test/faults/packages.test.ts',
  'test/ledger-model/ledger.test.ts',
  'test/faults/lifecycle.test.ts',
  'packages/exchange/test/engine/engine.property.test.ts',
  'test/faults/histories.test.ts',
  'test/faults/database-killed.test.ts',
  'test/faults/backup.test.ts',
  'test/faults/live-soak.test.ts',
  'test/faults/group-crash.test.ts',
  'test/faults/database-failover.test.ts',
  'test/faults/venue-heartbeat.test.ts',
  'test/faults/crash.test.ts',
  'test/faults/one-folder.test.ts',
  'test/faults/takeover.test.ts',
  'test/faults/console-passkeys.test.ts',
  'packages/server/test/polymarket-matches.test.ts',
  'packages/exchange/src/world/world.test.ts',
  'test/faults/edge-connections.test.ts',
  'test/faults/console.test.ts',
  'test/faults/exits-deaths.test.ts',
  'test/faults/console-stillness.test.ts',
  'test/faults/cli-shell.test.ts',
  'packages/server/test/polymarket-half-answers.test.ts',
  'test/e2e/mcp.test.ts',
  'test/e2e/openapi-examples.test.ts',
  'test/e2e/mcp-words.test.ts',
  'test/e2e/live-relayed-sets.test.ts',
  'test/e2e/venue-heartbeat.test.ts',
  'packages/sandbox/test/dflow-trading.test.ts',
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

const { TEST_RESULTS } = process.env;

export default defineConfig({
  test: {
    reporters: ['default', ...(TEST_RESULTS === undefined ? [] : [new Results(TEST_RESULTS)])],
    globalSetup: ['test/setup/global.ts'],
    setupFiles: ['test/setup/each-file.ts'],
    // Compiled modules are kept for the chain's threads and for the processes that tests start.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules', '.cache', 'bellwether-tests') },
    // Two more than two cores: tests that wait for a process or a deadline leave theirs to the others.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    // What hangs fails with its name. A test that may need longer on a slow machine declares it.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'tests',
          include: ['packages/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...FAULTS],
          setupFiles: ['test/setup/long-leases.ts'],
          // Files share the modules of their worker: loading them anew took a third of the time of a run.
          isolate: false,
          // Most code runs a few times here: to optimize it takes longer than it saves.
          execArgv: ['--no-opt'],
        },
      },
      {
        extends: true,
        test: {
          name: 'faults',
          include: FAULTS,
          exclude: [...configDefaults.exclude, ...REPLACE_MODULES],
          isolate: false,
          // Most looks are a request to a process: those of four workers that wait would take a core from the others.
          expect: { poll: { interval: 100 } },
        },
      },
      { extends: true, test: { name: 'isolated faults', include: REPLACE_MODULES, isolate: true } },
      {
        extends: true,
        test: { name: 'all random runs', include: PROPERTIES, isolate: false, env: { RANDOM_RUNS: 'all' } },
      },
    ],
  },
});
