/**
 * The only place that wires: from a configuration to a running service, and what it takes to stop it again. The
 * process around it (signals, banner, exit codes) is main's.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LIMITS } from '@bellwether/contract';
import { parseMicro } from '@bellwether/contract/decimals';
import { EXCHANGE_SCHEMA, type JournalledExchange } from '@bellwether/exchange';
import { EXCHANGE_KEYS_SCHEMA, VenueKeys } from '@bellwether/exchange/doors/polymarket';
import { SANDBOX_PATHS, SANDBOX_SCHEMA, type Sandbox } from '@bellwether/sandbox';
import { type Logger, pino } from 'pino';
import { createAgentFacts } from './adapters/postgres/agent-facts.ts';
import { createAgentStore } from './adapters/postgres/agent-store.ts';
import { createChainOrderStore } from './adapters/postgres/chain-order-store.ts';
import type { PoolOptions } from './adapters/postgres/connection.ts';
import { createFactLog } from './adapters/postgres/fact-log.ts';
import { createFeeStore } from './adapters/postgres/fee-store.ts';
import { createIdempotencyStore } from './adapters/postgres/idempotency-store.ts';
import { masterKeyFits } from './adapters/postgres/master-key-check.ts';
import { migrate } from './adapters/postgres/migrate.ts';
import { readOfficialSkills, writeOfficialSkills } from './adapters/postgres/official-skills.ts';
import { createOrderStore } from './adapters/postgres/order-store.ts';
import { createOwnerStore } from './adapters/postgres/owner-store.ts';
import { createPositionStore } from './adapters/postgres/position-store.ts';
import { createQuoteStore } from './adapters/postgres/quote-store.ts';
import { createRedemptionStore } from './adapters/postgres/redemption-store.ts';
import { createRefusalLog } from './adapters/postgres/refusal-log.ts';
import { watchReplicas } from './adapters/postgres/replica-watch.ts';
import { createResultStore } from './adapters/postgres/result-store.ts';
import { listenForRevocations } from './adapters/postgres/revocations.ts';
import { createSkillStore } from './adapters/postgres/skill-store.ts';
import { createTradeLedger } from './adapters/postgres/trade-ledger.ts';
import { createWalletLinkStore } from './adapters/postgres/wallet-link-store.ts';
import { createWalletStore } from './adapters/postgres/wallet-store.ts';
import { createWebhookStore } from './adapters/postgres/webhook-store.ts';
import { nativeVerifyEd25519 } from './adapters/system/ed25519.ts';
import { loadRecover } from './adapters/system/recover.ts';
import { createReplicaCalls } from './adapters/system/replica-calls.ts';
import { createSecrets, deriveSecret, readMasterKeyFile } from './adapters/system/secrets.ts';
import { isBlockedCountry } from './adapters/venues/dflow/jurisdictions.ts';
import { createPasskeys } from './adapters/webauthn/passkeys.ts';
import { createWebhookSender } from './adapters/webhooks/sender.ts';
import { CACHE_LEASE_MS, createAuthenticator } from './app/authenticate.ts';
import { autoRedeem } from './app/auto-redeem.ts';
import { createWebhookCourier } from './app/deliver-webhooks.ts';
import type { Deps } from './app/deps.ts';
import { followFees } from './app/fees/fee-fate.ts';
import { forgetFacts } from './app/forget-facts.ts';
import { createIdempotency } from './app/idempotency.ts';
import { followChainOrders } from './app/orders/quoted/follow.ts';
import { resolveDoubt } from './app/orders/signed/resolve-doubt.ts';
import { ownerOfSession } from './app/owners.ts';
import { createRateLimits } from './app/rate-limits.ts';
import { resolveMarkets } from './app/resolve-markets.ts';
import { createRecommendedSkills } from './app/skills.ts';
import { watchRisks } from './app/watch-risks.ts';
import type { Config } from './config.ts';
import { Admission } from './http/admission.ts';
import { openRoutes } from './http/open-routes.ts';
import type { ReplicaDoor } from './http/replicas.ts';
import { createServer } from './http/server.ts';
import { startJobs } from './jobs/jobs.ts';
import type { Clock } from './ports/clock.ts';
import { openDatabase } from './wiring/database.ts';
import { doorPaths, paperDoors } from './wiring/doors.ts';
import { describeOutage } from './wiring/outages.ts';
import { startPaper } from './wiring/paper.ts';
import { createReadiness } from './wiring/readiness.ts';
import { createSigning, walletOf } from './wiring/signing.ts';
import { createStops, type Stops } from './wiring/stopping.ts';
import { createVenues, type GivenVenues } from './wiring/venues.ts';

const VERSION: string = JSON.parse(
  readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8'),
).version;
const TOUCH_EVERY_MS = 5_000;
const RESOLVE_EVERY_MS = 1_000;
/** Later than any order can still arrive, and with room for clocks that differ between replicas. */
const RESOLVE_AFTER_MS = 5_000;
const RESOLVE_AFTER_SHARED_MS = 12_000;
const SWEEP_EVERY_MS = 3_600_000;
const FORGET_FACTS_EVERY_MS = 300_000;
const WEBHOOK_TRIM_EVERY_MS = 10_000;
const WEBHOOKS_EVERY_MS = 500;
const RISKS_EVERY_MS = 30_000;
const AUTO_REDEEM_EVERY_MS = 1_000;
const LEADERBOARD_FRESH_MS = 5_000;
const RATE_SWEEP_EVERY_MS = 1_000;
const FOLLOW_EVERY_MS = 300;
const FOLLOW_FEES_EVERY_MS = 2_000;
const RESOLVE_MARKETS_EVERY_MS = 15_000;
/** Long enough to tell a late agent that its quote has expired; quotes come by the second. */
const QUOTES_KEPT_MS = 3_600_000;
const SWEEP_QUOTES_EVERY_MS = 60_000;
/** Connections that wait to be taken. One that finds no room is tried again by its system after a second, then three. */
const BACKLOG = 4_096;

