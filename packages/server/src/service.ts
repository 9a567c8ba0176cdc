/**
 * The only place that wires: from a configuration to a running service, and what it takes to stop it again. The
 * process around it (signals, banner, exit codes) is main's.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EmbeddedPostgres } from '@bellwether/durable/embedded';
import type { JournalledExchange } from '@bellwether/exchange';
import { type Faults, VenueKeys } from '@bellwether/exchange/doors/polymarket';
import type { Sandbox } from '@bellwether/sandbox';
import { type Logger, pino } from 'pino';
import release from '../../../package.json' with { type: 'json' };
import type { Config } from './config.ts';
import { within } from './domain/unavailable.ts';
import type { Clock } from './platform/clock.ts';
import { keepVenueBackends } from './platform/database/belonging.ts';
import type { PoolOptions } from './platform/database/connection.ts';
import { watchReplicas } from './platform/database/replica-watch.ts';
import { createMeters } from './platform/http/metrics.ts';
import { createTimelines } from './platform/http/replicas.ts';
import { openRoutes } from './platform/http/routes.ts';
import { createReplicaCalls } from './platform/system/replica-calls.ts';
import { loadRecover, masterKeyName } from './platform/system/secrets.ts';
import { PositionsInPlay } from './positions/index.ts';
import { startDatabase } from './wiring/database.ts';
import { createDoor, openTracing } from './wiring/http.ts';
import { createAllJobs, resolveEarlierDoubt } from './wiring/jobs.ts';
import { paperJournal, startPaper } from './wiring/paper.ts';
import { openSecrets, readMasterKeys } from './wiring/secrets.ts';
import { createStops, type Stops } from './wiring/stopping.ts';
import { openStores } from './wiring/stores.ts';
import { composeNeeds, createSigning, type UseCaseNeeds } from './wiring/use-cases.ts';
import { type GivenVenues, openVenues } from './wiring/venues.ts';

const STOP_EXCHANGE_MS = 5_000;
const STOP_REPLICAS_MS = 1_000;
/** A venue that is away does not hold up a start. */
const NAMES_WITHIN_MS = 5_000;
/** Without another replica that takes it by then, the process ends all the same. */
const HAND_OVER_MS = 15_000;

export interface Service {
  /** Where it listens, without the base path. */
  readonly address: string;
  /** Facts about this start for a person. */
  readonly facts: {
    readonly version: string;
    readonly database: string;
    readonly recovery: string;
    /** Routes that any caller that reaches the service may use. */
    readonly open: readonly string[];
  };
  /** The paper exchange in this process; `null` while another replica leads it. */
  readonly exchange: JournalledExchange | null;
  /** The sandbox in this process, as it is at the start; `null` while another replica leads. */
  readonly sandbox: Sandbox | null;
  /** Parts that the use cases were given. */
  readonly needs: UseCaseNeeds;
  /**
   * One turn of a job, after the one under way.
   *
   * @throws what the job throws; Error for a name that no job has
   */
  runJob(name: string): Promise<void>;
  /**
   * Prepares the end while requests are still answered: proxies see that it is not ready, clients open their next
   * connection elsewhere, another replica takes the lead. Never throws.
   */
  drain(): Promise<void>;
  /** Idempotent. @returns false when something did not stop cleanly */
  stop(): Promise<boolean>;
}

export interface Overrides {
  /** The desk's and the paper exchange's; timers stay real. */
  readonly clock?: Clock;
  /** By timer if it is left out; by hand they run only as `runJob` asks for them. */
  readonly jobs?: 'by hand' | 'by timer';
  /** Receives every statement of the pool, with the id of the request that it is sent for, or the name of the job. */
  readonly onStatement?: PoolOptions['onStatement'];
  /** The embedded server, whose start somebody has begun; else it is started when it is needed. */
  readonly postgres?: Promise<EmbeddedPostgres>;
  readonly logger?: Logger;
  /** Instead of the configured ones with the same id, and beside them. */
  readonly venues?: GivenVenues;
  /** Faults of venue A's doors, to be switched while the service runs. */
  readonly faults?: Faults;
  /** The service cannot go on. Its operator must end the process, so that a supervisor starts it again. */
  readonly onFatal?: (error: Error) => void;
}

/**
 * @throws Error with a sentence that says why the service cannot start; everything that was started by then is stopped again
 */
export async function startService(config: Config, overrides: Overrides = {}): Promise<Service> {
  const logger = overrides.logger ?? pino({ level: config.logLevel, base: null }, pino.destination(2));
  const stops = createStops(logger);
  try {
    return Object.assign(await start(config, { ...overrides, logger }, stops), { stop: stops.run });
  } catch (error) {
    await stops.run();
    throw error;
  }
}

