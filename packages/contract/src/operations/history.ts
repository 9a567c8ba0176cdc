/** Whether a market exists, and its price history. */
import { type Static, Type } from 'typebox';
import { LAST_SECOND, MARKET_NAMES, namesMarket, PRINTABLE, VenueQuery } from '../fields.ts';
import { operation } from '../operation.ts';

/** `1m` is one month of 30 days; `max` and `all` cover the whole history. */
export type HistoryInterval = 'max' | 'all' | '1m' | '1w' | '1d' | '6h' | '1h';

/** A request for more points is refused; the refusal names a coarser fidelity that fits. */
export const MAX_HISTORY_POINTS = 10_000;
/** One month. */
export const MAX_FIDELITY_MINUTES = 43_200;

export const PricesHistoryQuery = Type.Object({
  market: Type.String({
    minLength: 1,
    maxLength: 100,
    pattern: PRINTABLE,
    description: 'token id, one of the market’s clobTokenIds; a NO token has the mirrored prices',
  }),
  interval: Type.Optional(
    Type.Union(
      [
        Type.Literal('max'),
        Type.Literal('all'),
        Type.Literal('1m'),
        Type.Literal('1w'),
        Type.Literal('1d'),
        Type.Literal('6h'),
        Type.Literal('1h'),
      ],
      {
        description:
          'back from now: 1m is one month, max and all are everything; instead of startTs and endTs',
      },
    ),
  ),
  startTs: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: LAST_SECOND,
      description: 'epoch seconds; the beginning when only endTs is given',
    }),
  ),
  endTs: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: LAST_SECOND,
      description: 'epoch seconds; now when only startTs is given',
    }),
  ),
  fidelity: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_FIDELITY_MINUTES,
      description:
        'minutes between points; left out, 1 for 1h and 6h, 5 for 1d, 30 for 1w, 180 for 1m, and for other ranges what gives at most 500 points',
    }),
  ),
  venue: VenueQuery,
});

export const PricesHistory = Type.Object({
  history: Type.Array(
    Type.Object({
      t: Type.Integer({ description: 'epoch seconds of the price' }),
      p: Type.Number({ description: 'middle of the book, of the token asked for' }),
    }),
    {
      description:
        'oldest first: the last price of every bucket of `fidelity` minutes in which it moved by a tick; in between it stayed as it was',
    },
  ),
});

export const checkMarket = operation({
  id: 'checkMarket',
  method: 'GET',
  path: '/markets/check',
  summary: 'Does the venue list this market?',
  tag: 'markets',
  permission: 'agent',
  rateClass: 'read',
  query: Type.Object({ ...MARKET_NAMES, venue: VenueQuery }, namesMarket()),
  status: 200,
  response: Type.Object({
    exists: Type.Boolean({ description: 'by market id, condition id, slug or token id' }),
  }),
  errors: ['unknown_venue', 'service_unavailable'],
});

/** Either `interval`, or `startTs` and `endTs` in epoch seconds; `fidelity` in minutes. */
export const getPricesHistory = operation({
  id: 'getPricesHistory',
  method: 'GET',
  path: '/markets/prices-history',
  summary: 'Prices of an outcome token over time',
  description:
    'Either `interval`, or `startTs` with or without `endTs`. A range begins with the price at its start; one that reaches to the present ends with the current price. Resolved and archived markets keep their history. Only for venue A: a market of venue B has none (400).',
  tag: 'markets',
  permission: 'agent',
  rateClass: 'search',
  query: PricesHistoryQuery,
  status: 200,
  response: PricesHistory,
  errors: [
    'unknown_venue',
    'market_not_found',
    'contradictory_filter',
    'history_too_fine',
    'service_unavailable',
  ],
});

export type PricesHistoryQuery = Static<typeof PricesHistoryQuery>;
export type PricesHistory = Static<typeof PricesHistory>;