/** What each part may take to stop. */
const STOP_MS = 1_000;
const STOP_JOBS_MS = 1_500;
const STOP_DOOR_MS = 2_500;
const STOP_EXCHANGE_MS = 3_000;
const STOP_DATABASE_MS = 5_000;

export interface Service {
  /** Where it listens, without the base path. */
  readonly address: string;
  /** What a person wants to know about this start. */
  readonly facts: {
    readonly version: string;
    readonly database: string;
    readonly recovery: string;
    /** What everybody who reaches the service may use. */
    readonly open: readonly string[];
  };
  /** The paper exchange in this process; `null` while another replica leads it. */
  readonly exchange: JournalledExchange | null;
  /** The sandbox in this process, as it is at the start; `null` while another replica leads. */
  readonly sandbox: Sandbox | null;
  readonly deps: Deps;
  /** Idempotent. @returns false when something did not stop cleanly */
  stop(): Promise<boolean>;
}

export interface Overrides {
  /** The desk's and the paper exchange's; timers stay real. */
  readonly clock?: Clock;
  readonly onStatement?: PoolOptions['onStatement'];
  readonly logger?: Logger;
  /** Instead of the configured ones with the same id, and beside them. */
  readonly venues?: GivenVenues;
  /** The service cannot go on. Whoever runs it must end the process, so that a supervisor starts it again. */
  readonly onFatal?: (error: Error) => void;
}

/**
 * @throws Error with a sentence that says why the service cannot start; whatever was started by then is stopped again
 */
