/**
 * Sends the order of an exit whose trigger holds, until there is proof of one effect. The exit is marked before its order is sent, and the
 * order's id is its digest: whoever comes later places the same order, which has one effect.
 */
import { EXIT_LIMITS, type TradeRequest, type TradeResponse } from '@bellwether/contract';
import { microToNumber, pipsToNumber } from '@bellwether/contract/decimals';
import type { Address } from '@bellwether/protocol';
import type { AgentStore } from '../agents/index.ts';
import type { TimeInForce } from '../domain/draft.ts';
import { type ExitTerms, exitPriceDenial, exitQuote, triggerPrice } from '../domain/exits.ts';
import type { Book } from '../domain/market.ts';
import { VenueUnavailable } from '../domain/unavailable.ts';
import { Refusal } from '../platform/refusal.ts';
import type { Secrets } from '../platform/secrets.ts';
import { type OrderStore, type PlaceTradeNeeds, sendExit, sendExitAgain } from '../trading/index.ts';
import { venueOf } from '../venues/asking.ts';
import { exitIdentity } from './leave-exit.ts';
import { bookOf, endOf } from './records.ts';
import type { ExitEvidence, ExitRow, ExitStore, NotSent, WatchedExit } from './store.ts';

export interface SendExitNeeds extends PlaceTradeNeeds {
  readonly secrets: PlaceTradeNeeds['secrets'] & Pick<Secrets, 'open'>;
  readonly exits: Pick<ExitStore, 'placed' | 'notSent' | 'end' | 'ofOrder' | 'takeOver' | 'again'>;
  readonly orders: PlaceTradeNeeds['orders'] & Pick<OrderStore, 'openOfOwner'>;
  readonly agents: Pick<AgentStore, 'settings'>;
}

/** Another replica takes an exit over that was not sent by then. */
export const SENT_WITHIN_MS = 15_000;
/** Between attempts that were refused: as long again each time. */
const AGAIN_MS = { first: 1_000, last: 15_000 } as const;
/** An order of which its venue has proved that it never came is sent again so much later at the earliest: it could still arrive. */
const AGAIN_AT_VENUE_MS = 12_000;

/** The order is recorded, or may be: its venue is asked for proof. */
const IN_DOUBT: ReadonlySet<string> = new Set(['order_outcome_unknown', 'idempotency_in_flight']);

/** Prices and book of a moment, for the record. */
export function evidenceOf(
  cause: ExitEvidence['cause'],
  {
    now,
    book,
    row,
    heldSince = null,
  }: {
    readonly now: number;
    readonly book: Book | null;
    readonly row: Pick<ExitRow, 'shares'>;
    readonly heldSince?: number | null;
  },
): ExitEvidence {
  const quote = exitQuote(book, row.shares);
  return {
    cause,
    at: new Date(now).toISOString(),
    ...(heldSince === null ? {} : { heldSince: new Date(heldSince).toISOString() }),
    ...(quote === null ? {} : { bid: pipsToNumber(quote.bid), price: microToNumber(quote.price) }),
    ...(book === null
      ? {}
      : {
          sequence: book.sequence,
          bids: book.bids
            .slice(0, EXIT_LIMITS.bookLevels)
            .map(([price, shares]) => ({ price: pipsToNumber(price), size: microToNumber(shares) })),
        }),
  };
}

const hasOwnersWord = ({ fired, firesOnPause }: ExitRow): boolean => firesOnPause || fired?.cause === 'owner';

const termsOf = (row: ExitRow): ExitTerms => ({
  moment: 'sent',
  trigger: row.fired?.cause === 'trigger' ? triggerPrice(row.trigger) : null,
  // Places are kept for all armed exits, also for this one.
  places: Number.POSITIVE_INFINITY,
  hasOwnersWord: hasOwnersWord(row),
});

/** The order that was left, to be placed now. */
export const orderOf = ({ secrets }: SendExitNeeds, { exitId, sealed, outcome }: ExitRow): TradeRequest => {
  if (sealed === null) throw new Error('an exit that has ended cannot be sent');
  // Hints of the day on which it was left: the tick may be another one now, and the venue may call the outcome otherwise.
  const { tickSize: _, ...request } = JSON.parse(secrets.open(sealed, exitIdentity(exitId))) as TradeRequest;
  return { ...request, outcome };
};

/**
 * Places the order of an exit in status `firing`, once, and records what came of it.
 * @param back where it goes when it is refused; `null`: where its cause says
 * @returns the refusal, where nothing was recorded of the order
 */
export async function attemptExit(
  needs: SendExitNeeds,
  row: ExitRow,
  back: Pick<NotSent, 'status' | 'because'> | null = null,
): Promise<Refusal | null> {
  const { exitId, caller } = row;
  try {
    const request = orderOf(needs, row);
    const { answer } = await sendExit(needs, {
      ...{ caller, request, exit: termsOf(row) },
      requestId: `exit-${exitId}`,
    });
    await recordAnswer(needs, row, answer);
    return null;
  } catch (error) {
    if (error instanceof Refusal) return recordRefusal(needs, { row, refused: error, back });
    if (!(error instanceof VenueUnavailable)) throw error;
    const refused = new Refusal([{ code: 'service_unavailable', detail: 'The venue does not answer.' }]);
    return recordRefusal(needs, { row, refused, back });
  }
}

