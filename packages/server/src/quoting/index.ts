/** Trading by quote: quote, local signature, submit, followed on the chain. */

export { quotingJobs } from './follow.ts';
export { createTransactionToSign } from './quote.ts';
export { AWAITED_SIGNATURES, createChainOrderStore, createQuoteStore } from './quote-store.ts';
export {
  type CancelQuotedNeeds,
  cancelOnChain,
  cursorOfOrder,
  fillsOnChain,
  journalOf,
  type ReadQuotedNeeds,
} from './records.ts';
export { bindQuotes, quoteAliases } from './routes.ts';
