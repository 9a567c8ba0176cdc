/** Reads what moved the money of wallets, in the order of time and in pieces: a wallet may have any number of fills. */
import type { Micro } from '@bellwether/contract/decimals';
import type { WalletAddress } from '../domain/records.ts';
import { type Fragment, ms, msOrNull, only, type Sql } from '../platform/database/connection.ts';
import type {
  FeeChargesRow,
  FillsRow,
  PositionsRow,
  TradedMarketsRow,
  WalletDepositsRow,
} from '../platform/database/rows.generated.ts';
import type { ChargeEvent, DepositEvent, FillEvent, MoneyEvent } from './replay.ts';

type FillRow = Omit<FillsRow, 'counts_at' | 'liquidity' | 'wallet'> &
  Pick<PositionsRow, 'source' | 'skill_slug'> & {
    readonly wallet: WalletAddress;
    readonly counts_at: Date;
  };

/** Fills of one piece. */
const PIECE = 5_000;

export interface MarketOfStatement {
  readonly marketId: string;
  readonly title: string;
  /** `null`: not known. */
  readonly outcomes: readonly string[] | null;
  /** `null`: not known. */
  readonly category: string | null;
  readonly venue: string | null;
}

export function createStatementStore(sql: Sql) {
  /** Labels of the order; of an end of a position those of its agent's last trade. */
  const columns = sql`f.wallet, f.order_id, f.trade_id, f.agent_id, f.condition_id, f.token_id, f.outcome, f.side, f.price,
    f.size, f.cost, f.fee, f.match_kind, f.realized, f.filled_at, coalesce(f.counts_at, f.filled_at) as counts_at,
    case when o.order_id is null then h.source else o.source end as source,
    case when o.order_id is null then h.skill_slug else o.skill_slug end as skill_slug`;
  const labels = sql`left join orders o on o.order_id = f.order_id
    left join positions h on h.wallet = f.wallet and h.token_id = f.token_id and h.agent_id = f.agent_id`;

  const pieceAfter = (wallets: readonly WalletAddress[], last: FillEvent | null, until: Date) => {
    const after: Fragment =
      last === null
        ? sql``
        : sql`and x.filled_at >= ${new Date(last.at)} and (x.filled_at, x.side, x.wallet, x.order_id, x.trade_id)
            > (${new Date(last.at)}, ${last.side}, ${last.wallet}, ${last.orderId}, ${last.tradeId}::bigint)`;
    return sql<FillRow[]>`
      select ${columns} from (
        select p.* from unnest(${[...wallets]}::text[]) as w(wallet) cross join lateral (
          select * from fills x where x.wallet = w.wallet and x.counts_at is null and x.filled_at < ${until} ${after}
          order by x.filled_at, x.side, x.order_id, x.trade_id limit ${PIECE}) p
        order by p.filled_at, p.side, p.wallet, p.order_id, p.trade_id limit ${PIECE}) f
      ${labels} order by f.filled_at, f.side, f.wallet, f.order_id, f.trade_id`;
  };

  const transferId = sql`'transfer:' || f.order_id || ':' || f.trade_id || ':' || t.wallet`;
  const transfersOf = (wallets: readonly WalletAddress[]): Fragment => sql`
    from quotes q join fills f on f.order_id = q.quote_id and f.wallet = q.destination
    cross join lateral (values (q.wallet, -(f.cost + f.fee)), (q.destination, f.cost + f.fee)) as t(wallet, amount)
    where q.destination is not null and q.destination <> q.wallet and q.side = 'BUY'
      and (q.wallet = any(${[...wallets]}::text[]) or q.destination = any(${[...wallets]}::text[]))
      and t.wallet = any(${[...wallets]}::text[])`;

  const facts = {
    /**
     * All fills before a time in pieces, oldest first, and purchases first among those of one moment; those that count at another
     * time than theirs are left out.
     */
    async *fills(wallets: readonly WalletAddress[], until: number): AsyncGenerator<readonly FillEvent[]> {
      for (let last: FillEvent | null = null; ; ) {
        const rows = await pieceAfter(wallets, last, new Date(until));
        if (rows.length > 0) yield rows.map(fillEvent);
        const end = rows.at(-1);
        if (rows.length < PIECE || end === undefined) return;
        last = fillEvent(end);
      }
    },

    /** Sales that count with later purchases, by the time at which they count. */
    async moved(wallets: readonly WalletAddress[], until: number): Promise<readonly FillEvent[]> {
      const rows = await sql<FillRow[]>`
        select ${columns} from fills f ${labels}
        where f.wallet = any(${[...wallets]}::text[]) and f.counts_at is not null and f.counts_at < ${new Date(until)}
        order by f.counts_at, f.wallet, f.order_id, f.trade_id`;
      return rows.map(fillEvent);
    },

    /** @param simulationBalance what a release gave that did not note it */
    async deposits(
      wallets: readonly WalletAddress[],
      until: number,
      simulationBalance: Micro,
    ): Promise<readonly DepositEvent[]> {
      const rows = await sql<(WalletDepositsRow & { readonly wallet: WalletAddress })[]>`
        select * from wallet_deposits where wallet = any(${[...wallets]}::text[]) and at < ${new Date(until)} order by at, id`;
      return rows.map(({ id, wallet, at, amount, reason }) => ({
        kind: 'deposit',
        id: `deposit:${id}`,
        wallet,
        at: ms(at),
        amount: amount ?? simulationBalance,
        reason: reason === 'first_seen' ? reason : 'deposit',
      }));
    },

    /** Purchases whose shares another wallet received than the one that paid: in for the one, out for the other. */
    async transfers(wallets: readonly WalletAddress[], until: number): Promise<readonly DepositEvent[]> {
      const rows = await sql<
        {
          readonly id: string;
          readonly wallet: WalletAddress;
          readonly at: Date;
          readonly amount: bigint;
        }[]
      >`select ${transferId} as id, t.wallet, f.filled_at as at, t.amount ${transfersOf(wallets)}
        and f.filled_at < ${new Date(until)} order by f.filled_at, 1`;
      return rows.map(({ id, wallet, at, amount }) => ({
        kind: 'deposit',
        id,
        wallet,
        at: ms(at),
        amount,
        reason: 'transfer',
      }));
    },

    /** Platform fees that landed. */
    async charges(wallets: readonly WalletAddress[], until: number): Promise<readonly ChargeEvent[]> {
      const rows = await sql<
        (Pick<FeeChargesRow, 'id' | 'agent_id' | 'amount' | 'updated_at'> & {
          readonly wallet: WalletAddress;
        })[]
      >`select id, agent_id, amount, from_address as wallet, updated_at from fee_charges
        where from_address = any(${[...wallets]}::text[]) and status = 'landed' and updated_at < ${new Date(until)}
        order by updated_at, id`;
      return rows.map(({ id, wallet, updated_at, agent_id, amount }) => ({
        kind: 'charge',
        id: `charge:${id}`,
        wallet,
        at: ms(updated_at),
        agentId: agent_id,
        amount,
      }));
    },
  };

  return {
    /** All that moved the money of wallets before a time, merged: oldest first, and among events of one moment money in first. */
    async *events(
      wallets: readonly WalletAddress[],
      { until, simulationBalance, firstSeen }: EventTerms,
    ): AsyncGenerator<MoneyEvent> {
      const [moved, deposits, transfers, charges] = await Promise.all([
        facts.moved(wallets, until),
        facts.deposits(wallets, until, simulationBalance),
        facts.transfers(wallets, until),
        facts.charges(wallets, until),
      ]);
      const others: MoneyEvent[] = [...deposits, ...transfers, ...moved, ...charges];
      if (firstSeen !== null && firstSeen.at < until) others.push(firstSeen);
      others.sort((a, b) => a.at - b.at || rankOf(a) - rankOf(b));
      let next = 0;
      for await (const piece of facts.fills(wallets, until))
        for (const fill of piece) {
          for (; next < others.length && isBefore(others[next] as MoneyEvent, fill); next += 1)
            yield others[next] as MoneyEvent;
          yield fill;
        }
      for (; next < others.length; next += 1) yield others[next] as MoneyEvent;
    },

    /** What the books say of the cash of wallets, all events together. */
    async cash(wallets: readonly WalletAddress[], simulationBalance: Micro): Promise<Micro> {
      const all = sql`${[...wallets]}::text[]`;
      const rows = await sql<{ cash: bigint }[]>`
        select (coalesce((select sum(case side when 'BUY' then -cost else cost end - fee) from fills where wallet = any(${all})), 0)
          + coalesce((select sum(coalesce(amount, ${simulationBalance}::bigint)) from wallet_deposits where wallet = any(${all})), 0)
          - coalesce((select sum(amount) from fee_charges where from_address = any(${all}) and status = 'landed'), 0)
          + coalesce((select sum(t.amount) ${transfersOf(wallets)}), 0))::bigint as cash`;
      return only(rows).cash;
    },

    /** Those of which the desk knows no deposit yet. */
    async unseen(wallets: readonly WalletAddress[]): Promise<ReadonlySet<WalletAddress>> {
      const rows = await sql<{ wallet: WalletAddress }[]>`
        select w.wallet from unnest(${[...wallets]}::text[]) as w(wallet)
        where not exists (select 1 from wallet_deposits d where d.wallet = w.wallet)`;
      return new Set(rows.map(({ wallet }) => wallet));
    },

    async firstFillAt(wallets: readonly WalletAddress[]): Promise<number | null> {
      const rows = await sql<{ at: Date | null }[]>`
        select min(filled_at) as at from fills where wallet = any(${[...wallets]}::text[])`;
      return msOrNull(only(rows).at);
    },

    /** The markets that wallets traded, by condition id. */
    async markets(wallets: readonly WalletAddress[]): Promise<ReadonlyMap<string, MarketOfStatement>> {
      const rows = await sql<
        Pick<
          TradedMarketsRow,
          'condition_id' | 'market_id' | 'question' | 'outcomes' | 'category' | 'venue'
        >[]
      >`select condition_id, market_id, question, outcomes, category, venue from traded_markets
        where condition_id in (select condition_id from positions where wallet = any(${[...wallets]}::text[]))`;
      return new Map(
        rows.map(({ condition_id, market_id, question, outcomes, category, venue }) => [
          condition_id,
          { marketId: market_id, title: question, outcomes, category, venue },
        ]),
      );
    },

    /** Markets whose category was not asked for yet, at most `most`. */
    async withoutCategory(
      most: number,
    ): Promise<readonly { readonly conditionId: string; readonly venue: string | null }[]> {
      const rows = await sql<Pick<TradedMarketsRow, 'condition_id' | 'venue'>[]>`
        select condition_id, venue from traded_markets where category is null order by condition_id limit ${most}`;
      return rows.map(({ condition_id, venue }) => ({ conditionId: condition_id, venue }));
    },

    async learnCategories(known: ReadonlyMap<string, string>): Promise<void> {
      await sql`update traded_markets m set category = k.category
        from unnest(${[...known.keys()]}::text[], ${[...known.values()]}::text[]) as k(condition_id, category)
        where m.condition_id = k.condition_id and m.category is null`;
    },

    /** Names of the owner's agents, by id. */
    async agentNames(userId: bigint): Promise<ReadonlyMap<string, string>> {
      const rows = await sql<{ agent_id: string; name: string }[]>`
        select agent_id, name from agents where user_id = ${userId}`;
      return new Map(rows.map(({ agent_id, name }) => [agent_id, name]));
    },
  };
}

