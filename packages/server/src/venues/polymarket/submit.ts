/**
 * Sends an order exactly as its agent signed it, and says what that proves. Nothing is sent after the order's deadline.
 * Without proof the identical order is sent once more while there is time: the venue executes it at most once, and a
 * refusal then says nothing of the first attempt.
 */
import type { VenueRefusal } from '@bellwether/contract';
import { type Micro, PIPS } from '@bellwether/contract/decimals';
import type { Address } from '@bellwether/protocol';
import type { MarketRecord } from '../../domain/market.ts';
import { within } from '../../domain/unavailable.ts';
import type { OutboundLog } from '../../platform/outbound/http.ts';
import type { LiveOrder } from '../live-orders.ts';
import type { SignedMessage, VenueAnswer, VenueOrder } from '../venue.ts';
import type { ShortageReason, UnsettledShares } from './accounts.ts';
import type { CallOutcome, VenueReply } from './http.ts';
import { isIncomplete, sumOfTrades, tradesSeen } from './look-up.ts';
import {
  errorTextOf,
  type Keyring,
  legVerdict,
  type OrderClient,
  type OwnedKeys,
  orderBody,
  verdictOf,
} from './order-client.ts';
import { DUST, microOf, type Observation } from './order-wire.ts';
import type { OrderRecorder } from './recorder.ts';

interface SubmitParts {
  readonly client: OrderClient;
  readonly keyring: Keyring;
  readonly modes: Modes;
  readonly recorder: OrderRecorder;
  readonly findMarket: (conditionId: string) => Promise<MarketRecord | null>;
  readonly now: () => number;
  readonly log: OutboundLog;
  /** False: everything but sending (LIVE_ORDERS=off). */
  readonly sends: boolean;
  readonly onUnmapped: (text: string) => void;
  readonly shortageReason: ShortageReason;
  readonly unsettled: UnsettledShares;
  /** Looks for an order of which nothing is known. @returns what the first look found; never throws */
  readonly watchDoubt: (orderId: string) => Promise<VenueAnswer>;
  /** The venue has taken an order of the wallet. */
  readonly onPlaced: (walletAddress: string, orderId: string, sentAt: number) => void;
  /** The wallet has an order that may still change. */
  readonly onOpen: (walletAddress: string, isUrgent: boolean) => void;
}

type Unsent = 'not_sent' | 'over_quota';

const LEAST_TIMEOUT_MS = 1;
/** Trades are listed by their own times, which the clock of the venue decides. */
const CLOCK_MARGIN_S = 120;
/** More at once are asked for by their market. */
const MAX_TRADE_IDS = 5;

