/** Agents with a wallet and orders of theirs at a live venue, of which a test tells the record what it likes. */
import { openDeskDatabase } from '../../../test/postgres.ts';
import type { MarketRecord } from '../src/domain/market.ts';
import type { NewSignedOrder } from '../src/domain/records.ts';
import type { Sql } from '../src/platform/database/connection.ts';
import { createLiveOrderLog } from '../src/trading/live-order-log.ts';
import { createOrderStore } from '../src/trading/order-store.ts';
import type { LiveOrder, LiveOrderLog, TradeStatus } from '../src/venues/live-orders.ts';
import { foldOrder } from '../src/venues/polymarket/fold.ts';
import type { Observation, TradePart } from '../src/venues/polymarket/order-wire.ts';

export const M = 1_000_000n;
const MARKET = {
  id: 'm1',
  conditionId: 'c1',
  slug: 'one',
  question: 'Why?',
  endDate: Date.UTC(2030, 0, 1),
} as MarketRecord;
export const NOW = Date.UTC(2026, 5, 1, 12);

export let sql: Sql;
export let log: LiveOrderLog;
let worlds = 0;
/** Each order as it was recorded: the first news of it goes to a log that believes it still stands so. */
const recorded = new Map<string, NewSignedOrder>();

/** Before all tests of a file. */
export async function openWorlds(): Promise<void> {
  sql = await openDeskDatabase();
  log = createLiveOrderLog(sql, 'live');
}

export interface World {
  readonly agent: string;
  readonly wallet: string;
}

export async function newWorld(): Promise<World> {
  worlds += 1;
  const agent = `00000000-0000-4000-8000-${String(worlds).padStart(12, '0')}`;
  await sql`with o as (insert into owners (created_at) values (now()) returning user_id)
    insert into agents (agent_id, user_id, name, description, claim_code, created_at)
    select ${agent}::uuid, user_id, 'Agent', '', ${agent}, now() from o`;
  await sql`insert into safeguards (agent_id, max_trades_per_day, max_trade_amount, daily_trade_amount_limit, updated_at,
    usage_day) values (${agent}, 1, 1, 1, now(), now())`;
  return { agent, wallet: `wallet ${worlds}` };
}

export async function place(
  { agent, wallet }: World,
  name: string,
  given: { side?: 'BUY' | 'SELL'; shares?: bigint; money?: bigint; timeInForce?: string } = {},
): Promise<string> {
  const { side = 'BUY', shares = 10n * M, money = 5n * M, timeInForce = 'GTC' } = given;
  const orderId = `${wallet} ${name}`;
  await sql`insert into orders (agent_id, order_id, user_id, venue, market_id, condition_id, question, token_id, outcome,
      kind, signature_type, version, side, is_limit, time_in_force, post_only, defer_exec, price, limit_price, shares,
      money, funder, wallet_address, fee_amount, request_id, created_at, status, journal, reserved_day, reserved_amount,
      updated_at)
    select ${agent}, ${orderId}, user_id, 'live', 'm1', 'c1', 'Why?', ${`token of ${wallet}`}, 'YES', 'signed', 0, 2,
      ${side}, true, ${timeInForce}, false, false, 5000, 5000, ${shares}, ${money}, ${wallet}, ${wallet}, 0, 'r',
      ${new Date(NOW)}, 'submitting', '[]', ${new Date(NOW)}, ${money}, ${new Date(NOW)} from agents where agent_id = ${agent}`;
  const order = (await log.find([orderId])).get(orderId)?.order;
  if (order !== undefined) recorded.set(orderId, order);
  return orderId;
}

export const tell = async (
  observations: readonly Observation[],
  market = MARKET,
): Promise<readonly string[]> => {
  const contradictions = new Map<string, readonly string[]>();
  const byOrder = Map.groupBy(observations, ({ orderId }) => orderId);
  const decide = (order: LiveOrder) => {
    const folded = foldOrder(order, byOrder.get(order.order.orderId) ?? [], market);
    contradictions.set(order.order.orderId, folded.contradictions);
    return folded.change;
  };
  const known = [...byOrder.keys()].filter((id) => recorded.has(id));
  await log.update(
    [...byOrder.keys()],
    decide,
    new Map(known.map((id) => [id, recorded.get(id) as NewSignedOrder])),
  );
  return [...contradictions.values()].flat();
};

export const journalOf = async (orderId: string) =>
  (await createOrderStore(sql).byIds([orderId])).flatMap(({ journal }) =>
    journal.map(({ event, status, detail }) => ({ event, status, detail })),
  );

export const trade = (
  orderId: string,
  tradeId: string,
  status: TradeStatus,
  size = 10n * M,
  price = 5_000,
  fee = 0n,
): Observation => ({
  orderId,
  at: NOW + 1_000,
  kind: 'trade',
  part: {
    ...{ tradeId, status, size, fee, price, liquidity: 'taker', matchedAt: NOW + 1_000 },
    cost: (size * BigInt(price)) / 10_000n,
  } satisfies TradePart,
});
export const accepted = (orderId: string): Observation => ({
  ...{ orderId, at: NOW + 500, kind: 'accepted', word: 'live' },
  ...{ filled: 0n, cost: 0n, fees: 0n },
});
export const standing = (
  orderId: string,
  end: Extract<Observation, { kind: 'standing' }>['end'],
  matched: bigint | null,
): Observation => ({
  ...{ orderId, at: NOW + 2_000, kind: 'standing', detail: null, matched, end },
  isCounted: end !== null && matched !== null,
});

export const orderOf = async (orderId: string) => {
  const [row] =
    await sql`select status, filled, cost, fees, error_code from orders where order_id = ${orderId}`;
  return row;
};
export const positionOf = async ({ wallet }: World) => {
  const [row] =
    await sql`select size, cost, realized, fees, settled, bought_size, bought_cost, closed_at is not null as closed
    from positions where wallet = ${wallet}`;
  return row ?? null;
};
export const resultsOf = async ({ agent }: World) => ({
  days: await sql`select day::text, realized, fees from daily_results where agent_id = ${agent}
    and (realized <> 0 or fees <> 0) order by 1`,
  results: await sql`select volume, fees, realized, wins, losses from agent_results where agent_id = ${agent}
    and (volume <> 0 or fees <> 0 or realized <> 0 or wins <> 0 or losses <> 0)`,
});
export const returnedOf = async (orderId: string) =>
  (await sql`select trades, amount from budget_returns where order_id = ${orderId}`).map((row) => ({
    ...row,
  }));
export const factsOf = async ({ agent }: World) =>
  (
    await sql`select kind, payload ->> 'status' as status from facts where agent_id = ${agent} order by seq`
  ).map(({ kind, status }) => status ?? kind);
