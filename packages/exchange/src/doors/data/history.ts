/**
 * The history in rows of trades and activity: pages of rows from several sources, merged by time, then the sources,
 * then the fields of the rows.
 *
 * A cursor holds the place in each source and how many rows of the next record were shown: one trade may have many
 * rows. A page costs its caller a payment for each read behind the first of a source. Filters may skip most of what is
 * read: where the caller cannot pay, or after many reads, a page ends early, and its cursor goes on from there.
 */

import { createHash } from 'node:crypto';
import { type Micro, microToNumber } from '@bellwether/contract/decimals';
import { redeemedFor } from '@bellwether/contract/positions';
import type {
  AccountId,
  ConditionId,
  MarketFacts,
  MarketView,
  Outcome,
  Payout,
  Side,
} from '../../paper-exchange.ts';
import type { MoveQuery, MoveRecord, TradeHistory, TradeQuery, TradeRecord } from '../../trade-history.ts';
import { wireAddress } from '../polymarket/index.ts';
import { legsOf } from './cost-basis.ts';
import { ratio, wordsOf } from './positions.ts';
import { invalid } from './requests.ts';

/** The numbers of a place in the order of its source. */
type Place = readonly number[];

interface SourceRecord {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly place: Place;
  readonly rows: readonly HistoryRow[];
}

export interface Source {
  /** In the order of the answer, behind a place. */
  read(after: Place | undefined, limit: number): Promise<readonly SourceRecord[]>;
  /** Numbers of its places. */
  readonly placeLength: number;
}

interface SourceState {
  readonly source: Source;
  after: Place | undefined;
  /** Rows of the next record that were shown. */
  skip: number;
  waiting: readonly SourceRecord[];
  isAtEnd: boolean;
}

interface PageRequest {
  readonly sources: readonly Source[];
  readonly limit: number;
  readonly cursor: string | undefined;
  readonly oldestFirst: boolean;
  /** @returns whether one more read may be done */
  readonly pay: () => Promise<boolean>;
  readonly mostReads?: number;
}

interface HistoryPage {
  readonly rows: readonly HistoryRow[];
  /** Absent on the last page. A page may be shorter than its limit and still have a next one. */
  readonly next?: string;
}

const READ_ROWS = 1_000;
const MOST_READS = 20;

export async function readPage(request: PageRequest): Promise<HistoryPage> {
  const { sources, limit, cursor, oldestFirst, pay, mostReads = MOST_READS } = request;
  const states = statesOf(sources, cursor);
  const rows: HistoryRow[] = [];
  let reads = 0;
  for (;;) {
    for (const state of states) {
      if (state.waiting.length > 0 || state.isAtEnd) continue;
      reads += 1;
      const isFree = reads <= sources.length;
      if (!isFree && (reads > mostReads + sources.length || !(await pay())))
        return { rows, next: cursorOf(states) };
      const wanted = Math.min(READ_ROWS, limit + 1);
      state.waiting = await state.source.read(state.after, wanted);
      state.isAtEnd = state.waiting.length < wanted;
    }
    const next = earliest(states, oldestFirst);
    const [record] = next?.waiting ?? [];
    if (next === undefined || record === undefined) return { rows };
    for (const row of record.rows.slice(next.skip)) {
      if (rows.length === limit) return { rows, next: cursorOf(states) };
      rows.push(row);
      next.skip += 1;
    }
    next.waiting = next.waiting.slice(1);
    next.after = record.place;
    next.skip = 0;
  }
}

function earliest(states: readonly SourceState[], oldestFirst: boolean): SourceState | undefined {
  let best: SourceState | undefined;
  for (const state of states) {
    const [head] = state.waiting;
    const [other] = best?.waiting ?? [];
    if (head === undefined) continue;
    if (other === undefined || (oldestFirst ? head.at < other.at : head.at > other.at)) best = state;
  }
  return best;
}

const cursorOf = (states: readonly SourceState[]): string =>
  Buffer.from(JSON.stringify(states.map(({ after, skip }) => [skip, ...(after ?? [])]))).toString(
    'base64url',
  );

function statesOf(sources: readonly Source[], cursor: string | undefined): SourceState[] {
  const places = cursor === undefined ? sources.map(() => [0]) : decoded(cursor);
  const isOurs =
    places.length === sources.length &&
    places.every((place, nth) => place.length === 1 || place.length === (sources[nth]?.placeLength ?? 0) + 1);
  if (!isOurs) throw invalid('cursor is not valid for these parameters', 'cursor');
  return sources.map((source, nth) => {
    const [skip = 0, ...after] = places[nth] ?? [];
    return { source, skip, after: after.length === 0 ? undefined : after, waiting: [], isAtEnd: false };
  });
}