export function createSubmit(parts: SubmitParts) {
  const { keyring, modes, recorder, now, log } = parts;

  const submit = (order: VenueOrder, message: SignedMessage): Promise<VenueAnswer> =>
    conclude({ order, message }, () => attemptAll(parts, order, message));

  /** Together where they have one API key, at most so many as the venue takes; each with an answer of its own. */
  const submitAll = (outgoing: readonly Outgoing[]): readonly Promise<VenueAnswer>[] => {
    const answers = new Map<Outgoing, Promise<VenueAnswer>>();
    for (const ofKey of Map.groupBy(outgoing, ({ message }) => message.walletAddress).values())
      for (let from = 0; from < ofKey.length; from += MOST_ORDERS) {
        const batch = ofKey.slice(from, from + MOST_ORDERS);
        // Begins behind the loop: evidence about an order may come before its answer, and is awaited by then.
        const attempts = Promise.resolve().then(() =>
          attemptBatch(parts, batch, ({ order, message }) => attemptAll(parts, order, message)),
        );
        for (const [at, one] of batch.entries())
          answers.set(
            one,
            conclude(one, async () => (await attempts)[at] ?? UNKNOWN),
          );
      }
    return outgoing.map((one) => answers.get(one) as Promise<VenueAnswer>);
  };

  return { submit, submitAll };

  /** Records what an attempt proves. @returns the first answer of the order, as it is recorded */
  async function conclude({ order, message }: Outgoing, send: () => Promise<Attempt>): Promise<VenueAnswer> {
    const finish = recorder.await(order.orderId, message.recorded);
    const sentAt = now();
    let seen: readonly Observation[] = [];
    let market: MarketRecord | null = null;
    let unrecorded: VenueAnswer = { kind: 'unknown' };
    try {
      const attempt = await send();
      if (attempt.kind === 'accepted') {
        // A delayed order has news when it is matched.
        if (attempt.reply.word !== 'delayed') parts.onPlaced(message.walletAddress, order.orderId, sentAt);
        market = await parts.findMarket(order.conditionId).catch(() => null);
        seen = await acceptedAs(parts, { order, message, reply: attempt.reply, market });
      } else if (attempt.kind === 'rejected') {
        const refused = await known(attempt, order, message);
        const { reason, detail } = refused;
        if (message.isInDoubt !== true)
          seen = [{ orderId: order.orderId, at: now(), kind: 'rejected', ...refused }];
        else unrecorded = { kind: 'rejected', reason, ...(detail === null ? {} : { detail }) };
      }
    } catch (error) {
      log.warn(
        { orderId: order.orderId, error: (error as Error).name },
        'an order may have reached the venue',
      );
    }
    try {
      const live = await finish(seen, market);
      if (live?.venue != null && !live.venue.isFinal) parts.onOpen(message.walletAddress, isIncomplete(live));
      const answer = answerOf(live);
      if (answer.kind !== 'unknown') return answer;
      const found = await lookInTime(order);
      return found.kind === 'unknown' ? unrecorded : found;
    } catch (error) {
      log.warn(
        { orderId: order.orderId, error: (error as Error).name },
        'what the venue answered is not recorded',
      );
      return { kind: 'unknown' };
    }
  }

  /** The reason as the desk knows it, beyond the venue's words. */
  async function known(
    { reason, detail }: Extract<Attempt, { kind: 'rejected' }>,
    order: VenueOrder,
    message: SignedMessage,
  ): Promise<{ readonly reason: VenueRefusal; readonly detail: string | null }> {
    if (reason === 'insufficient_balance' || reason === 'allowance_missing') {
      const found = await parts.shortageReason(order, detail).catch(() => null);
      // With an allowance that is missing more money changes nothing.
      if (found !== null) return { reason: 'allowance_missing', detail: found };
      const unsettled =
        order.side === 'BUY' ? 0n : await parts.unsettled(order.funder, order).catch(() => 0n);
      return unsettled === 0n ? { reason, detail } : { reason: 'shares_not_settled', detail: null };
    }
    if (reason !== 'signer_not_of_api_key') return { reason, detail };
    const key = await keyring.of(message.walletAddress).catch(() => null);
    const { signer, maker, signatureType } = message.fields;
    const words = `The order (signatureType ${signatureType}) has signer ${signer} and maker ${maker}; the API key that is registered for ${message.walletAddress} belongs to ${key?.eoa ?? 'no key any more'}.`;
    return { reason, detail: words };
  }

  /** The look goes on when the order's time is up; who waits for it does not. */
  async function lookInTime(order: VenueOrder): Promise<VenueAnswer> {
    const found = parts.watchDoubt(order.orderId);
    return (await within(Math.max(0, timeLeft(order)), found)) ?? { kind: 'unknown' };
  }

  async function attemptAll(p: SubmitParts, order: VenueOrder, message: SignedMessage): Promise<Attempt> {
    if (!p.sends) return { kind: 'rejected', reason: 'dry_run', detail: null };
    const pause = modes.pause({ postOnly: order.postOnly, signer: message.signer });
    const unsent = rejected('venue_unavailable');
    if (pause !== null || now() >= order.deadline) return unsent;
    const key = await keyring.of(message.walletAddress);
    if (key === null || key.eoa !== message.signer)
      return { kind: 'rejected', reason: 'credentials_refused', detail: null };
    const first = await attemptOnce(p, { key, order, message });
    if (first === 'not_sent') return unsent;
    if (first === 'over_quota') return rejected('venue_rate_limited');
    if (first.kind === 'rejected' && first.reason === 'credentials_refused') {
      // The key may have been rotated since it was read; this answer proves that nothing was taken.
      if (!(await keyring.refresh(message.walletAddress, key)) || timeLeft(order) < MIN_ATTEMPT_MS)
        return first;
      const fresh = await keyring.of(message.walletAddress);
      if (fresh === null || fresh.eoa !== message.signer) return first;
      const again = await attemptOnce(p, { key: fresh, order, message });
      if (again === 'over_quota') return rejected('venue_rate_limited');
      return again === 'not_sent' ? unsent : again;
    }
    if (first.kind !== 'unknown' || !first.mayRepeat || timeLeft(order) < MIN_ATTEMPT_MS) return first;
    const second = await attemptOnce(p, { key, order, message });
    return second !== 'not_sent' && second !== 'over_quota' && second.kind === 'accepted'
      ? second
      : { kind: 'unknown', mayRepeat: false };
  }

  function timeLeft({ deadline }: VenueOrder): number {
    return deadline - now();
  }

  async function attemptOnce(
    p: SubmitParts,
    {
      key,
      order,
      message,
    }: { readonly key: OwnedKeys; readonly order: VenueOrder; readonly message: SignedMessage },
  ): Promise<Attempt | Unsent> {
    const left = timeLeft(order);
    if (left <= 0) return 'not_sent';
    const body = orderBody(order, message, key.secrets.apiKey);
    const outcome = await p.client.post(key, body, Math.max(LEAST_TIMEOUT_MS, left));
    return readOutcome(p, outcome, { order, message });
  }

  function readOutcome(
    p: SubmitParts,
    outcome: CallOutcome,
    { order, message }: { readonly order: VenueOrder; readonly message: SignedMessage },
  ): Attempt | Unsent {
    if (outcome.kind === 'not_sent') return outcome.isOverQuota === true ? 'over_quota' : 'not_sent';
    if (outcome.kind === 'unknown') return { kind: 'unknown', mayRepeat: outcome.reason === 'connection' };
    const { reply } = outcome;
    modes.note(reply, message.signer);
    if (reply.status !== 200) {
      const verdict = verdictOf(reply, p.onUnmapped);
      // The venue names this one as safe to send again.
      const isSafe = reply.status === 500 && /order timed out/i.test(errorTextOf(reply));
      return verdict.kind === 'rejected' ? verdict : { kind: 'unknown', mayRepeat: isSafe };
    }
    return readAnswer(reply.value, { order, message }, { onUnmapped: p.onUnmapped, log });
  }
}

