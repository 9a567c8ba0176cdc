/** Rows of the error registry: markets, orders and the safeguards. */
import type { ErrorRow } from './error-row.ts';

export const ORDER_ERRORS = {
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
