/** A signed order from request to answer: checked, judged, committed, recorded. */
export type { NewChainOrder, Recorded, TradeLedger, TradeScope } from './admission.ts';
export { leftAloneMs, type ResolveDoubtNeeds, resolveDoubt } from './doubts.ts';
export { createHandedOutSets } from './handed-out-sets.ts';
export { type TradeNeeds, UNSIGNED } from './judge-trade.ts';
export { createTradeLedger } from './ledger.ts';
export { createLiveOrderLog } from './live-order-log.ts';
export {
  createOrderStore,
  LISTED_JSON_COLUMNS,
  type ListedJson,
  listedOrderFromJson,
  type OrderFilter,
  type OrderStore,
  openStatuses,
  orderRow,
} from './order-store.ts';
export { createEvidenceLog, recordEvidence, writeEvidence } from './outcomes.ts';
export {
  type Placed,
  type Placement,
  type PlaceOrderNeeds,
  placeOrder,
  requireReady,
} from './place-order.ts';
export { checkExit, type ExitCall, sendExit, sendExitAgain } from './place-trade.ts';
export { createRefusalLog, type RefusalLog } from './refusal-log.ts';
export { type NoteRefusalNeeds, noteSubmitRefusal } from './refused-attempts.ts';
export { bindBatchTrade, bindPrepareTrade, bindSets, bindTrading } from './routes.ts';
export { tradingJobs } from './sets.ts';
export { alreadyPlaced, checkedRecord, endsWith, isRefusedAttempt } from './trade-answers.ts';
