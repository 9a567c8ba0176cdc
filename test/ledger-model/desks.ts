/** The ways in which events are recorded that the model compares, and all rows that they leave. */
import type { Fill, PastFill, Payout } from '@bellwether/contract/positions';
import { transact } from '@bellwether/durable';
import type { Evidence } from '../../packages/server/src/domain/evidence.ts';
import type { Sql } from '../../packages/server/src/platform/database/connection.ts';
import { PositionsInPlay } from '../../packages/server/src/positions/positions-in-play.ts';
import { createRedemptionStore } from '../../packages/server/src/positions/redemption-store.ts';
import { recordEvidence, writeEvidence } from '../../packages/server/src/trading/outcomes.ts';
import { NO_EVIDENCE } from '../one-agent.ts';
import type { Ledger } from './ledger.ts';

export const NOW = Date.UTC(2026, 5, 1, 20);

const iso = (at: number): string => new Date(at).toISOString();
export const tokenOf = (wallet: string) => ({
  wallet,
  conditionId: `market of ${wallet}`,
  tokenId: `token of ${wallet}`,
  outcome: 'YES' as const,
});

interface Gone extends Pick<PastFill, 'orderId' | 'tradeId'> {
  readonly wallet: string;
}
interface Resolved {
  readonly wallet: string;
  readonly payout: Payout;
}
interface Redeemed {
  readonly wallet: string;
  readonly size: bigint;
}

/** One of the ways in which events are recorded. Of one moment, each wallet has one. */
interface Record {
  tell(fills: readonly Fill[]): Promise<void>;
  takeBack(fills: readonly Gone[], at: number): Promise<void>;
  resolve(markets: readonly Resolved[], at: number): Promise<void>;
  redeemPast(tokens: readonly Redeemed[], at: number): Promise<void>;
}

/** Two agents trade on its wallets. */
export interface Desk extends Record {
  readonly name: string;
  readonly agents: readonly [string, string];
}

/** As `oracle.sql` records them. @param sql a database that has its functions */
export const byFunctions = (sql: Sql): Record => ({
  async tell(fills) {
    const rows = fills.map((fill) => ({
      ...{
        wallet: fill.wallet,
        order_id: fill.orderId,
        trade_id: fill.tradeId,
        condition_id: fill.conditionId,
      },
      ...{ token_id: fill.tokenId, outcome: fill.outcome, side: fill.side, price: fill.price },
      ...{ size: String(fill.size), cost: String(fill.cost), fee: String(fill.fee) },
      ...{ liquidity: fill.liquidity, match_kind: fill.matchKind, at: iso(fill.at) },
    }));
    await sql`select apply_fills(${sql.json(rows)}::jsonb)`;
  },
  async takeBack(fills, at) {
    const rows = fills.map(({ wallet, orderId, tradeId }) => ({
      ...{ wallet, order_id: orderId, trade_id: tradeId, at: iso(at) },
    }));
    await sql`select reverse_fills(${sql.json(rows)}::jsonb)`;
  },
  async resolve(markets, at) {
    const rows = markets.map(({ wallet, payout }) => ({
      ...{ condition_id: tokenOf(wallet).conditionId, payout, at: iso(at) },
    }));
    await sql`update traded_markets m set payout = t.payout, resolved_at = t.at
      from jsonb_to_recordset(${sql.json(rows)}) as t(condition_id text, payout text, at timestamptz)
      where m.condition_id = t.condition_id`;
    await sql`select close_lost(${sql.json(rows)}::jsonb)`;
  },
  async redeemPast(tokens, at) {
    const rows = tokens.map(({ wallet, size }) => ({
      ...{ wallet, token_id: tokenOf(wallet).tokenId, size: String(size), at: iso(at) },
    }));
    await sql`select close_redeemed(${sql.json(rows)}::jsonb)`;
  },
});

const resolutionsOf = (markets: readonly Resolved[], at: number): Evidence['resolutions'] =>
  markets.map(({ wallet, payout }) => ({ conditionId: tokenOf(wallet).conditionId, payout, at }));

