/**
 * Positions that the leader of the paper exchange keeps in memory. No other process writes them while its term lasts, so what was read once
 * stays true: a commit reads only the positions that it sells from for the first time, and those of a market that is resolved.
 * A commit that fails ends the term, and with it what is kept here.
 */
import {
  type Change,
  CLOCKS_DIFFER_MS,
  type Counted,
  type Fill,
  fold,
  type Holding,
  holdingKey,
  isTrade,
  mayBeLate,
  type Part,
  type PastFill,
  type Payout,
  type PositionEvent,
  type Recent,
  type Recounted,
  reachOf,
  type Token,
} from '@bellwether/contract/positions';
import { arrayOf, type Element, type ElementType } from '@bellwether/durable';
import type { Evidence } from '../domain/evidence.ts';
import { msOrNull, type Sql, type Tx } from '../platform/database/connection.ts';
import type { FillsRow, PositionsRow, TradedMarketsRow } from '../platform/database/rows.generated.ts';

/** Most positions that are kept; one more, and they are read anew. */
const MOST = 100_000;

export class PositionsInPlay {
  #term: bigint | null = null;
  /** `null`: there is none. */
  readonly #known = new Map<string, Holding | null>();

  /** Reads those of the tokens that are not known, in one trip, or in none. */
  async read(sql: Sql | Tx, term: bigint, tokens: readonly TokenKey[]): Promise<void> {
    this.#begin(term);
    const missing = [...new Map(tokens.map((one) => [holdingKey(one), one]))].filter(
      ([key]) => !this.#known.has(key),
    );
    if (missing.length === 0) return;
    const found = await readPositions(
      sql,
      missing.map(([, one]) => one),
    );
    this.#require(term);
    for (const [key] of missing) this.#known.set(key, found.get(key) ?? null);
  }

