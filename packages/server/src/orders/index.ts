/** Orders that were placed, on every venue: read, canceled, and what came of them. */
export { type CancelOrderNeeds, cancelMarket, cancelOfOwner, cancelOrder } from './cancel-orders.ts';
export { orderJobs } from './jobs.ts';
export { bindJournal } from './journal.ts';
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
export { bindOrders } from './routes.ts';
export { type JournalNeeds, type JournalQuery, journalPage, resultOf } from './trades-journal.ts';
