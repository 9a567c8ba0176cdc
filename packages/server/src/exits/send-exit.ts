/**
 * Sends the order of an exit whose trigger holds, until there is proof of one effect. The exit is marked before its order is sent, and the
 * order's id is its digest: whoever comes later places the same order, which has one effect.
 */
import { EXIT_LIMITS, type TradeRequest, VENUE_REFUSALS, type VenueRefusal } from '@bellwether/contract';
import { microToNumber, pipsToNumber } from '@bellwether/contract/decimals';
import { isImmediate, type TimeInForce } from '../domain/draft.ts';
import type { FirstAnswer } from '../domain/evidence.ts';
import { type ExitTerms, exitPriceDenial, exitQuote, triggerPrice } from '../domain/exits.ts';
import { isInDoubt } from '../domain/lifecycle.ts';
import type { Book } from '../domain/market.ts';
import type { SignedOrderRow } from '../domain/records.ts';
import { VenueUnavailable } from '../domain/unavailable.ts';
import { Refusal, refusal } from '../platform/refusal.ts';
import { isRefusedAttempt, sendExit, sendExitAgain } from '../trading/index.ts';
import { venueOf } from '../venues/asking.ts';
import type { VenueAnswer } from '../venues/venue.ts';
import { type ExitNeeds, exitIdentity } from './leave-exit.ts';
import { bookOf, endOf } from './records.ts';
import type { ExitEvidence, ExitRow, NotSent, WatchedExit } from './store.ts';

/** Another replica takes an exit over that was not sent by then: twice as long as a venue has for an order. */
export const SENT_WITHIN_MS = 8_000;
/** Between attempts that were refused: as long again each time, and up to half as long besides, so that many do not come together. */
const AGAIN_MS = { first: 1_000, last: 15_000, seldom: 60_000 } as const;
/** About ten minutes: what is refused for longer is tried more seldom. */
const OFTEN = 40;
/** After each attempt without an answer; then as after the last. */
const IN_DOUBT_MS = [1_000, 2_000, 5_000, 15_000] as const;
/** A better bid is waited for so long, and a venue that takes no orders. */
const LOOK_AGAIN_MS = 1_000;

/** The order is recorded, or may be. */
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
export const orderOf = ({ secrets }: ExitNeeds, { exitId, sealed, outcome }: ExitRow): TradeRequest => {
  if (sealed === null) throw new Error('an exit that has ended cannot be sent');
  // Hints of the day on which it was left: the tick may be another one now, and the venue may call the outcome otherwise.
  const { tickSize: _, ...request } = JSON.parse(secrets.open(sealed, exitIdentity(exitId))) as TradeRequest;
  return { ...request, outcome };
};

type Back = Pick<NotSent, 'status' | 'because'> | null;

/**
 * Places the order of an exit in status `firing`, once, and records what came of it.
 * @param back where it goes when it is refused; `null`: where its cause says
 * @returns the refusal, where the order was not taken
 */
export async function attemptExit(
  needs: ExitNeeds,
  row: ExitRow,
  back: Back = null,
): Promise<Refusal | null> {
  const refused = await attempt(needs, row).catch((error: unknown) => {
    if (error instanceof Refusal) return error;
    if (!(error instanceof VenueUnavailable)) throw error;
    return refusal('service_unavailable', 'The venue does not answer.');
  });
  return refused === null ? null : recordRefusal(needs, { row, refused, back });
}

/** @returns `null`: it is placed, or has ended @throws Refusal, VenueUnavailable */
async function attempt(needs: ExitNeeds, row: ExitRow): Promise<Refusal | null> {
  const { exitId, caller, nextAttemptAt: until } = row;
  const known = await orderIn(needs, row);
  // What its order has sold does not hold it back.
  if (known !== null && known.first !== null) return conclude(needs, row, known.first);
  const holding = await needs.exits.holding(exitId);
  if (holding === 'closed') {
    const at = needs.clock.now();
    const ending = { to: 'canceled', because: 'position_closed', at } as const;
    await needs.exits.end(exitId, { from: ['firing'], ...ending, isUnplaced: true });
    return null;
  }
  // Where that sale fails, the shares are held after all.
  if (holding === 'closing')
    return refusal('insufficient_balance', 'Its shares are sold, and that sale is not confirmed yet.');
  const request = orderOf(needs, row);
  const requestId = `exit-${exitId}`;
  const { answer } = await sendExit(needs, { caller, request, exit: termsOf(row), requestId, until });
  const code = answer.errorCode ?? 'not_filled';
  const order = answer.success ? null : await orderIn(needs, row);
  if (order !== null && isRefusedAttempt(order)) return asRefusal(code, answer.errorMessage);
  return conclude(needs, row, { ...answer, errorCode: code });
}

