/** Reads what is true in the end: the desk's rows, the venue's ledger opened anew, the log read once more, and the receipts audited. */

import { setTimeout as sleep } from 'node:timers/promises';
import { openPool, type Sql } from '@bellwether/durable';
import { type JournalledExchange, openExchange } from '@bellwether/exchange';
import { BellwetherClient, verifyReceipts } from '@bellwether/sdk';
import { eventWord } from '../../packages/server/src/domain/lifecycle.ts';
import { nativeSha256 } from '../../packages/server/src/platform/system/secrets.ts';
import { auditReceipts } from '../../packages/server/src/receipts/index.ts';
import type { Agent } from './agents.ts';
import type { DeskExit, DeskFill, DeskOrder, FinalFacts, Tokens, VenueOrder, Wallet } from './final-facts.ts';
import type { Place } from './place.ts';

const LEAD_WAIT_MS = 30_000;

type Exchange = Pick<
  JournalledExchange,
  'account' | 'holders' | 'history' | 'markets' | 'openOrder' | 'orderRecord' | 'close'
>;

const sum = <T>(items: readonly T[], of: (item: T) => bigint): bigint =>
  items.reduce((total, item) => total + of(item), 0n);

/** An exit whose trigger holds is sent within seconds. */
const DUE_S = 8;
/** What the desk found of an exit is cleared for a moment when it is looked over. */
const SECOND_LOOK_MS = 1_000;

export async function deskExits(sql: Sql): Promise<readonly DeskExit[]> {
  const rows = await sql`select e.*, (trigger_kind = 'time' and trigger_at < at.at
      or trigger_kind = 'price_at_or_below' and trigger_price >= 9800 and created_at < at.at)
      and not exists (select from exits g where g.agent_id = e.agent_id and g.group_name = e.group_name
        and g.exit_id <> e.exit_id and g.status = 'fired' and g.settled_at is null) as is_due
    from exits e cross join (select ${new Date(Date.now() - DUE_S * 1_000)}::timestamptz as at) at order by created_at, exit_id`;
  return rows.map((row) => ({
    ...{ exitId: row.exit_id, agent: row.agent_id, orderId: row.order_id },
    ...{ status: row.status, because: row.because, group: row.group_name, token: row.token_id },
    ...{ shares: row.shares, worstPrice: BigInt(row.limit_price) * 100n },
    ...{ isSettled: row.settled_at !== null, isDue: row.is_due, mustLetGo: row.must_let_go },
    trouble: row.trouble,
  }));
}

async function exitFacts({ sql, urls }: Place, agents: readonly Agent[]) {
  const before = await deskExits(sql);
  if (before.length > 0) await sleep(SECOND_LOOK_MS);
  const troubles = new Map(before.map(({ exitId, trouble }) => [exitId, trouble]));
  const exits = await deskExits(sql);
  const told = await sql`select subject, payload ->> 'became' as became from facts
    where kind = 'exit' and payload ->> 'became' <> 'in_trouble' order by seq`;
  const [attempts] =
    await sql`select count(*) filter (where payload ->> 'status' = 'rejected')::int as refused,
      count(*) filter (where payload ->> 'status' = 'unknown')::int as unanswered
    from facts where kind = 'order' and subject = any(${exits.map(({ orderId }) => orderId)}::text[])`;
  const places = await sql`select agent_id, reserved_exits, open_exits, max_trades_per_day from safeguards
    where agent_id = any(${agents.map(({ agentId }) => agentId)}::uuid[])`;
  const unguarded = await Promise.all(
    agents.map(async ({ agentId, apiKey }) => {
      if (!exits.some(({ agent }) => agent === agentId)) return [];
      const client = new BellwetherClient({ baseUrl: urls[0], apiKey });
      const { riskAlerts } = await client.getBriefing({ includeMarkets: false });
      return riskAlerts.flatMap(({ code, exitIds = [] }) => (code === 'exit_unguarded' ? exitIds : []));
    }),
  );
  return {
    exits: exits.map((exit) => ({ ...exit, trouble: exit.trouble ?? troubles.get(exit.exitId) ?? null })),
    toldExits: told.map((row) => ({ exitId: row.subject as string, became: row.became as string })),
    exitAttempts: {
      refused: (attempts?.refused ?? 0) as number,
      unanswered: (attempts?.unanswered ?? 0) as number,
    },
    exitPlaces: places.map((row) => ({
      agent: row.agent_id as string,
      ...{ reserved: row.reserved_exits as number, open: row.open_exits as number },
      mostTrades: row.max_trades_per_day as number,
    })),
    unguarded: unguarded.flat(),
  };
}

