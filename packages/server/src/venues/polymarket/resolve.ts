/**
 * Finds out what became of an order without an answer. The venue is asked for the order, its trades and the open orders.
 * That it knows nothing is proof only once nothing of the desk can still arrive (docs/decisions/live-orders.md): the order's own expiration is
 * past, or so much time since the last attempt that no connection or proxy still holds the request.
 */
import type { MarketRecord } from '../../domain/market.ts';
import type { OutboundLog } from '../../platform/outbound/http.ts';
import type { LiveOrder, LiveOrderLog } from '../live-orders.ts';
import type { SignedOrders } from '../venue.ts';
import type { Keyring } from './keyring.ts';
import { isIncomplete, lookUp } from './look-up.ts';
import type { OrderClient } from './order-client.ts';
import type { Recorder } from './recorder.ts';
import { answerOf } from './submit.ts';

export interface ResolveParts {
  readonly client: OrderClient;
  readonly keyring: Keyring;
  readonly recorder: Recorder;
  readonly log: LiveOrderLog;
  readonly findMarket: (conditionId: string) => Promise<MarketRecord | null>;
  readonly now: () => number;
  readonly logger: OutboundLog;
  /** After this an order that the venue does not know was never there. */
  readonly doubtMs: number;
  readonly onOpen: (walletAddress: string, isUrgent: boolean) => void;
}

/** An order in doubt is looked for at once, and then ever more rarely. */
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 15_000;
const MAX_REMEMBERED = 20_000;
const UNKNOWN = { kind: 'unknown' } as const;

type Resolved = Awaited<ReturnType<SignedOrders['resolve']>>;

export interface Resolve {
  /** As often as it is worth it: a look too soon after the last one finds nothing. */
  readonly resolve: SignedOrders['resolve'];
  /** Now. Never throws. */
  readonly look: (orderId: string) => Promise<Resolved>;
}

export function createResolve(parts: ResolveParts): Resolve {
  const { log, now, logger, recorder } = parts;
  const lookedAt = new Map<string, number>();

  const lookFor = async (orderId: string, isPaced: boolean): Promise<Resolved> => {
    const live = (await log.find([orderId])).get(orderId);
    if (live === undefined) return UNKNOWN;
    if (live.order.first !== null) return answerOf(live);
    const age = now() - live.order.createdAt;
    const pause = isPaced ? Math.min(MAX_PAUSE_MS, Math.max(FIRST_PAUSE_MS, age / 5)) : 0;
    if (now() - (lookedAt.get(orderId) ?? Number.NEGATIVE_INFINITY) < pause) return UNKNOWN;
    if (lookedAt.size >= MAX_REMEMBERED) lookedAt.clear();
    lookedAt.set(orderId, now());
    const answer = await ask(live);
    if (answer.kind !== 'unknown') lookedAt.delete(orderId);
    return answer;
  };
  const guarded = (orderId: string, isPaced: boolean): Promise<Resolved> =>
    lookFor(orderId, isPaced).catch((error: unknown) => {
      logger.warn({ orderId, error: (error as Error).name }, 'an order in doubt could not be looked up');
      return UNKNOWN;
    });

  return {
    resolve: (orderId) => guarded(orderId, true),
    look: (orderId) => guarded(orderId, false),
  };

  async function ask(live: LiveOrder): ReturnType<SignedOrders['resolve']> {
    const { order } = live;
    const key = await parts.keyring.of(order.walletAddress);
    const market = await parts.findMarket(order.conditionId);
    if (key === null || market === null) return UNKNOWN;
    // Taken before the venue is asked: only an answer after that time is proof.
    const isTooLate = cannotArrive(live, now(), parts.doubtMs);
    const { seen, isListed } = await lookUp(parts, key, { live, market });
    const isOpen = !isListed && seen.length === 0 ? await isAmongOpen(key, order.orderId) : false;
    if (seen.length === 0 && !isOpen) return isTooLate ? { kind: 'never_received' } : UNKNOWN;
    const found = isOpen
      ? [{ orderId: order.orderId, at: now(), kind: 'accepted' as const, word: null, ...NOTHING }]
      : seen;
    const known = await recorder.record(order.orderId, found, market);
    if (known?.venue != null && !known.venue.isFinal) parts.onOpen(order.walletAddress, isIncomplete(known));
    return answerOf(known);
  }

  async function isAmongOpen(
    key: Parameters<OrderClient['openOrders']>[0],
    orderId: string,
  ): Promise<boolean> {
    return (await parts.client.openOrders(key)).some(({ id }) => id === orderId);
  }
}

const NOTHING = { filled: 0n, cost: 0n, fees: 0n } as const;

/** The venue refuses an order whose expiration is past, however late it arrives. */
const cannotArrive = ({ order }: LiveOrder, now: number, doubtMs: number): boolean =>
  (order.expiration !== null && order.expiration < now) || now - order.sentAt > doubtMs;
