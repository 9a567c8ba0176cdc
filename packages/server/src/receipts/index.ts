/** Receipts: an order's chained record of what was asked, checked, answered and filled. */
export { type AuditFault, auditReceipts } from './audit.ts';
export { bindReceipts } from './routes.ts';
export { createReceiptStore } from './store.ts';
export { receiptJobs } from './write.ts';
