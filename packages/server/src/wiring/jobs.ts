/** Every job of the service. How often each runs, and what it calls, its file says. */
import type { Logger } from 'pino';
import { createWebhookCourier } from '../app/deliver-webhooks.ts';
import { type ResolveDoubtNeeds, resolveDoubt } from '../app/orders/signed/resolve-doubt.ts';
import { createEquityRecorder } from '../app/record-equity.ts';
import type { Config } from '../config.ts';
import type { Meters } from '../http/metrics.ts';
import { autoRedeemJob } from '../jobs/auto-redeem.ts';
import { deliverWebhooksJob } from '../jobs/deliver-webhooks.ts';
import { followChainOrdersJob } from '../jobs/follow-chain-orders.ts';
import { followFeesJob } from '../jobs/follow-fees.ts';
import { forgetFactsJob } from '../jobs/forget-facts.ts';
import { gatherStatisticsJob } from '../jobs/gather-statistics.ts';
import { startJobs } from '../jobs/jobs.ts';
import { recordEquityJob } from '../jobs/record-equity.ts';
import { leftAloneMs, resolveDoubtJob } from '../jobs/resolve-doubt.ts';
import { resolveMarketsJob } from '../jobs/resolve-markets.ts';
import { sweepIdempotencyKeysJob } from '../jobs/sweep-idempotency-keys.ts';
import { sweepQuotesJob } from '../jobs/sweep-quotes.ts';
import { sweepRateLimitsJob } from '../jobs/sweep-rate-limits.ts';
import { sweepRiskWatchesJob } from '../jobs/sweep-risk-watches.ts';
import { sweepSessionsJob } from '../jobs/sweep-sessions.ts';
import { sweepSharedBucketsJob } from '../jobs/sweep-shared-buckets.ts';
import { sweepWalletLinksJob } from '../jobs/sweep-wallet-links.ts';
import { sweepWebhooksJob } from '../jobs/sweep-webhooks.ts';
import { thinPricesJob } from '../jobs/thin-prices.ts';
import { touchAgentsJob } from '../jobs/touch-agents.ts';
import { trimWebhooksJob } from '../jobs/trim-webhooks.ts';
import { watchRisksJob } from '../jobs/watch-risks.ts';
import { receiptJobs } from '../receipts/index.ts';
import type { Door } from './http.ts';
import type { Stops } from './stopping.ts';
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
