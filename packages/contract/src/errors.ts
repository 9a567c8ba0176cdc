/**
 * The error registry: one row per code, never renamed or reused. `title` is the short human name, `fix` the sentence
 * that says what to do next where that is known without looking at the request. The HTTP door adds the status.
 */
export const ERRORS = {
  // The request itself
  invalid_request: {
    title: 'Invalid request',
    fix: 'Correct every field listed in "errors" and send the request again.',
  },
  invalid_json: { title: 'Invalid JSON', fix: 'Send one well-formed JSON value, encoded as UTF-8.' },
  body_required: { title: 'Body required', fix: 'Send a JSON object as the body.' },
  body_too_large: {
    title: 'Body too large',
    fix: 'Send at most 64 KiB; 256 KiB to POST /markets/batch-trade.',
  },
  unsupported_media_type: {
    title: 'Unsupported media type',
    fix: 'Send the body with Content-Type: application/json.',
  },
  route_not_found: { title: 'Route not found', fix: 'See /openapi.json for the routes that exist.' },
  invalid_target: {
    title: 'Invalid request target',
    fix: 'Send a path that begins with one "/" as the target, and exactly one Host header.',
  },
  host_not_allowed: {
    title: 'Host not allowed',
    fix: 'Use the public URL; the operator can name further hosts in ALLOWED_HOSTS.',
  },
  headers_too_large: {
    title: 'Headers too large',
    fix: 'Send at most 16 KiB of headers, the target included.',
  },
  request_timeout: {
    title: 'Request timeout',
    fix: 'Send the whole request at once; RECEIVE_TIMEOUT_S is the time that it may take.',
  },
  method_not_allowed: { title: 'Method not allowed', fix: 'Use one of the methods in the Allow header.' },
  unauthorized: {
    title: 'Unauthorized',
    fix: 'Send "Authorization: Bearer <API key>" with an active key from POST /agents/register.',
  },
  rate_limited: { title: 'Rate limited', fix: 'Wait for Retry-After seconds, then try again with jitter.' },
  internal_error: { title: 'Internal error', fix: 'Try again; quote the requestId when it persists.' },
  service_unavailable: {
    title: 'Service unavailable',
    fix: 'Try again in a moment; GET /readyz says what is missing.',
  },
  overloaded: {
    title: 'Overloaded',
    fix: 'Nothing was done. Wait for Retry-After seconds, then try again with jitter; cancels and the pause are still taken.',
  },

  // Idempotency
  idempotency_key_invalid: {
    title: 'Invalid Idempotency-Key',
    fix: 'Send 1 to 255 printable ASCII characters, or leave the header out.',
  },
  idempotency_key_reused: {
    title: 'Idempotency-Key reused',
    fix: 'Use a new key for a new request; the same key belongs to the same body.',
  },
  idempotency_in_flight: {
    title: 'Twin request in flight',
    fix: 'Wait for Retry-After seconds and send the same request again.',
  },
  secret_already_shown: {
    title: 'Secret already shown',
    fix: 'The first answer carried the secret. If it was lost, make a new one.',
  },

  idempotency_limit_reached: {
    title: 'Too many idempotency keys',
    fix: 'Keys are kept for 24 hours: wait until old ones lapse, or leave Idempotency-Key out where a repeat does no harm. A signed order is idempotent by itself.',
  },

  // Agents and keys
  claim_code_required: {
    title: 'Claim code required',
    fix: 'Name the claim code: GET /agents/claim/{claimCode}.',
  },
  claim_code_not_found: {
    title: 'Claim code not found',
    fix: 'Check the code: two groups of five letters and digits.',
  },
  api_key_not_found: {
    title: 'API key not found',
    fix: 'List the keys of this agent with GET /agents/api-key/list.',
  },
  api_key_limit_reached: {
    title: 'Too many API keys',
    fix: 'Revoke a key that is not used any more: DELETE /agents/api-key/{id}.',
  },
  last_active_key: {
    title: 'Last active key',
    fix: 'Create another key first, or revoke with ?force=true and lose access.',
  },

  // Owners and what they lock
  locked_by_owner: {
    title: 'Locked by the owner',
    fix: 'Keep within "lockedByOwner" of GET /agents/settings, or ask the owner, who can change it on the claim page.',
  },
  owner_session_required: {
    title: 'Sign-in required',
    fix: 'Open the claim URL, or /owner, in a browser and sign in with your passkey.',
  },
  origin_not_allowed: {
    title: 'Origin not allowed',
    fix: "Use the service's own pages, under its public URL; the operator can name further origins in ALLOWED_ORIGINS.",
  },
  passkey_challenge_expired: {
    title: 'Passkey challenge expired',
    fix: 'Start again: a challenge is good for one answer within five minutes.',
  },
  passkey_rejected: {
    title: 'Passkey rejected',
    fix: 'Try again with the passkey that you registered here, or register a new one.',
  },
  agent_already_claimed: {
    title: 'Agent already claimed',
    fix: 'An agent has one owner. Ask whoever claimed it.',
  },
  agent_not_found: { title: 'Agent not found', fix: 'Use the id of one of your agents.' },

  // Operator
  operator_disabled: {
    title: 'Operator routes disabled',
    fix: 'Start the service with OPERATOR_KEY (at least 24 characters), and send it as "Authorization: Bearer <OPERATOR_KEY>".',
  },

  // Skills
  skill_not_found: { title: 'Skill not found', fix: 'List the skills with GET /agent/skill/skills.' },
  skill_limit_reached: {
    title: 'Too many skills',
    fix: 'An owner keeps at most 100 skills that wait or are approved; ask the operator to review or refuse some.',
  },
  skill_queue_full: {
    title: 'Too many pending skills',
    fix: 'Wait until your earlier submissions are reviewed.',
  },

  // Wallets
  venue_credentials_invalid: {
    title: 'Venue credentials invalid',
    fix: "Make them anew by the venue's signed challenge (createOrDeriveApiKey) and register all three values unchanged.",
  },
  wallet_owner_mismatch: {
    title: 'Wallet does not belong to the key',
    fix: 'Register the EOA that made the venue key, or the proxy, Safe or deposit wallet that the factories derive from it.',
  },
  wallet_limit_reached: {
    title: 'Too many wallets',
    fix: 'Unlink a wallet that is not used any more: POST /wallet/unlink.',
  },
  wallet_already_registered: {
    title: 'Wallet already registered',
    fix: "POST /wallet/link with the EOA's signature moves wallet and credential, with what restricts them, to your owner.",
  },
  credential_type_mismatch: {
    title: 'Credential of another type',
    fix: "Register this wallet's credentials again with signatureType 3, or sign the order for the registered type.",
  },
  invalid_solana_address: {
    title: 'Invalid Solana address',
    fix: 'Send the base58 text of a 32-byte public key.',
  },
  link_challenge_invalid: {
    title: 'Link challenge unknown, used or expired',
    fix: 'Ask for a new one with GET /wallet/link/challenge and sign its message within five minutes.',
  },
  link_signature_invalid: {
    title: 'Link signature invalid',
    fix: "Sign the challenge's message unchanged: EIP-191 personal_sign with the wallet's EOA, or Ed25519 with the Solana key.",
  },
  wallet_not_found: {
    title: 'Wallet not found',
    fix: 'Use a wallet that this agent registered, linked or traded with, or ask the owner to grant it on the page /owner.',
  },

  wallet_required: { title: 'Wallet required', fix: 'Name one of the wallets that the detail lists.' },

  // Markets
  unknown_venue: {
    title: 'Unknown venue',
    fix: 'Use one of the venues listed in the detail, or leave the field out.',
  },
  wrong_venue_route: {
    title: 'Wrong route for this venue',
    fix: 'Use the quote → sign → submit routes of that venue.',
  },
  market_not_resolved: {
    title: 'Market not resolved',
    fix: 'Redeem once the market is resolved, or set autoRedeemEnabled and it happens by itself.',
  },
  market_not_found: { title: 'Market not found', fix: 'Find markets with GET /markets?q=…' },
  unknown_market: { title: 'Unknown market', fix: 'Use the conditionId of a market from GET /markets.' },
  market_not_active: { title: 'Market not active', fix: 'Choose a market that is active and not resolved.' },
  contradictory_filter: { title: 'Contradictory filter', fix: 'Leave one of the two parameters out.' },
  history_too_fine: {
    title: 'History too fine',
    fix: 'Ask for the fidelity named in the detail, or for less time.',
  },
  unknown_sort_field: { title: 'Unknown sort field', fix: 'Use one of the fields listed in the detail.' },

  // Orders: coherence
  token_market_mismatch: { title: 'Token of another market', fix: "Use one of the market's clobTokenIds." },
  outcome_token_mismatch: {
    title: 'Token of the other outcome',
    fix: 'clobTokenIds are [YES, NO]: make outcome and order.tokenId agree.',
  },
  taker_not_supported: {
    title: 'Private taker not supported',
    fix: 'Sign the order with the zero address as taker.',
  },
  salt_out_of_range: { title: 'Salt out of range', fix: 'Use a salt between 0 and 2^53−1.' },
  fee_rate_out_of_range: { title: 'Fee rate out of range', fix: 'Sign feeRateBps between 0 and 1000.' },
  amount_out_of_range: {
    title: 'Amount out of range',
    fix: 'makerAmount and takerAmount are positive integers in micro-units.',
  },
  order_size_mismatch: {
    title: 'orderSize does not match the signed amounts',
    fix: 'orderSize is takerAmount (BUY) or makerAmount (SELL) divided by 1,000,000.',
  },
  price_mismatch: {
    title: 'price does not match the signed amounts',
    fix: 'price is collateral divided by shares of the signed amounts, on the tick grid.',
  },
  price_off_tick_grid: {
    title: 'Price off the tick grid',
    fix: "Round the price to a whole number of the market's tickSize.",
  },
  price_out_of_range: {
    title: 'Price out of range',
    fix: 'Use a price between one tick and one minus one tick.',
  },
  immediate_buy_precision: {
    title: 'Too many decimals for an immediate BUY',
    fix: 'For FOK and FAK BUY orders truncate makerAmount to 2 decimals (a multiple of 10000) and takerAmount to 4 (a multiple of 100) before signing.',
  },
  size_below_minimum: { title: 'Size below the minimum', fix: "Order at least the market's minOrderSize." },
  amount_below_minimum: {
    title: 'Amount below the minimum',
    fix: 'A BUY that executes at once spends at least 1 collateral.',
  },
  order_type_mismatch: {
    title: 'orderType does not fit isLimitOrder',
    fix: 'Market orders are FAK or FOK; limit orders GTC, GTD, FAK or FOK.',
  },
  post_only_mismatch: {
    title: 'postOnly does not fit orderType',
    fix: 'postOnly goes with GTC and GTD only.',
  },
  expiration_required: {
    title: 'Expiration required',
    fix: "Sign a GTD order with order.expiration in seconds, at least the venue's minimum ahead.",
  },
  expiration_too_soon: { title: 'Expiration too soon', fix: 'Sign a later order.expiration.' },
  expiration_not_allowed: {
    title: 'Expiration not allowed',
    fix: 'Only GTD orders carry an expiration; sign "0" for all others.',
  },
  expiration_mismatch: {
    title: 'expirationTime and order.expiration disagree',
    fix: 'expirationTime is order.expiration × 1000 (milliseconds against seconds).',
  },
  wallet_address_mismatch: {
    title: 'walletAddress is neither signer nor maker',
    fix: 'Leave walletAddress out, or set it to order.signer or order.maker.',
  },
  funder_address_mismatch: {
    title: 'funderAddress is not the maker',
    fix: 'funderAddress is order.maker; leave it out otherwise.',
  },
  owner_mismatch: {
    title: 'owner is not the stored credential',
    fix: 'Leave owner out, or send the apiKey registered for this wallet.',
  },
  tick_size_mismatch: {
    title: "tickSize is not the market's",
    fix: "Leave tickSize out, or send the market's own.",
  },
  neg_risk_mismatch: {
    title: "negRisk is not the market's",
    fix: "Leave negRisk out, or send the market's own.",
  },
  invalid_order_payload: {
    title: 'Invalid order payload',
    fix: 'See "diagnosis": it says which check failed, what was recovered and what was expected.',
  },
  insufficient_balance: {
    title: 'Insufficient balance',
    fix: 'Order less, cancel open orders, or add funds (on paper: POST /paper/faucet).',
  },

  // Orders: safeguards, in the order in which they are checked
  trading_paused: {
    title: 'Trading paused',
    fix: 'Resume with POST /agents/settings {"tradingPaused": false}. Cancels and redeems go through meanwhile.',
  },
  credentials_not_registered: {
    title: 'Wallet credentials not registered',
    fix: 'Register them with POST /wallet/credentials first.',
  },
  claim_required: {
    title: 'Claim required',
    fix: 'Let the owner open the claimUrl before trading on a live venue.',
  },
  max_trade_amount_exceeded: {
    title: 'Trade above maxTradeAmount',
    fix: 'Order less, or raise maxTradeAmount in POST /agents/settings.',
  },
  max_trades_per_day_exceeded: {
    title: 'Daily number of trades used up',
    fix: 'Wait until quotaResetsAt, or raise maxTradesPerDay in POST /agents/settings.',
  },
  daily_trade_amount_exceeded: {
    title: 'Daily trade amount used up',
    fix: 'Wait until the next UTC day, or raise dailyTradeAmountLimit in POST /agents/settings.',
  },
  max_position_value_exceeded: {
    title: 'Position would exceed maxPositionValue',
    fix: 'Order less, reduce the position, or raise maxPositionValue in POST /agents/settings.',
  },
  daily_loss_limit_reached: {
    title: 'Daily loss limit reached',
    fix: 'Only orders that reduce exposure are taken until the next UTC day.',
  },

  // Orders: afterwards
  order_not_found: { title: 'Order not found', fix: "List this agent's orders with GET /markets/orders." },
  order_already_placed: {
    title: 'Order already placed',
    fix: 'This signed order is placed with other options, or by another agent; sign a new one with a new salt.',
  },
  order_outcome_unknown: {
    title: 'Order outcome unknown',
    fix: 'Send the same signed order again after Retry-After seconds: it is never executed twice, and the answer is the truth.',
  },

  // Venue B: quotes
  amount_required: { title: 'amount required', fix: 'A BUY names amount: the collateral to spend at most.' },
  shares_required: { title: 'shares required', fix: 'A SELL names shares: the contracts to sell.' },
  amount_not_allowed: { title: 'amount on a SELL', fix: 'A SELL takes shares; leave amount out.' },
  shares_not_allowed: { title: 'shares on a BUY', fix: 'A BUY takes amount; leave shares out.' },
  too_many_decimals: { title: 'Too many decimals', fix: 'Send at most 6 decimals.' },
  quote_not_found: {
    title: 'Quote not found',
    fix: 'Submit the quoteId of a quote that this agent asked for; ask for a new one otherwise.',
  },
  quote_not_executable: {
    title: 'Quote holds no transaction',
    fix: 'Ask for a new quote: this one was a preview, or says why in its quoteErrorCode.',
  },
  quote_expired: {
    title: 'Quote expired',
    fix: 'Ask for a new quote, sign and submit it before its expiresAt.',
  },
  quote_already_used: {
    title: 'Quote already used',
    fix: 'A quote is good for one signed transaction. Look its order up, or ask for a new quote.',
  },
  quote_mismatch: {
    title: 'Not what was quoted',
    fix: 'Leave the field out, or send what the quote says.',
  },

  // Venue B: the signed transaction
  transaction_malformed: {
    title: 'Malformed transaction',
    fix: 'Send the base64 of the whole signed transaction, as your signer returned it.',
  },
  transaction_version_not_supported: {
    title: 'Transaction version not supported',
    fix: 'Sign the transaction of the quote as it is: legacy or version 0.',
  },
  transaction_mismatch: {
    title: 'Not the transaction that was quoted',
    fix: 'Sign the message of unsignedTransaction byte for byte, and change nothing in it.',
  },
  transaction_not_signed: {
    title: 'Signature missing',
    fix: 'Sign with every key that the message requires; see "diagnosis".',
  },
  transaction_signature_invalid: {
    title: 'Signature invalid',
    fix: 'Sign the message bytes with the key of the wallet that was quoted for; see "diagnosis".',
  },
  transaction_would_fail: {
    title: 'The transaction would fail',
    fix: 'See the detail; put right what is missing and ask for a new quote.',
  },
  order_id_required: { title: 'Order id required', fix: 'Name orderId or venueOrderId.' },

  // Venue B: the fee
  fee_amount_required: {
    title: 'Fee amount required',
    fix: 'Send amount as a decimal text, such as "0.25".',
  },
  invalid_fee_amount: {
    title: 'Invalid fee amount',
    fix: 'Send a positive decimal text with at most 6 decimals.',
  },
  fee_amount_too_large: { title: 'Fee amount too large', fix: 'Charge no more than the detail says.' },
  from_address_required: {
    title: 'Wallet address required',
    fix: 'Name the wallet that owns the collateral account.',
  },
  delegate_equals_owner: {
    title: 'The delegate is the owner',
    fix: "Charge the user's wallet, not the platform's own.",
  },
  token_account_not_found: {
    title: 'No collateral account',
    fix: 'The wallet has no associated token account for the collateral; receive some of it first.',
  },
  delegation_insufficient: {
    title: 'Delegation insufficient',
    fix: 'Approve the delegate that GET /venueb/agent/delegation names for at least the fee.',
  },
  blocked_by_policy: {
    title: "Blocked by the signing provider's policy",
    fix: "Configure the provider's authorization policy to allow raw signing for the platform's vault.",
  },
  wallet_not_yours: {
    title: "Not a wallet of the caller's owner",
    fix: 'Link the wallet with POST /wallet/link, charge one that an order of yours was submitted with, or ask the owner to grant it on the page /owner.',
  },
  signing_failed: {
    title: 'The signing provider did not sign',
    fix: 'Nothing was charged. Try again; the detail says what the provider said.',
  },
  broadcast_failed: {
    title: 'The fee was not broadcast',
    fix: 'Nothing was charged. Try again in a moment.',
  },
  fee_outcome_unknown: {
    title: 'Fee outcome unknown',
    fix: 'Send the same request with the same Idempotency-Key after Retry-After seconds: it is charged once.',
  },

  // Webhooks
  webhook_not_found: { title: 'Webhook not found', fix: "List this agent's webhooks with GET /webhooks." },
  webhook_url_refused: {
    title: 'Webhook URL refused',
    fix: 'Use an https URL without user name, on port 443 of a public host.',
  },
  webhook_limit_reached: {
    title: 'Too many webhooks',
    fix: 'Delete one that is no longer needed with DELETE /webhooks/{id}.',
  },
  webhook_disabled: {
    title: 'Webhook switched off',
    fix: 'Switch it on again with POST /webhooks/{id}/enable.',
  },
  webhook_signature_invalid: {
    title: 'Callback not accepted',
    fix: 'Send x-signature: the hex HMAC-SHA256 of the raw body with the secret agreed for this source.',
  },

  // Paper
  faucet_allowance_exceeded: {
    title: 'Faucet allowance used up',
    fix: 'Ask for no more than the detail says is left.',
  },
  paper_only: { title: 'Paper venue only', fix: 'This route exists while the venue is paper.' },
} as const satisfies Record<string, { readonly title: string; readonly fix: string }>;

