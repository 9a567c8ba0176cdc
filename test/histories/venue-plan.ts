/** Faults of the live venue itself, all the time. */
export const venuePlan = (seed: number): object => ({
  seed: String(seed),
  latencyMs: { least: 0, most: 10 },
  // 425, and then only orders that rest.
  restart: { everyMs: 5_000, downMs: 400, postOnlyMs: 300 },
  limitedShare: 0.03,
  unavailableShare: 0.02,
  droppedShare: 0.04,
  failedAfterShare: 0.04,
  garbledShare: 0.04,
  timedOutShare: 0.04,
  halfAnswersShare: 0.08,
  lateListsMs: 1_500,
  delayedShare: 0.08,
  delayedMs: 700,
  failingTradesShare: 0.15,
  balanceLagMs: 1_500,
  frozenSocketsShare: 0.2,
  droppedSocketsShare: 0.3,
  duplicatesShare: 0.2,
  reorderedShare: 0.2,
  gapsShare: 0.1,
});
