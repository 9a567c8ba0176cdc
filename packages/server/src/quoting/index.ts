/** Trading by quote: quote, local signature, submit, followed on the chain. */
export { createTransactionToSign } from './approve-quote.ts';
export { AWAITED_SIGNATURES, createChainOrderStore } from './chain-order-store.ts';
export { quotingJobs } from './jobs.ts';
export { createQuoteStore } from './quote-store.ts';
export {
  type CancelQuotedNeeds,
  cancelOnChain,
  cursorOfOrder,
  fillsOnChain,
  journalOf,
  type ReadQuotedNeeds,
} from './records.ts';
export { bindQuotes, quoteAliases } from './routes.ts';
