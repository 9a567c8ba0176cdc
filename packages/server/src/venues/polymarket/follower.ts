/**
 * Follows the wallets that have unfinished orders: by the venue's user socket, and by asking. The socket brings news at
 * once and promises nothing: after each connection, and from time to time, everything is asked for again. While a socket
 * is down or deaf its wallets are asked more often. Deaf is one that stands, answers PINGs, and has not said a word of an
 * order that was placed since it was opened.
 *
 * A wallet is followed by one replica at a time, by a lease in the database that ends by itself when its holder dies or
 * freezes. That only saves work: what two replicas record of one order is recorded once.
 */
import type { MarketRecord } from '../../domain/market.ts';
import type { OutboundLog } from '../../platform/outbound/http.ts';
import { foldOrder } from './fold.ts';
import { type ResyncParts, resync, standingOf, tradesSeen } from './look-up.ts';
import type { Keyring, OwnedKeys } from './order-client.ts';
import { eventsIn, type OwnEvent, subscription } from './order-wire.ts';
import { openReconnectingSocket, type ReconnectingSocket, type SocketTimes } from './reconnecting-socket.ts';

export interface FollowerTimes {
  readonly tickMs: number;
  readonly leaseMs: number;
  /** Between looks at a wallet whose socket stands. */
  readonly quietMs: number;
  /** The same while a settlement is not final. */
  readonly settleMs: number;
  /** The same without a socket, or with a deaf one. */
  readonly busyMs: number;
  /** After an order was taken, the socket has said something of it within so long. */
  readonly eventMs: number;
}

const FOLLOWER_TIMES: FollowerTimes = {
  tickMs: 1_000,
  leaseMs: 6_000,
  quietMs: 30_000,
  settleMs: 5_000,
  busyMs: 2_000,
  eventMs: 3_000,
};

/** Orders that a socket spoke of, the last ones. */
const MOST_HEARD = 5_000;
/** A venue that says nothing of any order is not connected to again and again. */
const REPLACE_EVERY_MS = 60_000;

interface FollowerParts extends ResyncParts {
  readonly holder: string;
  readonly keyring: Keyring;
  readonly socketUrl: string;
  readonly logger: OutboundLog;
  /** Wallets followed by one replica, and sockets: each key has one. */
  readonly mostWallets: number;
  readonly mostSockets: number;
  readonly times?: FollowerTimes;
  readonly socketTimes?: SocketTimes;
}

interface Follower {
  /**
   * The wallet has an order that may change: it is followed, here or by another replica.
   * @param isUrgent something of it will be known only by asking
   */
  nudge(walletAddress: string, isUrgent: boolean): void;
  /** The venue has taken an order: its socket, if it stood when the order was sent, is expected to say so. */
  placed(walletAddress: string, orderId: string, sentAt: number): void;
  counts(): Readonly<Record<string, number>>;
  stop(): Promise<void>;
}

interface WalletState {
  /** When to look next; during a look: never, unless something happens that this look may have missed. */
  nextAt: number;
  isLooking: boolean;
  apiKey: string | null;
}

interface FollowedKey {
  readonly socket: ReconnectingSocket;
  readonly wallets: Set<string>;
  /** Order ids that it spoke of, oldest first. */
  readonly heard: Set<string>;
  /** `null` while it is down. */
  openedAt: number | null;
  isDeaf: boolean;
  replacedAt: number;
}