async function acceptedAs(
  { client, keyring, now }: SubmitParts,
  {
    order,
    message,
    reply,
    market,
  }: {
    readonly order: VenueOrder;
    readonly message: SignedMessage;
    readonly reply: Accepted;
    readonly market: MarketRecord | null;
  },
): Promise<readonly Observation[]> {
  const { orderId, side, conditionId } = order;
  const at = now();
  const [filled, cost] = side === 'BUY' ? [reply.taking, reply.making] : [reply.making, reply.taking];
  const accepted = { orderId, at, kind: 'accepted' as const, word: reply.word, filled, cost };
  if (filled === 0n || market === null) return [{ ...accepted, fees: 0n }];
  const [tradeId, ...more] = reply.tradeIds;
  if (tradeId !== undefined && more.length === 0 && market.feeRate === 0n) {
    // Without fees the answer has all of its one trade.
    const price = Number((cost * BigInt(PIPS)) / filled);
    const part = { tradeId, status: 'matched', liquidity: 'taker', matchedAt: at, fee: 0n } as const;
    return [
      { ...accepted, fees: 0n },
      { orderId, at, kind: 'trade', part: { ...part, size: filled, cost, price } },
    ];
  }
  // The fee follows from the price of each maker, which is in the record only. Without it the order is followed until it is there.
  const key = await keyring.of(message.walletAddress);
  const after = Math.floor(at / 1000) - CLOCK_MARGIN_S;
  const filters =
    tradeId === undefined || reply.tradeIds.length > MAX_TRADE_IDS
      ? [{ market: conditionId, after }]
      : reply.tradeIds.map((id) => ({ id }));
  const trades =
    key === null
      ? []
      : await Promise.all(filters.map((filter) => client.trades(key, filter))).catch(() => []);
  const parts = tradesSeen(trades.flat(), market, { isWanted: (id) => id === orderId, at });
  return [{ ...accepted, fees: sumOfTrades(parts, 'fee') }, ...parts];
}

