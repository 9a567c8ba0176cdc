/** Receipts: an order's chained record of what was asked, checked, answered and filled. */
export { type AuditFault, auditReceipts } from './audit.ts';
export { receiptJobs } from './jobs.ts';
export { bindReceipts } from './routes.ts';
export { createReceiptStore } from './store.ts';