  /**
   * Folds what the next commit of the term records. It must be committed, or the term ends.
   * @throws RangeError for a sale of more than is held
   */
  async fold(sql: Sql | Tx, term: bigint, { fills, resolutions }: Evidence): Promise<FoldedPositions> {
    if (fills.length === 0 && resolutions.length === 0) return NOTHING;
    const conditionIds = resolutions.map(({ conditionId }) => conditionId);
    const [held] = await Promise.all([
      readHeld(sql, conditionIds, false),
      this.read(
        sql,
        term,
        fills.filter(({ side }) => side === 'SELL'),
      ),
    ]);
    this.#require(term);
    for (const [key, holding] of held) this.#known.set(key, holding);
    const concerned = new Map(held);
    for (const fill of fills) {
      const key = holdingKey(fill);
      const holding = this.#known.get(key);
      if (holding != null) concerned.set(key, holding);
    }
    const reported = this.#take(concerned, [{ kind: 'fills', fills }]);
    const closing = resolutions.map((one): PositionEvent => ({ kind: 'resolution', ...one }));
    return { ...NOTHING, reported, resolved: this.#take(concerned, closing) };
  }

  #take(concerned: Map<string, Holding>, events: readonly PositionEvent[]): readonly Part[] {
    const { holdings, parts } = fold(concerned, events);
    for (const [key, holding] of holdings) {
      concerned.set(key, holding);
      // A purchase of an unknown one was counted from nothing: its commit adds to what is there.
      if (this.#known.has(key)) this.#known.set(key, holding);
    }
    return parts;
  }

  /** Refuses reads of a term that has ended meanwhile. */
  #require(term: bigint): void {
    if (this.#term !== term) throw new Error('another term of the paper exchange has begun');
  }

  #begin(term: bigint): void {
    if (this.#term !== null && term < this.#term) this.#require(term);
    if (this.#term === term && this.#known.size <= MOST) return;
    this.#term = term;
    this.#known.clear();
  }
}

const NOTHING: FoldedPositions = { reversed: [], reported: [], resolved: [] };

// Reads what is known of holdings before the fold takes new events: positions, and as much of their history as it needs.

type HoldingRow = Pick<
  PositionsRow,
  | 'wallet'
  | 'token_id'
  | 'condition_id'
  | 'outcome'
  | 'size'
  | 'cost'
  | 'realized'
  | 'fees'
  | 'settled'
  | 'bought_size'
  | 'bought_cost'
  | 'closed_at'
  | 'updated_at'
> & { readonly losses: bigint };

/** Names of a token in a fill or redemption. */
export type TokenKey = Pick<Token, 'wallet' | 'tokenId'>;

export type Resolved = PositionEvent & { readonly kind: 'resolution' };

const COLUMNS = `p.wallet, p.token_id, p.condition_id, p.outcome, p.size, p.cost, p.realized, p.fees, p.settled, p.bought_size,
  p.bought_cost, p.closed_at, p.updated_at`;
/** Only what a resolution may close needs it. */
const LOSSES = `(select count(*) from fills f where f.wallet = p.wallet and f.order_id = 'lost:' || p.condition_id) as losses`;

const toHolding = (row: HoldingRow, history: Holding['history'] = null): Holding => ({
  token: {
    wallet: row.wallet,
    conditionId: row.condition_id,
    tokenId: row.token_id,
    outcome: row.outcome,
  },
  position: {
    size: row.size,
    cost: row.cost,
    realized: row.realized,
    fees: row.fees,
    settled: row.settled,
    boughtSize: row.bought_size,
    boughtCost: row.bought_cost,
    closedAt: msOrNull(row.closed_at),
  },
  changedAt: row.updated_at.getTime(),
  losses: Number(row.losses),
  redeemed: { size: 0n, records: 0 },
  history,
});

const byKey = (rows: readonly HoldingRow[]): Map<string, Holding> => new Map(rows.map(toHoldingEntry));

const toHoldingEntry = (row: HoldingRow): readonly [string, Holding] => {
  const holding = toHolding(row);
  return [holdingKey(holding.token), holding];
};

/** The positions of these tokens that exist. */
const readPositions = async (sql: Sql | Tx, tokens: readonly TokenKey[]): Promise<Map<string, Holding>> =>
  byKey(
    await sql.unsafe<HoldingRow[]>(
      `select ${COLUMNS}, 0::bigint as losses from unnest($1::text[], $2::text[]) as t(wallet, token_id)
      join positions p using (wallet, token_id)`,
      [arrayOf('text', tokens, ({ wallet }) => wallet), arrayOf('text', tokens, ({ tokenId }) => tokenId)],
    ),
  );

/** All holdings of these markets. @param locks until the end of the transaction */
export const readHeld = async (
  sql: Sql | Tx,
  conditionIds: readonly string[],
  locks: boolean,
): Promise<Map<string, Holding>> =>
  conditionIds.length === 0
    ? new Map()
    : byKey(
        await sql.unsafe<HoldingRow[]>(
          `select ${COLUMNS}, ${LOSSES} from positions p where p.condition_id = any($1::text[]) and p.is_held
          order by p.wallet, p.token_id ${locks ? 'for update of p' : ''}`,
          [arrayOf('text', conditionIds)],
        ),
      );

/** Positions under their locks, until the end of the transaction. */
interface Locked {
  readonly holdings: ReadonlyMap<string, Holding>;
  /** Resolutions of the reported fills' markets that happened before. */
  readonly resolved: readonly Resolved[];
}

/**
 * Reads what new fills of wallets on a chain need, and fills that are taken back. Two replicas may hear of them at the same time: each
 * position is locked, also one that has just begun.
 */
export async function lockPositions(
  tx: Tx,
  reported: readonly Fill[],
  reversed: readonly TokenKey[],
): Promise<Locked> {
  if (reported.length === 0 && reversed.length === 0) return { holdings: new Map(), resolved: [] };
  const begun = [...new Map(reported.map((fill) => [holdingKey(fill), fill])).values()];
  const keys = [...new Map([...begun, ...reversed].map((one) => [holdingKey(one), one])).values()];
  const [, rows, recent, resolved] = await Promise.all([
    beginPositions(tx, begun),
    // At once: a statement that is only awaited is sent after those of the calls below, and they would read before the lock.
    tx
      .unsafe<HoldingRow[]>(
        `select ${COLUMNS}, ${LOSSES} from positions p
      join unnest($1::text[], $2::text[]) as t(wallet, token_id) using (wallet, token_id)
      order by p.wallet, p.token_id for update of p`,
        [arrayOf('text', keys, ({ wallet }) => wallet), arrayOf('text', keys, ({ tokenId }) => tokenId)],
      )
      .execute(),
    readRecent(tx, reported),
    readResolved(tx, [...new Set(reported.map(({ conditionId }) => conditionId))]),
  ]);
  const holdings = byKey(rows);
  const isTakenBack = new Set(reversed.map(holdingKey));
  const reportedOf = Map.groupBy(reported, holdingKey);
  const whole = [...holdings].filter(
    ([key, holding]) =>
      isTakenBack.has(key) ||
      mayBeLate(reportedOf.get(key) ?? [], holding, recent.get(key) ?? NOTHING_RECENT),
  );
  const histories = await readHistories(
    tx,
    whole.map(([, { token }]) => token),
  );
  for (const [key, holding] of whole) holdings.set(key, { ...holding, history: histories.get(key) ?? [] });
  return { holdings, resolved };
}

const NOTHING_RECENT: Recent = { fills: [], sold: 0n };

/** A row for each position that has none: so it can be locked. */
const beginPositions = (tx: Tx, tokens: readonly Fill[]): PromiseLike<unknown> =>
  tokens.length === 0
    ? Promise.resolve()
    : tx
        .unsafe(
          `insert into positions (wallet, token_id, condition_id, outcome, size, cost, realized, fees, updated_at)
        select *, 0, 0, 0, 0, 'epoch'::timestamptz from unnest($1::text[], $2::text[], $3::text[], $4::text[]) as t(wallet, token_id, condition_id, outcome)
        order by wallet, token_id on conflict do nothing`,
          [
            arrayOf('text', tokens, ({ wallet }) => wallet),
            arrayOf('text', tokens, ({ tokenId }) => tokenId),
            arrayOf('text', tokens, ({ conditionId }) => conditionId),
            arrayOf('text', tokens, ({ outcome }) => outcome),
          ],
        )
        .execute();

type RecentRow = Pick<FillsRow, 'wallet' | 'token_id' | 'side' | 'match_kind' | 'filled_at'> & {
  readonly sold: bigint;
};

/** Reads the fills of positions on a chain, from shortly before the first new one on. */
async function readRecent(tx: Tx, reported: readonly Fill[]): Promise<ReadonlyMap<string, Recent>> {
  const firsts = new Map<string, { readonly token: TokenKey; at: number }>();
  for (const fill of reported) {
    if (reachOf(fill.matchKind) !== 'chain') continue;
    const known = firsts.get(holdingKey(fill));
    if (known === undefined) firsts.set(holdingKey(fill), { token: fill, at: fill.at });
    else known.at = Math.min(known.at, fill.at);
  }
  if (firsts.size === 0) return new Map();
  const asked = [...firsts.values()];
  // Adding up the sales reads all of them, so only where there was one shortly before.
  const rows = await tx.unsafe<RecentRow[]>(
    `select f.wallet, f.token_id, f.side, f.match_kind, f.filled_at,
      case when f.side = 'SELL' then (select sum(s.size)::bigint from fills s where s.wallet = f.wallet and s.token_id = f.token_id
        and s.side = 'SELL') else 0 end as sold
    from unnest($1::text[], $2::text[], $3::timestamptz[]) as t(wallet, token_id, since)
    cross join lateral (select * from fills x where x.wallet = t.wallet and x.token_id = t.token_id and x.filled_at >= t.since) f`,
    [
      arrayOf('text', asked, ({ token }) => token.wallet),
      arrayOf('text', asked, ({ token }) => token.tokenId),
      arrayOf('timestamptz', asked, ({ at }) => new Date(at - CLOCKS_DIFFER_MS)),
    ],
  );
  const found = new Map<string, { fills: Recent['fills'][number][]; sold: bigint }>();
  for (const row of rows) {
    const key = holdingKey({ wallet: row.wallet, tokenId: row.token_id });
    const recent = found.get(key) ?? { fills: [], sold: 0n };
    recent.fills.push({ side: row.side, matchKind: row.match_kind, at: row.filled_at.getTime() });
    if (row.sold > recent.sold) recent.sold = row.sold;
    found.set(key, recent);
  }
  return found;
}

type ResolvedRow = Pick<TradedMarketsRow, 'condition_id' | 'resolved_at'> & { readonly payout: Payout };

async function readResolved(tx: Tx, conditionIds: readonly string[]): Promise<readonly Resolved[]> {
  if (conditionIds.length === 0) return [];
  const rows = await tx<ResolvedRow[]>`select condition_id, payout, resolved_at from traded_markets
    where condition_id = any(${conditionIds}::text[]) and payout is not null`;
  return rows.map((row) => ({
    kind: 'resolution',
    conditionId: row.condition_id,
    payout: row.payout,
    at: msOrNull(row.resolved_at) ?? 0,
  }));
}

type HistoryRow = Pick<
  FillsRow,
  | 'wallet'
  | 'token_id'
  | 'order_id'
  | 'trade_id'
  | 'match_kind'
  | 'side'
  | 'size'
  | 'cost'
  | 'fee'
  | 'realized'
  | 'filled_at'
  | 'counts_at'
>;

async function readHistories(tx: Tx, tokens: readonly TokenKey[]): Promise<ReadonlyMap<string, PastFill[]>> {
  if (tokens.length === 0) return new Map();
  const rows = await tx.unsafe<HistoryRow[]>(
    `select f.wallet, f.token_id, f.order_id, f.trade_id, f.match_kind, f.side, f.size, f.cost, f.fee, f.realized, f.filled_at,
      f.counts_at
    from unnest($1::text[], $2::text[]) as t(wallet, token_id) join fills f using (wallet, token_id)`,
    [arrayOf('text', tokens, ({ wallet }) => wallet), arrayOf('text', tokens, ({ tokenId }) => tokenId)],
  );
  const histories = new Map<string, PastFill[]>();
  for (const row of rows) {
    const key = holdingKey({ wallet: row.wallet, tokenId: row.token_id });
    const fills = histories.get(key) ?? [];
    fills.push({
      orderId: row.order_id,
      tradeId: Number(row.trade_id),
      matchKind: row.match_kind,
      side: row.side,
      size: row.size,
      cost: row.cost,
      fee: row.fee,
      at: row.filled_at.getTime(),
      gain: row.realized,
      countsAt: msOrNull(row.counts_at),
    });
    histories.set(key, fills);
  }
  return histories;
}

/** Reads for redemptions past the desk: positions under their locks, and what was recorded of each token before. */
export async function lockRedeemed(
  tx: Tx,
  tokens: readonly TokenKey[],
): Promise<ReadonlyMap<string, Holding & { readonly payout: Payout | null }>> {
  const names = [
    arrayOf('text', tokens, ({ wallet }) => wallet),
    arrayOf('text', tokens, ({ tokenId }) => tokenId),
  ];
  type Row = HoldingRow & {
    readonly payout: Payout | null;
    readonly redeemed_size: bigint;
    readonly records: bigint;
  };
  // The second statement sees what another replica has recorded while the first one waited.
  const [, rows] = await Promise.all([
    tx.unsafe(
      `select from unnest($1::text[], $2::text[]) as t(wallet, token_id) join positions p using (wallet, token_id)
      where p.is_held order by p.wallet, p.token_id for update of p`,
      names,
    ),
    tx.unsafe<Row[]>(
      `select ${COLUMNS}, 0::bigint as losses, m.payout, done.size as redeemed_size, done.records
      from unnest($1::text[], $2::text[]) as t(wallet, token_id) join positions p using (wallet, token_id)
      join traded_markets m using (condition_id)
      cross join lateral (select count(*) as records, coalesce(sum(f.size), 0)::bigint as size from fills f
        where f.wallet = p.wallet and f.order_id = 'redeemed:' || p.condition_id and f.token_id = p.token_id) done
      where p.is_held`,
      names,
    ),
  ]);
  return new Map(
    rows.map((row) => {
      const holding = toHolding(row);
      const redeemed = { size: row.redeemed_size, records: Number(row.records) };
      return [holdingKey(holding.token), { ...holding, redeemed, payout: row.payout }];
    }),
  );
}

// Writes what the fold made of fills, as sets: fills, positions, results, days, and the facts that tell of them.

type CountedPart = Part & { readonly kind: 'counted' };
type RecountedPart = Part & { readonly kind: 'recounted' };

/** Column, type, and value of each row that a statement takes. */
type Columns<Row> = readonly (readonly [string, ElementType, (row: Row) => Element])[];

const namesOf = <Row>(columns: Columns<Row>): string => columns.map(([name]) => name).join(', ');
const arraysOf = <Row>(columns: Columns<Row>, first: number): string =>
  columns.map(([, type], nth) => `$${first + nth}::${type}[]`).join(', ');
const valuesOf = <Row>(columns: Columns<Row>, rows: readonly Row[]) =>
  columns.map(([, type, of]) => arrayOf(type, rows, of));

interface FillRow extends Counted {
  /** Place of its position among those that change. */
  readonly place: number;
}

const FILL: Columns<FillRow> = [
  ['place', 'int4', ({ place }) => place],
  ['wallet', 'text', ({ fill }) => fill.wallet],
  ['order_id', 'text', ({ fill }) => fill.orderId],
  ['trade_id', 'int8', ({ fill }) => fill.tradeId],
  ['condition_id', 'text', ({ fill }) => fill.conditionId],
  ['token_id', 'text', ({ fill }) => fill.tokenId],
  ['outcome', 'text', ({ fill }) => fill.outcome],
  ['side', 'text', ({ fill }) => fill.side],
  ['price', 'int4', ({ fill }) => fill.price],
  ['size', 'int8', ({ fill }) => fill.size],
  ['cost', 'int8', ({ fill }) => fill.cost],
  ['fee', 'int8', ({ fill }) => fill.fee],
  ['liquidity', 'text', ({ fill }) => fill.liquidity],
  ['match_kind', 'text', ({ fill }) => fill.matchKind],
  ['at', 'timestamptz', ({ fill }) => new Date(fill.at)],
  ['gain', 'int8', ({ gain }) => gain],
  ['net', 'int8', ({ net }) => net],
  ['is_trade', 'bool', ({ fill }) => isTrade(fill.matchKind)],
];

const POSITION: Columns<Change> = [
  ['wallet', 'text', ({ token }) => token.wallet],
  ['token_id', 'text', ({ token }) => token.tokenId],
  ['condition_id', 'text', ({ token }) => token.conditionId],
  ['outcome', 'text', ({ token }) => token.outcome],
  ['size', 'int8', ({ before, after }) => after.size - before.size],
  ['cost', 'int8', ({ before, after }) => after.cost - before.cost],
  ['realized', 'int8', ({ before, after }) => after.realized - before.realized],
  ['fees', 'int8', ({ before, after }) => after.fees - before.fees],
  ['settled', 'int8', ({ before, after }) => after.settled - before.settled],
  ['bought_size', 'int8', ({ before, after }) => after.boughtSize - before.boughtSize],
  ['bought_cost', 'int8', ({ before, after }) => after.boughtCost - before.boughtCost],
  ['closed_at', 'timestamptz', ({ after }) => (after.closedAt === null ? null : new Date(after.closedAt))],
  ['updated_at', 'timestamptz', ({ at }) => new Date(at)],
];

const FROM_FILLS = `unnest(${arraysOf(FILL, 1)}) with ordinality as g(${namesOf(FILL)}, nth)`;
const FROM_POSITIONS = `unnest(${arraysOf(POSITION, 1 + FILL.length)}) with ordinality as t(${namesOf(POSITION)}, nth)`;

/**
 * Whose fills they are. A trade, split or merge belongs to the agent of its order, if it is one of the desk's; an order that was refused
 * because it had been posted past the desk is not.
 */
const OF_ORDERS = `select g.*, o.agent_id as who, o.source as label_source, o.skill_slug as label_skill, o.restricted_by as bound
  from ${FROM_FILLS}
  left join lateral (
    select agent_id, source, skill_slug, restricted_by from orders
    where order_id = g.order_id and error_code is distinct from 'duplicate_order' offset 0
  ) o on true`;

/**
 * A redemption belongs to the agent that asked for it, else to the one that traded the token last, as does a loss by
 * resolution.
 */
const OF_HOLDERS = `select e.*, case when e.who = h.agent_id then h.source end as label_source,
    case when e.who = h.agent_id then h.skill_slug end as label_skill, bound_by_wallet(e.wallet, e.who) as bound
  from (
    select g.*, case g.match_kind when 'REDEEMED' then coalesce(redeemer(g.wallet, g.condition_id), p.agent_id)
      else p.agent_id end as who
    from ${FROM_FILLS} left join positions p on p.wallet = g.wallet and p.token_id = g.token_id
  ) e left join positions h on h.wallet = e.wallet and h.token_id = e.token_id`;

const record = (ofWhom: string): string => `with taken as materialized (${ofWhom}
  ), traders as (
    -- The last of the desk's agents that traded it.
    select distinct on (place) place, who, label_source, label_skill from taken
    where who is not null and (side = 'BUY' or is_trade) order by place, nth desc
  ), moved as (
    insert into positions as p (${namesOf(POSITION)}, agent_id, source, skill_slug, has_sets)
    select ${POSITION.map(([name]) => `t.${name}`).join(', ')}, a.who, a.label_source, a.label_skill,
      exists (select from taken s where s.place = t.nth and s.match_kind = 'SPLIT')
    from ${FROM_POSITIONS} left join traders a on a.place = t.nth order by t.wallet, t.token_id
    on conflict (wallet, token_id) do update
      set size = p.size + excluded.size, cost = p.cost + excluded.cost, realized = p.realized + excluded.realized,
          fees = p.fees + excluded.fees, settled = p.settled + excluded.settled,
          bought_size = p.bought_size + excluded.bought_size, bought_cost = p.bought_cost + excluded.bought_cost,
          closed_at = excluded.closed_at, updated_at = excluded.updated_at,
          agent_id = coalesce(excluded.agent_id, p.agent_id), has_sets = p.has_sets or excluded.has_sets,
          source = case when excluded.agent_id is null then p.source else excluded.source end,
          skill_slug = case when excluded.agent_id is null then p.skill_slug else excluded.skill_slug end
  ), written as (
    insert into fills (wallet, order_id, trade_id, agent_id, condition_id, token_id, outcome, side, price, size, cost, fee,
      liquidity, match_kind, realized, filled_at)
    select wallet, order_id, trade_id, who, condition_id, token_id, outcome, side, price, size, cost, fee, liquidity,
      match_kind, gain, at
    from taken order by nth
  ), logged as (
    insert into facts (agent_id, kind, subject, at, payload)
    -- Other agents that reach the wallet learn of its holdings, not of the order.
    select e.agent_id, e.kind, order_id, at, jsonb_build_object('walletAddress', wallet, 'tradeId', trade_id::text)
    from taken cross join lateral (
      select who as agent_id, 'fill' as kind where who is not null
      union all
      select w.agent_id, 'holding' from agent_wallets w where w.address = wallet and (w.is_own or w.granted)
        and w.agent_id is distinct from who and agent_reaches(w.agent_id, wallet)) e
    order by nth, kind, e.agent_id
  ), days as (
    -- A result on a wallet that others' locks bind counts on their day, too.
    insert into daily_results as d (agent_id, day, realized, fees)
    select reached, (at at time zone 'UTC')::date, sum(gain), sum(fee)
    from taken cross join lateral unnest(array_append(bound, who)) as b(reached)
    where who is not null group by 1, 2 having sum(gain) <> 0 or sum(fee) <> 0 order by 1, 2
    on conflict (agent_id, day) do update
      set realized = d.realized + excluded.realized, fees = d.fees + excluded.fees
  )
  insert into agent_results as r (agent_id, source, skill_slug, volume, fees, realized, wins, losses)
  select who, coalesce(label_source, ''), coalesce(label_skill, ''), sum(case when is_trade then cost else 0 end), sum(fee),
    sum(gain), count(*) filter (where net > 0), count(*) filter (where net < 0)
  from taken where who is not null group by 1, 2, 3 order by 1, 2, 3
  on conflict (agent_id, source, skill_slug) do update
    set volume = r.volume + excluded.volume, fees = r.fees + excluded.fees, realized = r.realized + excluded.realized,
        wins = r.wins + excluded.wins, losses = r.losses + excluded.losses`;

const RECORD_TRADES = record(OF_ORDERS);
const RECORD_ENDS = record(OF_HOLDERS);

/** Issues the statements, without awaiting between them. */
export const writeParts = (tx: Tx | Sql, parts: readonly Part[]): PromiseLike<unknown>[] =>
  parts.flatMap((part) => (part.kind === 'counted' ? [writeCounted(tx, part)] : writeRecounted(tx, part)));

function writeCounted(tx: Tx | Sql, { isEnd, fills, changes }: CountedPart): PromiseLike<unknown> {
  const places = new Map(changes.map(({ token }, nth) => [holdingKey(token), nth + 1]));
  const rows = fills.map((counted) => ({ ...counted, place: places.get(holdingKey(counted.fill)) ?? 0 }));
  return tx.unsafe(isEnd ? RECORD_ENDS : RECORD_TRADES, [
    ...valuesOf(FILL, rows),
    ...valuesOf(POSITION, changes),
  ]);
}

const RECOUNTED: Columns<Recounted> = [
  ['order_id', 'text', ({ fill }) => fill.orderId],
  ['trade_id', 'int8', ({ fill }) => fill.tradeId],
  ['is_gone', 'bool', ({ isGone }) => isGone],
  ['new_gain', 'int8', ({ gain }) => gain],
  ['gain', 'int8', ({ gain, fill }) => gain - fill.gain],
  ['fee', 'int8', ({ isGone, fill }) => (isGone ? -fill.fee : 0n)],
  ['volume', 'int8', ({ isGone, fill }) => (isGone ? -fill.cost : 0n)],
  ['wins', 'int4', ({ wins }) => wins],
  ['losses', 'int4', ({ losses }) => losses],
  ['counts_at', 'timestamptz', ({ countsAt }) => (countsAt === null ? null : new Date(countsAt))],
];

/** Each change counts on the day of the fill that changes. */
const RECOUNT = `with changed as materialized (
    select t.*, f.agent_id, o.restricted_by, (f.filled_at at time zone 'UTC')::date as day,
      coalesce(case when o.order_id is null then h.source else o.source end, '') as source,
      coalesce(case when o.order_id is null then h.skill_slug else o.skill_slug end, '') as skill_slug
    from unnest(${arraysOf(RECOUNTED, 4)}) as t(${namesOf(RECOUNTED)})
    join fills f on f.wallet = $1::text and f.order_id = t.order_id and f.trade_id = t.trade_id
    left join orders o on o.order_id = f.order_id
    left join positions h on h.wallet = $1::text and h.token_id = $2::text
  ), logged as (
    insert into facts (agent_id, kind, subject, at, payload)
    select f.agent_id, 'reversal', f.order_id, $3::timestamptz, jsonb_build_object('orderId', f.order_id, 'tradeId', f.trade_id::text,
      'walletAddress', f.wallet, 'venue', o.venue, 'marketId', o.market_id, 'marketConditionId', f.condition_id,
      'tokenId', f.token_id, 'outcome', f.outcome, 'outcomeName', o.outcome_name, 'side', f.side, 'size', f.size::text, 'cost', f.cost::text,
      'fee', f.fee::text)
    from fills f join changed c using (order_id, trade_id) join orders o using (order_id)
    where f.wallet = $1::text and c.is_gone and f.agent_id is not null order by f.order_id, f.trade_id
  ), kept as (
    -- Who reads the log from here on gets the fill as it was, before it learns that it never happened. A fill that
    -- is taken back is young: its fact is among its agent's last ones.
    update facts l set payload = whole_payload(g.fact)
    from changed c cross join lateral (
      select x as fact, x.seq from facts x where x.agent_id = c.agent_id and x.kind = 'fill' and x.subject = c.order_id
        and x.payload ->> 'walletAddress' = $1::text and x.payload ->> 'tradeId' = c.trade_id::text
      order by x.writer desc limit 1) g
    where c.is_gone and l.seq = g.seq
  ), recounted as (
    -- For receipts alone, which say what each fill has realized.
    insert into facts (agent_id, kind, subject, at, payload)
    select f.agent_id, 'recount', f.order_id, $3::timestamptz,
      jsonb_build_object('walletAddress', f.wallet, 'tradeId', f.trade_id::text)
    from fills f join changed c using (order_id, trade_id) join orders o using (order_id)
    where f.wallet = $1::text and not c.is_gone and c.gain <> 0 and f.agent_id is not null order by f.order_id, f.trade_id
  ), days as (
    insert into daily_results as d (agent_id, day, realized, fees)
    select reached, day, sum(gain), sum(fee)
    from changed cross join lateral unnest(array_append(restricted_by, agent_id)) as t(reached)
    where agent_id is not null group by 1, 2 having sum(gain) <> 0 or sum(fee) <> 0 order by 1, 2
    on conflict (agent_id, day) do update
      set realized = d.realized + excluded.realized, fees = d.fees + excluded.fees
  ), results as (
    insert into agent_results as r (agent_id, source, skill_slug, volume, fees, realized, wins, losses)
    select agent_id, source, skill_slug, sum(volume), sum(fee), sum(gain), sum(wins), sum(losses)
    from changed where agent_id is not null group by 1, 2, 3 order by 1, 2, 3
    on conflict (agent_id, source, skill_slug) do update
      set volume = r.volume + excluded.volume, fees = r.fees + excluded.fees, realized = r.realized + excluded.realized,
          wins = r.wins + excluded.wins, losses = r.losses + excluded.losses
  ), deleted as (
    delete from fills f using changed c
    where f.wallet = $1::text and f.order_id = c.order_id and f.trade_id = c.trade_id and c.is_gone
  )
  update fills f set realized = c.new_gain, counts_at = c.counts_at from changed c
  where f.wallet = $1::text and f.order_id = c.order_id and f.trade_id = c.trade_id and not c.is_gone`;

function writeRecounted(tx: Tx | Sql, { fills, change }: RecountedPart): PromiseLike<unknown>[] {
  const { token, after, at, isEmpty } = change;
  const { wallet, tokenId } = token;
  return [
    tx.unsafe(RECOUNT, [wallet, tokenId, new Date(at), ...valuesOf(RECOUNTED, fills)]),
    isEmpty
      ? tx`delete from positions where wallet = ${wallet} and token_id = ${tokenId}`
      : tx`update positions set size = ${after.size}, cost = ${after.cost}, realized = ${after.realized}, fees = ${after.fees},
          settled = ${after.settled}, bought_size = ${after.boughtSize}, bought_cost = ${after.boughtCost},
          closed_at = ${after.closedAt === null ? null : new Date(after.closedAt)}, updated_at = ${new Date(at)}
        where wallet = ${wallet} and token_id = ${tokenId}`,
  ];
}

/** Effects of evidence on positions, in the order in which they are written. */
export interface FoldedPositions {
  readonly reversed: readonly Part[];
  readonly reported: readonly Part[];
  readonly resolved: readonly Part[];
}