export type ErrorCode = keyof typeof ERRORS;

/** What a refusing venue says in `errorCode` of a 201 answer with `success: false`, and in words. */
export const VENUE_REFUSALS = {
  fok_not_filled: 'The order could not be filled completely at once, so nothing of it was executed.',
  fak_no_match: 'Nothing on the book matched the order, so nothing of it was executed.',
  post_only_would_cross: 'The post-only order would have taken liquidity.',
  insufficient_balance: 'The balance no longer covered the order when it reached the venue.',
  market_closed: 'The market stopped trading before the order reached the venue.',
  market_not_found: 'The venue does not list this market.',
  price_off_tick_grid: "The price is not on the venue's tick grid.",
  price_out_of_range: "The price is outside the venue's range.",
  size_below_minimum: "The size is below the venue's minimum.",
  amount_below_minimum: 'A BUY that executes at once spends at least 1 collateral.',
  already_expired: "The order's expiration has passed.",
  duplicate_order: 'The venue already knows this order.',
  post_only_needs_gtc_or_gtd: 'Post-only goes with GTC and GTD only.',
  venue_unavailable: 'The venue was not reachable, and the order provably never reached it.',
  not_received: 'The service stopped before the order reached the venue; nothing was executed.',
  reverted: 'The venue did not fill the order and sent everything back.',
  not_landed: 'The transaction did not reach the chain before its blockhash expired; nothing was executed.',
  transaction_failed: 'The transaction failed on the chain; nothing was executed.',
  refused_by_chain: 'The chain refused the transaction before it was broadcast; nothing was executed.',
} as const;

export type VenueRefusal = keyof typeof VENUE_REFUSALS;