const WORDS_OF_ANSWERS: Readonly<Record<string, Extract<VenueAnswer, { kind: 'accepted' }>['status']>> = {
  live: 'live',
  matched: 'matched',
  delayed: 'delayed',
  unmatched: 'unmatched',
};

/** The recorded first answer: what a replay says, too. */
export function answerOf(live: LiveOrder | null): VenueAnswer {
  const first = live?.order.first ?? null;
  if (first === null) return { kind: 'unknown' };
  if (!first.success)
    return {
      kind: 'rejected',
      reason: first.errorCode as VenueRefusal,
      ...(first.detail === undefined ? {} : { detail: first.detail }),
    };
  const { filled, cost, fees } = first;
  return { kind: 'accepted', status: WORDS_OF_ANSWERS[first.status] ?? 'live', filled, cost, fees };
}

// Proof that one attempt to send an order gives, and how the venue's answer is read for it.

type Attempt =
  | { readonly kind: 'accepted'; readonly reply: Accepted }
  | { readonly kind: 'rejected'; readonly reason: VenueRefusal; readonly detail: string | null }
  | { readonly kind: 'unknown'; readonly mayRepeat: boolean };

interface Accepted {
  readonly word: 'live' | 'matched' | 'delayed' | 'unmatched';
  readonly making: Micro;
  readonly taking: Micro;
  readonly tradeIds: readonly string[];
}

/** An order and what its agent signed. */
interface Outgoing {
  readonly order: VenueOrder;
  readonly message: SignedMessage;
}

/** Less time than this is none for another attempt. */
const MIN_ATTEMPT_MS = 250;

const rejected = (reason: VenueRefusal): Attempt => ({ kind: 'rejected', reason, detail: null });
const UNKNOWN: Attempt = { kind: 'unknown', mayRepeat: false };

const WORDS: ReadonlySet<unknown> = new Set(['live', 'matched', 'delayed', 'unmatched']);

interface AnswerReading {
  readonly onUnmapped: (text: string) => void;
  readonly log: { warn(context: object, message: string): void };
}

/** Taken only where success, an empty errorMsg and this order's id are there; what is half understood proves nothing. */
function readAnswer(
  value: unknown,
  { order: { orderId }, message }: Outgoing,
  { onUnmapped, log }: AnswerReading,
): Attempt {
  if (typeof value !== 'object' || value === null) return UNKNOWN;
  const row = value as Readonly<Record<string, unknown>>;
  const text = row.errorMsg ?? '';
  if (typeof text !== 'string') return UNKNOWN;
  if (text !== '') {
    // Words beside an order that is there contradict it.
    if (WORDS.has(row.status)) return UNKNOWN;
    const verdict = legVerdict(text, onUnmapped);
    return verdict.kind === 'rejected' ? verdict : UNKNOWN;
  }
  const isTaken = row.success === true && typeof row.orderID === 'string' && WORDS.has(row.status);
  if (!isTaken || (row.orderID as string).toLowerCase() !== orderId) return UNKNOWN;
  const word = row.status as Accepted['word'];
  const amount = (field: unknown): Micro | null =>
    field === '' || field === undefined ? 0n : microOf(field);
  const making = amount(row.makingAmount);
  const taking = amount(row.takingAmount);
  if (making === null || taking === null || (word === 'matched' && (making === 0n || taking === 0n)))
    return UNKNOWN;
  if (making > message.fields.makerAmount + DUST) {
    // The venue has it, and its amounts are wrong: its trades will say the right ones, or be kept aside.
    log.warn({ orderId }, 'the venue answers that an order gave more than it signed');
    return UNKNOWN;
  }
  return { kind: 'accepted', reply: { word, making, taking, tradeIds: idsIn(row.tradeIDs) } };
}