export async function startService(config: Config, overrides: Overrides = {}): Promise<Service> {
  const logger = overrides.logger ?? pino({ level: config.logLevel, base: null }, pino.destination(2));
  const stops = createStops(logger);
  try {
    return { ...(await start(config, { ...overrides, logger }, stops)), stop: stops.run };
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
  const { logger } = overrides;
  const clock = overrides.clock ?? { now: () => Date.now() };
  const replicaId = randomBytes(6).toString('hex');

  const database = await openDatabase({
    config,
    replicaId,
    log: logger,
    ...(overrides.onStatement === undefined ? {} : { onStatement: overrides.onStatement }),
    onLost: (error) => {
      logger.fatal({ err: error }, 'the database is lost');
      overrides.onFatal?.(error);
    },
  });
  const { sql } = database;
  stops.watch(database.isAway);
  stops.push('database', STOP_DATABASE_MS, database.stop);
  stops.push('pool', STOP_MS, database.close);
  await migrate(sql, [EXCHANGE_SCHEMA, EXCHANGE_KEYS_SCHEMA, SANDBOX_SCHEMA]);
  const pulse = database.listen();
  const masterKey =
    config.masterKey === null ? readMasterKeyFile(config.dataDir) : Buffer.from(config.masterKey, 'hex');
  const secrets = createSecrets(masterKey, clock.now);
  if (!(await masterKeyFits(sql, secrets))) {
    throw new Error(
      'MASTER_KEY is not the one that this database was written with. Start with the right one.',
    );
  }

  const { recover, how } = loadRecover();
  const keys = new VenueKeys({ sql, secret: deriveSecret(masterKey, 'paper venue keys v1') });
  const replicaCalls = createReplicaCalls(deriveSecret(masterKey, 'replica calls v2'));
  const signing = await createSigning(config.fees.fireblocks, {
    secret: deriveSecret(masterKey, 'platform solana key v1'),
    clock,
    log: logger,
  });
  const paper = await startPaper({
    config,
    sql,
    keys,
    clock,
    replicaId,
    sign: replicaCalls.sign,
    log: logger,
    platformWallet: signing.address,
  });
  stops.push('exchange', STOP_EXCHANGE_MS, () => paper.stop());

  const wallets = createWalletStore(sql);
  const venues = createVenues(
    { config, sql, paper, isCredited: wallets.isCredited, clock, log: logger },
    overrides.venues,
  );
  const agents = createAgentStore(sql, clock.now);
  const refusals = createRefusalLog({ sql, ring: LIMITS.refusalsKept, log: logger });
  stops.push('refusals', STOP_MS, () => refusals.flush());
  const owners = createOwnerStore(sql);
  const skills = createSkillStore(sql);
  await writeOfficialSkills(sql, readOfficialSkills(clock.now()));
  // With PORT=0 the port is known only once the service listens.
  let publicUrl = config.publicUrl;
  const deps: Deps = {
    clock,
    secrets,
    agents,
    wallets,
    walletLinks: createWalletLinkStore(sql),
    webhooks: createWebhookStore(sql),
    webhookSender: createWebhookSender({
      allowLoopback: config.webhooks.allowLoopback,
      userAgent: `Bellwether-Webhooks/${VERSION}`,
    }),
    inboundSources: { secretOf: (source) => config.webhooks.inboundSecrets.get(source) ?? null },
    orders: createOrderStore(sql),
    positions: createPositionStore(sql),
    ledger: createTradeLedger(sql),
    redemptions: createRedemptionStore(sql),
    refusals,
    results: createResultStore(sql, { entries: LIMITS.leaderboardEntries, freshMs: LEADERBOARD_FRESH_MS }),
    owners,
    passkeys: createPasskeys(() => publicUrl),
    venues,
    facts: createAgentFacts(sql),
    skills,
    recommendedSkills: createRecommendedSkills(skills, clock),
    geography: { header: config.dflow.countryHeader, isBlocked: isBlockedCountry },
    quotes: createQuoteStore(sql),
    chainOrders: createChainOrderStore(sql),
    fees: createFeeStore(sql),
    signing,
    feeWallet: config.fees.wallet === null ? signing.address : walletOf('FEE_WALLET', config.fees.wallet),
    maxFeeCharge: parseMicro(config.fees.maxCharge, 'floor'),
    get paperRpcUrl() {
      return config.dflow.live === null && config.paper.doors.has('solana')
        ? publicUrl + SANDBOX_PATHS.rpc
        : null;
    },
    signatures: {
      chainId: config.chainId,
      recover,
      verifyEd25519: nativeVerifyEd25519,
    },
    get publicUrl() {
      return publicUrl;
    },
    simulationBalance: parseMicro(config.paper.simulationBalance, 'floor'),
    faucetPerDay: parseMicro(config.paper.faucetPerDay),
  };
  const resolveAfterMs = config.databaseUrl === null ? RESOLVE_AFTER_MS : RESOLVE_AFTER_SHARED_MS;
  // Whatever an earlier process left in doubt is settled before anybody can ask about it. On a shared database an
  // order may just be on its way at another replica.
  await resolveDoubt(deps, config.databaseUrl === null ? 0 : resolveAfterMs);

  const authenticator = createAuthenticator({ agents, secrets, clock });
  const revocations = await listenForRevocations({
    sql,
    replicaId,
    leaseMs: CACHE_LEASE_MS,
    forget: authenticator.forget,
  });
  const watch = await watchReplicas(sql, replicaId);
  stops.push('replicas', STOP_MS, watch.stop);
  const rateLimits = createRateLimits({ policies: config.rateLimits, clock, bank: watch.bank });
  const idempotencyStore = createIdempotencyStore(sql);
  const replicas: ReplicaDoor = { ...replicaCalls, answer: paper.answer, leaderUrl: paper.leaderUrl };
  const app = await createServer({
    deps,
    gate: {
      authenticator,
      ownerOf: (token) => ownerOfSession(deps, token),
      operatorKey: config.operatorKey,
      publicUrl: () => publicUrl,
      rateLimits,
      idempotency: createIdempotency({
        store: idempotencyStore,
        clock,
        keysPerAgent: LIMITS.idempotencyKeysPerAgent,
      }),
      admission: new Admission({ ...config.load, now: () => performance.now() }),
      paperOnly: config.exchange.backend === 'paper' && config.dflow.live === null,
    },
    forgetKey: revocations.announce,
    replicas,
    logger,
    deadlineMs: config.load.deadlineMs,
    isDatabaseAway: database.isAway,
    describeOutage,
    basePath: config.basePath,
    trustProxy: config.trustProxy,
    connections: config.connections,
    hosts: config.hosts,
    origins: config.origins,
    version: VERSION,
    publicUrl: config.publicUrl,
    readiness: createReadiness({
      database: pulse.probe,
      paper,
      venues,
      version: VERSION,
    }),
    doors: paperDoors({ config, paper, keys, recover, replicas, rateLimits, clock }),
  });
  stops.push('door', STOP_DOOR_MS, async (withinMs) => {
    const cut = setTimeout(() => app.server.closeAllConnections(), withinMs / 2);
    await app.close().finally(() => clearTimeout(cut));
  });

  const touch = async () => {
    const calls = authenticator.drainCalls();
    if (calls.size > 0) await agents.touch(calls);
  };
  const courier = createWebhookCourier(deps, logger);
  const factLog = createFactLog(sql);
  const jobs = startJobs(
    [
      { name: 'touch', everyMs: TOUCH_EVERY_MS, run: touch },
      { name: 'redeem', everyMs: AUTO_REDEEM_EVERY_MS, run: () => autoRedeem(deps) },
      { name: 'resolve doubt', everyMs: RESOLVE_EVERY_MS, run: () => resolveDoubt(deps, resolveAfterMs) },
      { name: 'follow', everyMs: FOLLOW_EVERY_MS, run: () => followChainOrders(deps) },
      { name: 'resolve markets', everyMs: RESOLVE_MARKETS_EVERY_MS, run: () => resolveMarkets(deps) },
      { name: 'follow fees', everyMs: FOLLOW_FEES_EVERY_MS, run: () => followFees(deps) },
      {
        name: 'sweep quotes',
        everyMs: SWEEP_QUOTES_EVERY_MS,
        run: () => deps.quotes.sweep(clock.now() - QUOTES_KEPT_MS),
      },
      { name: 'rate limits', everyMs: RATE_SWEEP_EVERY_MS, run: rateLimits.sweep },
      { name: 'sweep buckets', everyMs: SWEEP_EVERY_MS, run: rateLimits.sweepBank },
      { name: 'sweep', everyMs: SWEEP_EVERY_MS, run: () => idempotencyStore.sweep(clock.now()) },
      { name: 'sweep sessions', everyMs: SWEEP_EVERY_MS, run: () => owners.sweep(clock.now()) },
      { name: 'sweep links', everyMs: SWEEP_EVERY_MS, run: () => deps.walletLinks.sweep(clock.now()) },
      { name: 'webhooks', everyMs: WEBHOOKS_EVERY_MS, run: courier.tick },
      { name: 'watch risks', everyMs: RISKS_EVERY_MS, run: () => watchRisks(deps) },
      {
        name: 'forget facts',
        everyMs: FORGET_FACTS_EVERY_MS,
        run: () => forgetFacts({ factLog, clock, retentionMs: config.factsRetentionMs }),
      },
      { name: 'sweep webhooks', everyMs: SWEEP_EVERY_MS, run: courier.sweep },
      { name: 'trim webhooks', everyMs: WEBHOOK_TRIM_EVERY_MS, run: courier.trim },
    ],
    logger,
  );
  stops.push('jobs', STOP_JOBS_MS, async () => {
    await jobs.stop();
    await courier.stop();
    await touch();
    await revocations.stop();
  });

  const address = await app.listen({ port: config.port, host: config.host, backlog: BACKLOG });
  publicUrl = publicUrl.replace(/^(http:\/\/localhost):0(?=\/|$)/, `$1:${new URL(address).port}`);
  await paper.listening(config.replicaUrl ?? address + config.basePath);
  logger.debug({ recovery: how, replicaId }, 'listening');
  return {
    address,
    exchange: paper.local()?.exchange ?? null,
    sandbox: paper.local()?.sandbox.current() ?? null,
    deps,
    facts: {
      version: VERSION,
      database: database.where,
      recovery: how,
      open: openRoutes(doorPaths(config.paper.doors)),
    },
  };
}