async function start(
  config: Config,
  overrides: Overrides & { readonly logger: Logger },
  stops: Stops,
): Promise<Omit<Service, 'stop'>> {
  const { logger: log } = overrides;
  const clock = overrides.clock ?? { now: () => Date.now() };
  const replicaId = randomBytes(6).toString('hex');
  // With PORT=0 the port is known only once the service listens.
  let publicUrl = config.publicUrl;

  const masterKeys = readMasterKeys(config);
  const database = await startDatabase({
    ...{ config, replicaId, log, stops },
    keyNames: masterKeys.map(masterKeyName),
    ...(overrides.onStatement === undefined ? {} : { onStatement: overrides.onStatement }),
    ...(overrides.postgres === undefined ? {} : { postgres: overrides.postgres }),
    onLost: (error) => {
      log.fatal({ err: error }, 'the database is lost');
      overrides.onFatal?.(error);
    },
  });
  const { sql, pulse } = database;
  const meters = createMeters(clock.now);
  const base = { config, sql, clock, log, meters };
  const isWatched = overrides.onStatement !== undefined;
  const tracer = await openTracing({ config, replicaId, version: release.version, log, stops });
  await keepVenueBackends(
    sql,
    config.venues.map(({ id, backend }) => ({ venue: id, backend })),
  );
  const { secrets, derive, replicaSecrets } = await openSecrets({ ...base, masterKeys, stops });
  const { recover, how } = loadRecover();
  const keys = new VenueKeys({ sql, secret: derive('paper venue keys v1'), now: clock.now });
  const replicaCalls = createReplicaCalls(replicaSecrets);
  const secret = derive('platform solana key v1');
  const signing = await createSigning(config.fees.fireblocks, { secret, clock, log });

  const { sign } = replicaCalls;
  const positions = new PositionsInPlay();
  const paper = await startPaper({
    ...base,
    keys,
    positions,
    replicaId,
    sign,
    platformWallet: signing.address,
  });
  stops.push('exchange', STOP_EXCHANGE_MS, () => paper.stop());

  const stores = await openStores({
    ...base,
    stops,
    recordDir: config.recordDir,
    journal: paperJournal(config, paper),
    positionsInPlay: positions,
  });
  const { isCredited } = stores.wallets;
  const others = await watchReplicas(sql, replicaId);
  stops.push('replicas', STOP_REPLICAS_MS, others.stop);
  const timelines = createTimelines({ sql, others, sign, log });
  const { faults = null } = overrides;
  const { venues, doors, jobs } = await openVenues(
    {
      ...base,
      storedNames: stores.storedNames,
      paper,
      keys,
      faults,
      isCredited,
      secrets,
      replicaId,
      stops,
      bank: others.bank,
    },
    overrides.venues,
  );
  const needs = composeNeeds({
    ...{ config, clock, stores, secrets, venues, signing, recover },
    version: release.version,
    publicUrl: () => publicUrl,
  });

  let isDraining = false;
  const handOver = (): Promise<void> =>
    paper.handOver().catch((error: unknown) => log.warn({ err: error }, 'the lead was not handed over'));
  const door = await createDoor({
    isDraining: () => isDraining,
    ...{
      ...base,
      needs,
      replicaId,
      others,
      replicaCalls,
      timelines,
      paper,
      doors,
      recover,
      pulse,
      derive,
      stops,
      tracer,
      isWatched,
    },
    isDatabaseAway: database.isAway,
    version: release.version,
  });
  // The sandbox's thread reads its chain while this one prepares what comes before.
  await paper.opened();
  // What is stored of earlier releases is named before anything reads it; a venue that is away is asked again by the job.
  await within(NAMES_WITHIN_MS, stores.storedNames.name(venues));
  await resolveEarlierDoubt(needs, config);
  const leads = () => paper.local() !== null;
  const allJobs = createAllJobs({
    config,
    needs,
    venueJobs: jobs,
    timelines,
    door,
    leads,
    stops,
    log,
    meters,
    isWatched,
  });
  if (overrides.jobs !== 'by hand') allJobs.start();

  const address = await door.listen();
  publicUrl = publicUrl.replace(/^(http:\/\/localhost):0(?=\/|$)/, `$1:${new URL(address).port}`);
  const ownUrl = config.replicaUrl ?? address + config.basePath;
  others.listening(ownUrl);
  await paper.listening(ownUrl);
  log.debug({ recovery: how, replicaId }, 'listening');
  return {
    address,
    get exchange() {
      return paper.local()?.exchange ?? null;
    },
    sandbox: paper.local()?.sandbox.current() ?? null,
    needs,
    runJob: allJobs.run,
    async drain() {
      isDraining = true;
      const rest = sleep(config.drainMs);
      const isShared = config.databaseUrl !== null && !database.isAway();
      await Promise.race([isShared ? handOver() : undefined, sleep(HAND_OVER_MS)]);
      await rest;
    },
    facts: {
      version: release.version,
      database: database.where,
      recovery: how,
      open: openRoutes(openPaths(config)),
    },
  };
}

/** Where the doors that are open lie, below the base path. */
const openPaths = ({ venues, paper }: Config): readonly string[] =>
  venues.flatMap(({ doors }) =>
    doors.filter(({ name }) => paper.doors.has(name)).flatMap(({ paths }) => paths),
  );
