/** What is kept in the database, one store for each subject. */
import { LIMITS } from '@bellwether/contract';
import type { Logger } from 'pino';
import { createAgentFacts } from '../adapters/postgres/agent-facts.ts';
import { createAgentStore } from '../adapters/postgres/agent-store.ts';
import { createApprovalStore } from '../adapters/postgres/approval-store.ts';
import { createChainOrderStore } from '../adapters/postgres/chain-order-store.ts';
import type { Sql } from '../adapters/postgres/connection.ts';
import { createEquityStore } from '../adapters/postgres/equity-store.ts';
import { createFactLog } from '../adapters/postgres/fact-log.ts';
import { createFeeStore } from '../adapters/postgres/fee-store.ts';
import { createIdempotencyStore } from '../adapters/postgres/idempotency-store.ts';
import { readOfficialSkills, writeOfficialSkills } from '../adapters/postgres/official-skills.ts';
import { createOperatorReads } from '../adapters/postgres/operator-reads.ts';
import { createOrderStore } from '../adapters/postgres/order-store.ts';
import { createOwnerReads } from '../adapters/postgres/owner-reads.ts';
import { createOwnerStore } from '../adapters/postgres/owner-store.ts';
import { createPositionStore } from '../adapters/postgres/position-store.ts';
import { createPriceRetention } from '../adapters/postgres/price-retention.ts';
import { createQueueDepths } from '../adapters/postgres/queue-depths.ts';
import { createQuoteStore } from '../adapters/postgres/quote-store.ts';
import { createRedemptionStore } from '../adapters/postgres/redemption-store.ts';
import { createRefusalLog } from '../adapters/postgres/refusal-log.ts';
import { createResultStore } from '../adapters/postgres/result-store.ts';
import { createRiskWatches } from '../adapters/postgres/risk-watches.ts';
import { createSkillStore } from '../adapters/postgres/skill-store.ts';
import { createStatistics } from '../adapters/postgres/statistics.ts';
import { createTradeLedger, type VenueJournal } from '../adapters/postgres/trade-ledger.ts';
import { createWalletLinkStore } from '../adapters/postgres/wallet-link-store.ts';
import { createWalletStore } from '../adapters/postgres/wallet-store.ts';
import { createWebhookStore } from '../adapters/postgres/webhook-store.ts';
import type { Clock } from '../ports/clock.ts';
import { createReceiptStore } from '../receipts/index.ts';
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
