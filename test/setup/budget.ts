/** What tests may take of a machine, and of a lead. */

/** A tenth of the random runs in `npm test`, all of them in `npm run test:faults`. */
export const budget = (all: number): number =>
  process.env.RANDOM_RUNS === 'all' ? all : Math.ceil(all / 10);

/**
 * For processes that run most of their code a few times, which is what tests start: to optimize it takes longer than it
 * saves, and so does to look through what is young again and again.
 */
export const SHORT_LIVED = ['--no-opt', '--min-semi-space-size=32', '--max-semi-space-size=64'] as const;

/** Where nothing is killed or frozen, a lead must not end because a busy machine has left its process waiting. */
export const LONG_LEASE = { heldForMs: 60_000, silentAfterMs: 61_000 } as const;
