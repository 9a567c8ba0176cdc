/** Positions: what fills do to them, holdings, results, redemption. */
export { bindChainPositions } from './chain-positions.ts';
export { positionJobs } from './jobs.ts';
export { narrowed, pageOf } from './position-filters.ts';
export { lockPositions, type Resolved, readHeld, type TokenKey } from './position-reads.ts';
export { createPositionStore, type PositionStore } from './position-store.ts';
export { type FoldedPositions, writeParts } from './position-writes.ts';
export {
  closedPositions,
  currentPositions,
  type Holdings,
  holdings,
  hoursUntil,
  isResolved,
  type PositionNeeds,
  type PositionQuery,
  positionRecords,
  type Valued,
  valued,
  walletsOf,
} from './positions.ts';
export { PositionsInPlay } from './positions-in-play.ts';
export { createRedemptionStore } from './redemption-store.ts';
export {
  createRelayedRedemptions,
  type RelayedRedemption,
  type RelayedRedemptions,
} from './relayed-redemptions.ts';
export { bindPositions } from './routes.ts';
