/**
 * A venue of this service as its folder declares it: settings, the line of the banner, doors, jobs, and how it is opened. The
 * registry (wiring/venue-registry.ts) has a line for each; nothing else of the service knows which venues there are.
 */

import type { JournalledExchange } from '@bellwether/exchange';
import type { Faults, VenueKeys } from '@bellwether/exchange/doors/polymarket';
import type { RelayedStore } from '@bellwether/exchange/doors/relayer';
import type { Relay } from '@bellwether/exchange/doors/web-sockets';
import type { RecoverPublicKey, SigningTerms } from '@bellwether/protocol';
import type { FastifyInstance, preHandlerAsyncHookHandler } from 'fastify';
import type { BuilderTerms } from '../domain/coherence.ts';
import type { EvidenceLog } from '../domain/evidence.ts';
import type { VenueId } from '../domain/market.ts';
import type { Clock } from '../platform/clock.ts';
import type { BucketPolicy, createDoorGuard, RateLimits } from '../platform/http/rate-limits.ts';
import type { OutboundLog } from '../platform/outbound/http.ts';
import type { Job } from '../platform/scheduler.ts';
import type { SettingsGroup } from '../platform/settings.ts';
import type { FollowedWallet, LiveOrderLog } from './live-orders.ts';
import type { ExchangeCalls, PaperBackend } from './paper/index.ts';
import type { HeartbeatLog, MarketData, Venue, VenueSecrets } from './venue.ts';

/** The export of a venue's folder. `make` gets all settings, checked. */
export interface VenueDeclaration extends SettingsGroup {
  /** The variable that names the venue. */
  readonly nameVariable: string;
  make(environment: never): ConfiguredVenue;
}

export interface ConfiguredVenue {
  readonly id: VenueId;
  readonly backend: Venue['backend'];
  /** Made of its variables; only its own folder knows the type. */
  readonly settings: object;
  readonly banner: Banner;
  /** Below the base path. Most ask for no key of an agent: PAPER_DOORS says which of them are open. */
  readonly doors: readonly DoorTerms[];
  /** Its orders are executed by the paper exchange, of which at most one venue can say so. */
  readonly paperExchange?: PaperExchangeTerms;
  /** Loads its code and opens it, without a call to the outside: a venue that is away must not hold up a start. @throws Error with a sentence that says why it cannot */
  open(tools: VenueTools): Promise<OpenVenue>;
}

/** Its part of the text that a start prints. */
interface Banner {
  /** At most eleven characters. */
  readonly label: string;
  readonly text: string;
  /** Advice before the first order, where that is real money. */
  readonly beforeFirstOrder?: string;
  /** The script of package.json that tries the venue. */
  readonly demo?: string;
}

interface DoorTerms {
  /** As PAPER_DOORS names it. */
  readonly name: string;
  readonly paths: readonly string[];
  /** With PAPER_DOORS=auto. */
  readonly isOpenByDefault: boolean;
  /** Why it cannot be open here. */
  readonly isShutBecause?: string;
}

interface PaperExchangeTerms {
  /** Has the exchange trade the markets of a live venue; `null`: those of its simulated world. */
  readonly followLive: ((parts: FollowParts) => Promise<FollowedMarkets>) | null;
}

export interface FollowParts {
  readonly exchange: JournalledExchange;
  readonly venue: ExchangeCalls;
  readonly clock: Clock;
  readonly log: OutboundLog;
}

export interface FollowedMarkets {
  readonly venue: ExchangeCalls;
  readonly markets: MarketData;
  readonly stopFeed: () => Promise<void>;
}

export interface OpenVenue {
  readonly venue: Venue;
  /** Opens the doors that it has declared. */
  readonly doors?: (tools: DoorTools) => readonly Door[];
  readonly jobs?: readonly Job[];
  stop?(): Promise<void>;
}

/** Given to a venue by the service. */
export interface VenueTools {
  readonly clock: Clock;
  /** Also counts the calls to external services that fail. */
  readonly log: OutboundLog & { error(context: object, message: string): void };
  readonly chainId: number;
  /** Markets whose outcomes stay in the venue's order, because what is stored of them has it. */
  readonly keepsOrder: (conditionId: string) => boolean;
  /** Names this replica in leases. */
  readonly replicaId: string;
  /** Where it writes what became of orders. */
  readonly evidence: EvidenceLog;
  /** The desk's record of its orders, for a venue that settles trades after it has matched them. */
  readonly liveOrders: (venue: VenueId) => LiveOrderLog;
  /** The wallets whose owner wants the venue's heartbeat. */
  readonly heartbeats: (venue: VenueId) => HeartbeatLog;
  readonly openSecrets: (wallet: FollowedWallet) => VenueSecrets;
  /** Token buckets that all replicas draw from together, by name. */
  readonly bucketsOf: (policies: Readonly<Record<string, BucketPolicy>>) => RateLimits;
  readonly paper: PaperTools;
  /** The names of the doors that are open. */
  readonly openDoors: ReadonlySet<string>;
  /** Faults of the doors on paper, where a test switches them. */
  readonly faults: Faults | null;
}

/** The paper exchange and the sandbox on its book. */
export interface PaperTools
  extends Pick<PaperBackend, 'local' | 'sandbox' | 'sandboxStatus' | 'sandboxKnown'> {
  readonly keys: VenueKeys;
  readonly relayed: RelayedStore;
  readonly gtdMinLeadS: number;
  /** A venue whose orders the paper exchange executes. */
  createVenue(of: {
    readonly id: VenueId;
    readonly signing: SigningTerms;
    readonly builder?: BuilderTerms | undefined;
  }): Venue;
}

/** Given to a door by the edge. */
export interface DoorTools {
  /** Draws from the bucket of the caller's address. */
  readonly guard: ReturnType<typeof createDoorGuard>;
  /** Whether a signer of orders has limits of its own. */
  readonly limitsSigners: boolean;
  readonly recover: RecoverPublicKey;
  /** Sends what is called below these paths to the replica that leads. @param leadKnown resolves when it is known which */
  forward(paths: readonly string[], leadKnown?: () => Promise<void>): preHandlerAsyncHookHandler;
  /** The same for sockets below a path. */
  relayAt(path: string): Relay;
}

export interface Door {
  /** As it is declared. */
  readonly name: string;
  readonly prefix: string;
  readonly register: (app: FastifyInstance) => Promise<void>;
}