/** One that a venue refused, or that found nothing to take, is spent: its order cannot be placed again. */
async function recordAnswer(needs: SendExitNeeds, { exitId }: ExitRow, answer: TradeResponse): Promise<void> {
  const at = needs.clock.now();
  if (answer.success && answer.status !== 'unmatched') return needs.exits.placed(exitId, at);
  const because = answer.errorCode ?? 'not_filled';
  await needs.exits.end(exitId, { from: ['firing'], to: 'failed', because, at });
}

interface Refused {
  readonly row: ExitRow;
  readonly refused: Refusal;
  readonly back: Pick<NotSent, 'status' | 'because'> | null;
}

async function recordRefusal(needs: SendExitNeeds, { row, refused, back }: Refused): Promise<Refusal | null> {
  const { exitId } = row;
  const [{ code, detail }] = refused.denials;
  const at = needs.clock.now();
  if (IN_DOUBT.has(code)) {
    await needs.exits.again(exitId, at + AGAIN_MS.first);
    return null;
  }
  if (code === 'order_already_placed') {
    await needs.exits.end(exitId, { from: ['firing'], to: 'canceled', because: 'order_placed', at });
    return refused;
  }
  if (code === 'insufficient_balance' && (await holdsNothing(needs, row))) {
    await needs.exits.end(exitId, { from: ['firing'], to: 'canceled', because: 'position_closed', at });
    return refused;
  }
  if (code === 'market_not_active' && (await hasEnded(needs, row))) {
    await needs.exits.end(exitId, { from: ['firing'], to: 'expired', because: 'market_ended', at });
    return refused;
  }
  const againAt = at + Math.min(AGAIN_MS.last, AGAIN_MS.first * 2 ** Math.min(row.attempts, 10));
  const byCause: Pick<NotSent, 'status' | 'because'> =
    code === 'trading_paused'
      ? { status: 'suspended', because: 'pause' }
      : { status: row.fired?.cause === 'pause' ? 'firing' : 'armed' };
  await needs.exits.notSent(exitId, {
    ...(back ?? byCause),
    trouble: { code, message: detail },
    at,
    againAt,
  });
  return refused;
}

/** Whether the position of an exit is closed: nothing is held, and no open order keeps any of it. */
export async function holdsNothing(needs: SendExitNeeds, row: ExitRow): Promise<boolean> {
  const { signedOrders, markets } = venueOf(needs, row.venue, row.funder);
  const market = await markets.find(row.conditionId);
  if (signedOrders === undefined || market === null) return false;
  const balance = await signedOrders.balance(row.funder as Address, {
    conditionId: market.conditionId,
    tokenIds: market.tokenIds,
    pays: row.outcome,
  });
  if (balance.shares(market.conditionId, row.outcome) > 0n) return false;
  const open = await needs.orders.openOfOwner(row.caller.userId);
  return !open.some(
    ({ tokenId, side, funder }) => tokenId === row.tokenId && side === 'SELL' && funder === row.funder,
  );
}

export async function hasEnded(
  needs: SendExitNeeds,
  { venue, funder, conditionId }: Pick<ExitRow, 'venue' | 'funder' | 'conditionId'>,
): Promise<boolean> {
  const market = await venueOf(needs, venue, funder).markets.find(conditionId);
  return market === null || market.status !== 'open';
}

/**
 * Sends the order of an exit again that its venue has never received.
 * @returns false: it is no exit, or must not be sent any more; true: it may still arrive
 */
export async function sendAgain(needs: SendExitNeeds, orderId: string): Promise<boolean> {
  const row = await needs.exits.ofOrder(orderId);
  if (row === null) return false;
  const now = needs.clock.now();
  // What was sent again a moment ago may still arrive, also where it is wanted no more.
  if (now < row.nextAttemptAt) return true;
  if (!isWanted(row, now)) return false;
  const [order] = await needs.orders.byIds([orderId]);
  if (order?.kind !== 'signed') return false;
  const book = await bookOf(venueOf(needs, row.venue, row.funder), row);
  const { exitDistancePercent: distance } = await needs.agents.settings(row.caller.agentId);
  const { limit, shares } = row;
  const timeInForce = row.timeInForce as TimeInForce;
  const cheap = exitPriceDenial({ limit, shares, timeInForce, distance, book: book ?? null }, termsOf(row));
  // It waits for a better bid: nothing was sold yet.
  if (cheap !== null) return true;
  if (!(await needs.exits.takeOver(row, now + AGAIN_AT_VENUE_MS))) return true;
  await sendExitAgain(needs, orderOf(needs, row), order).catch((error: unknown) => {
    if (!(error instanceof Refusal || error instanceof VenueUnavailable)) throw error;
  });
  return true;
}

/** Neither a pause nor a revocation came, and it has not ended. */
function isWanted(row: ExitRow & Pick<WatchedExit, 'ownerPaused'>, now: number): boolean {
  const ends = endOf(row);
  return row.because === null && (ends === null || ends > now) && (hasOwnersWord(row) || !row.ownerPaused);
}
