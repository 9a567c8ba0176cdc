/** Stores in the database, one for each subject. */
import { LIMITS } from '@bellwether/contract';
import type { Logger } from 'pino';
import { createAgentStore } from '../agents/index.ts';
import { createApprovalStore } from '../approvals/index.ts';
import { createAgentFacts, createRiskWatches } from '../briefing/index.ts';
import { createEquityStore, createOwnerReads } from '../console/index.ts';
import { createExitStore } from '../exits/index.ts';
import { createFeeStore } from '../fees/index.ts';
import { createPriceRetention, openStoredNames } from '../markets/index.ts';
import { createOperatorReads, createQueueDepths } from '../operator/index.ts';
import { createResultStore } from '../orders/index.ts';
import { createOwnerStore } from '../owners/index.ts';
import type { Clock } from '../platform/clock.ts';
import type { Sql } from '../platform/database/connection.ts';
import { type DeskWatch, startDeskWatch } from '../platform/database/desk-watch.ts';
import { createIdempotencyStore } from '../platform/database/idempotency-store.ts';
import { createStatistics } from '../platform/database/statistics.ts';
import {
  createPositionStore,
  createRedemptionStore,
  createRelayedRedemptions,
  type PositionsInPlay,
} from '../positions/index.ts';
import { createChainOrderStore, createQuoteStore } from '../quoting/index.ts';
import { createReceiptStore } from '../receipts/index.ts';
import { createSkillStore, readOfficialSkills, writeOfficialSkills } from '../skills/index.ts';
import { createStatementStore } from '../statements/index.ts';
import { createFactLog } from '../streams/index.ts';
import {
  createHandedOutSets,
  createOrderStore,
  createRefusalLog,
  createTradeLedger,
} from '../trading/index.ts';
import type { VenueJournal } from '../venues/venue.ts';
import { createHeartbeatStore, createWalletLinkStore, createWalletStore } from '../wallets/index.ts';
import { createWebhookStore } from '../webhooks/index.ts';
import type { Stops } from './stopping.ts';

const LEADERBOARD_FRESH_MS = 5_000;
const STOP_REFUSALS_MS = 1_000;

interface Parts {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly log: Logger;
  readonly journal: VenueJournal | null;
  readonly positionsInPlay: PositionsInPlay;
  /** Beside the database, for what this process knows of it; `null`: there is no place. */
  readonly recordDir: string | null;
}

export type Stores = Awaited<ReturnType<typeof createStores>>;

const createStores = async ({
  sql,
  clock,
  log,
  journal,
  positionsInPlay,
  deskWatch,
}: Parts & { readonly deskWatch: DeskWatch }) => ({
  agents: createAgentStore(sql, clock.now),
  wallets: createWalletStore(sql),
  walletLinks: createWalletLinkStore(sql),
  heartbeats: createHeartbeatStore(sql),
  webhooks: createWebhookStore(sql),
  orders: createOrderStore(sql),
  handedOutSets: createHandedOutSets(sql),
  approvals: createApprovalStore(sql),
  deskWatch,
  exits: createExitStore(sql, deskWatch),
  receipts: createReceiptStore(sql),
  positions: createPositionStore(sql),
  ledger: createTradeLedger(sql, { journal, positions: positionsInPlay }),
  redemptions: createRedemptionStore(sql),
  relayedRedemptions: createRelayedRedemptions(sql),
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
  statements: createStatementStore(sql),
  factLog: createFactLog(sql),
  priceRetention: createPriceRetention(sql),
  storedNames: await openStoredNames(sql),
  statistics: createStatistics(sql),
});

/** The stores, with this release's official skills in theirs. */
export async function openStores({ stops, ...parts }: Parts & { readonly stops: Stops }): Promise<Stores> {
  // First of all: exits of a restored database are suspended before anything looks at them.
  const deskWatch = await startDeskWatch(parts);
  const stores = await createStores({ ...parts, deskWatch });
  stops.push('refusals', STOP_REFUSALS_MS, () => stores.refusals.flush());
  await writeOfficialSkills(parts.sql, readOfficialSkills(parts.clock.now()));
  return stores;
}
