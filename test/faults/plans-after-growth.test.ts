/**
 * The cost of a statement must not grow with its tables. A service starts on empty tables, so its sessions keep plans
 * that were made without rows and without statistics; then the tables grow. The plans that the sessions execute then
 * must read what they return, and little else: with the plans of the empty tables, with plans that are made again before
 * statistics are gathered, and with plans that know the statistics.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { buildMarketOrder, type Market } from '@bellwether/sdk';
import { describe, expect, test, vi } from 'vitest';
import type { Sql } from '../../packages/server/src/platform/database/connection.ts';
import { resolveDoubt } from '../../packages/server/src/trading/doubts.ts';
import { createExplainedDatabase, nodesOf, type PlanNode, watchPlans } from '../executed-plans.ts';
import { growTables } from '../grown-tables.ts';
import {
  longLeases,
  newTrader,
  restingOrder,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import { endingMarkets, type ManualClock, movingClock, resolveMarket } from '../world.ts';

const ROWS = 3_000;
/** More than PostgreSQL's five custom plans before it keeps a generic one. */
const ROUNDS = 6;
/** Blocks of one look-up in an index and its table, doubled. */
const BLOCKS_PER_ROW = 12;
/** Blocks that a statement may read in vain: keys that do not exist, dead rows before a vacuum, a cursor's latest facts. */
const SPARE_BLOCKS = 150;
const SPARE_ROWS = 500;
/** The server tells of rows that an idle session wrote after ten seconds; a busy machine takes longer. */
const STATISTICS_WITHIN_MS = 60_000;

interface Stage {
  readonly service: TestService;
  readonly clock: ManualClock;
  readonly admin: Sql;
  readonly trader: Trader;
  /** The last to end, in which the rounds trade. */
  readonly market: Market;
  /** Those that end first. */
  readonly ending: Market[];
  readonly sent: Set<string>;
  cursor: string | undefined;
}

async function newStage(): Promise<Stage> {
  longLeases();
  const { url, admin } = await createExplainedDatabase();
  const sent = new Set<string>();
  const clock = movingClock();
  const service = await startTestService(
    { PAPER_WORLD: 'off', DATABASE_URL: url },
    { clock, jobs: 'by timer', onStatement: (_, statement) => sent.add(statement) },
  );
  // Nothing but the service gathers statistics.
  const tables = await admin`
    select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`;
  for (const { name } of tables) await admin.unsafe(`alter table ${name} set (autovacuum_enabled = false)`);
  const trader = await newTrader(service);
  const ending = await endingMarkets(trader);
  const market = ending.pop() as Market;
  return { service, clock, admin, trader, market, ending, sent, cursor: undefined };
}

async function trade({ trader, market, service }: Stage): Promise<void> {
  const { client, signer } = trader;
  const common = { signer, market, outcome: 'YES' } as const;
  await client.placeTrade(await buildMarketOrder({ ...common, side: 'BUY', amount: 5, worstPrice: 0.95 }));
  await client.placeTrade(await buildMarketOrder({ ...common, side: 'SELL', shares: 1, worstPrice: 0.02 }));
  const { orderId } = await client.placeTrade(await restingOrder(trader, market));
  await client.getOrder(orderId);
  await client.cancelOrder(orderId);
  const orders = await Promise.all([1, 2, 3].map(() => restingOrder(trader, market)));
  await client.batchTrade(orders);
  await client.cancelMarket({ marketConditionId: market.conditionId });
  await client.placeTrade(await restingOrder(trader, market));
  await client.cancelAll();
  await client.placeTrade(await restingOrder(trader, market));
  await resolveDoubt(service.needs, 0);
}

async function read(stage: Stage): Promise<void> {
  const { client } = stage.trader;
  const { cursor, market } = stage;
  const briefing = await client.getBriefing(cursor === undefined ? {} : { since: cursor });
  stage.cursor = briefing.nextCursor;
  await client.getMarketContext(market.id);
  await client.listOpenOrders();
  await client.listOrders();
  await client.listOrders({ limit: 2 });
  await client.listFills();
  await client.getCurrentPositions();
  await client.getClosedPositions();
  await client.getExpiringPositions();
  await client.getPortfolio();
  await client.getMe();
  await client.getSettings();
  await client.listAgentTrades();
  await client.listTradesByStrategy();
  await client.getLeaderboard();
  await client.getPricesHistory({ market: market.clobTokenIds[0] as string, interval: '1d' });
}

