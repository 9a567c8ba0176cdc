/** Venue A: which backend it has, how its orders are signed, and where the live venue's services are. */
import {
  choice,
  type EnvironmentOf,
  flag,
  integer,
  optionalChoice,
  optionalText,
  refuseAll,
  socketUrl,
  url,
  withoutSlash,
} from '../../platform/settings.ts';
import { venueName } from '../settings.ts';
import type { PolymarketUrls } from './public-markets.ts';
import type { RelayerCredentials } from './relayer.ts';

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
  VENUE_A_BUILDER_CODE: optionalText(
    'The builder code that orders of venue A may carry beside none: the venue pays its owner a fee of each. Orders with any other are refused.',
    { values: '0x and 64 hex digits', pattern: '^0x[0-9a-fA-F]{64}$' },
  ),
  VENUE_A_BUILDER_FEE_BPS: integer(
    100,
    [0, 100],
    'The most that the builder of VENUE_A_BUILDER_CODE takes of the collateral that an order moves, in hundredths of a percent: what limits and approvals count. The venue allows 100.',
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
  POLYMARKET_RELAYER_URL: url('Makes the calls of wallets of live venue A without the network’s price.', {
    unset: '`https://relayer-v2.polymarket.com`',
  }),
  POLYMARKET_RELAYER_API_KEY: optionalText(
    'Relayer API key of the operator. With its address, or with the builder key instead, splits and merges of proxy wallets, Safes and deposit wallets go through the relayer.',
    { minLength: 1, secret: true },
  ),
  POLYMARKET_RELAYER_API_KEY_ADDRESS: optionalText('Address that the relayer API key belongs to.', {
    minLength: 1,
  }),
  POLYMARKET_BUILDER_API_KEY: optionalText('Builder API key of the operator, instead of a relayer API key.', {
    minLength: 1,
    secret: true,
  }),
  POLYMARKET_BUILDER_SECRET: optionalText('Its secret, base64.', { minLength: 1, secret: true }),
  POLYMARKET_BUILDER_PASSPHRASE: optionalText('Its passphrase.', { minLength: 1, secret: true }),
  POLYMARKET_WS_URL: socketUrl('Of the sockets of live venue A, without the channel (`/market`, `/user`).', {
    unset: '`wss://ws-subscriptions-clob.polymarket.com/ws`',
  }),
  PAPER_MARKETS: choice(
    ['simulated', 'live'],
    'simulated',
    'Which markets are traded on paper: those of the simulated world, or those of the live venue at POLYMARKET_…_URL, with its books, trades and outcomes ([going-live.md](going-live.md)). A database belongs to one of them for good; venue B on paper has no markets beside live ones.',
  ),
  PAPER_FAULTS: optionalText(
    'JSON. The faults that venue A’s doors show, to test clients against them: [doors.md](doors.md). Only on paper, and only while PUBLIC_URL is this machine.',
  ),
};

/** With those of others that it depends on. */
type Environment = EnvironmentOf<typeof variables> & { readonly PUBLIC_URL?: string };

export interface LivePolymarket {
  readonly urls: PolymarketUrls;
  /** `null`: the relayer is not used. */
  readonly relayer: RelayerCredentials | null;
  /** False: everything but sending orders. */
  readonly sends: boolean;
  readonly doubtMs: number;
}

export interface PolymarketSettings {
  readonly name: string;
  /** `null`: the paper exchange. */
  readonly live: LivePolymarket | null;
  /** On paper: the live venue whose markets are traded; `null`: those of the simulated world. */
  readonly followed: PolymarketUrls | null;
  /** On paper: JSON of the faults that its doors show. */
  readonly faults: string | null;
  readonly profile: 'interface' | 'polymarket';
  /** The one builder whose code orders may carry. */
  readonly builder: { readonly code: string; readonly feeBps: number } | undefined;
}

