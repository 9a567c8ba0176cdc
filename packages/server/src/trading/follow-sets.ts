/**
 * Splits, merges and conversions that wallets' owners sign. Of those that they send themselves the desk sees no signature: it looks for the
 * transaction in what the venue lists of the chain, and books it once. What is not seen in a day counts as never sent.
 * Those that it gave to the relayer it follows there, too: what failed is refused, and what is confirmed is waited for
 * (docs/decisions/splits-merges-conversions.md).
 */
import type { Micro, Pips } from '@bellwether/contract/decimals';
import { PIPS } from '@bellwether/contract/decimals';
import type { Evidence, FillEvidence } from '../domain/evidence.ts';
import { requireTransition } from '../domain/lifecycle.ts';
import { type MarketRecord, markPrice } from '../domain/market.ts';
import type { SetOrderRow } from '../domain/records.ts';
import type { Clock } from '../platform/clock.ts';
import { venueOf } from '../venues/asking.ts';
import type { MadeSet, Venue, Venues } from '../venues/venue.ts';
import type { HandedOutSet, HandedOutSets } from './handed-out-sets.ts';

export interface FollowSetsNeeds {
  readonly clock: Clock;
  readonly venues: Venues;
  readonly handedOutSets: HandedOutSets;
}

const AT_ONCE = 200;
/** A block's time may be before that of this service. */
const CLOCK_TOLERANCE_MS = 30_000;