function decoded(cursor: string): readonly (readonly number[])[] {
  try {
    const places: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    const isPlace = (place: unknown): boolean =>
      Array.isArray(place) && place.every((one) => Number.isSafeInteger(one) && (one as number) >= 0);
    if (Array.isArray(places) && places.every(isPlace)) return places as number[][];
  } catch {
    // Not ours.
  }
  throw invalid('cursor is not valid', 'cursor');
}

// The sources of rows: trades of one market each, or of all, and the other moves of an account.

export interface Wanted {
  /** `null`: of all. */
  readonly conditions: readonly ConditionId[] | null;
  readonly account: AccountId | undefined;
  readonly takerOnly: boolean;
  readonly side: Side | undefined;
  readonly since: number | undefined;
  readonly until: number | undefined;
  readonly oldestFirst: boolean;
  /** Further conditions on a row. */
  readonly fits: (row: HistoryRow) => boolean;
}

interface SourceReads {
  readonly history: Pick<TradeHistory, 'trades' | 'moves'>;
  readonly find: (conditionId: string) => MarketView | undefined;
}

const windowOf = ({ since, until, oldestFirst }: Wanted) => ({
  oldestFirst,
  ...(since === undefined ? {} : { since }),
  ...(until === undefined ? {} : { until }),
});

const perCondition = (wanted: Wanted, make: (conditionId: ConditionId | undefined) => Source): Source[] =>
  wanted.conditions === null ? [make(undefined)] : wanted.conditions.map(make);

export function tradeSources({ history, find }: SourceReads, wanted: Wanted): Source[] {
  const { account, takerOnly, side, fits } = wanted;
  return perCondition(wanted, (conditionId) => {
    const query: Omit<TradeQuery, 'limit'> = {
      ...windowOf(wanted),
      ...(conditionId === undefined ? {} : { conditionId }),
      ...(account === undefined ? {} : { account }),
      ...(account === undefined || side === undefined ? {} : { side }),
      ...(account === undefined || !takerOnly ? {} : { role: 'taker' }),
    };
    return {
      placeLength: 2,
      async read(after, limit) {
        const [at, number] = after ?? [];
        const behind = at === undefined || number === undefined ? {} : { after: { at, number } };
        const trades = await history.trades({ ...query, ...behind, limit });
        return trades.map((trade) => ({
          at: trade.at,
          place: [trade.at, trade.number],
          rows: isShown(trade)
            ? tradeRows(trade, find, { account, takerOnly }).filter(
                (row) => (side === undefined || row.side === side) && fits(row),
              )
            : [],
        }));
      },
    };
  });
}

export function moveSources(
  { history, find }: SourceReads,
  wanted: Wanted & { readonly account: AccountId },
  kinds: NonNullable<MoveQuery['kinds']>,
): Source[] {
  if (kinds.length === 0 || wanted.side !== undefined) return [];
  return perCondition(wanted, (conditionId) => {
    const query: Omit<MoveQuery, 'limit'> = {
      ...windowOf(wanted),
      account: wanted.account,
      kinds,
      ...(conditionId === undefined ? {} : { conditionId }),
    };
    return {
      placeLength: 3,
      async read(after, limit) {
        const [at, seq, part] = after ?? [];
        const isBehind = at !== undefined && seq !== undefined && part !== undefined;
        const moves = await history.moves({
          ...query,
          ...(isBehind ? { after: { at, seq, part } } : {}),
          limit,
        });
        return moves.map((move) => ({
          at: move.at,
          place: [move.at, move.seq, move.part],
          rows: moveRows(move, find).filter(wanted.fits),
        }));
      },
    };
  });
}

// Rows of trades and activity, in the fields of version 2; `legacyRow` renames them to those of version 1.

type ActivityType = 'TRADE' | 'SPLIT' | 'MERGE' | 'CONVERSION' | 'REDEEM' | 'DEPOSIT';

export type HistoryRow = ReturnType<typeof rowOf>;

interface RowFacts {
  readonly type: ActivityType;
  readonly account: AccountId;
  readonly market: MarketFacts;
  readonly outcome: Outcome;
  readonly side: Side | '';
  readonly size: Micro;
  readonly cost: Micro;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly hash: string;
}

type FindView = (conditionId: string) => MarketView | undefined;

const NO_PROFILE = {
  name: '',
  pseudonym: '',
  bio: '',
  profile_image: '',
  profile_image_optimized: '',
} as const;

