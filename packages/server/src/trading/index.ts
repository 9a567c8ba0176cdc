/** A signed order from request to answer: checked, judged, committed, recorded. */
export type { NewChainOrder, Recorded, TradeLedger, TradeScope } from './admission.ts';
export { bindBatchTrade } from './batch-route.ts';
export { checkedRecord } from './checked-record.ts';
export { createEvidenceLog, recordEvidence, writeEvidence } from './evidence.ts';
export { createHandedOutSets } from './handed-out-sets.ts';
export { tradingJobs } from './jobs.ts';
export { createTradeLedger, type VenueJournal } from './ledger.ts';
export { createLiveOrderLog } from './live-order-log.ts';
export { openStatuses } from './open-statuses.ts';
export { LISTED_JSON_COLUMNS, type ListedJson, listedOrderFromJson, orderRow } from './order-rows.ts';
export { createOrderStore, type OrderFilter, type OrderStore } from './order-store.ts';
export {
  type Placed,
  type Placement,
  type PlaceOrderNeeds,
  placeOrder,
  requireReady,
} from './place-order.ts';
export {
  checkExit,
  type ExitCall,
  type PlaceTradeNeeds,
  sendExit,
  sendExitAgain,
  type ValidateTradeNeeds,
} from './place-trade.ts';
export { bindPrepareTrade } from './prepare-route.ts';
export { createRefusalLog, type RefusalLog } from './refusal-log.ts';
export { type NoteRefusalNeeds, noteSubmitRefusal, notingRefusals } from './refused-attempts.ts';
export { leftAloneMs, type ResolveDoubtNeeds, resolveDoubt } from './resolve-doubt.ts';
export { bindTrading } from './routes.ts';
export { bindSets } from './set-routes.ts';
export { isRefusedAttempt } from './trade-answers.ts';
export { UNSIGNED } from './verify-draft.ts';