/** None where one of them is not understood: the others would stand for the whole match. */
function idsIn(value: unknown): readonly string[] {
  const isId = (id: unknown): id is string => typeof id === 'string' && id !== '';
  return Array.isArray(value) && value.every(isId) ? [...new Set(value)] : [];
}

// Sends orders of one API key in one request, and says of each what the answer proves. An order that is refused says nothing of the
// others; an answer that is lost, or does not fit an order, leaves the order in doubt.

/** The venue takes no more in one request. */
const MOST_ORDERS = 15;

/** Texts of a refusal of the whole request; any other may be about one of its orders, and proves nothing of the others. */
const OF_THE_REQUEST =
  /Too many orders|Invalid order payload|Invalid payload|owner of the API KEY|Unauthorized|Invalid api key|Too Many Requests/i;

interface BatchParts extends AnswerReading {
  readonly client: Pick<OrderClient, 'postAll'>;
  readonly keyring: Pick<Keyring, 'of'>;
  readonly modes: Pick<Modes, 'note' | 'pause'>;
  readonly now: () => number;
  /** False: everything but sending (LIVE_ORDERS=off). */
  readonly sends: boolean;
}

type BatchOutcome =
  | { readonly kind: 'attempts'; readonly attempts: readonly Attempt[] }
  /** Nothing of it was taken. `isForm`: each order may be good by itself. */
  | { readonly kind: 'refused'; readonly attempt: Attempt; readonly isForm: boolean };

/**
 * @param single sends an order by itself
 * @returns what is proved of each, in the order given
 */
async function attemptBatch(
  parts: BatchParts,
  outgoing: readonly Outgoing[],
  single: (one: Outgoing) => Promise<Attempt>,
): Promise<readonly Attempt[]> {
  const { keyring, modes, now, sends } = parts;
  const [first] = outgoing;
  if (first === undefined) return [];
  if (!sends) return outgoing.map(() => rejected('dry_run'));
  const { walletAddress } = first.message;
  const key = await keyring.of(walletAddress);
  const before = outgoing.map(({ order, message }): Attempt | null => {
    if (modes.pause({ postOnly: order.postOnly, signer: message.signer }) !== null || now() >= order.deadline)
      return rejected('venue_unavailable');
    return key === null || key.eoa !== message.signer ? rejected('credentials_refused') : null;
  });
  const wanted = outgoing.filter((_, at) => before[at] === null);
  const sent = (await sendTogether(parts, key, wanted, single)).values();
  return before.map((attempt) => attempt ?? sent.next().value ?? UNKNOWN);
}

async function sendTogether(
  parts: BatchParts,
  key: OwnedKeys | null,
  wanted: readonly Outgoing[],
  single: (one: Outgoing) => Promise<Attempt>,
): Promise<readonly Attempt[]> {
  const [one] = wanted;
  if (key === null || one === undefined) return [];
  if (wanted.length === 1) return [await single(one)];
  const first = await sendOnce(parts, key, wanted);
  if (first.kind === 'refused') {
    const { attempt, isForm } = first;
    const isOfKey = attempt.kind === 'rejected' && attempt.reason === 'credentials_refused';
    // Proof that nothing was taken: each is sent by itself, which also reads a key anew that was rotated since it was read.
    return isForm || isOfKey ? Promise.all(wanted.map(single)) : wanted.map(() => attempt);
  }
  const again = wanted.filter((_, at) => mayRepeat(first.attempts[at]));
  if (again.length === 0 || leastLeft(parts, again) < MIN_ATTEMPT_MS) return first.attempts;
  const second = await sendOnce(parts, key, again);
  const found = second.kind === 'refused' ? [] : second.attempts;
  // The venue executes each at most once; a refusal now says nothing of the first attempt.
  return first.attempts.map((attempt, at) => {
    if (!mayRepeat(attempt)) return attempt;
    const now = found[again.indexOf(wanted[at] as Outgoing)];
    return now?.kind === 'accepted' ? now : UNKNOWN;
  });
}