export async function deskOrders(sql: Sql): Promise<readonly DeskOrder[]> {
  const rows =
    await sql`select order_id, agent_id, status, token_id, side, shares, filled, cost, fees, reserved_amount,
    first_answer is null as has_no_answer from orders where venue = 'polymarket' order by created_at`;
  return rows.map((row) => ({
    orderId: row.order_id,
    agent: row.agent_id,
    status: row.status,
    word: eventWord(row.status),
    isTrade: row.status !== 'rejected' && !(row.status === 'canceled' && row.has_no_answer),
    token: row.token_id,
    side: row.side,
    ...{
      shares: row.shares,
      filled: row.filled,
      cost: row.cost,
      fees: row.fees,
      reserved: row.reserved_amount,
    },
  }));
}

/** Reads what the venue has of an order: its fills that were not taken back, and whether it rests. */
async function atVenue(exchange: Exchange, orderId: string): Promise<VenueOrder> {
  const record = await exchange.orderRecord(orderId);
  const fills = (record?.events ?? []).flatMap((event) => (event.kind === 'fill' ? [event] : []));
  const trades =
    fills.length === 0 ? [] : await exchange.history.tradesOfMatches(fills.map(({ matchId }) => matchId));
  const hasFailed = ({ matchId }: { readonly matchId: number }): boolean => {
    const own = trades.filter(({ number }) => number <= matchId);
    return own.sort((a, b) => b.number - a.number)[0]?.settlement.status === 'FAILED';
  };
  const counted = fills.filter((fill) => !hasFailed(fill));
  return {
    orderId,
    isKnown: record !== undefined && !record.events.some(({ kind }) => kind === 'order_rejected'),
    isOpen: exchange.openOrder(orderId) !== undefined,
    hasFailed: fills.some(hasFailed),
    matches: counted.map(({ matchId, price, size }) => ({
      number: matchId,
      price: BigInt(price) * 100n,
      size,
    })),
    filled: sum(counted, ({ size }) => size),
    cost: sum(counted, ({ cost }) => cost),
    fees: sum(counted, ({ fee }) => fee),
  };
}

async function deskFills(sql: Sql): Promise<readonly DeskFill[]> {
  const rows = await sql`select order_id, trade_id, side, wallet, size, cost, fee from fills`;
  return rows.map((row) => ({
    orderId: row.order_id,
    tradeId: String(row.trade_id),
    ...{ side: row.side, wallet: row.wallet, size: row.size, cost: row.cost, fee: row.fee },
  }));
}

async function walletOf(
  sql: Sql,
  exchange: Exchange,
  { agentId, wallet, deposited }: Agent,
): Promise<Wallet> {
  const { available, held, tokens } = exchange.account(wallet);
  const rows = await sql`select condition_id,
      coalesce(sum(size) filter (where outcome = 'YES'), 0)::bigint as yes,
      coalesce(sum(size) filter (where outcome = 'NO'), 0)::bigint as no
    from positions where wallet = ${wallet} group by condition_id`;
  return {
    ...{ wallet, agent: agentId, deposited, money: available + held },
    tokens: [...tokens].map(
      ([conditionId, own]): Tokens => ({ conditionId, yes: own.yes + own.yesHeld, no: own.no + own.noHeld }),
    ),
    positions: rows.map((row) => ({ conditionId: row.condition_id, yes: row.yes, no: row.no })),
  };
}

async function budgets(sql: Sql, agents: readonly Agent[]): Promise<FinalFacts['budgets']> {
  const today = new Date().toISOString().slice(0, 10);
  return Promise.all(
    agents.map(async ({ agentId }) => {
      const [used] = await sql`select u.* from usage_of_day(${agentId}::uuid, ${today}::date) u`;
      return { agent: agentId, trades: used?.trades ?? 0, amount: used?.amount ?? 0n };
    }),
  );
}