export function startFollower(parts: FollowerParts): Follower {
  const { log, keyring, logger, holder, now } = parts;
  const times = parts.times ?? FOLLOWER_TIMES;
  const followed = new Map<string, WalletState>();
  /** By API key. */
  const lines = new Map<string, FollowedKey>();
  let isStopped = false;
  let ticking: Promise<void> | null = null;
  let resyncs = 0;
  let unread = 0;
  let deaf = 0;
  const waits = new Set<NodeJS.Timeout>();

  const look = async (walletAddress: string, state: WalletState): Promise<void> => {
    state.isLooking = true;
    state.nextAt = Number.POSITIVE_INFINITY;
    const lookAgainIn = (ms: number): void => {
      state.nextAt = Math.min(state.nextAt, now() + ms);
    };
    try {
      const key = await keyring.of(walletAddress);
      if (key === null) return lookAgainIn(times.quietMs);
      listen(walletAddress, state, key);
      const { isBusy, placed } = await resync(parts, key, walletAddress);
      resyncs += 1;
      // An order of another replica: only here its socket is heard.
      for (const { orderId, createdAt } of placed)
        if (createdAt < now() - times.eventMs) missHear(walletAddress, orderId, createdAt);
      const pause = isBusy ? times.settleMs : times.quietMs;
      lookAgainIn(isHeard(state) ? pause : times.busyMs);
    } catch (error) {
      // A key that is refused is read again: it may have been rotated.
      const key = await keyring.of(walletAddress).catch(() => null);
      if (key !== null) await keyring.refresh(walletAddress, key).catch(() => {});
      logger.warn({ wallet: walletAddress, error: (error as Error).message }, 'own orders could not be read');
      lookAgainIn(times.busyMs);
    } finally {
      state.isLooking = false;
      if (state.nextAt <= now()) tickOnce();
    }
  };

  const isHeard = ({ apiKey }: WalletState): boolean => {
    const line = apiKey === null ? undefined : lines.get(apiKey);
    return line?.socket.isOpen() === true && !line.isDeaf;
  };

  const lineOf = (walletAddress: string): FollowedKey | null => {
    const apiKey = followed.get(walletAddress)?.apiKey ?? null;
    return apiKey === null ? null : (lines.get(apiKey) ?? null);
  };

  /** @returns whether nothing was heard of an order that was placed while the socket stood */
  const missHear = (walletAddress: string, orderId: string, placedAt: number): boolean => {
    const line = lineOf(walletAddress);
    if (line?.openedAt == null || line.openedAt >= placedAt || line.heard.has(orderId)) return false;
    if (!line.isDeaf) {
      line.isDeaf = true;
      deaf += 1;
      logger.warn({ wallet: walletAddress }, 'the user socket is open and deaf: own orders are asked for');
    }
    if (now() - line.replacedAt < REPLACE_EVERY_MS) return true;
    line.replacedAt = now();
    line.socket.reconnect('it said nothing of an own order');
    return true;
  };

  /** Subscribes for the wallet's key; beyond the most sockets a wallet is only asked about. */
  const listen = (walletAddress: string, state: WalletState, key: OwnedKeys): void => {
    if (state.apiKey !== null && state.apiKey !== key.secrets.apiKey) hangUp(walletAddress, state);
    const known = lines.get(key.secrets.apiKey);
    if (known !== undefined) known.wallets.add(walletAddress);
    else if (lines.size < parts.mostSockets) lines.set(key.secrets.apiKey, openLine(walletAddress, key));
    else return;
    state.apiKey = key.secrets.apiKey;
  };

  const openLine = (walletAddress: string, key: OwnedKeys): FollowedKey => {
    const wallets = new Set([walletAddress]);
    const heard = new Set<string>();
    const soon = () => {
      for (const wallet of wallets) nudge(wallet, true);
    };
    const socket = openReconnectingSocket({
      url: parts.socketUrl,
      name: 'the user socket',
      log: logger,
      onOpen: () => {
        line.openedAt = now();
        socket.send(subscription(key.secrets));
        soon();
      },
      onFrame: (text) => hear(text, line, soon),
      onDown: () => {
        line.openedAt = null;
        soon();
      },
      ...(parts.socketTimes === undefined ? {} : { times: parts.socketTimes }),
    });
    const line: FollowedKey = { socket, wallets, heard, openedAt: null, isDeaf: false, replacedAt: 0 };
    return line;
  };

  const note = (line: FollowedKey, event: OwnEvent): void => {
    const ids =
      event.kind === 'order'
        ? [event.order.id]
        : [event.trade.takerOrderId, ...event.trade.makers.map(({ orderId }) => orderId)];
    for (const id of ids) line.heard.add(id);
    for (const oldest of line.heard) {
      if (line.heard.size <= MOST_HEARD) break;
      line.heard.delete(oldest);
    }
    if (line.isDeaf) logger.info({}, 'the user socket is heard again');
    line.isDeaf = false;
  };

  const hear = (text: string, line: FollowedKey, soon: () => void): void => {
    const events = eventsIn(text);
    if (events === null) {
      unread += 1;
      logger.warn({}, 'a frame of the user socket was not understood');
      soon();
      return;
    }
    for (const event of events) {
      note(line, event);
      // Events that could not be recorded are asked for again.
      record(event).catch(soon);
    }
  };

  const record = async (event: OwnEvent): Promise<void> => {
    if (event.kind === 'order') {
      const { id } = event.order;
      const known = (await log.find([id])).get(id);
      if (known === undefined) return;
      const seen = standingOf(event.order, known.order, now());
      // Most events repeat what the answer to the order has said.
      const { change, contradictions } = foldOrder(known, seen, null);
      if (change !== null || contradictions.length > 0) await parts.recorder.record(id, seen, null);
      return;
    }
    const { takerOrderId, makers } = event.trade;
    const own = new Set((await log.find([takerOrderId, ...makers.map(({ orderId }) => orderId)])).keys());
    if (own.size === 0) return;
    const market: MarketRecord | null = await parts.findMarket(event.conditionId);
    if (market === null) throw new Error('the market of a trade is not known');
    const at = now();
    const seen = tradesSeen([event.trade], market, { isWanted: (id) => own.has(id), at });
    await Promise.all(seen.map((one) => parts.recorder.record(one.orderId, [one], market)));
  };

  const hangUp = (walletAddress: string, state: WalletState): void => {
    const { apiKey } = state;
    state.apiKey = null;
    const line = apiKey === null ? undefined : lines.get(apiKey);
    if (apiKey === null || line === undefined) return;
    line.wallets.delete(walletAddress);
    if (line.wallets.size > 0) return;
    lines.delete(apiKey);
    line.socket.close().catch(() => {});
  };

  const tick = async (): Promise<void> => {
    const held = new Set(await log.lease(holder, parts.mostWallets, times.leaseMs));
    for (const [wallet, state] of followed)
      if (!held.has(wallet)) {
        followed.delete(wallet);
        hangUp(wallet, state);
      }
    for (const wallet of held)
      if (!followed.has(wallet)) followed.set(wallet, { nextAt: 0, isLooking: false, apiKey: null });
    for (const [wallet, state] of followed)
      if (!state.isLooking && state.nextAt <= now()) void look(wallet, state);
  };

  const tickOnce = (): void => {
    if (isStopped) return;
    ticking ??= tick()
      .catch((error: unknown) => logger.warn({ error: (error as Error).name }, 'leases could not be renewed'))
      .finally(() => {
        ticking = null;
      });
  };
  const timer = setInterval(tickOnce, times.tickMs);
  timer.unref();

  const nudge = (walletAddress: string, isUrgent: boolean): void => {
    const state = followed.get(walletAddress);
    if (state !== undefined && !isUrgent) return;
    if (state !== undefined) state.nextAt = 0;
    tickOnce();
  };

  const placed = (walletAddress: string, orderId: string, sentAt: number): void => {
    const line = lineOf(walletAddress);
    if (line?.openedAt == null || line.heard.has(orderId)) return;
    const wait = setTimeout(() => {
      waits.delete(wait);
      if (missHear(walletAddress, orderId, sentAt)) nudge(walletAddress, true);
    }, times.eventMs).unref();
    waits.add(wait);
  };

  return {
    nudge,
    placed,
    counts: () => ({
      followed_wallets: followed.size,
      user_sockets: lines.size,
      resyncs,
      deaf_sockets: [...lines.values()].filter(({ isDeaf }) => isDeaf).length,
      sockets_found_deaf: deaf,
      frames_not_understood: unread,
    }),
    async stop() {
      isStopped = true;
      clearInterval(timer);
      for (const wait of waits) clearTimeout(wait);
      await ticking;
      const wallets = [...followed.keys()];
      for (const [wallet, state] of followed) hangUp(wallet, state);
      followed.clear();
      await parts.recorder.settled();
      await log.release(holder, wallets).catch(() => {});
    },
  };
}
