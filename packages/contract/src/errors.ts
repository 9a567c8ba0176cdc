/**
 * The error registry: the one description of every code that a problem carries.
 *
 * A code is never renamed or reused. A new one is snake_case, says what is wrong, subject first, and has one of the
 * endings of `ENDINGS` (packages/contract/test/errors.test.ts), which also gives its status; codes that are older than
 * this convention are the exceptions listed there. To add a code: its row in one of the groups, the operations that
 * answer it (`errors`), and the place that refuses.
 */

interface ErrorRow {
  /** The HTTP status of an answer with this code. */
  readonly status: number;
  /** A short name for people. */
  readonly title: string;
  /** The next step, where that is known without looking at the request. */
  readonly fix: string;
}

// Faults that a request to any route can have.

export const REQUEST_ERRORS = {
  // The request itself
  invalid_request: {
    status: 400,
    title: 'Invalid request',
    fix: 'Correct every field listed in "errors" and send the request again.',
  },
  invalid_json: {
    status: 400,
    title: 'Invalid JSON',
    fix: 'Send one well-formed JSON value, encoded as UTF-8, in which each object has a key once.',
  },
  body_required: { status: 400, title: 'Body required', fix: 'Send a JSON object as the body.' },
  body_too_large: {
    status: 413,
    title: 'Body too large',
    fix: 'Send at most 64 KiB; 256 KiB to POST /markets/batch-trade.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'Unsupported media type',
    fix: 'Send the body with Content-Type: application/json.',
  },
  route_not_found: {
    status: 404,
    title: 'Route not found',
    fix: 'See /llms.txt for the routes that exist.',
  },
  invalid_target: {
    status: 400,
    title: 'Invalid request target',
    fix: 'Send a path that begins with one "/" as the target, and exactly one Host header.',
  },
  host_not_allowed: {
    status: 421,
    title: 'Host not allowed',
    fix: 'Use the public URL; the operator can name further hosts in ALLOWED_HOSTS.',
  },
  origin_not_allowed: {
    status: 403,
    title: 'Origin not allowed',
    fix: "Use the service's own pages, under its public URL; the operator can name further origins in ALLOWED_ORIGINS.",
  },
  headers_too_large: {
    status: 431,
    title: 'Headers too large',
    fix: 'Send at most 16 KiB of headers, the target included.',
  },
  request_timeout: {
    status: 408,
    title: 'Request timeout',
    fix: 'Send the whole request at once; RECEIVE_TIMEOUT_S is the time that it may take.',
  },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    fix: 'Use one of the methods in the Allow header.',
  },
  unauthorized: {
    status: 401,
    title: 'Unauthorized',
    fix: 'Send "Authorization: Bearer <API key>" with an active key from POST /agents/register.',
  },
  rate_limited: {
    status: 429,
    title: 'Rate limited',
    fix: 'Wait for Retry-After seconds, then try again with jitter.',
  },
  internal_error: {
    status: 500,
    title: 'Internal error',
    fix: 'Try again; quote the requestId when it persists.',
  },
  service_unavailable: {
    status: 503,
    title: 'Service unavailable',
    fix: 'Try again in a moment; GET /readyz says what is missing.',
  },
  overloaded: {
    status: 503,
    title: 'Overloaded',
    fix: 'Nothing was done. Wait for Retry-After seconds, then try again with jitter; cancels and the pause are still taken.',
  },

  // Idempotency
  idempotency_key_invalid: {
    status: 400,
    title: 'Invalid Idempotency-Key',
    fix: 'Send 1 to 255 printable ASCII characters, or leave the header out.',
  },
  idempotency_key_reused: {
    status: 422,
    title: 'Idempotency-Key reused',
    fix: 'Use a new key for a new request; the same key belongs to the same body.',
  },
  idempotency_in_flight: {
    status: 409,
    title: 'Duplicate request in flight',
    fix: 'Wait for Retry-After seconds and send the same request again.',
  },
  secret_already_shown: {
    status: 409,
    title: 'Secret already shown',
    fix: 'The first answer carried the secret. If it was lost, make a new one with another Idempotency-Key.',
  },

  idempotency_limit_reached: {
    status: 429,
    title: 'Too many idempotency keys',
    fix: 'Keys are kept for 24 hours: wait until old ones lapse, or leave Idempotency-Key out where a repeat does no harm. A signed order needs no key.',
  },
} as const satisfies Record<string, ErrorRow>;