const mayRepeat = (attempt: Attempt | undefined): boolean => attempt?.kind === 'unknown' && attempt.mayRepeat;

const leastLeft = ({ now }: BatchParts, outgoing: readonly Outgoing[]): number =>
  Math.min(...outgoing.map(({ order }) => order.deadline)) - now();

async function sendOnce(
  parts: BatchParts,
  key: OwnedKeys,
  outgoing: readonly Outgoing[],
): Promise<BatchOutcome> {
  const bodies = outgoing.map(({ order, message }) => orderBody(order, message, key.secrets.apiKey));
  const outcome = await parts.client.postAll(key, bodies, Math.max(1, leastLeft(parts, outgoing)));
  return readOutcome(parts, outcome, outgoing);
}

function readOutcome(parts: BatchParts, outcome: CallOutcome, outgoing: readonly Outgoing[]): BatchOutcome {
  const all = (attempt: Attempt): BatchOutcome => ({
    kind: 'attempts',
    attempts: outgoing.map(() => attempt),
  });
  if (outcome.kind === 'not_sent') {
    const reason = outcome.isOverQuota === true ? 'venue_rate_limited' : 'venue_unavailable';
    return { kind: 'refused', attempt: rejected(reason), isForm: false };
  }
  if (outcome.kind === 'unknown') return all({ kind: 'unknown', mayRepeat: outcome.reason === 'connection' });
  const { reply } = outcome;
  const [first] = outgoing;
  if (first !== undefined) parts.modes.note(reply, first.message.signer);
  if (reply.status === 200) return { kind: 'attempts', attempts: legsOf(parts, reply, outgoing) };
  const verdict = verdictOf(reply, parts.onUnmapped);
  const { status } = reply;
  const isOfAll =
    status === 401 || status === 403 || status === 429 || OF_THE_REQUEST.test(errorTextOf(reply));
  if (verdict.kind !== 'rejected' || !isOfAll) return all(UNKNOWN);
  return { kind: 'refused', attempt: verdict, isForm: status === 400 };
}

/**
 * A leg belongs to the order whose id it names. A refused leg names none: it belongs to the order at its place, where there is a leg
 * for every order and none that names an id stands at another place.
 */
function legsOf(parts: BatchParts, { value }: VenueReply, outgoing: readonly Outgoing[]): readonly Attempt[] {
  if (!Array.isArray(value)) return outgoing.map(() => UNKNOWN);
  const legs: readonly unknown[] = value;
  const named = Map.groupBy(legs, idOf);
  const isInOrder =
    legs.length === outgoing.length &&
    legs.every((leg, at) => idOf(leg) === null || idOf(leg) === outgoing[at]?.order.orderId);
  return outgoing.map((one, at) => {
    const [own, ...others] = named.get(one.order.orderId) ?? [];
    if (others.length > 0) return UNKNOWN;
    const leg = own ?? (isInOrder ? legs[at] : undefined);
    return readAnswer(leg, one, parts);
  });
}

function idOf(leg: unknown): string | null {
  const id = (leg as { readonly orderID?: unknown } | null)?.orderID;
  return typeof id === 'string' && id !== '' ? id.toLowerCase() : null;
}

// Orders that the venue takes at the moment, learnt from its answers: a restart of its engine, post-only and cancel-only minutes,
// its rate limits. New orders pause until the time that the venue named, else for a time that grows; then one order finds
// out. Cancels are never paused.

type VenueMode = 'restarting' | 'post_only' | 'cancel_only' | 'disabled' | 'rate_limited';

interface Pause {
  readonly mode: VenueMode;
  /** Epoch milliseconds. */
  readonly until: number;
}