function rowOf({ type, account, market, outcome, side, size, cost, at, hash }: RowFacts, find: FindView) {
  const {
    opposite_outcome: _,
    opposite_token_id: __,
    ...words
  } = wordsOf(market, outcome, find(market.conditionId));
  return {
    type: type as string,
    proxy_wallet: wireAddress(account),
    side: side as string,
    ...words,
    size: microToNumber(size),
    usdc_size: microToNumber(cost),
    // A ratio of amounts, which may lie off the grid.
    price: ratio(cost, size),
    timestamp: Math.floor(at / 1000),
    ...NO_PROFILE,
    transaction_hash: hash,
  };
}

/** Trades are shown from their transaction on: what may still vanish without one is not. */
const isShown = ({ settlement }: TradeRecord): boolean => settlement.transactionHash !== undefined;

/** Rows of `account`, or of all parties, or of the takers alone. */
function tradeRows(
  trade: TradeRecord,
  find: FindView,
  { account, takerOnly }: { readonly account: AccountId | undefined; readonly takerOnly: boolean },
): HistoryRow[] {
  const { market, settlement, at } = trade;
  const all = takerOnly ? legsOf(trade).slice(0, 1) : legsOf(trade);
  const hash = settlement.transactionHash ?? '';
  return all
    .filter((leg) => account === undefined || leg.account === account)
    .map((leg) => rowOf({ type: 'TRADE', ...leg, market, at, hash }, find));
}

const MOVE_TYPES: Readonly<Record<MoveRecord['kind'], ActivityType>> = {
  ...{ split: 'SPLIT', merge: 'MERGE', convert: 'CONVERSION', redeem: 'REDEEM', deposit: 'DEPOSIT' },
};

/** A redemption has a row for each outcome that was held; a split or merge one for the pairs, a conversion one for each market. */
function moveRows(move: MoveRecord, find: FindView): HistoryRow[] {
  const { account, at, seq, part, kind, market, yes, no, collateral } = move;
  const type = MOVE_TYPES[kind];
  const hash = `0x${createHash('sha256').update(`move\0${account}\0${seq}\0${part}`).digest('hex')}`;
  const shared = { type, account, side: '', at, hash } as const;
  if (market === undefined || kind === 'deposit') return [depositRow(move, hash)];
  if (kind === 'convert') {
    const outcome = yes > 0n ? 'YES' : 'NO';
    return [rowOf({ ...shared, market, outcome, size: yes + no, cost: collateral }, find)];
  }
  if (kind !== 'redeem')
    return [rowOf({ ...shared, market, outcome: 'YES', size: yes, cost: collateral }, find)].map((row) => ({
      ...row,
      // A row of both outcomes alike: unknown, in the words of the API.
      outcome: '',
      outcome_index: 999 as never,
      token_id: '',
      price: 0,
    }));
  const rows = (['YES', 'NO'] as const).map((outcome) => {
    const size = outcome === 'YES' ? yes : no;
    return rowOf({ ...shared, market, outcome, size, cost: redeemedOf(size, outcome, market.payout) }, find);
  });
  return rows.filter(({ size }) => size > 0);
}

const redeemedOf = (size: Micro, outcome: Outcome, payout: Payout | undefined): Micro =>
  payout === undefined ? 0n : redeemedFor(payout, outcome, size);

function depositRow({ account, at, collateral }: MoveRecord, hash: string): HistoryRow {
  return {
    ...{ type: 'DEPOSIT', proxy_wallet: wireAddress(account), side: '' },
    ...{ condition_id: '', token_id: '', outcome: '', outcome_index: 999 as never },
    ...{ title: '', slug: '', icon: '', event_id: '', event_slug: '' },
    ...{ size: microToNumber(collateral), usdc_size: microToNumber(collateral), price: 0 },
    timestamp: Math.floor(at / 1000),
    ...NO_PROFILE,
    transaction_hash: hash,
  };
}

/** Version 2's trade rows lack the fields that only activity has. */
export function tradeRow(row: HistoryRow) {
  const { type: _, usdc_size: __, event_id: ___, ...rest } = row;
  return rest;
}

export function activityRow(row: HistoryRow) {
  const { event_id: _, ...rest } = row;
  return rest;
}

export function legacyTradeRow(row: HistoryRow) {
  return {
    proxyWallet: row.proxy_wallet,
    side: row.side,
    asset: row.token_id,
    conditionId: row.condition_id,
    size: row.size,
    price: row.price,
    timestamp: row.timestamp,
    title: row.title,
    slug: row.slug,
    icon: row.icon,
    eventSlug: row.event_slug,
    outcome: row.outcome,
    outcomeIndex: row.outcome_index,
    name: '',
    pseudonym: '',
    bio: '',
    profileImage: '',
    profileImageOptimized: '',
    transactionHash: row.transaction_hash,
  };
}

export const legacyActivityRow = (row: HistoryRow) => ({
  ...legacyTradeRow(row),
  type: row.type,
  usdcSize: row.usdc_size,
});
