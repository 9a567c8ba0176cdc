/**
 * Sends orders of one API key in one request, and says of each what the answer proves. An order that is refused says nothing of the
 * others; an answer that is lost, or does not fit an order, leaves the order in doubt.
 */
import {
  type AnswerReading,
  type Attempt,
  MIN_ATTEMPT_MS,
  type Outgoing,
  readAnswer,
  rejected,
  UNKNOWN,
} from './attempts.ts';
import type { Outcome, VenueReply } from './http.ts';
import type { Keyring } from './keyring.ts';
import type { OwnedKeys } from './l2-headers.ts';
import type { Modes } from './modes.ts';
import { type OrderClient, orderBody } from './order-client.ts';
import { errorTextOf, verdictOf } from './order-refusals.ts';

/** The venue takes no more in one request. */
export const MOST_ORDERS = 15;

/** Texts of a refusal of the whole request; any other may be about one of its orders, and proves nothing of the others. */
const OF_THE_REQUEST =
  /Too many orders|Invalid order payload|Invalid payload|owner of the API KEY|Unauthorized|Invalid api key|Too Many Requests/i;

export interface BatchParts extends AnswerReading {
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
export async function attemptBatch(
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

function readOutcome(parts: BatchParts, outcome: Outcome, outgoing: readonly Outgoing[]): BatchOutcome {
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