// Agents, owners, the operator, skills and wallets.

const ACCOUNT_ERRORS = {
  // Agents and keys
  claim_code_required: {
    status: 400,
    title: 'Claim code required',
    fix: 'Name the claim code: GET /agents/claim/{claimCode}.',
  },
  claim_code_not_found: {
    status: 404,
    title: 'Claim code not found',
    fix: 'Check the code: two groups of five letters and digits.',
  },
  api_key_not_found: {
    status: 404,
    title: 'API key not found',
    fix: 'List the keys of this agent with GET /agents/api-key/list.',
  },
  api_key_limit_reached: {
    status: 409,
    title: 'Too many API keys',
    fix: 'Revoke a key that is not used any more: DELETE /agents/api-key/{id}.',
  },
  last_active_key: {
    status: 409,
    title: 'Last active key',
    fix: 'Create another key first, or revoke with ?force=true and lose access.',
  },

  // The operator
  kept_trade_not_found: {
    status: 404,
    title: 'Kept trade not found',
    fix: 'List what is kept aside with GET /operator/kept-trades; what was decided is there no longer.',
  },

  // Owners and what they lock
  locked_by_owner: {
    status: 403,
    title: 'Locked by the owner',
    fix: 'Keep within "lockedByOwner" of GET /agents/settings, or ask the owner, who can change it on the claim page.',
  },
  owner_session_required: {
    status: 401,
    title: 'Sign-in required',
    fix: 'Open the claim URL, or /console, in a browser and sign in with your passkey.',
  },
  passkey_challenge_expired: {
    status: 400,
    title: 'Passkey challenge expired',
    fix: 'Start again: a challenge is good for one answer within five minutes.',
  },
  passkey_rejected: {
    status: 400,
    title: 'Passkey rejected',
    fix: 'Try again with the passkey that you registered here, or register a new one.',
  },
  passkey_not_found: {
    status: 404,
    title: 'Passkey not found',
    fix: 'Use the passkeyId of one of your passkeys: GET /owner/passkeys.',
  },
  another_passkey_required: {
    status: 400,
    title: 'Another passkey required',
    fix: 'Add another passkey first: an account without one cannot be opened again.',
  },
  passkey_limit_reached: {
    status: 409,
    title: 'Too many passkeys',
    fix: 'Remove a passkey that you do not use any more.',
  },
  recovery_code_invalid: {
    status: 400,
    title: 'Recovery code misspelt',
    fix: 'Compare every character with the printed code: six groups of five. This was no attempt.',
  },
  recovery_code_not_found: {
    status: 404,
    title: 'Recovery code not found',
    fix: 'Use the code that was printed last: it works once, and a newer one ends it.',
  },
  recovery_not_found: {
    status: 404,
    title: 'No recovery to undo',
    fix: 'Look at your passkeys: the day of the recovery is over, or it was undone. Remove a passkey that is not yours.',
  },
  during_recovery_not_allowed: {
    status: 400,
    title: 'Not on the day of a recovery',
    fix: 'Read, pause, cancel and decline until then. Was it not you? Undo it on the console with a passkey of before.',
  },
  agent_already_claimed: {
    status: 409,
    title: 'Agent already claimed',
    fix: 'An agent has one owner. Ask the person who claimed it.',
  },
  agent_not_found: { status: 404, title: 'Agent not found', fix: 'Use the id of one of your agents.' },

  // Operator
  operator_disabled: {
    status: 403,
    title: 'Operator routes disabled',
    fix: 'Start the service with OPERATOR_KEY (at least 24 characters), and send it as "Authorization: Bearer <OPERATOR_KEY>".',
  },

  // Skills
  skill_not_found: {
    status: 404,
    title: 'Skill not found',
    fix: 'List the skills with GET /agent/skill/skills.',
  },
  skill_limit_reached: {
    status: 409,
    title: 'Too many skills',
    fix: 'An owner keeps at most 100 skills that wait or are approved; ask the operator to review or refuse some.',
  },
  skill_queue_full: {
    status: 409,
    title: 'Too many pending skills',
    fix: 'Wait until your earlier submissions are reviewed.',
  },

  // Wallets
  venue_credentials_invalid: {
    status: 400,
    title: 'Venue credentials invalid',
    fix: "Create them again by the venue's signed challenge (createOrDeriveApiKey) and register all three values unchanged.",
  },
  wallet_owner_mismatch: {
    status: 400,
    title: 'Wallet does not belong to the key',
    fix: 'Register the EOA that made the venue key, or the proxy, Safe or deposit wallet that the factories derive from it.',
  },
  wallet_limit_reached: {
    status: 409,
    title: 'Too many wallets',
    fix: 'Unlink a wallet that is not used any more: POST /wallet/unlink.',
  },
  wallet_already_registered: {
    status: 409,
    title: 'Wallet already registered',
    fix: "POST /wallet/link with the EOA's signature moves wallet and credential, with what restricts them, to your owner.",
  },
  credential_type_mismatch: {
    status: 400,
    title: 'Credential of another type',
    fix: "Register this wallet's credentials again with signatureType 3, or sign the order for the registered type.",
  },
  invalid_solana_address: {
    status: 400,
    title: 'Invalid Solana address',
    fix: 'Send the base58 text of a 32-byte public key.',
  },
  link_challenge_invalid: {
    status: 400,
    title: 'Challenge unknown, used or expired',
    fix: 'Ask for a new one (GET /wallet/link/challenge, or GET /wallet/credentials/challenge for credentials on paper) and sign its message within five minutes.',
  },
  link_signature_invalid: {
    status: 400,
    title: 'Link signature invalid',
    fix: "Sign the challenge's message unchanged: EIP-191 personal_sign with the wallet's EOA, or Ed25519 with the Solana key.",
  },
  wallet_not_found: {
    status: 404,
    title: 'Wallet not found',
    fix: 'Use a wallet that this agent registered, linked or traded with; register or link another one first, or ask the owner to grant it on the page /owner.',
  },

  wallet_required: {
    status: 400,
    title: 'Wallet required',
    fix: 'Name one of the wallets that the detail lists.',
  },
} as const satisfies Record<string, ErrorRow>;

