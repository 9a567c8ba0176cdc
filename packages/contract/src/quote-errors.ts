/** Why a quote has no transaction. */
export const QUOTE_ERRORS = {
  route_not_found: 'The venue finds no way to fill this order now; try another amount or a little later.',
  market_not_found: 'The venue lists no market with this ticker; find tickers with GET /markets?venue=….',
  market_closed: 'The market does not trade any more, or this outcome has lost.',
  amount_too_small: 'Contracts are whole: the amount must pay for at least one, fees included.',
  fraction_of_contract: 'Contracts are whole: sell a whole number of them.',
  insufficient_balance: 'The wallet does not hold what the order needs, network fees included.',
  kyc_required: 'The receiving wallet must be verified by a person before it can buy.',
  wallet_restricted:
    'The venue restricts this wallet, from whatever country it is used: ask the venue why, or use another wallet.',
  geoblocked: 'The venue is not offered where this request comes from.',
  venue_maintenance: 'The venue is closed for maintenance; ask again when it is over.',
  price_impact_too_high: 'The order would move the price too far; order less.',
  venue_unavailable: 'The venue did not answer; ask again in a moment.',
} as const;

export type QuoteErrorCode = keyof typeof QUOTE_ERRORS;
