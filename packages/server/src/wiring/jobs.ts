/** Every job of the service. How often each runs, and what it calls, is said at the end of the file whose work it repeats. */
import type { Logger } from 'pino';
import { agentJobs, touchAgents } from '../agents/index.ts';
import { briefingJobs } from '../briefing/index.ts';
import type { Config } from '../config.ts';
import { consoleJobs } from '../console/index.ts';
import { exitJobs } from '../exits/index.ts';
import { feeJobs } from '../fees/index.ts';
import { marketJobs } from '../markets/index.ts';
import { orderJobs } from '../orders/index.ts';
import { ownerJobs } from '../owners/index.ts';
import { withOrigin } from '../platform/database/connection.ts';
import { databaseJobs } from '../platform/database/statistics.ts';
import type { Meters } from '../platform/http/metrics.ts';
import { rateLimitJobs } from '../platform/http/rate-limits.ts';
import type { Timelines } from '../platform/http/replicas.ts';
import { createJobs, type Job, type Jobs } from '../platform/scheduler.ts';
import { positionJobs } from '../positions/index.ts';
import { quotingJobs } from '../quoting/index.ts';
import { receiptJobs } from '../receipts/index.ts';
import { statementJobs } from '../statements/index.ts';
import { streamJobs } from '../streams/index.ts';
import { leftAloneMs, type ResolveDoubtNeeds, resolveDoubt, tradingJobs } from '../trading/index.ts';
import { walletJobs } from '../wallets/index.ts';
import { createWebhookCourier, webhookJobs } from '../webhooks/index.ts';
import type { Door } from './http.ts';
import type { Stops } from './stopping.ts';
import type { UseCaseNeeds } from './use-cases.ts';

const STOP_JOBS_MS = 3_000;

interface Parts {
  readonly config: Config;
  readonly needs: UseCaseNeeds;
  readonly venueJobs: readonly Job[];
  readonly timelines: Pick<Timelines, 'tell'>;
  readonly door: Pick<Door, 'authenticator' | 'rateLimits' | 'revocations' | 'takeListeners'>;
  /** Whether this replica keeps the paper exchange. */
  readonly leads: () => boolean;
  readonly stops: Stops;
  readonly log: Logger;
  readonly meters: Pick<Meters, 'jobEnded'>;
  /** Whether somebody watches the statements. */
  readonly isWatched: boolean;
}

/**
 * Settles what an earlier process left in doubt, before anybody can ask about it. On a shared database an order may
 * just be on its way at another replica.
 */
export const resolveEarlierDoubt = (needs: ResolveDoubtNeeds, { databaseUrl }: Config): Promise<void> =>
  resolveDoubt(needs, databaseUrl === null ? 0 : leftAloneMs(true));

/** @returns the jobs, of which none runs by itself yet */
export function createAllJobs(parts: Parts): Jobs {
  const { config, needs, venueJobs, timelines, door, leads, stops, log, meters, isWatched } = parts;
  const { authenticator, rateLimits, revocations, takeListeners } = door;
  const { factsRetentionMs: retentionMs, priceDetailMs: detailMs } = config;
  const callers = { authenticator, agents: needs.agents };
  const courier = createWebhookCourier(needs, log);
  const table = [
    agentJobs(callers),
    positionJobs(needs),
    tradingJobs(needs, config.databaseUrl !== null, log),
    exitJobs(needs, log),
    orderJobs(needs, log),
    quotingJobs(needs),
    receiptJobs(needs),
    feeJobs(needs),
    rateLimitJobs(rateLimits),
    databaseJobs({ ...needs, timelines }),
    ownerJobs(needs),
    walletJobs(needs),
    statementJobs(needs),
    webhookJobs(courier),
    consoleJobs(needs, leads),
    briefingJobs({ ...needs, takeListeners, retentionMs }),
    streamJobs({ ...needs, retentionMs }),
    marketJobs({ ...needs, detailMs }),
    venueJobs,
  ];
  const named = (job: Job): Job => ({ ...job, run: () => withOrigin(job.name, () => job.run()) });
  const jobs = createJobs(isWatched ? table.flat().map(named) : table.flat(), log, meters.jobEnded);
  stops.push('jobs', STOP_JOBS_MS, async () => {
    await jobs.stop();
    await courier.stop();
    // Calls since its last turn would be lost.
    await touchAgents(callers);
    revocations.stop();
  });
  return jobs;
}