/** A market ends that the trader holds and has an open order in. */
async function resolve({ service, clock, trader, ending }: Stage): Promise<void> {
  const market = ending.shift() as Market;
  const { client, signer } = trader;
  for (const outcome of ['YES', 'NO'] as const) {
    const buy = { signer, market, outcome, side: 'BUY', amount: 5, worstPrice: 0.99 } as const;
    await client.placeTrade(await buildMarketOrder(buy));
  }
  await client.placeTrade(await restingOrder(trader, market));
  await resolveMarket(service, clock, market.conditionId);
  await client.redeemPosition({ marketId: market.id });
}

async function rounds(stage: Stage): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1) {
    await trade(stage);
    await read(stage);
  }
}

const blocksOf = (node: PlanNode): number =>
  (node['Shared Hit Blocks'] ?? 0) + (node['Shared Read Blocks'] ?? 0);

/** Names the fault of a node that reads a table which has grown. */
function faultOf(node: PlanNode, grown: ReadonlySet<string>, looksUpInVain: boolean): string | null {
  const { 'Node Type': kind, 'Relation Name': table } = node;
  if (!kind.endsWith('Scan') || table === undefined || !grown.has(table)) return null;
  if (kind === 'Seq Scan') return `Seq Scan on ${table}`;
  const loops = node['Actual Loops'] ?? 0;
  const rows = (node['Actual Rows'] ?? 0) * loops;
  const removed =
    ((node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)) * loops;
  const inner = (node.Plans ?? []).filter((one) => one['Parent Relationship'] !== 'Outer');
  const blocks = blocksOf(node) - inner.reduce((sum, one) => sum + blocksOf(one), 0);
  const lookUps = rows + removed + (looksUpInVain ? loops : 0);
  if (removed <= SPARE_ROWS + rows && blocks <= SPARE_BLOCKS + BLOCKS_PER_ROW * lookUps) return null;
  const index = node['Index Name'] ?? node.Plans?.[0]?.['Index Name'];
  const by = index === undefined ? '' : ` by ${index}`;
  return `${kind} on ${table}${by}: ${blocks} blocks, ${removed} rows in vain, ${rows} rows returned`;
}

const IS_PLANNED = /^\s*(with|select|insert|update|delete)\b/i;
/** The job that records equity looks up wallets without points and deposits: each look-up may read as much as one that finds a row. */
const LOOKS_UP_IN_VAIN = /equity_|'first_seen'/;

async function faultsOf(stage: Stage, grown: ReadonlySet<string>) {
  const log = await watchPlans();
  stage.sent.clear();
  await trade(stage);
  await read(stage);
  await resolve(stage);
  const sent = [...stage.sent].filter((statement) => IS_PLANNED.test(statement));
  const unseen = () => {
    const seen = new Set(log.read().map((plan) => plan['Query Text']));
    return sent.filter((statement) => !seen.has(statement));
  };
  // A statement without a plan would be judged by nothing.
  await vi.waitFor(() => expect(unseen()).toEqual([]), { timeout: 30_000 });
  const found = new Map<string, string[]>();
  for (const plan of log.read()) {
    const inVain = LOOKS_UP_IN_VAIN.test(plan['Query Text']);
    const faults = nodesOf(plan.Plan).flatMap((node) => faultOf(node, grown, inVain) ?? []);
    if (faults.length > 0) found.set(plan['Query Text'].trim().slice(0, 400), faults);
  }
  return Object.fromEntries(found);
}

/** Until the service has counted the rows. Without it the plans are judged as they are. */
async function letStatisticsBeGathered({ admin }: Stage, grown: ReadonlySet<string>): Promise<void> {
  const uncounted = () =>
    admin`select 1 from pg_class where relname = any(${[...grown]}) and reltuples < ${ROWS / 2}::int`;
  const until = Date.now() + STATISTICS_WITHIN_MS;
  while ((await uncounted()).length > 0 && Date.now() < until) await sleep(100);
}

describe.each([
  ['were never analysed', async () => {}],
  ['were analysed while they were empty', async ({ admin }: Stage) => void (await admin`vacuum analyze`)],
])('tables that %s', (_, prepare) => {
  test('are read by key when they have grown, with the plans that sessions keep', async () => {
    const stage = await newStage();
    await prepare(stage);
    await trade(stage);
    await prepare(stage);
    await rounds(stage);
    const grown = await growTables(stage.admin, ROWS);
    for (const table of ['orders', 'fills', 'positions', 'facts', 'exchange_orders', 'exchange_journal'])
      expect(grown).toContain(table);
    await letStatisticsBeGathered(stage, grown);
    expect(await faultsOf(stage, grown)).toEqual({});
    // The plans of a session that comes later.
    await rounds(stage);
    expect(await faultsOf(stage, grown)).toEqual({});
  });
});
