/** Venue B: which backend it has, what a quote may lose and move, and where the live venue's services are. */
import {
  choice,
  type EnvironmentOf,
  flag,
  integer,
  optionalText,
  refuseAll,
  url,
  withoutSlash,
} from '../../platform/settings.ts';
import { venueName } from '../settings.ts';

const variables = {
  VENUE_B_NAME: venueName(
    'kalshi',
    'Name of venue B; its routes answer under `/venueb` and under this name.',
  ),
  VENUE_B_BACKEND: choice(
    ['paper', 'live'],
    'paper',
    'Backend of venue B: the embedded sandbox (`paper`), or DFlow and Solana themselves (`live`).',
  ),
  VENUE_B_SLIPPAGE_BPS: integer(
    200,
    [1, 10_000],
    'How much less than quoted a fill on venue B may give, in hundredths of a percent.',
  ),
  VENUE_B_PRICE_IMPACT_PERCENT: integer(
    10,
    [0, 100],
    'The most, in percent, by which an order on venue B may move the price away from the best one.',
  ),
  VENUE_B_COUNTRY_HEADER: optionalText(
    'Header in which your proxy names the caller’s country (ISO 3166, such as `CF-IPCountry`): a BUY is refused unless it names one country, and one where venue B may be offered. Needs `TRUST_PROXY`. Required with `VENUE_B_BACKEND=live`, unless `VENUE_B_COUNTRY_CHECKED_ELSEWHERE=on`.',
    { pattern: '^[A-Za-z0-9-]{1,64}$', values: 'header name' },
  ),
  VENUE_B_COUNTRY_CHECKED_ELSEWHERE: flag(
    'off',
    '`on`: you keep callers out of venue B by other means (your proxy, firewall or terms) where it must not be offered, and the desk looks at no country.',
  ),
  DFLOW_METADATA_URL: url('DFlow’s metadata API.', { unset: '`https://prediction-markets-api.dflow.net`' }),
  DFLOW_TRADE_URL: url('DFlow’s trade API.', { unset: '`https://quote-api.dflow.net`' }),
  DFLOW_PROOF_URL: url('Where DFlow says whether a wallet’s owner has proved their identity.', {
    unset: '`https://proof.dflow.net`',
  }),
  DFLOW_API_KEY: optionalText('Key of the metadata and the trade API.', { minLength: 1, secret: true }),
  SOLANA_RPC_URL: url('Solana JSON-RPC. Required with `VENUE_B_BACKEND=live`.', { secret: true }),
  VENUE_B_STATUS_URL: url(
    'Kalshi’s public exchange status (`…/trade-api/v2/exchange/status`); without it only the weekly maintenance window is known.',
  ),
};

/** With those of others that it depends on. */
type Environment = EnvironmentOf<typeof variables> & {
  readonly HOST: string;
  readonly TRUST_PROXY: string;
  readonly SIGNING_PROVIDER: string;
};

export interface LiveDflow {
  readonly metadataUrl: string;
  readonly tradeUrl: string;
  readonly proofUrl: string;
  readonly apiKey: string | null;
  readonly rpcUrl: string;
  /** Kalshi's public status; `null`: only the weekly window is known. */
  readonly statusUrl: string | null;
}

const DFLOW_METADATA = 'https://prediction-markets-api.dflow.net';
const DFLOW_TRADE = 'https://quote-api.dflow.net';
const DFLOW_PROOF = 'https://proof.dflow.net';

export interface DflowSettings {
  readonly name: string;
  /** `null`: the embedded sandbox. */
  readonly live: LiveDflow | null;
  readonly slippageBps: number;
  readonly priceImpactPercent: number;
  /** The header in which a trusted proxy names the caller's country, lower case. */
  readonly countryHeader: string | null;
  readonly isOpenByDefault: boolean;
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i;

export const dflowSettings = {
  variables,
  prefixes: ['VENUE_B_', 'DFLOW_', 'SOLANA_'],
  make(env: Environment): DflowSettings {
    const isLive = env.VENUE_B_BACKEND === 'live';
    refuseAll([
      env.VENUE_B_COUNTRY_HEADER !== undefined &&
        env.TRUST_PROXY === 'off' &&
        'VENUE_B_COUNTRY_HEADER needs TRUST_PROXY: without a proxy of yours the header is the caller’s own word.',
      isLive &&
        env.SIGNING_PROVIDER === 'local' &&
        'VENUE_B_BACKEND=live needs SIGNING_PROVIDER=fireblocks: the local key signs for the sandbox chain only.',
      isLive && env.SOLANA_RPC_URL === undefined && 'VENUE_B_BACKEND=live needs SOLANA_RPC_URL.',
      isLive &&
        env.VENUE_B_COUNTRY_HEADER === undefined &&
        env.VENUE_B_COUNTRY_CHECKED_ELSEWHERE === 'off' &&
        'VENUE_B_BACKEND=live needs VENUE_B_COUNTRY_HEADER, in which your proxy names the caller’s country; or VENUE_B_COUNTRY_CHECKED_ELSEWHERE=on, if you keep callers out by other means where venue B must not be offered.',
      env.VENUE_B_COUNTRY_HEADER !== undefined &&
        env.VENUE_B_COUNTRY_CHECKED_ELSEWHERE === 'on' &&
        'VENUE_B_COUNTRY_HEADER and VENUE_B_COUNTRY_CHECKED_ELSEWHERE=on exclude each other: with the header the desk checks the country.',
    ]);
    return {
      name: env.VENUE_B_NAME,
      live: isLive ? liveDflow(env) : null,
      slippageBps: env.VENUE_B_SLIPPAGE_BPS,
      priceImpactPercent: env.VENUE_B_PRICE_IMPACT_PERCENT,
      countryHeader: env.VENUE_B_COUNTRY_HEADER?.toLowerCase() ?? null,
      // The sandbox chain and its venue give money and computing time to any caller: by default only this machine has access.
      isOpenByDefault: !isLive && LOOPBACK.test(env.HOST),
    };
  },
};

const liveDflow = (env: Environment): LiveDflow => ({
  metadataUrl: withoutSlash(env.DFLOW_METADATA_URL ?? DFLOW_METADATA),
  tradeUrl: withoutSlash(env.DFLOW_TRADE_URL ?? DFLOW_TRADE),
  proofUrl: withoutSlash(env.DFLOW_PROOF_URL ?? DFLOW_PROOF),
  apiKey: env.DFLOW_API_KEY ?? null,
  rpcUrl: env.SOLANA_RPC_URL as string,
  statusUrl: env.VENUE_B_STATUS_URL ?? null,
});
