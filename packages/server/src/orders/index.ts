/** Orders that were placed, on every venue: read, canceled, and what came of them. */
export {
  cancelMarket,
  cancelOfOwner,
  cancelOrder,
  orderJobs,
} from './cancel-orders.ts';
export {
  getOrder,
  listFills,
  listOpenOrders,
  listOrders,
  type OrderNeeds,
  orderRecord,
} from './read-orders.ts';
export { type AttemptRow, createResultStore } from './result-store.ts';
export { bindJournal, bindOrders } from './routes.ts';
export { type JournalQuery, journalPage, resultOf } from './trades-journal.ts';