// Markets, orders and the safeguards.

const ORDER_ERRORS = {
  // Markets
  unknown_venue: {
    status: 400,
    title: 'Unknown venue',
    fix: 'Use one of the venues listed in the detail, or leave the field out.',
  },
  venue_not_found: {
    status: 404,
    title: 'Venue not found',
    fix: 'Use one of the names that GET /venues lists.',
  },
  wrong_venue_route: {
    status: 400,
    title: 'Wrong route for this venue',
    fix: 'Use the quote → sign → submit routes of that venue.',
  },
  market_not_resolved: {
    status: 400,
    title: 'Market not resolved',
    fix: 'Redeem once the market is resolved, or set autoRedeemEnabled: the service then redeems automatically.',
  },
  market_not_found: { status: 404, title: 'Market not found', fix: 'Find markets with GET /markets?q=…' },
  unknown_market: {
    status: 400,
    title: 'Unknown market',
    fix: 'Use the conditionId of a market from GET /markets.',
  },
  market_not_active: {
    status: 400,
    title: 'Market not active',
    fix: 'Choose a market that is active and not resolved.',
  },
  conversion_not_supported: {
    status: 400,
    title: 'Conversion not supported',
    fix: 'Convert NO shares of a market with "negRisk": true. Else sell them, and buy the YES shares that you want.',
  },
  market_version_not_supported: {
    status: 400,
    title: 'Contract version not supported',
    fix: 'Choose a market without "untradable": orders for markets of its version of the protocol cannot be placed here.',
  },
  tick_size_not_supported: {
    status: 400,
    title: 'Tick size not supported',
    fix: 'Choose a market without "untradable": prices of this one cannot be checked here. Trade it at the venue itself.',
  },
  fee_terms_not_supported: {
    status: 400,
    title: 'Fee terms not supported',
    fix: 'Choose a market without "untradable": what this one takes as a fee cannot be told here. Trade it at the venue itself.',
  },
  contradictory_filter: {
    status: 400,
    title: 'Contradictory filter',
    fix: 'Leave one of the two parameters out.',
  },
  history_too_fine: {
    status: 400,
    title: 'History too fine',
    fix: 'Ask for the fidelity named in the detail, or for less time.',
  },
  unknown_sort_field: {
    status: 400,
    title: 'Unknown sort field',
    fix: 'Use one of the fields listed in the detail.',
  },

  // Orders: coherence
  token_market_mismatch: {
    status: 400,
    title: 'Token of another market',
    fix: "Use one of the market's clobTokenIds.",
  },
  outcome_name_mismatch: {
    status: 400,
    title: 'Not an outcome of this market',
    fix: 'Say YES or NO: the detail says which is which.',
  },
  outcome_token_mismatch: {
    status: 400,
    title: 'Token of the other outcome',
    fix: 'clobTokenIds are [YES, NO]: make outcome and order.tokenId agree.',
  },
  taker_not_supported: {
    status: 400,
    title: 'Private taker not supported',
    fix: 'Sign the order with the zero address as taker.',
  },
  salt_out_of_range: { status: 400, title: 'Salt out of range', fix: 'Use a salt between 0 and 2^53−1.' },
  fee_rate_out_of_range: {
    status: 400,
    title: 'Fee rate out of range',
    fix: 'Sign feeRateBps between 0 and 1000.',
  },
  builder_not_allowed: {
    status: 400,
    title: 'Builder code not allowed',
    fix: 'Sign builder as 64 zeros, or as the code in rules.builder of GET /venues/{id}/signing, where there is one.',
  },
  amount_out_of_range: {
    status: 400,
    title: 'Amount out of range',
    fix: 'makerAmount and takerAmount are positive integers in micro-units.',
  },
  order_size_mismatch: {
    status: 400,
    title: 'orderSize does not match the signed amounts',
    fix: 'orderSize is takerAmount (BUY) or makerAmount (SELL) divided by 1,000,000.',
  },
  price_mismatch: {
    status: 400,
    title: 'price does not match the signed amounts',
    fix: 'price is collateral divided by shares of the signed amounts, on the tick grid.',
  },
  price_off_tick_grid: {
    status: 400,
    title: 'Price off the tick grid',
    fix: "Round the price to a whole number of the market's tickSize.",
  },
  price_out_of_range: {
    status: 400,
    title: 'Price out of range',
    fix: 'Use a price between one tick and one minus one tick.',
  },
  immediate_buy_precision: {
    status: 400,
    title: 'Too many decimals for an immediate BUY',
    fix: 'For FOK and FAK BUY orders truncate makerAmount to 2 decimals (a multiple of 10000) and takerAmount to 4 (a multiple of 100) before signing.',
  },
  sell_decimals_not_allowed: {
    status: 400,
    title: 'Too many decimals for an immediate SELL',
    fix: 'For FOK and FAK SELL orders truncate makerAmount (shares) to 2 decimals (a multiple of 10000) and takerAmount to 4 (a multiple of 100) before signing; what is cut off stays in the wallet, and is redeemed if the outcome wins.',
  },
  resting_amounts_mismatch: {
    status: 400,
    title: 'Amounts of a resting order are not size × price',
    fix: 'For GTC and GTD orders truncate the shares to 2 decimals (a multiple of 10000), and sign exactly shares × price as collateral.',
  },
  size_below_minimum: {
    status: 400,
    title: 'Size below the minimum',
    fix: "Order at least the market's minOrderSize.",
  },
  amount_below_minimum: {
    status: 400,
    title: 'Amount below the minimum',
    fix: 'A BUY that executes at once spends at least 1 collateral; a SELL of less than a share needs a price of 2 decimals, or more shares.',
  },
  order_type_mismatch: {
    status: 400,
    title: 'orderType does not fit isLimitOrder',
    fix: 'Market orders are FAK or FOK; limit orders GTC, GTD, FAK or FOK.',
  },
  post_only_mismatch: {
    status: 400,
    title: 'postOnly does not fit orderType',
    fix: 'postOnly goes with GTC and GTD only.',
  },
  expiration_required: {
    status: 400,
    title: 'Expiration required',
    fix: "Sign a GTD order with order.expiration in seconds, at least the venue's minimum ahead.",
  },
  expiration_too_soon: { status: 400, title: 'Expiration too soon', fix: 'Sign a later order.expiration.' },
  expiration_not_allowed: {
    status: 400,
    title: 'Expiration not allowed',
    fix: 'Only GTD orders carry an expiration; sign "0" for all others.',
  },
  expiration_mismatch: {
    status: 400,
    title: 'expirationTime and order.expiration disagree',
    fix: 'expirationTime is order.expiration × 1000 (milliseconds against seconds).',
  },
  wallet_address_mismatch: {
    status: 400,
    title: 'walletAddress is neither signer nor maker',
    fix: 'Leave walletAddress out, or set it to order.signer or order.maker.',
  },
  funder_address_mismatch: {
    status: 400,
    title: 'funderAddress is not the maker',
    fix: 'funderAddress is order.maker; leave it out otherwise.',
  },
  owner_mismatch: {
    status: 400,
    title: 'owner is not the stored credential',
    fix: 'Leave owner out, or send the apiKey registered for this wallet.',
  },
  tick_size_mismatch: {
    status: 400,
    title: "tickSize is not the market's",
    fix: "Leave tickSize out, or send the market's own.",
  },
  neg_risk_mismatch: {
    status: 400,
    title: "negRisk is not the market's",
    fix: "Leave negRisk out, or send the market's own.",
  },
  invalid_order_payload: {
    status: 400,
    title: 'Invalid order payload',
    fix: 'See "diagnosis": it says which check failed, what was recovered and what was expected.',
  },
  insufficient_balance: {
    status: 400,
    title: 'Insufficient balance',
    fix: 'Order less, cancel open orders, or add funds (on paper: POST /paper/faucet).',
  },

  // Orders: safeguards, in the order in which they are checked
  trading_paused: {
    status: 403,
    title: 'Trading paused',
    fix: 'Resume with POST /agents/settings {"tradingPaused": false}. Cancels and redeems go through meanwhile.',
  },
  credentials_not_registered: {
    status: 403,
    title: 'Wallet credentials not registered',
    fix: 'Register them with POST /wallet/credentials first; on paper POST /wallet/credentials/paper makes them for a signed text.',
  },
  claim_required: {
    status: 403,
    title: 'Claim required',
    fix: 'Let the owner open the claimUrl before trading on a live venue.',
  },
  max_trade_amount_exceeded: {
    status: 403,
    title: 'Trade above maxTradeAmount',
    fix: 'Trade less at a time, or raise maxTradeAmount in POST /agents/settings.',
  },
  max_trades_per_day_exceeded: {
    status: 403,
    title: 'Daily number of trades used up',
    fix: 'Wait until quotaResetsAt, or raise maxTradesPerDay in POST /agents/settings.',
  },
  daily_trade_amount_exceeded: {
    status: 403,
    title: 'Daily trade amount used up',
    fix: 'Wait until the next UTC day, or raise dailyTradeAmountLimit in POST /agents/settings.',
  },
  max_position_value_exceeded: {
    status: 403,
    title: 'Position would exceed maxPositionValue',
    fix: 'Order less, reduce the position, or raise maxPositionValue in POST /agents/settings.',
  },
  daily_loss_limit_reached: {
    status: 403,
    title: 'Daily loss limit reached',
    fix: 'Only orders that reduce exposure are taken until the next UTC day.',
  },
  max_open_orders_exceeded: {
    status: 403,
    title: 'Too many open orders',
    fix: 'Cancel an open order, wait until one is filled, or raise maxOpenOrders in POST /agents/settings. Selling what is held goes through.',
  },
  approval_required: {
    status: 403,
    title: "The owner's approval is required",
    fix: 'Wait until the owner has decided (GET /agents/approvals/{approvalId}, or the event approval.decided). Once approved, send the same signed order again; or order for no more than approvalAbove.',
  },

  // Approvals
  approval_not_required: {
    status: 400,
    title: 'No approval required',
    fix: 'Sign and submit the transaction of the quote; where it was withheld, ask for a new quote.',
  },
  approval_not_found: {
    status: 404,
    title: 'Approval not found',
    fix: 'Use the approvalId of the refusal, or list them: GET /agents/approvals for agents, GET /owner/approvals for owners.',
  },
  approval_gone: {
    status: 410,
    title: 'Nothing left to decide',
    fix: 'An approval that was not decided in time is asked for again when the agent sends its order again. A decision is final: to stop an approved order that is not placed yet, pause the agent.',
  },

  // Guarded exits
  exit_price_out_of_range: {
    status: 400,
    title: 'Worst price out of range',
    fix: 'Sign a worst price nearer to the market: at most exitDistancePercent (GET /agents/settings) below the trigger and below the best bid. Only the owner changes the distance.',
  },
  believed_bid_required: {
    status: 400,
    title: 'No bid to sell to',
    fix: 'Wait for a bid. A book that is crossed, stale or empty sells nothing.',
  },
  exit_liquidity_required: {
    status: 400,
    title: 'Nothing to sell to',
    fix: 'Wait for better bids, or sign a lower worst price. An order that executes at once would be spent for nothing.',
  },
  exit_trigger_out_of_range: {
    status: 400,
    title: 'Trigger after the end',
    fix: 'Choose an earlier trigger, or sign an order that ends later.',
  },
  exit_group_mismatch: {
    status: 400,
    title: 'Group of another market',
    fix: 'Name another group: a group is of one market and outcome, such as "101 YES".',
  },
  exit_order_already_used: {
    status: 409,
    title: 'Order left already',
    fix: 'This signed order is left with other terms, in the exit that is named; cancel that one, or sign another order with a new salt.',
  },
  exit_not_found: {
    status: 404,
    title: 'Exit not found',
    fix: "List this agent's exits with GET /markets/exits.",
  },
  exit_gone: {
    status: 410,
    title: 'Exit not open any more',
    fix: 'The detail says where it stands. An exit that has ended stays so: leave another one.',
  },
  exit_limit_reached: {
    status: 409,
    title: 'Too many exits',
    fix: 'Cancel exits that you need no longer: POST /markets/exits/cancel.',
  },

  // Orders: afterwards
  receipt_not_found: {
    status: 404,
    title: 'No receipt yet',
    fix: 'Receipts are made behind the trades. Ask again in a few seconds.',
  },
  order_not_found: {
    status: 404,
    title: 'Order not found',
    fix: "List this agent's orders with GET /markets/orders.",
  },
  order_already_placed: {
    status: 409,
    title: 'Order already placed',
    fix: 'This signed order is placed with other options, or by another agent; sign a new one with a new salt.',
  },
  client_order_id_already_used: {
    status: 409,
    title: 'Client order id already used',
    fix: 'The first order under this clientOrderId is named in orderId: look it up before you send another one under a new name. A refused order frees its name.',
  },
  order_outcome_unknown: {
    status: 500,
    title: 'Order outcome unknown',
    fix: 'Send the same signed order again after Retry-After seconds: it is never executed twice, and the answer is the truth.',
  },
} as const satisfies Record<string, ErrorRow>;