/** @returns how many were seen @throws what a venue throws, once the others have been asked */
export async function followSets(needs: FollowSetsNeeds): Promise<number> {
  const due = await needs.handedOutSets.due(needs.clock.now(), AT_ONCE);
  const groups = Map.groupBy(due, ({ order }) => `${order.venue} ${order.funder}`);
  let seen = 0;
  const failures: unknown[] = [];
  for (const group of groups.values()) {
    try {
      seen += await followWallet(needs, group);
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, 'orders of sets were not looked for');
  return seen;
}

async function followWallet(needs: FollowSetsNeeds, sets: readonly HandedOutSet[]): Promise<number> {
  const [{ order: first }] = sets as readonly [HandedOutSet, ...HandedOutSet[]];
  const venue = venueOf(needs, first.venue, first.funder);
  const made = venue.sets?.made;
  // The answer holds what happened before it was asked for, and no more.
  const askedAt = needs.clock.now();
  const since = Math.min(...sets.map(({ order }) => order.createdAt)) - CLOCK_TOLERANCE_MS;
  const conditionIds = [...new Set(sets.map(({ order }) => order.conditionId))];
  const kinds = new Set(sets.map(({ order }) => order.kind));
  const found = made === undefined ? [] : await made(first.funder, { since, conditionIds, kinds });
  let seen = 0;
  for (const set of sets) {
    const { order, endsAt } = set;
    if (await isBooked(needs, { venue, order }, found)) seen += 1;
    else if (await isWaitedFor(needs, venue, set)) continue;
    else if (askedAt > endsAt) await needs.handedOutSets.expire(order.orderId, askedAt);
  }
  return seen;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** What the relayer says of it. @returns whether it is decided there, so that no time ends it */
async function isWaitedFor(
  { clock, handedOutSets }: FollowSetsNeeds,
  { sets }: Venue,
  { order, relay, submittedAt, ...known }: HandedOutSet,
): Promise<boolean> {
  const { orderId } = order;
  const { relayed } = sets ?? {};
  if (relay === null || submittedAt === null || relayed === undefined) return false;
  const at = clock.now();
  const end = async (errorCode: 'transaction_failed' | 'nonce_used', words: string | null) => {
    await handedOutSets.reject(orderId, { errorCode, words, at });
    return true;
  };
  const listed = known.transactionId === null ? await relayed.look(relay) : null;
  const transactionId = known.transactionId ?? listed?.transactionId ?? null;
  const found = transactionId === null ? null : await relayed.stateOf(transactionId);
  if (found?.state === 'failed') return end('transaction_failed', null);
  if (found?.state === 'confirmed') {
    // Two orders whose requests are the same are one transaction, and it is the proof of one of them.
    if (await handedOutSets.isOfAnother(order, found.hash))
      return end('nonce_used', `Transaction ${found.hash} is another order's.`);
  } else {
    const { usedBy } = listed ?? (await relayed.look(relay));
    if (usedBy !== null) return end('nonce_used', `The relayer's transaction ${usedBy} has its nonce.`);
  }
  if (transactionId === null) return false;
  // While the relayer has it, it can still be made.
  await handedOutSets.noteRelayed(orderId, {
    transactionId,
    state: found?.state ?? null,
    endsAt: at + DAY_MS,
  });
  return true;
}

async function isBooked(
  { clock, handedOutSets }: FollowSetsNeeds,
  { venue, order }: { readonly venue: Venue; readonly order: SetOrderRow },
  found: readonly MadeSet[],
): Promise<boolean> {
  const fitting = found.filter((made) => isOf(made, order));
  if (fitting.length === 0) return false;
  const market = await venue.markets.find(order.conditionId);
  if (market === null) return false;
  const others = order.kind === 'convert' ? ((await venue.sets?.others?.(market)) ?? null) : [];
  // They were all known when it was handed out.
  if (others === null) return false;
  for (const made of fitting)
    if (
      await handedOutSets.recordMade(order.orderId, made, (row) =>
        evidenceOf(row, { made, market, others, now: clock.now() }),
      )
    )
      return true;
  return false;
}

const isOf = (made: MadeSet, { kind, conditionId, shares, createdAt }: SetOrderRow): boolean =>
  made.kind === kind &&
  made.conditionId === conditionId &&
  made.amount === shares &&
  made.at >= createdAt - CLOCK_TOLERANCE_MS;

interface Seen {
  readonly made: MadeSet;
  readonly market: MarketRecord;
  /** Of its event, for a conversion. */
  readonly others: readonly MarketRecord[];
  readonly now: number;
}

/** Collateral is divided at the middle of the book, as on paper: selling one half then shows no gain out of nothing. */
function evidenceOf(
  order: SetOrderRow,
  { made, market, others, now }: Seen,
): Pick<Evidence, 'outcomes' | 'fills' | 'markets'> {
  const { orderId, kind, shares } = order;
  const at = Math.min(made.at, now);
  const status = requireTransition(kind, order.status, 'filled_completely');
  return {
    outcomes: [
      {
        ...{ orderId, status, filled: shares, cost: shares, fees: 0n, errorCode: null, first: null, at: now },
        journal: [{ at: now, event: 'filled_completely', status, detail: made.transactionHash }],
      },
    ],
    fills: kind === 'convert' ? conversionFills(order, { market, others, at }) : setFills(order, market, at),
    markets: [market, ...others].map(({ conditionId, id: marketId, slug, question, outcomes, endDate }) => ({
      ...{ conditionId, marketId, slug, question, outcomes, endDate, venue: order.venue },
    })),
  };
}

function setFills(order: SetOrderRow, market: MarketRecord, at: number): FillEvidence[] {
  const { shares, side } = order;
  const price = markPrice(market, 'YES');
  const yes = (shares * BigInt(price)) / BigInt(PIPS);
  return [
    legOf(order, { outcome: 'YES', side, market, price, cost: yes, at, tradeId: 0 }),
    legOf(order, { outcome: 'NO', side, market, price: PIPS - price, cost: shares - yes, at, tradeId: 1 }),
  ];
}

/** The NO shares go for what they are worth, and the YES shares come for the same, as on paper: no collateral moves. */
function conversionFills(
  order: SetOrderRow,
  { market, others, at }: Pick<Seen, 'market' | 'others'> & { readonly at: number },
): FillEvidence[] {
  const { shares } = order;
  const worth = shares - (shares * BigInt(markPrice(market, 'YES'))) / BigInt(PIPS);
  const prices = others.map((one) => BigInt(markPrice(one, 'YES')));
  const total = prices.reduce((sum, price) => sum + price, 0n);
  let left = worth;
  const bought = others.map((one, nth) => {
    const part = total === 0n ? 0n : (worth * prices[nth]!) / total;
    // The last one takes what rounding leaves.
    const cost = nth === others.length - 1 ? left : part;
    left -= cost;
    return legOf(order, {
      ...{ outcome: 'YES', side: 'BUY', market: one, cost, at, tradeId: nth + 1 },
      price: Number((cost * BigInt(PIPS)) / shares),
    });
  });
  const price = markPrice(market, 'NO');
  return [
    legOf(order, { outcome: 'NO', side: 'SELL', market, price, cost: worth, at, tradeId: 0 }),
    ...bought,
  ];
}

const MATCH_KINDS = { split: 'SPLIT', merge: 'MERGED', convert: 'CONVERTED' } as const;

interface Leg {
  readonly outcome: 'YES' | 'NO';
  readonly side: 'BUY' | 'SELL';
  readonly tradeId: number;
  readonly market: MarketRecord;
  readonly price: Pips;
  readonly cost: Micro;
  readonly at: number;
}

const legOf = (
  { orderId, funder, kind, shares }: SetOrderRow,
  { outcome, side, market, price, cost, at, tradeId }: Leg,
): FillEvidence => ({
  ...{ wallet: funder, orderId, tradeId, conditionId: market.conditionId },
  ...{ tokenId: market.tokenIds[outcome === 'YES' ? 0 : 1], outcome, side, price, size: shares, cost },
  ...{ fee: 0n, liquidity: 'taker', matchKind: MATCH_KINDS[kind], at },
});
