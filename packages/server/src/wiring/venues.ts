/** The venues of this service. Adding one: its folder under adapters/venues, its configuration, and a line here. */
import { parseMicro } from '@bellwether/contract/decimals';
import { createPriceHistory } from '@bellwether/exchange';
import type { VenueKeys } from '@bellwether/exchange/doors/polymarket';
import { type Address, exchangeDomains } from '@bellwether/protocol';
import { SANDBOX_PATHS } from '@bellwether/sandbox';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { EvidenceLog } from '../domain/evidence.ts';
import type { VenueId } from '../domain/market.ts';
import { VenueMoves, VenueUnavailable } from '../domain/unavailable.ts';
import type { Clock } from '../platform/clock.ts';
import type { Sql } from '../platform/database/connection.ts';
import type { TokenBank } from '../platform/database/replica-watch.ts';
import type { Meters } from '../platform/http/metrics.ts';
import { createRateLimits } from '../platform/http/rate-limits.ts';
import { fetchSend, HttpUnavailable } from '../platform/outbound/http.ts';
import { createPooledSend } from '../platform/outbound/pooled-send.ts';
import type { Secrets } from '../platform/secrets.ts';
import { createEvidenceLog, createLiveOrderLog } from '../trading/index.ts';
import { createDflowVenue } from '../venues/dflow/dflow-venue.ts';
import { creditOnce } from '../venues/paper/credit-once.ts';
import type { PaperBackend } from '../venues/paper/paper-backend.ts';
import { createPaperVenue } from '../venues/paper/venue.ts';
import { createPolymarketVenue } from '../venues/polymarket/venue.ts';
import { createSolanaChain } from '../venues/solana/solana-chain.ts';
import type { Venue, Venues } from '../venues/venue.ts';
import { credentialIdentity } from '../wallets/index.ts';
import type { Stops } from './stopping.ts';

/** Stands for the sandbox in addresses: what answers is this process, or the replica that leads. */
const SANDBOX = 'http://sandbox';

export interface VenueParts {
  readonly config: Config;
  readonly sql: Sql;
  readonly paper: Pick<PaperBackend, 'venue' | 'markets' | 'sandbox' | 'sandboxStatus' | 'sandboxKnown'>;
  readonly isCredited: (account: Address) => Promise<boolean>;
  readonly keys: Pick<VenueKeys, 'first'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly meters: Pick<Meters, 'callFailed'>;
  readonly secrets: Pick<Secrets, 'open'>;
  readonly replicaId: string;
  readonly stops: Stops;
  readonly bank: TokenBank;
}

/** What a venue that is given from outside may use. */
export interface VenueTools {
  readonly clock: Clock;
  /** Where it writes what became of orders. */
  readonly evidence: EvidenceLog;
}

/** Venues instead of the configured ones with the same id, and beside them. */
export type GivenVenues = (tools: VenueTools) => readonly Venue[];

export function createVenues(parts: VenueParts, given: GivenVenues = () => []): Venues {
  const { config, sql, clock } = parts;
  const configured: readonly (readonly [VenueId, () => Venue])[] = [
    [config.exchange.name, () => signedVenue(parts)],
    [config.dflow.name, () => dflowVenue(parts)],
  ];
  const extra = new Map(given({ clock, evidence: createEvidenceLog(sql) }).map((venue) => [venue.id, venue]));
  const venues = [
    ...configured.map(([id, create]) => extra.get(id) ?? create()),
    ...[...extra.values()].filter(({ id }) => !configured.some(([known]) => known === id)),
  ];
  return registryOf(venues, config.defaultVenue);
}

const STOP_LIVE_MS = 2_000;

/** Venue A: the paper exchange, or the live connection. */
function signedVenue(parts: VenueParts): Venue {
  const { config, sql, clock, secrets, replicaId, stops, bank } = parts;
  const log = countingLog(parts);
  const { name: id, live } = config.exchange;
  if (live === null) return paperVenue(parts);
  const pooled = createPooledSend();
  const { venue, stop } = createPolymarketVenue({
    ...{ id, clock, log, send: pooled.send, ...live },
    signing: signingOf(config),
    rules: { gtdMinLeadS: LIVE_GTD_MIN_LEAD_S },
    orders: createLiveOrderLog(sql, id),
    openSecrets: ({ sealed, userId, walletAddress }) =>
      JSON.parse(secrets.open(sealed, credentialIdentity(userId, walletAddress))),
    holder: replicaId,
    bucketsOf: (policies) => createRateLimits({ policies, clock, bank }),
  });
  stops.push('live venue', STOP_LIVE_MS, async () => {
    await stop();
    pooled.close();
  });
  return venue;
}

