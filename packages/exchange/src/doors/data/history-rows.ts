/** Rows of trades and activity, in the fields of version 2; `legacyRow` renames them to those of version 1. */
import { createHash } from 'node:crypto';
import { type Micro, microToNumber } from '@bellwether/contract/decimals';
import { redeemedFor } from '@bellwether/contract/positions';
import type { AccountId, MarketFacts, MarketView, Outcome, Payout, Side } from '../../paper-exchange.ts';
import type { MoveRecord, TradeRecord } from '../../trade-history.ts';
import { wireAddress } from '../polymarket/index.ts';
import { legsOf } from './cost-basis.ts';
import { ratio, wordsOf } from './market-facts.ts';

export type ActivityType = 'TRADE' | 'SPLIT' | 'MERGE' | 'CONVERSION' | 'REDEEM' | 'DEPOSIT';

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
export const isShown = ({ settlement }: TradeRecord): boolean => settlement.transactionHash !== undefined;

/** Rows of `account`, or of all parties, or of the takers alone. */
export function tradeRows(
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
export function moveRows(move: MoveRecord, find: FindView): HistoryRow[] {
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
