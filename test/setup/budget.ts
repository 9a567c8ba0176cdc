/** What tests may take of a machine, and of a lead. */

/** A tenth of the random runs in `npm test`, all of them in `npm run test:faults`. */
export const budget = (all: number): number =>
  process.env.RANDOM_RUNS === 'all' ? all : Math.ceil(all / 10);

/** Where nothing is killed or frozen, a lead must not end because a busy machine has left its process waiting. */
export const LONG_LEASE = { heldForMs: 60_000, silentAfterMs: 61_000 } as const;