// Quotes, signed transactions and the platform fee.

const QUOTED_ORDER_ERRORS = {
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

// Streams of events and of books.

const STREAM_ERRORS = {
  event_cursor_invalid: {
    status: 400,
    title: 'Event cursor not accepted',
    fix: 'Send the id of an event that this service sent to this agent, unchanged; without a cursor the stream begins now.',
  },
  event_cursor_gone: {
    status: 410,
    title: 'Event cursor too old',
    fix: 'Open the stream without a cursor; after its "ready" event read GET /markets/orders, GET /markets/current-positions and GET /agents/settings, then apply the events that follow.',
  },
  stream_limit_reached: {
    status: 409,
    title: 'Too many open streams',
    fix: 'Close a stream of this agent first; one stream of each kind is enough for all that its key may see.',
  },
} as const satisfies Record<string, ErrorRow>;

export const ERRORS = {
  ...REQUEST_ERRORS,
  ...ACCOUNT_ERRORS,
  ...ORDER_ERRORS,
  ...QUOTED_ORDER_ERRORS,
  ...STREAM_ERRORS,

  // Webhooks
  webhook_not_found: {
    status: 404,
    title: 'Webhook not found',
    fix: "List this agent's webhooks with GET /webhooks.",
  },
  webhook_url_refused: {
    status: 400,
    title: 'Webhook URL refused',
    fix: 'Use an https URL without user name, on port 443 of a public host.',
  },
  webhook_limit_reached: {
    status: 409,
    title: 'Too many webhooks',
    fix: 'Delete one that is no longer needed with DELETE /webhooks/{id}.',
  },
  webhook_disabled: {
    status: 409,
    title: 'Webhook switched off',
    fix: 'Switch it on again with POST /webhooks/{id}/enable.',
  },
  webhook_signature_invalid: {
    status: 401,
    title: 'Callback not accepted',
    fix: 'Send x-signature: the hex HMAC-SHA256 of the raw body with the secret agreed for this source.',
  },

  // Paper
  faucet_allowance_exceeded: {
    status: 400,
    title: 'Faucet allowance used up',
    fix: 'Ask for no more than the detail says is left.',
  },
  paper_only: { status: 400, title: 'Paper venue only', fix: 'This route exists while the venue is paper.' },
} as const satisfies Record<string, ErrorRow>;

/** Codes that a request to any operation can have. */
export type RequestErrorCode = keyof typeof REQUEST_ERRORS;

export type ErrorCode = keyof typeof ERRORS;
