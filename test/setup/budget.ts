/** A tenth of the random runs in `npm test`, all of them in `npm run test:faults`. */
export const budget = (all: number): number =>
  process.env.RANDOM_RUNS === 'all' ? all : Math.ceil(all / 10);
