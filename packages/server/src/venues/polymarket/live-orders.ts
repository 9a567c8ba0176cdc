/** The orders of a live connection: submit, resolve, cancel, and what becomes of them, over one set of parts. */
import type { Address } from '@bellwether/protocol';
import { mayFill } from '../../domain/lifecycle.ts';
import type { MarketRecord } from '../../domain/market.ts';
import type { OutboundLog } from '../../platform/outbound/http.ts';
import type { FollowedWallet, LiveOrder, LiveOrderLog } from '../live-orders.ts';
import type {
  Cancel,
  CancelAnswer,
  HeartbeatLog,
  KeptAside,
  SignedOrders,
  VenueAnswer,
  VenueSecrets,
} from '../venue.ts';
import type { KeysOf, ShortageReason, UnsettledShares } from './accounts.ts';
import { type FollowerTimes, startFollower } from './follower.ts';
import { type HeartbeatTimes, startHeartbeats } from './heartbeats.ts';
import type { VenueHttp } from './http.ts';
import { isIncomplete, lookUp, unsettledShares } from './look-up.ts';
import {
  createKeyring,
  createOrderClient,
  errorTextOf,
  type Keyring,
  type OrderClient,
} from './order-client.ts';
import { isFields } from './order-wire.ts';
import type { SocketTimes } from './reconnecting-socket.ts';
import { createRecorder, type OrderRecorder } from './recorder.ts';
import { answerOf, createModes, createSubmit, sentenceOf } from './submit.ts';

interface LiveOrdersOptions {
  readonly http: VenueHttp;
  readonly log: LiveOrderLog;
  readonly heartbeats: HeartbeatLog;
  readonly openSecrets: (wallet: FollowedWallet) => VenueSecrets;
  readonly findMarket: (conditionId: string) => Promise<MarketRecord | null>;
  readonly clock: { now(): number };
  /** The clock with which requests are signed; `clock` when it is not given. */
  readonly venueClock?: { now(): number };
  readonly logger: OutboundLog;
  /** Names this replica in leases. */
  readonly holder: string;
  /** The user channel, whole. */
  readonly socketUrl: string;
  readonly sends: boolean;
  /** The account's balance is another one now. */
  readonly onTraded?: (account: string) => void;
  readonly shortageReason?: ShortageReason;
  /** After this an order that the venue does not know was never there. */
  readonly doubtMs: number;
  readonly times?: FollowerTimes;
  readonly heartbeatTimes?: HeartbeatTimes;
  readonly socketTimes?: SocketTimes;
  readonly missingMs?: number;
  /** When an order in doubt is looked for again. */
  readonly lookAfterMs?: readonly number[];
}

export interface LiveOrders
  extends Pick<SignedOrders, 'submit' | 'resolve' | 'verifyCredentials'>,
    Required<Pick<SignedOrders, 'pause' | 'submitAll'>> {
  readonly cancel: Cancel['orders'];
  readonly keptAside: KeptAside;
  readonly keysOf: KeysOf;
  readonly unsettled: UnsettledShares;
  status(): string;
  counts(): Readonly<Record<string, number>>;
  stop(): Promise<void>;
}

const MISSING_MS = 3_000;
const MOST_WALLETS = 2_000;
const MOST_SOCKETS = 500;
/** Different texts that are logged word for word. */
const MOST_TEXTS_LOGGED = 100;

