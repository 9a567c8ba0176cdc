const NEW_ORDER = 'Nothing was executed: sign a new order with a new salt when the reason is gone.';
const NEW_QUOTE = 'Nothing was executed: ask for a new quote, sign and submit it.';

/**
 * Message and fix for each `errorCode` of a 201 answer with `success: false`, which a venue refused. These codes have a
 * separate table because they have no HTTP status.
 */
export const VENUE_REFUSALS = {
  fok_not_filled: {
    message: 'The order could not be filled completely at once, so nothing of it was executed.',
    fix: 'Order no more than the book offers within your price (GET /markets/context/{marketId} shows what each size costs), raise the price, or send FAK, which takes what there is.',
  },
  fak_no_match: {
    message: 'Nothing on the book matched the order, so nothing of it was executed.',
    fix: 'Look at the book (GET /markets/orderbook/{tokenId}) and sign for its best price or worse, or send a limit order that waits (GTC).',
  },
  post_only_would_cross: {
    message: 'The post-only order would have taken liquidity.',
    fix: 'Sign a BUY below the best ask, or a SELL above the best bid, or leave postOnly out and take liquidity.',
  },
  insufficient_balance: {
    message: 'The balance no longer covered the order when it reached the venue.',
    fix: 'Cancel orders that hold the balance, add funds (on paper: POST /paper/faucet), or order less; then sign a new order with a new salt.',
  },
  shares_not_settled: {
    message:
      'The shares were bought a moment ago, and the venue sells them only once it has settled the trade that bought them.',
    fix: 'Wait until the order that bought them is filled (GET /markets/orders/{orderId}), then sign a new order with a new salt.',
  },
  allowance_missing: {
    message: 'The wallet has the money, and has not approved a contract of the venue that must move it.',
    fix: 'Have the owner of the wallet make the approval that errorMessage names, once, then sign a new order with a new salt. Adding funds changes nothing.',
  },
  market_closed: {
    message: 'The market stopped trading before the order reached the venue.',
    fix: 'Choose a market that is active: GET /markets?q=…',
  },
  market_not_found: {
    message: 'The venue does not list this market.',
    fix: 'Take conditionId and clobTokenIds from GET /markets?q=…',
  },
  conversion_not_supported: {
    message:
      'The market is not of an event of which exactly one market resolves YES, or the venue does not list all of its markets.',
    fix: 'Sell the NO shares (POST /markets/trade), and buy the YES shares that you want.',
  },
  price_off_tick_grid: {
    message: "The price is not on the venue's tick grid.",
    fix: "Read the market's tickSize again and sign for a price on its grid.",
  },
  price_out_of_range: {
    message: "The price is outside the venue's range.",
    fix: 'Sign for a price between one tick and one minus one tick.',
  },
  size_below_minimum: {
    message: "The size is below the venue's minimum.",
    fix: "Order at least the market's minOrderSize.",
  },
  amount_below_minimum: {
    message: 'A BUY that executes at once spends at least 1 collateral.',
    fix: 'Spend at least 1 collateral.',
  },
  size_above_maximum: {
    message: 'The order is larger than the venue can hold: 9,007,199,254 shares, or as much collateral.',
    fix: 'Place several smaller orders.',
  },
  already_expired: {
    message: "The order's expiration has passed.",
    fix: 'Sign a later order.expiration, or an order without one (GTC).',
  },
  duplicate_order: {
    message: 'The venue already knows this order.',
    fix: 'Look it up with GET /markets/orders/{orderId}; sign with a new salt for another one.',
  },
  post_only_needs_gtc_or_gtd: {
    message: 'Post-only goes with GTC and GTD only.',
    fix: 'Leave postOnly out, or send GTC or GTD.',
  },
  amounts_too_precise: {
    message:
      'The signed amounts have more decimals than the venue takes, or do not follow from its price and size.',
    fix: 'Build the order with the SDK, which rounds as the venue does, and sign it again.',
  },
  market_not_ready: {
    message: 'The market takes no orders yet.',
    fix: 'Try again in some minutes with a new order, or choose another market.',
  },
  order_version_refused: {
    message: 'The order is signed for a version of the exchange that the venue does not take.',
    fix: "Sign the venue's current struct and contract: orderVersion 2 and the market's negRisk; GET /markets/{id} has both.",
  },
  order_not_understood: {
    message: 'The venue does not take an order with these fields or this signature.',
    fix: 'Build and sign the order with the SDK; check signatureType, maker and signer against the wallet.',
  },
  wallet_not_allowed: {
    message: 'The venue takes orders of this account only from its deposit wallet.',
    fix: 'Register the deposit wallet (signatureType 3) with POST /wallet/credentials, fund and approve it, and trade from it.',
  },
  account_restricted: {
    message: 'The venue has banned the account, or lets it only close positions.',
    fix: 'Ask the venue about the account; another order changes nothing.',
  },
  region_restricted: {
    message: 'The venue does not take orders from the region of this service.',
    fix: 'Ask the operator of the service: the region is that of its network address.',
  },
  credentials_refused: {
    message: "The venue does not take the wallet's credentials for this order.",
    fix: 'Register the credentials of the key that signs again with POST /wallet/credentials; they may have been rotated or deleted at the venue.',
  },
  signer_not_of_api_key: {
    message:
      'The venue takes under this API key only orders of the key that made it: order.signer is another address, or a deposit wallet that the venue does not know as its own.',
    fix: 'Make the API key with the key (EOA) that signs, never for a wallet: createVenueCredentials({ clobUrl, signer }), then POST /wallet/credentials with that EOA as polyAddress. signatureType 1 and 2: order.signer is that EOA. signatureType 3: order.signer and order.maker are its deposit wallet (a proxy or Safe is none), which must be deployed: trade once on the venue’s page. bellwether doctor wallet looks at each; if all is good, ask the venue’s support to allow the wallet.',
  },
  venue_rate_limited: {
    message: 'The venue asks this account for fewer orders; it did not take this one.',
    fix: 'Wait some seconds, then sign a new order with a new salt; cancels are still sent.',
  },
  nonce_used: {
    message:
      'Another transaction of the wallet has used the nonce of this request; nothing of it was executed.',
    fix: 'Ask for the order again under another clientOrderId: it is prepared with the next nonce.',
  },
  refused_by_venue: {
    message:
      'The venue refused the order for a reason that this service has no code for; errorMessage has its words.',
    fix: "Read the venue's words, mend the order, and sign a new one with a new salt.",
  },
  dry_run: {
    message: 'This service does everything but send orders (LIVE_ORDERS=off): nothing was sent.',
    fix: 'Nothing is wrong with the order. The operator turns sending on with LIVE_ORDERS=on.',
  },
  venue_unavailable: {
    message: 'The venue was not reachable, and the order provably never reached it.',
    fix: NEW_ORDER,
  },
  not_received: {
    message: 'The service stopped before the order reached the venue; nothing was executed.',
    fix: NEW_ORDER,
  },
  settlement_failed: {
    message:
      'The venue matched the order, but the settlement of a trade failed on the chain: that fill was reversed.',
    fix: 'Read filledSize for what remains, check the balance and allowances of the wallet, then sign a new order with a new salt for the rest.',
  },
  reverted: { message: 'The venue did not fill the order and sent everything back.', fix: NEW_QUOTE },
  not_landed: {
    message: 'The transaction did not reach the chain before its blockhash expired; nothing was executed.',
    fix: NEW_QUOTE,
  },
  transaction_failed: {
    message: 'The transaction failed on the chain; nothing was executed.',
    fix: 'Check that the wallet still holds what the order needs, network fees included; then ask for a new quote.',
  },
  refused_by_chain: {
    message: 'The chain refused the transaction before it was broadcast; nothing was executed.',
    fix: 'Check that the wallet still holds what the order needs, network fees included; then ask for a new quote.',
  },
} as const satisfies Record<string, { readonly message: string; readonly fix: string }>;

export type VenueRefusal = keyof typeof VENUE_REFUSALS;