/** As the desk records what a live venue tells. */
export const underLocks = (sql: Sql): Record => {
  const record = (evidence: Partial<Evidence>, reversals: Parameters<typeof recordEvidence>[2] = []) =>
    transact(sql, (tx) => recordEvidence(tx, { ...NO_EVIDENCE, ...evidence }, reversals));
  return {
    tell: (fills) => record({ fills }),
    takeBack: (fills, at) =>
      record(
        {},
        fills.map((fill) => ({ ...fill, tokenId: tokenOf(fill.wallet).tokenId, at })),
      ),
    resolve: (markets, at) => record({ resolutions: resolutionsOf(markets, at) }),
    redeemPast: async (tokens, at) =>
      void (await createRedemptionStore(sql).recordRedeemed(
        tokens.map(({ wallet, size }) => ({ ...tokenOf(wallet), size, at }) as never),
      )),
  };
};

/** As the desk records what the paper exchange does, where it leads: positions stay in memory, until another term begins. */
export function inPlay(sql: Sql): Record {
  const positions = new PositionsInPlay();
  let commits = 0;
  const record = (evidence: Partial<Evidence>) =>
    transact(sql, async (tx) => {
      commits += 1;
      const term = BigInt(Math.floor(commits / 5));
      const all = { ...NO_EVIDENCE, ...evidence };
      const folded = await positions.fold(tx, term, all);
      await Promise.all(writeEvidence(tx, all, folded));
    });
  const never = (): never => {
    throw new Error('the paper exchange does not');
  };
  return {
    tell: (fills) => record({ fills }),
    resolve: (markets, at) => record({ resolutions: resolutionsOf(markets, at) }),
    takeBack: never,
    redeemPast: never,
  };
}

/** @param nth of its first agent @param count of its wallets */
export async function newDesk(
  sql: Sql,
  { name, nth, count }: { readonly name: string; readonly nth: number; readonly count: number },
  how: (sql: Sql) => Record,
): Promise<Desk> {
  const agents = [agentId(nth), agentId(nth + 1)] as const;
  for (const agent of agents)
    await sql`with o as (insert into owners (created_at) values (now()) returning user_id)
      insert into agents (agent_id, user_id, name, description, claim_code, created_at)
      select ${agent}::uuid, user_id, 'Agent', '', ${agent}, now() from o`;
  const conditions = Array.from(
    { length: count },
    (_, wallet) => tokenOf(walletOf(name, wallet)).conditionId,
  );
  await sql`insert into traded_markets (condition_id, market_id, slug, question, end_date, venue)
    select *, 'm1', 'm1', 'Why?', now(), 'live' from unnest(${conditions}::text[])`;
  return { name, agents, ...how(sql) };
}

const agentId = (nth: number): string => `00000000-0000-4000-8000-${String(nth).padStart(12, '0')}`;
/** Sorts among the ids of orders as those of the desks do. */
export const IN_MEMORY = 'own';
export const walletOf = (desk: string, nth: number): string => `${desk} w${String(nth).padStart(4, '0')}`;

export interface NewOrder {
  readonly wallet: number;
  readonly agent: 0 | 1;
  readonly name: string;
  readonly side: string;
}

export async function insertOrders(
  sql: Sql,
  { name, agents }: Desk,
  orders: readonly NewOrder[],
): Promise<void> {
  const rows = orders.map((order) => {
    const wallet = walletOf(name, order.wallet);
    const { conditionId, tokenId } = tokenOf(wallet);
    return {
      ...{ wallet, agent_id: agents[order.agent], order_id: `${wallet} ${order.name}`, side: order.side },
      ...{ condition_id: conditionId, token_id: tokenId },
    };
  });
  await sql`insert into orders (agent_id, order_id, user_id, venue, market_id, condition_id, question, token_id, outcome,
      kind, signature_type, version, side, is_limit, time_in_force, post_only, defer_exec, price, limit_price, shares,
      money, funder, wallet_address, fee_amount, request_id, created_at, status, journal, reserved_day, reserved_amount,
      updated_at)
    select agent_id, order_id, user_id, 'live', 'm1', condition_id, 'Why?', token_id, 'YES', 'signed', 0, 2,
      t.side, true, 'GTC', false, false, 5000, 5000, 1, 1, wallet, wallet, 0, 'r', ${new Date(NOW)}, 'submitting',
      '[]', ${new Date(NOW)}, 1, ${new Date(NOW)}
    from jsonb_to_recordset(${sql.json(rows)}) as t(wallet text, agent_id uuid, order_id text, side text,
      condition_id text, token_id text) join agents using (agent_id)`;
}

