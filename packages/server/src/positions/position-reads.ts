/** Reads what is known of holdings before the fold takes new events: positions, and as much of their history as it needs. */
import {
  CLOCKS_DIFFER_MS,
  type Fill,
  type Holding,
  holdingKey,
  mayBeLate,
  type PastFill,
  type Payout,
  type PositionEvent,
  type Recent,
  reachOf,
  type Token,
} from '@bellwether/contract/positions';
import { arrayOf } from '@bellwether/durable';
import type { Sql, Tx } from '../platform/database/connection.ts';
import type { FillsRow, PositionsRow, TradedMarketsRow } from '../platform/database/rows.generated.ts';
import { msOrNull } from '../platform/database/rows.ts';

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
export const readPositions = async (
  sql: Sql | Tx,
  tokens: readonly TokenKey[],
): Promise<Map<string, Holding>> =>
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
export interface Locked {
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
    tx.unsafe<HoldingRow[]>(
      `select ${COLUMNS}, ${LOSSES} from positions p
      join unnest($1::text[], $2::text[]) as t(wallet, token_id) using (wallet, token_id)
      order by p.wallet, p.token_id for update of p`,
      [arrayOf('text', keys, ({ wallet }) => wallet), arrayOf('text', keys, ({ tokenId }) => tokenId)],
    ),
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
