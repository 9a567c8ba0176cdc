/** Every job of the service. How often each runs, and what it calls, its file says. */
import type { Logger } from 'pino';
import { touchAgentsJob } from '../agents/index.ts';
import { sweepRiskWatchesJob, watchRisksJob } from '../briefing/index.ts';
import type { Config } from '../config.ts';
import { createEquityRecorder, recordEquityJob } from '../console/index.ts';
import { followFeesJob } from '../fees/index.ts';
import { thinPricesJob } from '../markets/index.ts';
import { sweepSessionsJob } from '../owners/index.ts';
import type { Meters } from '../platform/http/metrics.ts';
import { startJobs } from '../platform/scheduler.ts';
import { autoRedeemJob, resolveMarketsJob } from '../positions/index.ts';
import { followChainOrdersJob, sweepQuotesJob } from '../quoting/index.ts';
import { receiptJobs } from '../receipts/index.ts';
import { forgetFactsJob } from '../streams/index.ts';
import { leftAloneMs, type ResolveDoubtNeeds, resolveDoubt, resolveDoubtJob } from '../trading/index.ts';
import { sweepWalletLinksJob } from '../wallets/index.ts';
import {
  createWebhookCourier,
  deliverWebhooksJob,
  sweepWebhooksJob,
  trimWebhooksJob,
} from '../webhooks/index.ts';
import type { Door } from './http.ts';
import { gatherStatisticsJob } from './job-gather-statistics.ts';
import type { Stops } from './stopping.ts';
import { sweepIdempotencyKeysJob } from './sweep-idempotency-keys.ts';
import { sweepRateLimitsJob } from './sweep-rate-limits.ts';
import { sweepSharedBucketsJob } from './sweep-shared-buckets.ts';
import type { UseCaseNeeds } from './use-cases.ts';

const STOP_JOBS_MS = 1_500;

interface Parts {
  readonly config: Config;
  readonly needs: UseCaseNeeds;
  readonly door: Pick<Door, 'authenticator' | 'rateLimits' | 'revocations' | 'takeListeners'>;
  /** Whether this replica keeps the paper exchange. */
  readonly leads: () => boolean;
  readonly stops: Stops;
  readonly log: Logger;
  readonly meters: Pick<Meters, 'jobEnded'>;
}

/**
 * Settles what an earlier process left in doubt, before anybody can ask about it. On a shared database an order may
 * just be on its way at another replica.
 */
export const resolveEarlierDoubt = (needs: ResolveDoubtNeeds, { databaseUrl }: Config): Promise<number> =>
  resolveDoubt(needs, databaseUrl === null ? 0 : leftAloneMs(true));

export function startAllJobs({ config, needs, door, leads, stops, log, meters }: Parts): void {
  const { authenticator, rateLimits, revocations } = door;
  const touchAgents = touchAgentsJob({ authenticator, agents: needs.agents });
  const courier = createWebhookCourier(needs, log);
  const jobs = startJobs(
    [
      touchAgents,
      autoRedeemJob(needs),
      resolveDoubtJob(needs, config.databaseUrl !== null),
      followChainOrdersJob(needs),
      resolveMarketsJob(needs),
      ...receiptJobs(needs),
      followFeesJob(needs),
      sweepQuotesJob(needs),
      sweepRateLimitsJob(rateLimits),
      sweepSharedBucketsJob(rateLimits),
      sweepIdempotencyKeysJob(needs),
      sweepSessionsJob(needs),
      sweepWalletLinksJob(needs),
      deliverWebhooksJob(courier),
      recordEquityJob(createEquityRecorder(needs), leads),
      watchRisksJob({ ...needs, takeListeners: door.takeListeners, retentionMs: config.factsRetentionMs }),
      sweepRiskWatchesJob(needs),
      forgetFactsJob({ ...needs, retentionMs: config.factsRetentionMs }),
      thinPricesJob({ ...needs, detailMs: config.priceDetailMs }),
      gatherStatisticsJob(needs),
      sweepWebhooksJob(courier),
      trimWebhooksJob(courier),
    ],
    log,
    meters.jobEnded,
  );
  stops.push('jobs', STOP_JOBS_MS, async () => {
    await jobs.stop();
    await courier.stop();
    // What was called since its last turn would be lost.
    await touchAgents.run();
    await revocations.stop();
  });
}