/** Wire reference 2.12. */
const LIVE_GTD_MIN_LEAD_S = 180;

const signingOf = ({ chainId, exchange }: Config) => ({
  domains: exchangeDomains(chainId),
  chainId,
  profile: exchange.profile,
});

const paperVenue = ({ config, sql, paper, isCredited, keys }: VenueParts): Venue =>
  createPaperVenue({
    id: config.exchange.name,
    exchange: paper.venue,
    markets: paper.markets,
    history: createPriceHistory(sql),
    signing: signingOf(config),
    rules: { gtdMinLeadS: config.paper.gtdMinLeadS },
    simulationBalance: parseMicro(config.paper.simulationBalance, 'floor'),
    isCredited,
    async credentials(eoa) {
      const found = await keys.first(eoa);
      if (found === null) throw new VenueUnavailable('Too many keys of this address are revoked.');
      return found;
    },
  });

/** Also counts the calls to external services that fail. */
const countingLog = ({ log, meters }: VenueParts) => ({
  info: (context: object, message: string) => log.info(context, message),
  warn: (context: object, message: string) => log.warn(context, message),
  error: (context: object, message: string) => log.error(context, message),
  failed: meters.callFailed,
});

/** Nothing has looked at a call that meets a move, so it is made again once the sandbox has arrived. */
function asMove(error: unknown): never {
  throw error instanceof VenueMoves ? new HttpUnavailable('the sandbox', 'moving') : error;
}

/** On the sandbox, or on the real services, by configuration. */
function dflowVenue(parts: VenueParts): Venue {
  const { config, paper, clock } = parts;
  const log = countingLog(parts);
  const { sandbox, sandboxStatus } = paper;
  const { name: id, live, slippageBps } = config.dflow;
  const common = { id, slippageBps, clock, log };
  if (live === null) {
    const arrived = () => paper.sandboxKnown('desk');
    const credit = async (wallet: string): Promise<void> => {
      await arrived();
      await sandbox.credit(wallet).catch(async (error: unknown) => {
        if (!(error instanceof VenueMoves)) throw error;
        await arrived();
        await sandbox.credit(wallet);
      });
    };
    const venue = createDflowVenue({
      ...{ ...common, arrived },
      backend: 'paper',
      metadataUrl: SANDBOX + SANDBOX_PATHS.metadata,
      tradeUrl: SANDBOX + SANDBOX_PATHS.trade,
      apiKey: null,
      exchangeStatusUrl: `${SANDBOX}${SANDBOX_PATHS.metadata}/trade-api/v2/exchange/status`,
      send: (request) => sandbox.request(request).catch(asMove),
      chain: createSolanaChain({
        ask: (method, params) => sandbox.ask(method, params).catch(asMove),
        ...{ clock, log, arrived },
      }),
      paper: { credit: creditOnce(credit) },
    });
    const status = () => (sandboxStatus() === 'ready' ? venue.status() : sandboxStatus());
    return { ...venue, status };
  }
  return createDflowVenue({
    ...common,
    ...live,
    backend: 'live',
    exchangeStatusUrl: live.statusUrl,
    send: fetchSend,
    chain: createSolanaChain({ url: live.rpcUrl, send: fetchSend, clock, log }),
  });
}

/** The default venue first: answers about several begin with it. */
function registryOf(venues: readonly Venue[], defaultId: VenueId): Venues {
  const first = venues.find(({ id }) => id === defaultId);
  if (first === undefined) throw new Error(`DEFAULT_VENUE=${defaultId} is no venue of this service.`);
  const registry = new Map([first, ...venues].map((venue) => [venue.id, venue]));
  return Object.assign(registry, { default: first });
}