export const polymarketSettings = {
  variables,
  prefixes: ['VENUE_A_', 'LIVE_', 'POLYMARKET_'],
  make(env: Environment): PolymarketSettings {
    const isLive = env.VENUE_A_BACKEND === 'live';
    const hasFaults = env.PAPER_FAULTS !== undefined;
    const relayerKey = [env.POLYMARKET_RELAYER_API_KEY, env.POLYMARKET_RELAYER_API_KEY_ADDRESS];
    const builderKey = [
      env.POLYMARKET_BUILDER_API_KEY,
      env.POLYMARKET_BUILDER_SECRET,
      env.POLYMARKET_BUILDER_PASSPHRASE,
    ];
    refuseAll([
      // Real money goes by what the operator has read, not by a default.
      isLive &&
        env.VENUE_A_ORDER_PROFILE === undefined &&
        'VENUE_A_BACKEND=live needs VENUE_A_ORDER_PROFILE=polymarket, set explicitly.',
      isLive &&
        env.VENUE_A_ORDER_PROFILE === 'interface' &&
        'VENUE_A_BACKEND=live needs VENUE_A_ORDER_PROFILE=polymarket: the venue takes no orders of the profile "interface".',
      isLive &&
        env.PAPER_MARKETS === 'live' &&
        'PAPER_MARKETS=live is for venue A on paper, but VENUE_A_BACKEND is live.',
      isLive && hasFaults && 'PAPER_FAULTS is for the paper venue, but VENUE_A_BACKEND=live.',
      isPartly(relayerKey) &&
        'POLYMARKET_RELAYER_API_KEY and POLYMARKET_RELAYER_API_KEY_ADDRESS belong together: set both.',
      isPartly(builderKey) &&
        'POLYMARKET_BUILDER_API_KEY, POLYMARKET_BUILDER_SECRET and POLYMARKET_BUILDER_PASSPHRASE belong together: set all three.',
      relayerKey.some(isSet) &&
        builderKey.some(isSet) &&
        'The relayer takes one key: set POLYMARKET_RELAYER_API_KEY or POLYMARKET_BUILDER_API_KEY, not both.',
      // Others who reach the service must not meet a venue that lies on purpose.
      hasFaults &&
        env.PUBLIC_URL !== undefined &&
        !LOOPBACK.test(new URL(env.PUBLIC_URL).hostname) &&
        'PAPER_FAULTS is for tests on this machine, but PUBLIC_URL names another host.',
    ]);
    return {
      name: env.VENUE_A_NAME,
      live: isLive
        ? {
            urls: polymarketUrls(env),
            relayer: relayerOf(env),
            sends: env.LIVE_ORDERS === 'on',
            doubtMs: env.VENUE_A_DOUBT_S * 1000,
          }
        : null,
      followed: env.PAPER_MARKETS === 'live' ? polymarketUrls(env) : null,
      faults: env.PAPER_FAULTS ?? null,
      profile: env.VENUE_A_ORDER_PROFILE ?? 'interface',
      builder:
        env.VENUE_A_BUILDER_CODE === undefined
          ? undefined
          : { code: env.VENUE_A_BUILDER_CODE.toLowerCase(), feeBps: env.VENUE_A_BUILDER_FEE_BPS },
    };
  },
};

const isSet = (value: string | undefined): boolean => value !== undefined;
const isPartly = (values: readonly (string | undefined)[]): boolean =>
  values.some(isSet) && !values.every(isSet);

type RelayerVariables = Partial<
  Record<
    | 'POLYMARKET_RELAYER_URL'
    | 'POLYMARKET_RELAYER_API_KEY'
    | 'POLYMARKET_RELAYER_API_KEY_ADDRESS'
    | 'POLYMARKET_BUILDER_API_KEY'
    | 'POLYMARKET_BUILDER_SECRET'
    | 'POLYMARKET_BUILDER_PASSPHRASE',
    string | undefined
  >
>;

/** For a look at the relayer without the service. */
export const relayerFrom = (env: RelayerVariables) => ({
  credentials: relayerOf(env),
  baseUrl: withoutSlash(env.POLYMARKET_RELAYER_URL ?? POLYMARKET.relayer),
});

function relayerOf(env: RelayerVariables): RelayerCredentials | null {
  const { POLYMARKET_RELAYER_API_KEY: key, POLYMARKET_RELAYER_API_KEY_ADDRESS: address } = env;
  if (key !== undefined && address !== undefined) return { kind: 'relayer', apiKey: key, address };
  const { POLYMARKET_BUILDER_SECRET: secret, POLYMARKET_BUILDER_PASSPHRASE: passphrase } = env;
  const builder = env.POLYMARKET_BUILDER_API_KEY;
  if (builder === undefined || secret === undefined || passphrase === undefined) return null;
  return { kind: 'builder', apiKey: builder, secret, passphrase };
}

const LOOPBACK = /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/i;

const POLYMARKET = {
  clob: 'https://clob.polymarket.com',
  gamma: 'https://gamma-api.polymarket.com',
  data: 'https://data-api.polymarket.com',
  site: 'https://polymarket.com',
  relayer: 'https://relayer-v2.polymarket.com',
  sockets: 'wss://ws-subscriptions-clob.polymarket.com/ws',
} as const;

const polymarketUrls = (env: Environment): PolymarketUrls => ({
  clob: withoutSlash(env.POLYMARKET_CLOB_URL ?? POLYMARKET.clob),
  gamma: withoutSlash(env.POLYMARKET_GAMMA_URL ?? POLYMARKET.gamma),
  data: withoutSlash(env.POLYMARKET_DATA_URL ?? POLYMARKET.data),
  site: withoutSlash(env.POLYMARKET_SITE_URL ?? POLYMARKET.site),
  relayer: withoutSlash(env.POLYMARKET_RELAYER_URL ?? POLYMARKET.relayer),
  sockets: withoutSlash(env.POLYMARKET_WS_URL ?? POLYMARKET.sockets),
});

/** Where the venue's own services lie on paper, below the base path. */
export const PAPER_PATHS = {
  clob: '/paper/clob',
  gamma: '/paper/gamma',
  data: '/paper/data',
  sockets: '/paper/ws',
  relayer: '/paper/relayer',
} as const;