export function createLiveOrders(options: LiveOrdersOptions): LiveOrders {
  const { http, log, clock, logger, findMarket, sends, shortageReason = async () => null } = options;
  const { now } = clock;
  const client = createOrderClient(http, options.venueClock ?? clock);
  const modes = createModes(clock);
  const recorder = createRecorder({ log, logger, onTraded: options.onTraded ?? (() => {}) });
  const keyring = createKeyring({
    log,
    now,
    open: (wallet) => ({
      secrets: options.openSecrets(wallet),
      eoa: wallet.eoa as Address,
      signatureType: wallet.signatureType,
    }),
  });
  const texts = new Set<string>();
  let unmapped = 0;
  const onUnmapped = (text: string): void => {
    unmapped += 1;
    const form = text.replaceAll(/0x[0-9a-fA-F]+|\d+(\.\d+)?/g, '#').slice(0, 300);
    if (texts.has(form) || texts.size >= MOST_TEXTS_LOGGED) return;
    texts.add(form);
    logger.warn({ text: form }, 'the venue refuses with words that have no code');
  };
  const shared = { client, recorder, log, findMarket, now, keyring, logger };
  const follower = startFollower({
    ...shared,
    holder: options.holder,
    socketUrl: options.socketUrl,
    missingMs: options.missingMs ?? MISSING_MS,
    mostWallets: MOST_WALLETS,
    mostSockets: MOST_SOCKETS,
    ...(options.times === undefined ? {} : { times: options.times }),
    ...(options.socketTimes === undefined ? {} : { socketTimes: options.socketTimes }),
  });
  const heartbeats = startHeartbeats({
    ...{ log: options.heartbeats, client, keyring, logger, holder: options.holder },
    ...(options.heartbeatTimes === undefined ? {} : { times: options.heartbeatTimes }),
  });
  const onOpen = follower.nudge;
  const { resolve, look } = createResolve({ ...shared, doubtMs: options.doubtMs, onOpen });
  const doubts = createDoubtWatch({
    look,
    ...(options.lookAfterMs === undefined ? {} : { afterMs: options.lookAfterMs }),
  });
  const watchDoubt = doubts.watch;
  const unsettled: LiveOrders['unsettled'] = (account, of) => unsettledShares(log, account, of);

  return {
    ...createSubmit({
      ...{ ...shared, log: logger, modes, sends, shortageReason },
      unsettled,
      ...{ onUnmapped, onOpen, watchDoubt, onPlaced: follower.placed },
    }),
    resolve,
    cancel: createCancel({ ...shared, onOpen }),
    keptAside: createKeptAside(shared),
    verifyCredentials: async (secrets, named) =>
      (await client.isKey({ secrets, eoa: named })) ? named : null,
    pause(order) {
      const pause = modes.pause(order);
      if (pause === null) return null;
      const retryAfterS = Math.max(1, Math.ceil((pause.until - now()) / 1000));
      return { mode: pause.mode, reason: sentenceOf(pause), retryAfterS };
    },
    keysOf: keyring.ofAccount,
    unsettled,
    status: modes.status,
    counts: () => ({
      ...follower.counts(),
      ...heartbeats.counts(),
      unmapped_refusals: unmapped,
      contradictions: recorder.contradictions(),
      trades_kept_aside: recorder.keptAside(),
      orders_looked_for: doubts.count(),
    }),
    async stop() {
      doubts.stop();
      await Promise.all([heartbeats.stop(), follower.stop()]);
    },
  };
}

// Looks for an order whose answer proved nothing: at once, and again after 2, 5 and 15 seconds. Most such orders are there,
// or were never taken, within that time; an order that is still in doubt then is left to the resolver, which asks ever more
// rarely. That the venue does not know an order is no proof here: the look decides what is one.

interface DoubtWatch {
  /** @returns what the first look found */
  watch(orderId: string): Promise<VenueAnswer>;
  /** Orders that are looked for at the moment. */
  count(): number;
  stop(): void;
}

interface DoubtWatchParts {
  /** Never throws. */
  readonly look: (orderId: string) => Promise<VenueAnswer | { readonly kind: 'never_received' }>;
  /** After the answer that proved nothing; shorter ones for tests. */
  readonly afterMs?: readonly number[];
}

const AFTER_MS = [2_000, 5_000, 15_000] as const;
/** More are left to the resolver. */
const MOST_WATCHED = 5_000;
const UNKNOWN = { kind: 'unknown' } as const;

