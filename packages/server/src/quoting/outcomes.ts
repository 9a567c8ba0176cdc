/**
 * Writes the course of a quoted order as evidence together with its transaction's row. The first replica that learns
 * something writes it; what another one says of it later changes nothing.
 */

import type { VenueRefusal } from '@bellwether/contract';
import { formatMicro } from '@bellwether/contract/decimals';
import { averagePrice, fillOf } from '../domain/amounts.ts';
import type { Evidence, FillEvidence, FirstAnswer, OutcomeEvidence } from '../domain/evidence.ts';
import {
  FIRST_STATUS,
  isTerminal,
  type OrderEventKind,
  type OrderStatus,
  requireTransition,
} from '../domain/lifecycle.ts';
import type { WalletAddress } from '../domain/records.ts';
import type { Clock } from '../platform/clock.ts';
import type { OrderStore } from '../trading/index.ts';
import { quotingVenue } from '../venues/asking.ts';
import type { OrderProgress, QuotedAmounts, VenueFill, VenueRevert } from '../venues/quotes.ts';
import type { Venues } from '../venues/venue.ts';
import type { ChainOrderRow, ChainOrderStore, QuoteRow, QuoteStore } from './quote-store.ts';

/** What becomes of quotes and of their orders. */
export interface OutcomeNeeds {
  readonly clock: Clock;
  readonly venues: Venues;
  readonly orders: OrderStore;
  readonly chainOrders: ChainOrderStore;
  readonly quotes: QuoteStore;
}

/** A quote of which an order can be made. */
export interface ExecutableQuote extends QuoteRow {
  readonly wallet: NonNullable<QuoteRow['wallet']>;
  readonly mints: NonNullable<QuoteRow['mints']>;
  readonly amounts: QuotedAmounts;
  readonly transaction: NonNullable<QuoteRow['transaction']>;
  readonly endDate: number;
}

export const isExecutable = (quote: QuoteRow): quote is ExecutableQuote =>
  quote.wallet !== null &&
  quote.mints !== null &&
  quote.amounts !== null &&
  quote.amounts.inAmount > 0n &&
  quote.amounts.outAmount > 0n &&
  quote.transaction !== null &&
  quote.endDate !== null;

/** Whose tokens a trade moves: the buyer may have them sent to somebody else. */
export const holderOf = (quote: ExecutableQuote): WalletAddress =>
  quote.side === 'BUY' ? (quote.destination ?? quote.wallet) : quote.wallet;

export const mintOf = (quote: ExecutableQuote): string => quote.mints[quote.outcome === 'YES' ? 0 : 1];

const NOTHING = { filled: 0n, cost: 0n, fees: 0n } as const;
const EMPTY: Evidence = { outcomes: [], fills: [], markets: [], resolutions: [], deposits: [] };

interface OutcomeTurn {
  readonly event: OrderEventKind;
  readonly detail?: string;
  readonly errorCode?: VenueRefusal;
  readonly first?: FirstAnswer;
}

/** The order's status, as far as its transaction's row tells it. */
function statusOf({ orderId, stage, fills }: ChainOrderRow): OrderStatus {
  if (stage === 'done') throw new Error(`the order ${orderId} has ended`);
  if (stage === 'sending') return FIRST_STATUS;
  return fills.length === 0 ? 'delayed' : 'partially_filled';
}

function outcome(
  seen: ChainOrderRow,
  at: number,
  { event, detail, errorCode, first }: OutcomeTurn,
): OutcomeEvidence {
  const status = requireTransition('quoted', statusOf(seen), event);
  return {
    orderId: seen.orderId,
    status,
    ...NOTHING,
    errorCode: errorCode ?? null,
    first: first ?? null,
    journal: [{ at, event: errorCode ?? event, status, ...(detail === undefined ? {} : { detail }) }],
    at,
  };
}

/** @returns false when another replica has recorded its outcome meanwhile */
async function end(needs: OutcomeNeeds, seen: ChainOrderRow, turn: OutcomeTurn): Promise<boolean> {
  const at = needs.clock.now();
  return needs.chainOrders.advance({
    seen,
    evidence: { ...EMPTY, outcomes: [outcome(seen, at, turn)] },
    to: { ...seen, stage: 'done' },
    dueAt: at,
    at,
  });
}

/** Proof that nothing was or will be executed. `first`: the answer that the agent is about to get. */
export const reject = (
  needs: OutcomeNeeds,
  seen: ChainOrderRow,
  errorCode: VenueRefusal,
  { detail, first }: { detail?: string; first?: FirstAnswer } = {},
): Promise<boolean> =>
  end(needs, seen, {
    event: 'rejected',
    errorCode,
    ...(detail === undefined ? {} : { detail }),
    ...(first === undefined ? {} : { first }),
  });

/** Only while no send was begun; the store holds it to that. */
export const cancelUnsent = (needs: OutcomeNeeds, seen: ChainOrderRow): Promise<boolean> =>
  end(needs, seen, { event: 'canceled', detail: 'before it was sent to the chain' });

const SUBMITTED: FirstAnswer = { success: true, status: 'submitted', ...NOTHING, errorCode: null };