function supplies(exchange: Exchange): FinalFacts['supplies'] {
  return [...exchange.markets()]
    .filter(({ payout }) => payout === undefined)
    .map(({ conditionId }) => {
      const holders = exchange.holders(conditionId);
      return { conditionId, yes: sum(holders, ({ yes }) => yes), no: sum(holders, ({ no }) => no) };
    })
    .filter(({ yes, no }) => yes > 0n || no > 0n);
}

async function receiptFaults(url: string, sql: Sql, agents: readonly Agent[]): Promise<string[]> {
  const { faults } = await auditReceipts(sql as never, { sha256: nativeSha256 });
  const exported = await Promise.all(
    agents.map(async ({ agentId, apiKey }) => {
      const client = new BellwetherClient({ baseUrl: url, apiKey });
      const entries: Awaited<ReturnType<typeof client.listReceipts>>['entries'] = [];
      for (let after: number | null = 0; after !== null; ) {
        const page: Awaited<ReturnType<typeof client.listReceipts>> = await client.listReceipts({ after });
        entries.push(...page.entries);
        after = page.next;
      }
      const verified = verifyReceipts({ entries });
      return verified.ok
        ? []
        : [`the SDK on agent ${agentId}, receipt ${verified.fault.sequence}: ${verified.fault.problem}`];
    }),
  );
  return [
    ...faults.map(({ agentId, row, problem }) => `agent ${agentId}, ${row}: ${problem}`),
    ...exported.flat(),
  ];
}

/** While both replicas serve. */
async function fromDesk({ sql, urls }: Place, logs: FinalFacts['logs'], agents: readonly Agent[]) {
  const reported = await sql`select distinct order_id from receipts where order_id is not null`;
  const keys = await sql`select agent_id, name, count(*)::int as count from api_keys
    where create_type = 1 group by agent_id, name`;
  return {
    logs,
    receiptFaults: await receiptFaults(urls[1], sql, agents),
    ordersWithReceipt: reported.map(({ order_id }) => order_id as string),
    apiKeys: keys.map((row) => ({
      agent: row.agent_id as string,
      name: row.name as string,
      count: row.count as number,
    })),
  };
}

/** The venue's own state, recovered from its journal and audited; every other process that led it has ended. */
async function openLedger(url: string): Promise<{ readonly exchange: Exchange; close(): Promise<void> }> {
  const sql = openPool(url, { max: 4 });
  const exchange = await openExchange({ sql, seed: '1', autoStep: false, leadWaitMs: LEAD_WAIT_MS });
  return {
    exchange,
    async close() {
      await exchange.close();
      await sql.end({ timeout: 1 });
    },
  };
}

export interface Collecting {
  readonly place: Place;
  readonly agents: readonly Agent[];
  readonly logs: FinalFacts['logs'];
  readonly hasMidnight: boolean;
  /** Ends the processes. */
  readonly stop: () => Promise<void>;
}

export async function collectFacts({
  place,
  agents,
  logs,
  hasMidnight,
  stop,
}: Collecting): Promise<FinalFacts> {
  const { sql } = place;
  const desk = { ...(await exitFacts(place, agents)), ...(await fromDesk(place, logs, agents)) };
  await stop();
  const orders = await deskOrders(sql);
  const facts = {
    hasMidnight,
    orders,
    ...desk,
    fills: await deskFills(sql),
    budgets: await budgets(sql, agents),
  };
  let ledger: Awaited<ReturnType<typeof openLedger>>;
  try {
    ledger = await openLedger(place.exchangeUrl);
  } catch (error) {
    const ledgerFault = (error as Error).message;
    return { ...facts, venueOrders: [], wallets: [], supplies: [], ledgerFault };
  }
  try {
    const { exchange } = ledger;
    const venue = openPool(place.exchangeUrl, { max: 1 });
    const rows =
      await venue`select order_id from exchange_orders where account = any(${agents.map(({ wallet }) => wallet)}::text[])`;
    await venue.end({ timeout: 1 });
    const ids = new Set([
      ...rows.map(({ order_id }) => order_id as string),
      ...orders.map(({ orderId }) => orderId),
    ]);
    const venueOrders: VenueOrder[] = [];
    for (const orderId of ids) venueOrders.push(await atVenue(exchange, orderId));
    const wallets = await Promise.all(agents.map((agent) => walletOf(sql, exchange, agent)));
    return { ...facts, venueOrders, wallets, supplies: supplies(exchange), ledgerFault: null };
  } finally {
    await ledger.close();
  }
}
