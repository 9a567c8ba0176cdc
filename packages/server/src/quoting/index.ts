/** Trading by quote: quote, local signature, submit, followed on the chain. */

export { quotingJobs } from './follow.ts';
export type { OutcomeNeeds } from './outcomes.ts';
export { createTransactionToSign } from './quote.ts';
export { AWAITED_SIGNATURES, createChainOrderStore, createQuoteStore } from './quote-store.ts';
export { cancelOnChain, cursorOfOrder, fillsOnChain, journalOf } from './records.ts';
export { bindQuotes, quoteAliases } from './routes.ts';
