/** Positions: what fills do to them, holdings, results, redemption. */

export { createPositionStore } from './position-store.ts';
export {
  closedPositions,
  currentPositions,
  type Holdings,
  holdings,
  hoursUntil,
  isResolved,
  narrowed,
  type PositionNeeds,
  type PositionQuery,
  positionRecords,
  type Valued,
  valued,
  walletsOf,
} from './positions.ts';
export {
  type FoldedPositions,
  lockPositions,
  PositionsInPlay,
  type Resolved,
  readHeld,
  type TokenKey,
  writeParts,
} from './positions-in-play.ts';
export { positionJobs } from './redeem.ts';
export {
  createRedemptionStore,
  createRelayedRedemptions,
  type RelayedRedemption,
  type RelayedRedemptions,
} from './redemption-store.ts';
export { bindChainPositions, bindPositions } from './routes.ts';
