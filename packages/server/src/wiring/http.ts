/** The door for requests: who may enter and how often, and every operation behind it. */
import { LIMITS } from '@bellwether/contract';
import type { RecoverPublicKey } from '@bellwether/protocol';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { ListingUnfinished, VenueUnavailable } from '../domain/unavailable.ts';
import { ownerOfSession } from '../owners/index.ts';
import { databaseFault, type Sql } from '../platform/database/connection.ts';
import type { DatabasePulse } from '../platform/database/database-pulse.ts';
import {
  listenForRevocations,
  type ReplicaWatch,
  type Revocations,
} from '../platform/database/replica-watch.ts';
import { Acceptors } from '../platform/http/connections.ts';
import { createIdempotency } from '../platform/http/idempotency.ts';
import { type Authenticator, CACHE_LEASE_MS, createAuthenticator } from '../platform/http/identify.ts';
import { Gatekeeper } from '../platform/http/load-control.ts';
import type { Meters } from '../platform/http/metrics.ts';
import { createDoorGuard, createRateLimits, type RateLimits } from '../platform/http/rate-limits.ts';
import {
  forwardToLeader,
  type ReplicaDoor,
  socketAtLeader,
  type Timelines,
} from '../platform/http/replicas.ts';
import type { ReplicaCalls } from '../platform/system/replica-calls.ts';
import type { Tracer } from '../platform/tracing.ts';
import { bindReceipts } from '../receipts/index.ts';
import { bindStatements } from '../statements/index.ts';
import type { Streams } from '../streams/index.ts';
import { venueRecord } from '../venues/asking.ts';
import type { DoorTools } from '../venues/configured.ts';
import { type PaperBackend, relaySocket } from '../venues/paper/index.ts';
import type { Venues } from '../venues/venue.ts';
import { createServer, type ReadyState } from './server.ts';
import type { Stops } from './stopping.ts';
import { createStreams } from './streams.ts';
import type { UseCaseNeeds } from './use-cases.ts';
import type { OpenVenues } from './venues.ts';

const STOP_DOOR_MS = 2_500;
/** Connections that wait to be taken. One that finds no room is tried again by its system after a second, then three. */
const BACKLOG = 4_096;

interface DoorParts {
  readonly config: Config;
  readonly needs: UseCaseNeeds;
  readonly sql: Sql;
  readonly replicaId: string;
  readonly others: Pick<ReplicaWatch, 'bank' | 'hasOthers'>;
  readonly replicaCalls: ReplicaCalls;
  readonly timelines: Pick<Timelines, 'answer'>;
  readonly paper: PaperBackend;
  readonly recover: RecoverPublicKey;
  readonly doors: OpenVenues['doors'];
  readonly pulse: DatabasePulse;
  readonly meters: Meters;
  readonly tracer: Tracer | undefined;
  readonly isWatched: boolean;
  readonly derive: (purpose: string) => Uint8Array;
  readonly isDatabaseAway: () => boolean;
  readonly isDraining: () => boolean;
  readonly version: string;
  readonly log: Logger;
  readonly stops: Stops;
}

export interface Door {
  readonly authenticator: Authenticator;
  readonly rateLimits: RateLimits;
  readonly revocations: Revocations;
  /** The agents whose event streams were open here since the last call. */
  takeListeners(): readonly string[];
  /** @returns the address, without the base path */
  listen(): Promise<string>;
}

export async function createDoor(parts: DoorParts): Promise<Door> {
  const { config, needs, sql, stops } = parts;
  const { clock } = needs;
  const authenticator = createAuthenticator({
    ...needs,
    now: () => performance.now(),
    refusedEverywhere: (keyId) => revocations.refusedEverywhere(keyId),
  });
  const streams = createStreams({
    ...{ sql, needs, log: parts.log },
    secret: parts.derive('event cursors v1'),
    maxConnections: config.connections.maxConnections,
  });
  const revocations = await listenForRevocations({
    sql,
    hasOthers: parts.others.hasOthers,
    leaseMs: CACHE_LEASE_MS,
    forget(keyId) {
      authenticator.forget(keyId);
      streams.open.forget(keyId);
    },
  });
  const rateLimits = createRateLimits({ policies: config.rateLimits, clock, bank: parts.others.bank });
  const app = await openServer(parts, {
    ...{ authenticator, rateLimits, streams },
    revocations,
  });
  const acceptors = new Acceptors(app);
  stops.push('door', STOP_DOOR_MS, async (withinMs) => {
    const cut = setTimeout(() => app.server.closeAllConnections(), withinMs / 2);
    await Promise.all([app.close(), acceptors.close()]).finally(() => clearTimeout(cut));
  });
  return {
    authenticator,
    rateLimits,
    revocations,
    takeListeners: () => streams.feed.takeListeners(),
    listen: () => acceptors.listen({ port: config.port, host: config.host, backlog: BACKLOG }),
  };
}

interface Entrance {
  readonly authenticator: Authenticator;
  readonly rateLimits: RateLimits;
  readonly revocations: Revocations;
  readonly streams: Streams;
}

