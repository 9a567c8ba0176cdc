/** Computes what a book would make of an order now, if it were placed. */
import type { PreparedTrade } from '@bellwether/contract';
import { divide, MICRO, microToNumber, type Pips, pipsToNumber } from '@bellwether/contract/decimals';
import { type Sweep, sweep } from '../domain/book-sweep.ts';
import { isImmediate, type MarketDraft } from '../domain/draft.ts';
import type { Book, MarketRecord } from '../domain/market.ts';

/** Depth of the book at which no order ends. */
export const DEPTH = 1_000;

/** Expected fill of the order in the present book. */
export function expectationOf(
  market: MarketRecord,
  draft: MarketDraft,
  book: Book | null,
  limit: Pips,
): Pick<PreparedTrade, 'fill' | 'expectedRefusal'> {
  const buying = draft.side === 'BUY';
  const immediate = isImmediate(draft.timeInForce);
  const levels = book ?? EMPTY_BOOK;
  const { outcome, side } = draft;
  const found = sweep(
    market,
    { ...EMPTY_BOOK, ...levels },
    { side, outcome, amount: buying ? draft.money : draft.shares },
    // A resting BUY asks for shares; one that executes at once spends its collateral.
    { limit, ...(buying && !immediate ? { shares: draft.shares } : {}) },
  );
  const crosses = found.shares > 0n;
  const taken = draft.postOnly ? NOTHING(found) : found;
  const rests = immediate || draft.shares <= taken.shares ? 0n : draft.shares - taken.shares;
  const complete = buying && immediate ? taken.complete : taken.shares >= draft.shares;
  return {
    fill: { ...fillRecord(taken), complete, rests: microToNumber(rests), sequence: levels.sequence },
    expectedRefusal: refusalOf(draft, { crosses, complete }),
  };
}

const EMPTY_BOOK = {
  conditionId: '',
  outcome: 'YES',
  bids: [],
  asks: [],
  sequence: 0,
  changedAt: 0,
} as const satisfies Book;

const NOTHING = (found: Sweep): Sweep => ({ ...found, shares: 0n, cost: 0n, fee: 0n, worst: null });

const fillRecord = ({ side, shares, cost, fee, worst }: Sweep) => ({
  shares: microToNumber(shares),
  averagePrice:
    shares === 0n ? null : microToNumber(divide(cost * MICRO, shares, side === 'BUY' ? 'ceil' : 'floor')),
  worstPrice: worst === null ? null : pipsToNumber(worst),
  cost: microToNumber(cost),
  fee: microToNumber(fee),
});

function refusalOf(
  { timeInForce, postOnly }: MarketDraft,
  { crosses, complete }: { readonly crosses: boolean; readonly complete: boolean },
): PreparedTrade['expectedRefusal'] {
  if (postOnly && crosses) return 'post_only_would_cross';
  if (timeInForce === 'FOK' && !complete) return 'fok_not_filled';
  return timeInForce === 'FAK' && !crosses ? 'fak_no_match' : null;
}
