/** Cancels at the venue. They go out in every mode of it, and no limit of the desk holds them back. */
import { mayFill } from '../../domain/lifecycle.ts';
import type { MarketRecord } from '../../domain/market.ts';
import type { OutboundLog } from '../../platform/outbound/http.ts';
import type { LiveOrder, LiveOrderLog } from '../live-orders.ts';
import type { Cancel, CancelAnswer } from '../venue.ts';
import type { Keyring } from './keyring.ts';
import { lookUp } from './look-up.ts';
import type { OrderClient } from './order-client.ts';
import { errorTextOf } from './order-refusals.ts';
import { isFields } from './order-wire.ts';
import type { Recorder } from './recorder.ts';

export interface CancelParts {
  readonly client: OrderClient;
  readonly keyring: Keyring;
  readonly recorder: Recorder;
  readonly log: LiveOrderLog;
  readonly findMarket: (conditionId: string) => Promise<MarketRecord | null>;
  readonly now: () => number;
  readonly logger: OutboundLog;
  readonly onOpen: (walletAddress: string, isUrgent: boolean) => void;
}

/** The venue's limit for one call. */
const MAX_IDS = 1_000;
/** How many orders are counted before the cancel is answered; the others' amounts follow. */
const COUNTED_AT_ONCE = 20;
const UNKNOWN = { kind: 'unknown' } as const;
const NO_WORD = 'the venue gave no answer; ask again';
const CONTRADICTED = 'the venue contradicts itself about this order; ask again';
/** With words in them; without, a proxy on the way may have answered. */
const REFUSALS: ReadonlySet<number> = new Set([400, 401, 403, 404]);

export function createCancel(parts: CancelParts): Cancel['orders'] {
  return async (_account, orderIds) => {
    const orders = [...(await parts.log.find(orderIds)).values()];
    const groups = [...Map.groupBy(orders, ({ order }) => order.walletAddress).values()].flatMap(inBatches);
    const answers = await Promise.all(groups.map((group) => cancelGroup(parts, group)));
    if (answers.every(({ kind }) => kind === 'unknown')) return UNKNOWN;
    const canceled: string[] = [];
    const notCanceled: Record<string, string> = {};
    for (const [index, answer] of answers.entries()) {
      if (answer.kind === 'unknown')
        for (const { order } of groups[index] ?? []) notCanceled[order.orderId] = NO_WORD;
      else {
        canceled.push(...answer.canceled);
        Object.assign(notCanceled, answer.notCanceled);
      }
    }
    const isOpen = answers.some((answer) => answer.kind === 'answered' && answer.isRecorded === false);
    return { kind: 'answered', canceled, notCanceled, ...(isOpen ? { isRecorded: false } : {}) };
  };
}

function inBatches(orders: readonly LiveOrder[]): readonly (readonly LiveOrder[])[] {
  const batches: LiveOrder[][] = [];
  for (let from = 0; from < orders.length; from += MAX_IDS) batches.push(orders.slice(from, from + MAX_IDS));
  return batches;
}

/** @param group orders of one wallet */
async function cancelGroup(parts: CancelParts, group: readonly LiveOrder[]): Promise<CancelAnswer> {
  const [first] = group;
  const ids = group.map(({ order }) => order.orderId);
  const key = first === undefined ? null : await parts.keyring.of(first.order.walletAddress);
  if (first === undefined || key === null)
    return {
      kind: 'answered',
      canceled: [],
      notCanceled: reasons(ids, 'the wallet has no credentials any more'),
    };
  const outcome = await parts.client.cancel(key, ids);
  if (outcome.kind === 'not_sent')
    return {
      kind: 'answered',
      canceled: [],
      notCanceled: reasons(ids, 'the venue could not be reached; ask again'),
    };
  if (outcome.kind === 'unknown') {
    parts.onOpen(first.order.walletAddress, true);
    return UNKNOWN;
  }
  const { reply } = outcome;
  const said = reply.status === 200 ? answerIn(reply.value, ids) : null;
  if (said === null) {
    parts.onOpen(first.order.walletAddress, true);
    const words = REFUSALS.has(reply.status) && isFields(reply.value) ? errorTextOf(reply) : '';
    return words === '' ? UNKNOWN : { kind: 'answered', canceled: [], notCanceled: reasons(ids, words) };
  }
  const isRecorded = await recordCanceled(parts, group, said);
  return { kind: 'answered', ...said, ...(isRecorded ? {} : { isRecorded }) };
}

const reasons = (ids: readonly string[], reason: string): Record<string, string> =>
  Object.fromEntries(ids.map((id) => [id, reason]));

interface Said {
  readonly canceled: readonly string[];
  readonly notCanceled: Readonly<Record<string, string>>;
}

/** Leaves an order where it is when the answer is not clear about it: no list names it, or both do. */
function answerIn(value: unknown, asked: readonly string[]): Said | null {
  if (!isFields(value) || !Array.isArray(value.canceled)) return null;
  const done = new Set(value.canceled.filter((id) => typeof id === 'string').map((id) => id.toLowerCase()));
  const refused = new Map(
    Object.entries(isFields(value.not_canceled) ? value.not_canceled : {}).map(([id, reason]) => [
      id.toLowerCase(),
      typeof reason === 'string' ? reason : 'the venue does not say why',
    ]),
  );
  const isCanceled = (id: string): boolean => done.has(id) && !refused.has(id);
  const reasonOf = (id: string): string => (done.has(id) ? CONTRADICTED : (refused.get(id) ?? NO_WORD));
  return {
    canceled: asked.filter(isCanceled),
    notCanceled: Object.fromEntries(asked.filter((id) => !isCanceled(id)).map((id) => [id, reasonOf(id)])),
  };
}

/**
 * Nothing of a canceled order rests; what was matched before is counted now, or by the replica that follows the wallet.
 * @returns whether none of them reads as open from now on
 */
async function recordCanceled(parts: CancelParts, group: readonly LiveOrder[], said: Said): Promise<boolean> {
  const { client, keyring, recorder, findMarket, now, logger } = parts;
  const canceled = new Set(said.canceled);
  const end = (orderId: string) => ({
    ...{ orderId, at: now(), kind: 'standing' as const, matched: null, end: 'canceled' as const },
    ...{ isCounted: false, detail: null },
  });
  let counted = 0;
  let isRecorded = true;
  await Promise.all(
    group.map(async (live) => {
      const { orderId, walletAddress, conditionId } = live.order;
      const own = canceled.has(orderId) ? [end(orderId)] : [];
      counted += 1;
      let after: LiveOrder | null = null;
      try {
        const [key, market] =
          counted > COUNTED_AT_ONCE
            ? [null, null]
            : await Promise.all([keyring.of(walletAddress), findMarket(conditionId)]);
        const found =
          key === null || market === null ? [] : (await lookUp({ client, now }, key, { live, market })).seen;
        after = await recorder.record(orderId, [...own, ...found], market);
        if (after?.venue?.isFinal !== true) parts.onOpen(walletAddress, true);
      } catch (error) {
        logger.warn({ orderId, error: (error as Error).name }, 'a canceled order is counted later');
        if (own.length > 0) after = await recorder.record(orderId, own, null);
        parts.onOpen(walletAddress, true);
      }
      if (own.length > 0 && after !== null && mayFill(after.order.status)) isRecorded = false;
    }),
  );
  return isRecorded;
}