async function orderIn({ orders }: ExitNeeds, { orderId, caller }: ExitRow): Promise<SignedOrderRow | null> {
  const [order] = await orders.byIds([orderId]);
  return order?.kind === 'signed' && order.agentId === caller.agentId ? order : null;
}

/** Its order has its answer. A venue that keeps what it refused takes it no more. */
async function conclude(
  { exits, clock }: ExitNeeds,
  row: ExitRow,
  { success, status, errorCode }: Pick<FirstAnswer, 'success' | 'status' | 'errorCode'>,
): Promise<null> {
  // One that takes at once or not at all, and took nothing, leaves nothing behind.
  const isSpent = success && status === 'unmatched' && isImmediate(row.timeInForce as TimeInForce);
  const at = clock.now();
  if (success && !isSpent) await exits.placed(row, at);
  else {
    const because = success ? 'not_filled' : (errorCode ?? 'not_filled');
    await exits.end(row.exitId, { from: ['firing'], to: 'failed', because, at });
  }
  return null;
}

/** What a venue says, as the trouble of an exit: under the venue's code. */
const asRefusal = (code: string, message: string | undefined): Refusal =>
  new Refusal([
    {
      code: code as 'service_unavailable',
      detail: message ?? VENUE_REFUSALS[code as VenueRefusal]?.message ?? 'The venue refused it.',
    },
  ]);

interface Refused {
  readonly row: ExitRow;
  readonly refused: Refusal;
  readonly back: Back;
}

async function recordRefusal(needs: ExitNeeds, { row, refused, back }: Refused): Promise<Refusal | null> {
  const { exitId } = row;
  const [{ code, detail }] = refused.denials;
  const at = needs.clock.now();
  if (IN_DOUBT.has(code)) {
    await needs.exits.inDoubt(exitId, at + IN_DOUBT_MS[0]);
    return null;
  }
  if (code === 'order_already_placed') {
    await needs.exits.end(exitId, { from: ['firing'], to: 'canceled', because: 'order_placed', at });
    return refused;
  }
  if (MARKET_CODES.has(code) && (await hasEnded(needs, row))) {
    await needs.exits.end(exitId, { from: ['firing'], to: 'expired', because: 'market_ended', at });
    return refused;
  }
  const byCause: NonNullable<Back> =
    code === 'trading_paused'
      ? { status: 'suspended', because: 'pause' }
      : { status: row.fired?.cause === 'pause' ? 'firing' : 'armed' };
  const trouble = { code, message: detail };
  await needs.exits.notSent(row, {
    ...(back ?? byCause),
    trouble,
    at,
    againAt: at + pauseOf(row, refused),
  });
  return refused;
}

const MARKET_CODES: ReadonlySet<string> = new Set(['market_not_active', 'market_closed']);

function pauseOf({ attempts }: ExitRow, { retryAfterS }: Refusal): number {
  if (attempts >= OFTEN) return scattered(AGAIN_MS.seldom);
  const named = retryAfterS === null ? null : retryAfterS * 1000;
  const grown = AGAIN_MS.first * 2 ** Math.min(attempts, 10);
  return scattered(Math.min(AGAIN_MS.last, named ?? grown));
}

const scattered = (ms: number): number => Math.round(ms * (1 + Math.random() / 2));

/** A venue may have no book of a market for a moment, and may take no orders for hours: only a result is an end. */
export async function hasEnded(
  needs: ExitNeeds,
  { venue, funder, conditionId }: Pick<ExitRow, 'venue' | 'funder' | 'conditionId'>,
): Promise<boolean> {
  return (await venueOf(needs, venue, funder).markets.find(conditionId))?.status === 'resolved';
}