interface Modes {
  /** Reads the mode out of any answer to an order. */
  note(reply: VenueReply, signer: Address): void;
  /** Why an order would not be taken now; `null` when it may be sent. */
  pause(order: { readonly postOnly: boolean; readonly signer: Address }): Pause | null;
  /** `ready`, or a sentence that says why no order at all is sent. */
  status(): string;
}

const SENTENCES: Readonly<Record<VenueMode, string>> = {
  restarting: 'the venue restarts its matching engine',
  post_only: 'the venue takes post-only orders and cancels only',
  cancel_only: 'the venue takes cancels only',
  disabled: 'the venue has stopped trading',
  rate_limited: 'the venue asks for fewer orders',
};

export const sentenceOf = ({ mode, until }: Pause): string =>
  `${SENTENCES[mode]}; orders are tried again at ${new Date(until).toISOString()}`;

const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 30_000;
/** A pause that the venue names is believed up to this. */
const MAX_NAMED_PAUSE_MS = 5 * 60_000;
const MAX_SIGNERS = 10_000;

export function createModes(clock: { now(): number }): Modes {
  let everyone: Pause | null = null;
  let repeats = 0;
  const signers = new Map<Address, Pause>();

  const untilOf = (named: number | null): number => {
    const doublings = Math.min(Math.max(0, repeats - 1), 10);
    const grown = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** doublings);
    return clock.now() + Math.min(named ?? grown, MAX_NAMED_PAUSE_MS);
  };
  const pauseAll = (mode: VenueMode, named: number | null): void => {
    // Orders that were on their way together meet one trouble, however many they are.
    if (current(everyone) === null) repeats += 1;
    everyone = { mode, until: untilOf(named) };
  };
  const current = (pause: Pause | null | undefined): Pause | null =>
    pause != null && pause.until > clock.now() ? pause : null;

  return {
    note(reply, signer) {
      const { status, limits } = reply;
      if (status === 425) return pauseAll('restarting', limits.retryAfterMs);
      if (status === 503) {
        const mode = modeOf(reply);
        if (mode !== null) pauseAll(mode, limits.retryAfterMs ?? namedSeconds(reply));
        return;
      }
      if (status === 429) {
        if (limits.remaining === null && limits.reset === null)
          return pauseAll('rate_limited', limits.retryAfterMs);
        const named =
          limits.retryAfterMs ?? (limits.reset === null ? null : limits.reset * 1000 - clock.now());
        if (signers.size >= MAX_SIGNERS)
          for (const [key, one] of signers) if (current(one) === null) signers.delete(key);
        if (signers.size < MAX_SIGNERS)
          signers.set(signer, { mode: 'rate_limited', until: untilOf(Math.max(named ?? FIRST_PAUSE_MS, 0)) });
        return;
      }
      if (status < 500) {
        everyone = null;
        repeats = 0;
      }
    },
    pause({ postOnly, signer }) {
      const all = current(everyone);
      if (all !== null && !(all.mode === 'post_only' && postOnly)) return all;
      return current(signers.get(signer));
    },
    status() {
      const all = current(everyone);
      return all === null || all.mode === 'post_only' ? 'ready' : sentenceOf(all);
    },
  };
}

function modeOf(reply: VenueReply): VenueMode | null {
  const code = (reply.value as { readonly code?: unknown } | null | undefined)?.code;
  const text = errorTextOf(reply);
  if (code === 'post_only_mode' || /post-only mode/i.test(text)) return 'post_only';
  if (/cancel-only/i.test(text)) return 'cancel_only';
  if (/Trading is currently disabled/i.test(text)) return 'disabled';
  if (/Service is not ready/i.test(text)) return 'restarting';
  return null;
}

function namedSeconds({ value }: VenueReply): number | null {
  const seconds = (value as { readonly retry_after_seconds?: unknown } | null | undefined)
    ?.retry_after_seconds;
  return typeof seconds === 'number' && seconds >= 0 ? seconds * 1000 : null;
}
