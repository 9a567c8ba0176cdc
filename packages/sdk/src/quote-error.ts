/** What can go wrong on venue B before or beside the service's own refusals. */
import type { OverreachCode } from '@bellwether/protocol';

export type QuoteFault =
  /** More than six decimals, not positive, `amount` on a SELL or `shares` on a BUY. */
  | 'invalid_amount'
  | 'invalid_solana_address'
  /** A preview, or the venue would not quote: `quoteErrorCode` says why. */
  | 'quote_not_executable'
  | 'quote_expired'
  /** The order has no outcome yet. */
  | 'still_open'
  | 'token_account_not_found'
  /** A live chain: name a JSON-RPC node of your own. */
  | 'rpc_url_required'
  /** The answer about the delegation contradicts the wallet or the mint. */
  | 'delegation_mismatch'
  | 'transaction_failed'
  /** Sent, but neither landed nor dead when the waiting ended. */
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
    /** Not a legacy or version 0 transaction in its one right spelling. */
    | 'malformed'
    /** The quote is of another market, outcome, action or amount than what was asked for. */
    | 'other_order'
    /** The quote promises nothing, or less than nothing, in return. */
    | 'nothing_promised'
    /** A node says that it would fail. */
    | 'would_fail';
  readonly detail: string;
  /** With `instruction_not_known`: whose instruction it is. */
  readonly program?: string;
};

/** What was to be signed does something that was not asked for. It was not signed; do not sign it elsewhere. */
export class UnsafeTransaction extends Error {
  override readonly name = 'UnsafeTransaction';
  /** Every one that was found. */
  readonly reasons: readonly UnsafeReason[];

  constructor(reasons: readonly UnsafeReason[]) {
    super(`not signed: ${reasons.map(({ detail }) => detail).join('; ')}`);
    this.reasons = reasons;
  }
}