/** Goes on with an exit that is being sent: it was fired by a pause, its sender is late, or its venue gave no answer. */
export async function pursueExit(needs: ExitNeeds, watched: WatchedExit): Promise<void> {
  const { exitId, caller } = watched;
  const row = await needs.exits.byId(exitId, caller.agentId);
  if (row?.status !== 'firing') return;
  const order = await orderIn(needs, row);
  const book = (await bookOf(venueOf(needs, row.venue, row.funder), row)) ?? null;
  const { ownerPaused, exitDistancePercent: distance } = await needs.agents.settings(caller.agentId);
  if (order !== null && isInDoubt(order.status)) {
    await repeat(needs, { row, ownerPaused, distance, order, book });
    return;
  }
  const isUnplaced = order === null || isRefusedAttempt(order);
  const now = needs.clock.now();
  if (isUnplaced && (await isOver(needs, row))) {
    await needs.exits.end(exitId, { from: ['firing'], to: 'expired', because: null, at: now, isUnplaced });
    return;
  }
  if (isUnplaced && row.fired?.cause === 'pause' && !ownerPaused) {
    const trouble = { code: 'pause_over', message: 'The pause that should have sent it is over.' };
    await needs.exits.notSent(row, {
      status: 'suspended',
      because: 'pause',
      trouble,
      at: now,
      againAt: now,
    });
    return;
  }
  if (order !== null && isRefusedAttempt(order) && row.fired?.cause !== 'pause') {
    const refused = asRefusal(order.errorCode ?? 'not_filled', undefined);
    await recordRefusal(needs, { row, refused, back: null });
    return;
  }
  const nextAttemptAt = now + SENT_WITHIN_MS;
  if (!(await needs.exits.takeOver(row, nextAttemptAt))) return;
  const { fired } = row;
  const evidence =
    fired?.bid === undefined ? evidenceOf(fired?.cause ?? 'trigger', { now, book, row }) : fired;
  if (isUnplaced && evidence !== fired) await needs.exits.note(exitId, evidence);
  await attemptExit(needs, { ...row, nextAttemptAt, fired: evidence });
}

async function isOver(needs: ExitNeeds, row: ExitRow): Promise<boolean> {
  const end = endOf(row);
  return (end !== null && end <= needs.clock.now()) || (await hasEnded(needs, row));
}

interface InDoubt {
  readonly row: ExitRow;
  readonly ownerPaused: boolean;
  /** In percent. */
  readonly distance: number;
  readonly order: SignedOrderRow;
  readonly book: Book | null;
}

/**
 * Sends the identical order again of which its venue gave no answer: whichever of the attempts arrives, it has one effect. A refusal now
 * says nothing of an attempt before, so the doubt ends with an order that is there, or with proof that none can come (doubts.ts).
 */
async function repeat(needs: ExitNeeds, { row, ownerPaused, distance, order, book }: InDoubt): Promise<void> {
  const venue = venueOf(needs, row.venue, row.funder);
  const now = needs.clock.now();
  const { exitId, attempts } = row;
  // A venue that a process of the desk keeps has the proof already.
  const isKept = venue.signedOrders === undefined || venue.signedOrders.keptSince !== undefined;
  if (isKept || !isWanted(row, ownerPaused, now)) {
    await needs.exits.later(exitId, now + AGAIN_MS.last);
    return;
  }
  const { limit, shares } = row;
  const timeInForce = row.timeInForce as TimeInForce;
  const cheap = exitPriceDenial({ limit, shares, timeInForce, distance, book }, termsOf(row));
  if (venue.status() !== 'ready' || cheap !== null) {
    await needs.exits.later(exitId, now + LOOK_AGAIN_MS);
    return;
  }
  const pause = IN_DOUBT_MS[Math.min(attempts + 1, IN_DOUBT_MS.length - 1)] ?? AGAIN_MS.last;
  if (!(await needs.exits.repeat(row, { at: now, againAt: now + scattered(pause) }))) return;
  const answer = await sendExitAgain(needs, { request: orderOf(needs, row), row: order, at: now }).catch(
    (error: unknown): VenueAnswer => {
      if (error instanceof Refusal) return { kind: 'rejected', ...notNow(error) };
      if (error instanceof VenueUnavailable) return { kind: 'rejected', reason: 'venue_unavailable' };
      throw error;
    },
  );
  if (answer.kind === 'accepted') await attemptExit(needs, row);
  else if (answer.kind === 'rejected') {
    const [{ code, detail: message }] = asRefusal(answer.reason, answer.detail).denials;
    await needs.exits.notRepeated(row, { at: now, sentAt: order.sentAt, trouble: { code, message } });
  }
}

/** The desk itself does not send it as it stands. */
const notNow = ({ denials: [{ code, detail }] }: Refusal) => ({ reason: code as VenueRefusal, detail });

/** Neither a pause nor a revocation came, and it has not ended. */
function isWanted(row: ExitRow, ownerPaused: boolean, now: number): boolean {
  const ends = endOf(row);
  return row.because === null && (ends === null || ends > now) && (hasOwnersWord(row) || !ownerPaused);
}
