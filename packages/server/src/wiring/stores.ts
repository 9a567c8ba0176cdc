/** What is kept in the database, one store for each subject. */
import { LIMITS } from '@bellwether/contract';
import type { Logger } from 'pino';
import { createAgentStore } from '../agents/store.ts';
import { createApprovalStore } from '../approvals/store.ts';
import { createAgentFacts } from '../briefing/agent-facts.ts';
import { createRiskWatches } from '../briefing/risk-watches.ts';
import { createEquityStore } from '../console/equity-store.ts';
import { createOwnerReads } from '../console/owner-reads.ts';
import { createFeeStore } from '../fees/store.ts';
import { createPriceRetention } from '../markets/price-retention.ts';
import { createOperatorReads } from '../operator/operator-reads.ts';
import { createQueueDepths } from '../operator/queue-depths.ts';
import { createResultStore } from '../orders/result-store.ts';
import { createOwnerStore } from '../owners/owner-store.ts';
import type { Clock } from '../platform/clock.ts';
import type { Sql } from '../platform/database/connection.ts';
import { createIdempotencyStore } from '../platform/database/idempotency-store.ts';
import { createStatistics } from '../platform/database/statistics.ts';
import { createPositionStore } from '../positions/position-store.ts';
import { createRedemptionStore } from '../positions/redemption-store.ts';
import { createChainOrderStore } from '../quoting/chain-order-store.ts';
import { createQuoteStore } from '../quoting/quote-store.ts';
import { createReceiptStore } from '../receipts/index.ts';
import { readOfficialSkills, writeOfficialSkills } from '../skills/official-skills.ts';
import { createSkillStore } from '../skills/store.ts';
import { createFactLog } from '../streams/fact-log.ts';
import { createTradeLedger, type VenueJournal } from '../trading/ledger.ts';
import { createOrderStore } from '../trading/order-store.ts';
import { createRefusalLog } from '../trading/refusal-log.ts';
import { createWalletLinkStore } from '../wallets/link-store.ts';
import { createWalletStore } from '../wallets/store.ts';
import { createWebhookStore } from '../webhooks/store.ts';
import type { Stops } from './stopping.ts';

const LEADERBOARD_FRESH_MS = 5_000;
const STOP_REFUSALS_MS = 1_000;

interface Parts {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly log: Logger;
  readonly journal: VenueJournal | null;
}

export type Stores = ReturnType<typeof createStores>;

const createStores = ({ sql, clock, log, journal }: Parts) => ({
  agents: createAgentStore(sql, clock.now),
  wallets: createWalletStore(sql),
  walletLinks: createWalletLinkStore(sql),
  webhooks: createWebhookStore(sql),
  orders: createOrderStore(sql),
  approvals: createApprovalStore(sql),
  receipts: createReceiptStore(sql),
  positions: createPositionStore(sql),
  ledger: createTradeLedger(sql, journal),
  redemptions: createRedemptionStore(sql),
  refusals: createRefusalLog({ sql, ring: LIMITS.refusalsKept, log }),
  results: createResultStore(sql, { entries: LIMITS.leaderboardEntries, freshMs: LEADERBOARD_FRESH_MS }),
  owners: createOwnerStore(sql),
  ownerReads: createOwnerReads(sql),
  operatorReads: createOperatorReads(sql),
  facts: createAgentFacts(sql),
  queueDepths: createQueueDepths(sql),
  riskWatches: createRiskWatches(sql),
  skills: createSkillStore(sql),
  quotes: createQuoteStore(sql),
  chainOrders: createChainOrderStore(sql),
  fees: createFeeStore(sql),
  idempotencyKeys: createIdempotencyStore(sql),
  equity: createEquityStore(sql),
  factLog: createFactLog(sql),
  priceRetention: createPriceRetention(sql),
  statistics: createStatistics(sql),
});

/** The stores, with this release's official skills in theirs. */
export async function openStores({ stops, ...parts }: Parts & { readonly stops: Stops }): Promise<Stores> {
  const stores = createStores(parts);
  stops.push('refusals', STOP_REFUSALS_MS, () => stores.refusals.flush());
  await writeOfficialSkills(parts.sql, readOfficialSkills(parts.clock.now()));
  return stores;
}