/** The transaction is on the chain; the venue fills or reverts it next. */
export function landed(needs: OutcomeNeeds, seen: ChainOrderRow): Promise<boolean> {
  const at = needs.clock.now();
  return needs.chainOrders.advance({
    seen,
    evidence: {
      ...EMPTY,
      outcomes: [outcome(seen, at, { event: 'landed', first: SUBMITTED })],
    },
    to: { ...seen, stage: 'landed' },
    dueAt: at,
    at,
  });
}

/** Those that are not recorded yet. One transaction may fill several times. */
function newFills(recorded: readonly string[], fills: readonly VenueFill[]): VenueFill[] {
  const left = [...recorded];
  return fills.filter(({ signature }) => {
    const index = left.indexOf(signature);
    if (index >= 0) left.splice(index, 1);
    return index < 0;
  });
}

/**
 * `null`: nothing new that would be proof of anything. Amounts say how an order ended: change comes back from one that was
 * filled completely, too, and one that was not need not have anything come back.
 */
function turnOf(
  progress: ReportedProgress,
  { fresh, known }: { readonly fresh: number; readonly known: number },
  quote: ExecutableQuote,
): OutcomeTurn | null {
  const { fills, reverts } = progress;
  if (progress.kind === 'open') return fresh === 0 ? null : { event: 'filled_partly' };
  const back = reverts.map(({ amount, mint }) => `${formatMicro(amount)} of ${mint}`).join(', ');
  const came = back === '' ? 'nothing came back' : `came back: ${back}`;
  // A list that lacks fills of an earlier one is asked for again.
  if (fills.length < known) return null;
  if (fills.length > 0) return fillTurn(fills, quote, came);
  // Closed without either would say that the money is nowhere.
  if (reverts.length === 0) return null;
  return { event: 'reverted', errorCode: 'reverted', detail: came };
}

function fillTurn(
  fills: readonly VenueFill[],
  { side, amounts: { inAmount, minOutAmount } }: ExecutableQuote,
  came: string,
): OutcomeTurn {
  const gave = fills.reduce((sum, fill) => sum + fill.inAmount, 0n);
  const got = fills.reduce((sum, fill) => sum + fill.outAmount, 0n);
  const isPromised = got >= minOutAmount;
  const isComplete = side === 'BUY' ? isPromised : gave >= inAmount;
  const promise = `${formatMicro(got)} where the quote promised at least ${formatMicro(minOutAmount)}`;
  if (!isComplete) return { event: 'rest_reverted', detail: isPromised ? came : `${promise}; ${came}` };
  return { event: 'filled_completely', ...(isPromised ? {} : { detail: `${promise}: ask DFlow why` }) };
}

type ReportedProgress = Exclude<OrderProgress, { kind: 'unknown' }>;

/** Records what the venue did since the last look. @returns whether there was anything to record */
export async function progressed(
  needs: OutcomeNeeds,
  seen: ChainOrderRow,
  quote: ExecutableQuote,
  progress: ReportedProgress,
): Promise<boolean> {
  const fresh = newFills(seen.fills, progress.fills);
  const turn = turnOf(progress, { fresh: fresh.length, known: seen.fills.length + fresh.length }, quote);
  if (turn === null) return false;
  const at = needs.clock.now();
  const fills = fresh.map((fill, i) => fillEvidence(quote, fill, seen.fills.length + i, at));
  const sum = (pick: (fill: FillEvidence) => bigint) => fills.reduce((total, fill) => total + pick(fill), 0n);
  const reported = outcome(seen, at, turn);
  await needs.chainOrders.advance({
    seen,
    evidence: {
      ...EMPTY,
      outcomes: [
        {
          ...reported,
          filled: sum(({ size }) => size),
          cost: sum(({ cost }) => cost),
          fees: sum(({ fee }) => fee),
        },
      ],
      fills,
      markets: fills.length === 0 ? [] : [marketEvidence(needs, quote)],
    },
    to: {
      stage: isTerminal(reported.status) ? 'done' : 'landed',
      fills: [...seen.fills, ...fresh.map(({ signature }) => signature)],
      reverts: progress.reverts.map(revertRecord),
    },
    dueAt: at,
    at,
  });
  return true;
}

const revertRecord = ({ signature, mint, amount }: VenueRevert) => ({
  signature,
  mint,
  amount: amount.toString(),
});

function fillEvidence(quote: ExecutableQuote, fill: VenueFill, tradeId: number, at: number): FillEvidence {
  const { size, cost, fee } = fillOf(quote.side, fill);
  return {
    wallet: holderOf(quote),
    orderId: quote.quoteId,
    tradeId,
    conditionId: quote.ticker,
    tokenId: mintOf(quote),
    outcome: quote.outcome,
    side: quote.side,
    price: size === 0n ? 0 : averagePrice(quote.side, size, cost),
    size,
    cost,
    fee,
    liquidity: 'taker',
    matchKind: quote.amounts.isRedemption ? 'REDEEM' : 'DFLOW',
    at,
  };
}

const marketEvidence = (needs: OutcomeNeeds, quote: ExecutableQuote) => ({
  conditionId: quote.ticker,
  marketId: quote.ticker,
  slug: quote.ticker,
  question: quote.title,
  outcomes: quote.outcomes,
  endDate: quote.endDate,
  venue: quotingVenue(needs).id,
});
