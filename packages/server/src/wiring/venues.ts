/** Opens the venues that are configured, each with what its folder is given. */
import { parseMicro } from '@bellwether/contract/decimals';
import { createPriceHistory } from '@bellwether/exchange';
import type { Faults, VenueKeys } from '@bellwether/exchange/doors/polymarket';
import { createRelayedStore } from '@bellwether/exchange/doors/relayer';
import type { Address } from '@bellwether/protocol';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { VenueId } from '../domain/market.ts';
import { VenueUnavailable } from '../domain/unavailable.ts';
import type { StoredNames } from '../markets/index.ts';
import type { Clock } from '../platform/clock.ts';
import type { Sql } from '../platform/database/connection.ts';
import type { TokenBank } from '../platform/database/replica-watch.ts';
import type { Meters } from '../platform/http/metrics.ts';
import { createRateLimits } from '../platform/http/rate-limits.ts';
import type { Job } from '../platform/scheduler.ts';
import type { Secrets } from '../platform/secrets.ts';
import { createEvidenceLog, createLiveOrderLog } from '../trading/index.ts';
import type { Door, DoorTools, OpenVenue, PaperTools, VenueTools } from '../venues/configured.ts';
import { createPaperVenue, type PaperBackend } from '../venues/paper/index.ts';
import type { Venue, Venues } from '../venues/venue.ts';
import { createHeartbeatLog, credentialIdentity } from '../wallets/index.ts';
import type { Stops } from './stopping.ts';

interface VenueParts {
  readonly config: Config;
  readonly sql: Sql;
  readonly paper: PaperBackend;
  readonly isCredited: (account: Address) => Promise<boolean>;
  readonly keys: VenueKeys;
  readonly faults: Faults | null;
  readonly clock: Clock;
  readonly log: Logger;
  readonly meters: Pick<Meters, 'callFailed'>;
  readonly secrets: Pick<Secrets, 'open'>;
  readonly storedNames: Pick<StoredNames, 'isUnnamed'>;
  readonly replicaId: string;
  readonly stops: Stops;
  readonly bank: TokenBank;
}

/** Venues instead of the configured ones with the same id, and beside them. */
export type GivenVenues = (tools: VenueTools) => readonly Venue[];

export interface OpenVenues {
  readonly venues: Venues;
  /** Those that PAPER_DOORS opens. */
  doors(tools: DoorTools): readonly Door[];
  readonly jobs: readonly Job[];
}

const STOP_VENUE_MS = 2_000;

export async function openVenues(parts: VenueParts, given: GivenVenues = () => []): Promise<OpenVenues> {
  const { config, stops } = parts;
  const tools = toolsOf(parts);
  const extra = new Map(given(tools).map((venue) => [venue.id, venue]));
  const opened: OpenVenue[] = [];
  for (const { id, open } of config.venues) {
    const own = extra.get(id);
    const one = own === undefined ? await open(tools) : { venue: own };
    if (one.stop !== undefined) stops.push(`venue ${id}`, STOP_VENUE_MS, one.stop);
    opened.push(one);
    extra.delete(id);
  }
  return {
    venues: registryOf([...opened.map(({ venue }) => venue), ...extra.values()], config.defaultVenue),
    doors: (doorTools) =>
      opened
        .flatMap(({ doors }) => doors?.(doorTools) ?? [])
        .filter(({ name }) => config.paper.doors.has(name)),
    jobs: opened.flatMap(({ jobs }) => jobs ?? []),
  };
}

const toolsOf = (parts: VenueParts): VenueTools => ({
  clock: parts.clock,
  bucketsOf: (policies) => createRateLimits({ policies, clock: parts.clock, bank: parts.bank }),
  log: countingLog(parts),
  chainId: parts.config.chainId,
  keepsOrder: parts.storedNames.isUnnamed,
  replicaId: parts.replicaId,
  evidence: createEvidenceLog(parts.sql),
  liveOrders: (venue) => createLiveOrderLog(parts.sql, venue),
  heartbeats: (venue) => createHeartbeatLog(parts.sql, venue),
  openSecrets: ({ sealed, userId, walletAddress }) =>
    JSON.parse(parts.secrets.open(sealed, credentialIdentity(userId, walletAddress))),
  paper: paperTools(parts),
  openDoors: parts.config.paper.doors,
  faults: parts.faults,
});

const paperTools = ({ config, sql, paper, isCredited, keys }: VenueParts): PaperTools => ({
  ...paper,
  keys,
  relayed: createRelayedStore(sql),
  gtdMinLeadS: config.paper.gtdMinLeadS,
  createVenue: ({ builder, ...of }) =>
    createPaperVenue({
      ...of,
      exchange: paper.venue,
      markets: paper.markets,
      history: createPriceHistory(sql),
      rules: {
        ...{ gtdMinLeadS: config.paper.gtdMinLeadS, builder },
        areAmountsExact: of.signing.profile === 'polymarket',
      },
      simulationBalance: parseMicro(config.paper.simulationBalance, 'floor'),
      isCredited,
      async credentials(eoa) {
        const found = await keys.first(eoa);
        if (found === null) throw new VenueUnavailable('Too many keys of this address are revoked.');
        return found;
      },
    }),
});

/** Also counts the calls to external services that fail. */
const countingLog = ({ log, meters }: VenueParts): VenueTools['log'] => ({
  info: (context, message) => log.info(context, message),
  warn: (context, message) => log.warn(context, message),
  error: (context, message) => log.error(context, message),
  failed: meters.callFailed,
});

/** The default venue first: answers about several begin with it. */
function registryOf(venues: readonly Venue[], defaultId: VenueId): Venues {
  const first = venues.find(({ id }) => id === defaultId);
  if (first === undefined) throw new Error(`DEFAULT_VENUE=${defaultId} is no venue of this service.`);
  const registry = new Map([first, ...venues].map((venue) => [venue.id, venue]));
  return Object.assign(registry, { default: first });
}
