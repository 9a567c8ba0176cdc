import type { VenueRefusal } from './errors.ts';

const NEW_ORDER = 'Nothing was executed: sign a new order with a new salt when the reason is gone.';
const NEW_QUOTE = 'Nothing was executed: ask for a new quote, sign and submit it.';

/** What to do next about each refusal of a venue. */
export const VENUE_REFUSAL_FIXES: Readonly<Record<VenueRefusal, string>> = {
  fok_not_filled:
    'Order no more than the book offers within your price (GET /markets/context/{marketId} shows what each size costs), raise the price, or send FAK, which takes what there is.',
  fak_no_match:
    'Look at the book (GET /markets/orderbook/{tokenId}) and sign for its best price or worse, or send a limit order that waits (GTC).',
  post_only_would_cross:
    'Sign a BUY below the best ask, or a SELL above the best bid, or leave postOnly out and take liquidity.',
  insufficient_balance:
    'Cancel orders that hold the balance, add funds (on paper: POST /paper/faucet), or order less; then sign a new order with a new salt.',
  market_closed: 'Choose a market that is active: GET /markets?q=…',
  market_not_found: 'Take conditionId and clobTokenIds from GET /markets?q=…',
  price_off_tick_grid: "Read the market's tickSize anew and sign for a price on its grid.",
  price_out_of_range: 'Sign for a price between one tick and one minus one tick.',
  size_below_minimum: "Order at least the market's minOrderSize.",
  amount_below_minimum: 'Spend at least 1 collateral.',
  already_expired: 'Sign a later order.expiration, or an order without one (GTC).',
  duplicate_order: 'Look it up with GET /markets/orders/{orderId}; sign with a new salt for another one.',
  post_only_needs_gtc_or_gtd: 'Leave postOnly out, or send GTC or GTD.',
  venue_unavailable: NEW_ORDER,
  not_received: NEW_ORDER,
  reverted: NEW_QUOTE,
  not_landed: NEW_QUOTE,
  transaction_failed:
    'Check that the wallet still holds what the order needs, network fees included; then ask for a new quote.',
  refused_by_chain:
    'Check that the wallet still holds what the order needs, network fees included; then ask for a new quote.',
};
