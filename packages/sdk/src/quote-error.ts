/** Errors of quoted orders that the SDK finds, apart from the service's own refusals. */
import type { OverreachCode } from '@bellwether/protocol';

export type QuoteFault =
  /** More than six decimals, not positive, `amount` on a SELL or `shares` on a BUY. */
  | 'invalid_amount'
  | 'invalid_solana_address'
  /** A preview, or the venue would not quote: `quoteErrorCode` says why. */
  | 'quote_not_executable'
  | 'quote_expired'
  /** Only the quote says which token is the outcome's, and the key is not marked as one for paper. */
  | 'mint_not_known'
  /** The owner does not want this trade. */
  | 'approval_declined'
  /** The owner has not decided yet. */
  | 'approval_waiting'
  /** The order has no outcome yet. */
  | 'still_open'
  | 'token_account_not_found'
  /** On a live chain, set your own JSON-RPC node. */
  | 'rpc_url_required'
  /** The answer about the delegation contradicts the wallet or the mint. */
  | 'delegation_mismatch'
  | 'transaction_failed'
  /** Sent, but neither landed nor dead when the wait timed out. */
  | 'not_confirmed';

export class QuoteError extends Error {
  override readonly name = 'QuoteError';
  readonly code: QuoteFault;
  /** With `quote_not_executable`: the venue's reason, when there is one. */
  readonly quoteErrorCode?: string;

  constructor(code: QuoteFault, message: string, quoteErrorCode?: string) {
    super(message);
    this.code = code;
    if (quoteErrorCode !== undefined) this.quoteErrorCode = quoteErrorCode;
  }
}

export type UnsafeReason = {
  readonly code:
    | OverreachCode
    /** Not a legacy or version 0 transaction in canonical encoding. */
    | 'malformed'
    /** The quote has another market, outcome, action or amount than the ask. */
    | 'other_order'
    /** The quote's least return is not positive. */
    | 'nothing_promised'
    /** It takes the input and brings nothing of what was bought, as far as it can be read. */
    | 'nothing_received'
    /** A node's simulation fails. */
    | 'would_fail';
  readonly detail: string;
  /** With `instruction_not_known`: the program of the instruction. */
  readonly program?: string;
};

/** The transaction does something that the agent did not ask for. It was not signed; do not sign it by other means. */
export class UnsafeTransaction extends Error {
  override readonly name = 'UnsafeTransaction';
  /** All reasons found. */
  readonly reasons: readonly UnsafeReason[];

  constructor(reasons: readonly UnsafeReason[]) {
    super(`not signed: ${reasons.map(({ detail }) => detail).join('; ')}`);
    this.reasons = reasons;
  }
}
