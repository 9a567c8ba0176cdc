/** Venue A: which backend it has, how its orders are signed, and where the live venue's services are. */
import {
  ConfigError,
  choice,
  type EnvironmentOf,
  flag,
  integer,
  optionalChoice,
  socketUrl,
  url,
  withoutSlash,
} from '../../platform/settings.ts';
import { venueName } from '../settings.ts';
import type { PolymarketUrls } from './public-markets.ts';

const variables = {
  VENUE_A_NAME: venueName('polymarket', 'Name of venue A.'),
  VENUE_A_BACKEND: choice(
    ['paper', 'live'],
    'paper',
    'Backend of venue A: the paper exchange, or the real venue (`live`), which needs `VENUE_A_ORDER_PROFILE=polymarket`. A database belongs to one of them for good.',
  ),
  VENUE_A_ORDER_PROFILE: optionalChoice(
    ['interface', 'polymarket'],
    'Which struct version 2 orders sign: 12 fields (`interface`) or the venue’s own 11 (`polymarket`).',
    { unset: '`interface`' },
  ),
  VENUE_A_DOUBT_S: integer(
    180,
    [5, 3_600],
    'Live venue A: after so many seconds without an answer, an order that the venue does not know counts as never received.',
  ),
  LIVE_ORDERS: flag(
    'on',
    'Live venue A: `off` does everything but send orders; each is answered with `success: false` and `dry_run`. Cancels are sent.',
  ),
  POLYMARKET_CLOB_URL: url('The order book of live venue A.', { unset: '`https://clob.polymarket.com`' }),
  POLYMARKET_GAMMA_URL: url('The catalogue of live venue A.', {
    unset: '`https://gamma-api.polymarket.com`',
  }),
  POLYMARKET_DATA_URL: url('The data service of live venue A.', {
    unset: '`https://data-api.polymarket.com`',
  }),
  POLYMARKET_SITE_URL: url('Where live venue A says which regions it serves.', {
    unset: '`https://polymarket.com`',
  }),
  POLYMARKET_WS_URL: socketUrl('Of the sockets of live venue A, without the channel (`/market`, `/user`).', {
    unset: '`wss://ws-subscriptions-clob.polymarket.com/ws`',
  }),
};

type Environment = EnvironmentOf<typeof variables>;

interface LivePolymarket {
  readonly urls: PolymarketUrls;
  /** False: everything but sending orders. */
  readonly sends: boolean;
  readonly doubtMs: number;
}

export const polymarketSettings = {
  variables,
  prefixes: ['VENUE_A_', 'LIVE_', 'POLYMARKET_'],
  make: (env: Environment) => ({
    exchange: {
      name: env.VENUE_A_NAME,
      backend: env.VENUE_A_BACKEND,
      /** `null`: the paper exchange. */
      live: env.VENUE_A_BACKEND === 'live' ? livePolymarket(env) : null,
      profile: env.VENUE_A_ORDER_PROFILE ?? 'interface',
    },
  }),
};

const POLYMARKET = {
  clob: 'https://clob.polymarket.com',
  gamma: 'https://gamma-api.polymarket.com',
  data: 'https://data-api.polymarket.com',
  site: 'https://polymarket.com',
  sockets: 'wss://ws-subscriptions-clob.polymarket.com/ws',
} as const;

export const polymarketUrls = (env: Environment): PolymarketUrls => ({
  clob: withoutSlash(env.POLYMARKET_CLOB_URL ?? POLYMARKET.clob),
  gamma: withoutSlash(env.POLYMARKET_GAMMA_URL ?? POLYMARKET.gamma),
  data: withoutSlash(env.POLYMARKET_DATA_URL ?? POLYMARKET.data),
  site: withoutSlash(env.POLYMARKET_SITE_URL ?? POLYMARKET.site),
  sockets: withoutSlash(env.POLYMARKET_WS_URL ?? POLYMARKET.sockets),
});

function livePolymarket(env: Environment): LivePolymarket {
  // Real money goes by what the operator has read, not by a default.
  if (env.VENUE_A_ORDER_PROFILE !== 'polymarket')
    throw new ConfigError(
      env.VENUE_A_ORDER_PROFILE === undefined
        ? 'VENUE_A_BACKEND=live needs VENUE_A_ORDER_PROFILE=polymarket, set explicitly.'
        : 'VENUE_A_BACKEND=live needs VENUE_A_ORDER_PROFILE=polymarket: the venue takes no orders of the profile "interface".',
    );
  return {
    urls: polymarketUrls(env),
    sends: env.LIVE_ORDERS === 'on',
    doubtMs: env.VENUE_A_DOUBT_S * 1000,
  };
}