function createDoubtWatch({ look, afterMs = AFTER_MS }: DoubtWatchParts): DoubtWatch {
  const watched = new Map<string, NodeJS.Timeout[]>();

  const forget = (orderId: string): void => {
    for (const timer of watched.get(orderId) ?? []) clearTimeout(timer);
    watched.delete(orderId);
  };
  const lookOnce = async (orderId: string, isLast: boolean): Promise<VenueAnswer> => {
    const answer = await look(orderId);
    if (answer.kind === 'never_received') {
      // For the resolver to settle: this order is not looked for any more.
      forget(orderId);
      return UNKNOWN;
    }
    if (answer.kind !== 'unknown' || isLast) forget(orderId);
    return answer;
  };

  return {
    async watch(orderId) {
      if (watched.has(orderId) || watched.size >= MOST_WATCHED) return UNKNOWN;
      const timers = afterMs.map((pause, nth) =>
        setTimeout(() => void lookOnce(orderId, nth === afterMs.length - 1), pause).unref(),
      );
      watched.set(orderId, timers);
      return lookOnce(orderId, false);
    },
    count: () => watched.size,
    stop() {
      for (const orderId of [...watched.keys()]) forget(orderId);
    },
  };
}

// Finds out what became of an order without an answer. The venue is asked for the order, its trades and the open orders.
// That it knows nothing is proof only once nothing of the desk can still arrive (docs/decisions/live-orders.md): the order's own expiration is
// past, or so much time since the last attempt that no connection or proxy still holds the request.

interface ResolveParts {
  readonly client: OrderClient;
  readonly keyring: Keyring;
  readonly recorder: OrderRecorder;
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

type Resolved = Awaited<ReturnType<SignedOrders['resolve']>>;

interface Resolve {
  /** As often as it is worth it: a look too soon after the last one finds nothing. */
  readonly resolve: SignedOrders['resolve'];
  /** Now. Never throws. */
  readonly look: (orderId: string) => Promise<Resolved>;
}

function createResolve(parts: ResolveParts): Resolve {
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

// Cancels at the venue. They go out in every mode of it, and no limit of the desk holds them back.

interface CancelParts {
  readonly client: OrderClient;
  readonly keyring: Keyring;
  readonly recorder: OrderRecorder;
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
const NO_WORD = 'the venue gave no answer; ask again';
const CONTRADICTED = 'the venue contradicts itself about this order; ask again';
/** With words in them; without, a proxy on the way may have answered. */
const REFUSALS: ReadonlySet<number> = new Set([400, 401, 403, 404]);

function createCancel(parts: CancelParts): Cancel['orders'] {
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

// Trades that are kept aside, for an operator to look at, and what the operator decides about one.

interface KeptAsideParts {
  readonly log: Pick<LiveOrderLog, 'find' | 'withHeldTrades'>;
  readonly recorder: Pick<OrderRecorder, 'record'>;
  readonly findMarket: (conditionId: string) => Promise<MarketRecord | null>;
  readonly now: () => number;
}

const heldIn = ({ order, trades }: LiveOrder) =>
  [...trades.values()].flatMap((trade) =>
    trade.aside?.state === 'held' ? [{ order, trade: { ...trade, aside: trade.aside } }] : [],
  );

export function createKeptAside({ log, recorder, findMarket, now }: KeptAsideParts): KeptAside {
  return {
    async held(page) {
      const { orders, total } = await log.withHeldTrades(page);
      return { orders: orders.map((live) => ({ order: live.order, trades: heldIn(live) })), total };
    },
    async decide({ orderId, tradeId, decision }) {
      const live = (await log.find([orderId])).get(orderId);
      if (live === undefined || !heldIn(live).some(({ trade }) => trade.tradeId === tradeId)) return null;
      // Without its market a fill would belong to nothing that resolves.
      const market = await findMarket(live.order.conditionId);
      const seen = { orderId, at: now(), kind: 'decision' as const, tradeId, decision };
      return (await recorder.record(orderId, [seen], market))?.order ?? null;
    },
  };
}
