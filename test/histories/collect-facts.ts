/** Reads what is true in the end: the desk's rows, the venue's ledger opened anew, the log read once more, and the receipts audited. */

import { setTimeout as sleep } from 'node:timers/promises';
import { openPool, type Sql } from '@bellwether/durable';
import { type JournalledExchange, openExchange } from '@bellwether/exchange';
import { BellwetherClient, verifyReceipts } from '@bellwether/sdk';
import { eventWord } from '../../packages/server/src/domain/lifecycle.ts';
import { nativeSha256 } from '../../packages/server/src/platform/system/secrets.ts';
import { auditReceipts } from '../../packages/server/src/receipts/index.ts';
import type { Agent } from './agents.ts';
import type {
  DeskExit,
  DeskFill,
  DeskOrder,
  FinalFacts,
  Tokens,
  VenueMove,
  VenueOrder,
  Wallet,
} from './final-facts.ts';
import type { Place } from './place.ts';
import { watchedFacts } from './watched-facts.ts';

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
    await sql`select order_id, agent_id, kind, client_order_id, status, token_id, side, shares, money, filled, cost, fees, reserved_amount,
    first_answer is null as has_no_answer from orders where venue = 'polymarket' order by created_at`;
  return rows.map((row) => ({
    orderId: row.order_id,
    agent: row.agent_id,
    kind: row.kind,
    name: row.client_order_id,
    status: row.status,
    word: eventWord(row.status),
    // A merge is an exit.
    isTrade:
      row.kind !== 'merge' && row.status !== 'rejected' && !(row.status === 'canceled' && row.has_no_answer),
    token: row.token_id,
    side: row.side,
    ...{
      shares: row.shares,
      money: row.money,
      filled: row.filled,
      cost: row.cost,
      fees: row.fees,
      reserved: row.reserved_amount,
    },
  }));
}

const VENUES_OWN: ReadonlySet<string> = new Set(['self_trade', 'market_closed', 'market_resolved']);

/** Reads what the venue has of an order: its fills that were not taken back, and whether it rests. */
async function atVenue(exchange: Exchange, orderId: string): Promise<VenueOrder> {
  const record = await exchange.orderRecord(orderId);
  const fills = (record?.events ?? []).flatMap((event) => (event.kind === 'fill' ? [event] : []));
  const sets = (record?.events ?? []).flatMap((event) =>
    event.kind === 'split' || event.kind === 'merged' || event.kind === 'converted' ? [event.amount] : [],
  );
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
    isEndedThere: (record?.events ?? []).some(
      (event) => event.kind === 'order_done' && VENUES_OWN.has(event.reason),
    ),
    hasFailed: fills.some(hasFailed),
    matches: counted.map(({ matchId, price, size }) => ({
      number: matchId,
      price: BigInt(price) * 100n,
      size,
    })),
    // A set is made for one collateral.
    filled: sum(counted, ({ size }) => size) + sum(sets, (amount) => amount),
    cost: sum(counted, ({ cost }) => cost) + sum(sets, (amount) => amount),
    fees: sum(counted, ({ fee }) => fee),
  };
}

async function deskFills(sql: Sql): Promise<readonly DeskFill[]> {
  const rows =
    await sql`select *, coalesce(counts_at, filled_at) as at from fills order by filled_at, order_id, trade_id`;
  return rows.map((row) => ({
    orderId: row.order_id,
    tradeId: String(row.trade_id),
    ...{ side: row.side, wallet: row.wallet, size: row.size, cost: row.cost, fee: row.fee },
    ...{
      conditionId: row.condition_id,
      token: row.token_id,
      outcome: row.outcome,
      matchKind: row.match_kind,
    },
    ...{ at: row.at.getTime(), nth: row.recorded, gain: row.realized },
  }));
}

const MOST_MOVES = 1_000;

async function movesOf({ history }: Exchange, { wallet }: Agent): Promise<readonly VenueMove[]> {
  const moves = await history.moves({
    ...{ account: wallet, limit: MOST_MOVES },
    kinds: ['split', 'merge', 'convert', 'redeem'],
  });
  return moves.map(({ kind, conditionId, yes, no, collateral }) => ({
    ...{ wallet, kind: kind as VenueMove['kind'], conditionId: conditionId as string, yes, no, collateral },
  }));
}

async function deskBooks(sql: Sql): Promise<Pick<FinalFacts, 'books' | 'results'>> {
  const books = await sql`select * from positions`;
  const results = await sql`select agent_id, sum(volume)::bigint as volume, sum(fees)::bigint as fees,
      sum(realized)::bigint as realized, sum(wins)::bigint as wins, sum(losses)::bigint as losses,
      (select coalesce(sum(fees), 0)::bigint from daily_results d where d.agent_id = r.agent_id) as fees_by_day,
      (select coalesce(sum(realized), 0)::bigint from daily_results d where d.agent_id = r.agent_id) as realized_by_day
    from agent_results r group by agent_id`;
  return {
    books: books.map((row) => ({
      wallet: row.wallet,
      token: row.token_id,
      sums: {
        ...{ size: row.size, cost: row.cost, realized: row.realized, fees: row.fees },
        ...{ boughtSize: row.bought_size, boughtCost: row.bought_cost },
      },
    })),
    results: results.map(({ agent_id, fees_by_day, realized_by_day, ...row }) => ({
      agent: agent_id,
      sums: {
        ...{ volume: row.volume, fees: row.fees, realized: row.realized },
        ...{ wins: row.wins, losses: row.losses },
      },
      days: { fees: fees_by_day, realized: realized_by_day },
    })),
  };
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
async function openLedger({
  exchangeUrl: url,
  speed,
}: Place): Promise<{ readonly exchange: Exchange; close(): Promise<void> }> {
  const sql = openPool(url, { max: 4 });
  const exchange = await openExchange({ sql, seed: '1', speed, autoStep: false, leadWaitMs: LEAD_WAIT_MS });
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
  const desk = {
    ...(await watchedFacts(place, agents)),
    ...(await exitFacts(place, agents)),
    ...(await fromDesk(place, logs, agents)),
  };
  await stop();
  const orders = await deskOrders(sql);
  const facts = {
    hasMidnight,
    orders,
    ...desk,
    fills: await deskFills(sql),
    ...(await deskBooks(sql)),
    budgets: await budgets(sql, agents),
  };
  let ledger: Awaited<ReturnType<typeof openLedger>>;
  try {
    ledger = await openLedger(place);
  } catch (error) {
    const ledgerFault = (error as Error).message;
    return { ...facts, venueOrders: [], moves: [], payouts: [], wallets: [], supplies: [], ledgerFault };
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
    const moves = (await Promise.all(agents.map((agent) => movesOf(exchange, agent)))).flat();
    const payouts = [...exchange.markets()].flatMap(({ conditionId, payout }) =>
      payout === undefined ? [] : [{ conditionId, payout }],
    );
    return {
      ...{ ...facts, venueOrders, moves, payouts, wallets },
      ...{ supplies: supplies(exchange), ledgerFault: null },
    };
  } finally {
    await ledger.close();
  }
}