/** All rows of a desk, with its agents by number and its wallets without the desk's name. */
export async function inDatabase(sql: Sql, { name, agents }: Desk) {
  const ids = agents as readonly string[];
  const nth = (agent: string | null): number | null => (agent === null ? null : ids.indexOf(agent));
  const plain = (text: string): string => text.replaceAll(name, '');
  const [wallets, days] = [`${name} w%`, { from: '2026-01-01' }];
  const positions =
    await sql`select wallet, agent_id, size, cost, realized, fees, settled, bought_size, bought_cost, closed_at,
    updated_at from positions where wallet like ${wallets} order by wallet`;
  const fills = await sql`select wallet, order_id, trade_id, realized, counts_at, agent_id from fills
    where wallet like ${wallets}`;
  const results = await sql`select agent_id, volume, fees, realized, wins, losses from agent_results
    where agent_id = any(${ids}::uuid[]) order by 1`;
  const daily = await sql`select agent_id, day::text, realized, fees from daily_results
    where agent_id = any(${ids}::uuid[]) and day > ${days.from} and (realized <> 0 or fees <> 0) order by 1, 2`;
  // Which wallet of a batch comes first says nothing.
  const facts = await sql`select agent_id, kind, subject, at, payload::text as payload from facts
    where agent_id = any(${ids}::uuid[]) and kind <> 'resolution'
    order by substring(payload::text from ${`${name} w[0-9]+`}), seq`;
  return {
    positions: positions.map((row) => ({ ...row, wallet: plain(row.wallet), agent_id: nth(row.agent_id) })),
    fills: fills
      .map((row) => ({
        ...{ wallet: plain(row.wallet), orderId: plain(row.order_id), tradeId: Number(row.trade_id) },
        ...{ gain: row.realized, countsAt: row.counts_at?.getTime() ?? null, agent: nth(row.agent_id) },
      }))
      .sort(byName),
    results: results.map((row) => ({
      ...{ ...row, agent_id: nth(row.agent_id) },
      ...{ wins: Number(row.wins), losses: Number(row.losses) },
    })),
    days: daily.map((row) => ({ ...row, agent_id: nth(row.agent_id) })),
    facts: facts.map((row) => [
      ...[nth(row.agent_id), row.kind, plain(row.subject), row.at.getTime(), plain(row.payload)],
    ]),
  };
}

type Row = { readonly wallet: string; readonly orderId: string; readonly tradeId: number };
const byName = (a: Row, b: Row): number =>
  compareText(a.wallet, b.wallet) || compareText(a.orderId, b.orderId) || a.tradeId - b.tradeId;
const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The same of the fold in memory. */
export function inMemory(ledger: Ledger, count: number) {
  const plain = (text: string): string => text.replaceAll(IN_MEMORY, '');
  const tokens = Array.from({ length: count }, (_, nth) => tokenOf(walletOf(IN_MEMORY, nth)));
  const traded = tokens.filter((token) => ledger.fills(token).length > 0);
  return {
    positions: traded.map((token) => {
      const p = ledger.position(token);
      const owner = ledger.trader(token);
      return {
        ...{
          wallet: plain(token.wallet),
          agent_id: owner === null ? null : Number(owner),
          size: p.size,
          cost: p.cost,
        },
        ...{ realized: p.realized, fees: p.fees, settled: p.settled },
        ...{ bought_size: p.boughtSize, bought_cost: p.boughtCost },
        closed_at: p.closedAt === null ? null : new Date(p.closedAt),
      };
    }),
    fills: traded
      .flatMap((token) =>
        ledger.fills(token).map(({ orderId, tradeId, gain, countsAt }) => ({
          ...{ wallet: plain(token.wallet), orderId: plain(orderId), tradeId, gain, countsAt },
        })),
      )
      .sort(byName),
    results: [...ledger.results]
      .sort(([a], [b]) => compareText(a, b))
      .map(([agent, all]) => ({ agent_id: Number(agent), ...all })),
    days: [...ledger.days]
      .filter(([, { realized, fees }]) => realized !== 0n || fees !== 0n)
      .map(([key, day]) => {
        const [agent, number] = key.split(' ') as [string, string];
        return { agent_id: Number(agent), day: iso(Number(number) * 86_400_000).slice(0, 10), ...day };
      })
      .sort((a, b) => compareText(`${a.agent_id}${a.day}`, `${b.agent_id}${b.day}`)),
  };
}
