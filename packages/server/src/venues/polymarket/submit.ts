/**
 * Sends an order exactly as its agent signed it, and says what that proves. Nothing is sent after the order's deadline.
 * Without proof the identical order is sent once more while there is time: the venue executes it at most once, and a
 * refusal then says nothing of the first attempt.
 */
import type { VenueRefusal } from '@bellwether/contract';
import { PIPS } from '@bellwether/contract/decimals';
import type { MarketRecord } from '../../domain/market.ts';
import { within } from '../../domain/patience.ts';
import type { OutboundLog } from '../../platform/outbound/http.ts';
import type { LiveOrder } from '../live-orders.ts';
import type { SignedMessage, VenueAnswer, VenueOrder } from '../venue.ts';
import type { UnsettledShares } from './accounts.ts';
import type { ShortageReason } from './approvals.ts';
import {
  type Accepted,
  type Attempt,
  MIN_ATTEMPT_MS,
  type Outgoing,
  readAnswer,
  rejected,
  UNKNOWN,
} from './attempts.ts';
import type { Outcome } from './http.ts';
import type { Keyring } from './keyring.ts';
import type { OwnedKeys } from './l2-headers.ts';
import { isIncomplete, sumOfTrades, tradesSeen } from './look-up.ts';
import type { Modes } from './modes.ts';
import type { Observation } from './observations.ts';
import { type OrderClient, orderBody } from './order-client.ts';
import { errorTextOf, verdictOf } from './order-refusals.ts';
import type { Recorder } from './recorder.ts';
import { attemptBatch, MOST_ORDERS } from './submit-batch.ts';

export interface SubmitParts {
  readonly client: OrderClient;
  readonly keyring: Keyring;
  readonly modes: Modes;
  readonly recorder: Recorder;
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
    outcome: Outcome,
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