const fillEvent = (row: FillRow): FillEvent => ({
  kind: 'fill',
  at: ms(row.counts_at),
  wallet: row.wallet,
  orderId: row.order_id,
  tradeId: String(row.trade_id),
  agentId: row.agent_id,
  conditionId: row.condition_id,
  tokenId: row.token_id,
  outcome: row.outcome as 'YES' | 'NO',
  side: row.side as 'BUY' | 'SELL',
  price: row.price,
  size: row.size,
  cost: row.cost,
  fee: row.fee,
  matchKind: row.match_kind,
  realized: row.realized,
  source: row.source,
  skillSlug: row.skill_slug,
});

export type StatementStore = ReturnType<typeof createStatementStore>;

/** Deposits, purchases, sales, fees: nothing is sold before it is there. */
const rankOf = (event: MoneyEvent): number => {
  if (event.kind === 'deposit') return 0;
  if (event.kind === 'charge') return 3;
  return event.side === 'BUY' ? 1 : 2;
};

const isBefore = (a: MoneyEvent, b: MoneyEvent): boolean =>
  a.at < b.at || (a.at === b.at && rankOf(a) <= rankOf(b));

interface EventTerms {
  readonly until: number;
  readonly simulationBalance: Micro;
  /** A deposit that is not recorded yet. */
  readonly firstSeen: DepositEvent | null;
}
