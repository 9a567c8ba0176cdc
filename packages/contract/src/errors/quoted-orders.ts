/** Rows of the error registry: quotes, signed transactions and the platform fee. */
import type { ErrorRow } from './error-row.ts';

export const QUOTED_ORDER_ERRORS = {
  // Quotes
  amount_required: {
    status: 400,
    title: 'amount required',
    fix: 'A BUY names amount: the collateral to spend at most.',
  },
  shares_required: {
    status: 400,
    title: 'shares required',
    fix: 'A SELL names shares: the contracts to sell.',
  },
  amount_not_allowed: {
    status: 400,
    title: 'amount on a SELL',
    fix: 'A SELL takes shares; leave amount out.',
  },
  shares_not_allowed: { status: 400, title: 'shares on a BUY', fix: 'A BUY takes amount; leave shares out.' },
  too_many_decimals: { status: 400, title: 'Too many decimals', fix: 'Send at most 6 decimals.' },
  quote_not_found: {
    status: 404,
    title: 'Quote not found',
    fix: 'Submit the quoteId of a quote that this agent asked for; ask for a new one otherwise.',
  },
  quote_not_executable: {
    status: 400,
    title: 'Quote holds no transaction',
    fix: 'Ask for a new quote: this one was a preview, or says why in its quoteErrorCode.',
  },
  quote_expired: {
    status: 400,
    title: 'Quote expired',
    fix: 'Ask for a new quote, sign and submit it before its expiresAt.',
  },
  quote_already_used: {
    status: 409,
    title: 'Quote already used',
    fix: 'A quote is good for one signed transaction. Look its order up, or ask for a new quote.',
  },
  quote_mismatch: {
    status: 400,
    title: 'Not what was quoted',
    fix: 'Leave the field out, or send what the quote says.',
  },

  // The signed transaction of a quote
  transaction_malformed: {
    status: 400,
    title: 'Malformed transaction',
    fix: 'Send the base64 of the whole signed transaction, as your signer returned it.',
  },
  transaction_version_not_supported: {
    status: 400,
    title: 'Transaction version not supported',
    fix: 'Sign the transaction of the quote as it is: legacy or version 0.',
  },
  transaction_mismatch: {
    status: 400,
    title: 'Not the transaction that was quoted',
    fix: 'Sign the message of unsignedTransaction byte for byte, and change nothing in it.',
  },
  transaction_not_signed: {
    status: 400,
    title: 'Signature missing',
    fix: 'Sign with every key that the message requires; see "diagnosis".',
  },
  transaction_signature_invalid: {
    status: 400,
    title: 'Signature invalid',
    fix: 'Sign the message bytes with the key of the wallet that was quoted for; see "diagnosis".',
  },
  transaction_would_fail: {
    status: 400,
    title: 'The transaction would fail',
    fix: 'See the detail; put right what is missing and ask for a new quote.',
  },
  order_id_required: { status: 400, title: 'Order id required', fix: 'Name orderId or venueOrderId.' },

  // The platform fee
  fee_amount_required: {
    status: 400,
    title: 'Fee amount required',
    fix: 'Send amount as a decimal text, such as "0.25".',
  },
  invalid_fee_amount: {
    status: 400,
    title: 'Invalid fee amount',
    fix: 'Send a positive decimal text with at most 6 decimals.',
  },
  fee_amount_too_large: {
    status: 400,
    title: 'Fee amount too large',
    fix: 'Charge no more than the detail says.',
  },
  from_address_required: {
    status: 400,
    title: 'Wallet address required',
    fix: 'Name the wallet that owns the collateral account.',
  },
  delegate_equals_owner: {
    status: 400,
    title: 'The delegate is the owner',
    fix: "Charge the user's wallet, not the platform's own.",
  },
  token_account_not_found: {
    status: 400,
    title: 'No collateral account',
    fix: 'The wallet has no associated token account for the collateral; receive some of it first.',
  },
  delegation_insufficient: {
    status: 400,
    title: 'Delegation insufficient',
    fix: 'Approve the delegate that GET /venueb/agent/delegation names for at least the fee.',
  },
  blocked_by_policy: {
    status: 400,
    title: "Blocked by the signing provider's policy",
    fix: "Configure the provider's authorization policy to allow raw signing for the platform's vault.",
  },
  wallet_not_yours: {
    status: 403,
    title: "Not a wallet of the caller's owner",
    fix: 'Link the wallet with POST /wallet/link, charge one that an order of yours was submitted with, or ask the owner to grant it on the page /owner.',
  },
  signing_failed: {
    status: 500,
    title: 'The signing provider did not sign',
    fix: 'Nothing was charged. Try again; the detail says what the provider said.',
  },
  broadcast_failed: {
    status: 500,
    title: 'The fee was not broadcast',
    fix: 'Nothing was charged. Try again in a moment.',
  },
  fee_outcome_unknown: {
    status: 500,
    title: 'Fee outcome unknown',
    fix: 'Send the same request with the same Idempotency-Key after Retry-After seconds: it is charged once.',
  },
} as const satisfies Record<string, ErrorRow>;