function openServer(parts: DoorParts, { authenticator, rateLimits, revocations, streams }: Entrance) {
  const { config, needs, replicaId, paper, recover, version, log } = parts;
  const { clock, venues } = needs;
  const replicas: ReplicaDoor = {
    ...parts.replicaCalls,
    answer: paper.answer,
    exchangeTimelines: parts.timelines.answer,
    leaderUrl: paper.leaderUrl,
    leadKnown: () => paper.leadKnown('external'),
    keepOpen: (until) => void paper.keepOpen(until),
  };
  return createServer({
    needs,
    gate: {
      authenticator,
      ownerOf: (tokens) => ownerOfSession(needs, tokens),
      operatorKey: config.operatorKey,
      publicUrl: () => needs.publicUrl,
      rateLimits,
      idempotency: createIdempotency({
        store: needs.idempotencyKeys,
        clock,
        keysPerAgent: LIMITS.idempotencyKeysPerAgent,
      }),
      gatekeeper: new Gatekeeper({ ...config.load, now: () => performance.now() }),
      paperOnly: config.venues.every(({ backend }) => backend === 'paper'),
    },
    bindRooms: (bind) => {
      bindReceipts(bind, needs);
      bindStatements(bind, needs);
    },
    revocations,
    replicas,
    replica: { id: replicaId, startedAt: clock.now(), leads: () => paper.local() !== null },
    streams,
    meters: parts.meters,
    tracer: parts.tracer,
    isWatched: parts.isWatched,
    logger: log,
    deadlineMs: config.load.deadlineMs,
    isDatabaseAway: parts.isDatabaseAway,
    describeOutage,
    basePath: config.basePath,
    trustProxy: config.trustProxy,
    connections: config.connections,
    hosts: config.hosts,
    origins: config.origins,
    version,
    publicUrl: config.publicUrl,
    isDraining: parts.isDraining,
    readiness: createReadiness({
      ...{ paper, venues, version },
      database: parts.pulse.probe,
      isDraining: parts.isDraining,
    }),
    doors: parts.doors(doorTools({ config, recover, replicas, rateLimits })),
  });
}

interface DoorToolParts extends Pick<DoorParts, 'config' | 'recover'> {
  readonly replicas: ReplicaDoor;
  readonly rateLimits: RateLimits;
}

/** The same for the doors of every venue. A caller draws from the bucket of its address, on whichever replica. */
const doorTools = ({ config, recover, replicas, rateLimits }: DoorToolParts): DoorTools => ({
  guard: createDoorGuard(rateLimits),
  limitsSigners: config.rateLimits !== null,
  recover,
  forward: (paths, leadKnown = replicas.leadKnown) =>
    forwardToLeader({ ...replicas, leadKnown }, config.basePath, paths),
  relayAt: (path) => (request) => {
    const target = socketAtLeader(replicas, { basePath: config.basePath, mount: path }, request);
    return target === null ? null : (peer) => relaySocket(target, peer);
  },
});

// Answers `/readyz`: whether trades can be taken here, asked anew each time, and within a second. Every question has
// its own, shorter time, so that one that hangs neither delays nor hides the others.

export interface ReadinessParts {
  /** `ready`, or what is wrong with the database; in time. */
  readonly database: () => Promise<string>;
  /** Refreshes what the venues on paper know of the replica that leads. */
  readonly paper: Pick<PaperBackend, 'probe'>;
  readonly venues: Venues;
  readonly version: string;
  /** The process is about to end: proxies are to choose another replica, while this one still answers. */
  readonly isDraining: () => boolean;
}

export function createReadiness({ database, paper, venues, version, isDraining }: ReadinessParts) {
  return async (): Promise<ReadyState> => {
    const draining = isDraining();
    const [said] = draining ? ['not asked'] : await Promise.all([database(), paper.probe()]);
    const own = [...venues.values()].map((venue) => venueRecord(venue, 'proxy'));
    // One venue's trouble must not take the others' agents away; without the database none takes anything.
    const states =
      draining || said === 'ready'
        ? own
        : own.map((venue) =>
            venue.status === 'ready' ? { ...venue, status: `waits for the database: ${said}` } : venue,
          );
    const ready = !draining && states.some(({ status }) => status === 'ready');
    const status = draining ? 'draining' : ready ? 'ready' : 'not ready';
    return { ready, body: { status, version, venues: states, database: said } };
  };
}

// Which errors mean that something the service needs did not answer, in words for the caller.

/** @returns null for a fault of the service's own code */
export function describeOutage(error: unknown): string | null {
  if (error instanceof ListingUnfinished) return error.message;
  return error instanceof VenueUnavailable ? 'The venue is not reachable.' : databaseFault(error);
}

// Traces, where an endpoint for them is configured. Elsewhere neither the exporter nor its SDK is loaded.

const STOP_TRACES_MS = 1_000;

interface TracingParts {
  readonly config: Config;
  readonly replicaId: string;
  readonly version: string;
  readonly log: Logger;
  readonly stops: Stops;
}

export async function openTracing(parts: TracingParts): Promise<Tracer | undefined> {
  const { config, replicaId, version, log, stops } = parts;
  if (config.tracing === null) return undefined;
  const { startTracer } = await import('../platform/tracing/tracer.ts');
  const resource = {
    'service.version': version,
    'service.instance.id': replicaId,
    ...config.tracing.resource,
  };
  const tracer = startTracer({ ...config.tracing, resource, log });
  stops.push('traces', STOP_TRACES_MS, tracer.stop);
  return tracer;
}
