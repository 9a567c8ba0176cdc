/** Orders that were placed, on every venue: read, canceled, and what came of them. */
export {
  type CancelOrderNeeds,
  cancelMarket,
  cancelOfOwner,
  cancelOrder,
  orderJobs,
} from './cancel-orders.ts';
export {
  type GetOrderNeeds,
  getOrder,
  type ListOrdersNeeds,
  listFills,
  listOpenOrders,
  listOrders,
  orderRecord,
} from './read-orders.ts';
export { type AttemptRow, createResultStore } from './result-store.ts';
export { bindJournal, bindOrders } from './routes.ts';
export { type JournalNeeds, type JournalQuery, journalPage, resultOf } from './trades-journal.ts';
