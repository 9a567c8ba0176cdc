/**
 * Follows the wallets that have unfinished orders: by the venue's user socket, and by asking. The socket brings news at
 * once and promises nothing: after each connection, and from time to time, everything is asked for again. While a socket
 * is down or silent its wallets are asked more often.
 *
 * A wallet is followed by one replica at a time, by a lease in the database that ends by itself when its holder dies or
 * freezes. That only saves work: what two replicas record of one order is recorded once.
 */
import type { MarketRecord } from '../../domain/market.ts';
import type { OutboundLog } from '../../platform/outbound/http.ts';
import type { Keyring } from './keyring.ts';
import type { OwnedKeys } from './l2-headers.ts';
import { standingOf, tradesSeen } from './look-up.ts';
import { eventsIn, type OwnEvent, subscription } from './own-events.ts';
import { openReconnectingSocket, type ReconnectingSocket, type SocketTimes } from './reconnecting-socket.ts';
import { type ResyncParts, resync } from './resync.ts';

export interface FollowerTimes {
  readonly tickMs: number;
  readonly leaseMs: number;
  /** Between looks at a wallet whose socket stands. */
  readonly quietMs: number;
  /** The same while a settlement is not final. */
  readonly settleMs: number;
  /** The same without a socket. */
  readonly busyMs: number;
}

const FOLLOWER_TIMES: FollowerTimes = {
  tickMs: 1_000,
  leaseMs: 6_000,
  quietMs: 30_000,
  settleMs: 5_000,
  busyMs: 2_000,
};

export interface FollowerParts extends ResyncParts {
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

export interface Follower {
  /**
   * The wallet has an order that may change: it is followed, here or by another replica.
   * @param isUrgent something of it will be known only by asking
   */
  nudge(walletAddress: string, isUrgent: boolean): void;
  counts(): Readonly<Record<string, number>>;
  stop(): Promise<void>;
}

interface Followed {
  nextAt: number;
  isLooking: boolean;
  apiKey: string | null;
}

interface Line {
  readonly socket: ReconnectingSocket;
  readonly wallets: Set<string>;
}

export function startFollower(parts: FollowerParts): Follower {
  const { log, keyring, logger, holder, now } = parts;
  const times = parts.times ?? FOLLOWER_TIMES;
  const followed = new Map<string, Followed>();
  /** By API key. */
  const lines = new Map<string, Line>();
  let isStopped = false;
  let ticking: Promise<void> | null = null;
  let resyncs = 0;
  let unread = 0;

  const look = async (walletAddress: string, state: Followed): Promise<void> => {
    state.isLooking = true;
    try {
      const key = await keyring.of(walletAddress);
      if (key === null) {
        state.nextAt = now() + times.quietMs;
        return;
      }
      listen(walletAddress, state, key);
      const isBusy = await resync(parts, key, walletAddress);
      resyncs += 1;
      const pause = isBusy ? times.settleMs : times.quietMs;
      state.nextAt = now() + (isHeard(state) ? pause : times.busyMs);
    } catch (error) {
      // A key that is refused is read again: it may have been rotated.
      const key = await keyring.of(walletAddress).catch(() => null);
      if (key !== null) await keyring.refresh(walletAddress, key).catch(() => {});
      logger.warn({ wallet: walletAddress, error: (error as Error).message }, 'own orders could not be read');
      state.nextAt = now() + times.busyMs;
    } finally {
      state.isLooking = false;
    }
  };

  const isHeard = ({ apiKey }: Followed): boolean =>
    apiKey !== null && (lines.get(apiKey)?.socket.isOpen() ?? false);

  /** Subscribes for the wallet's key; beyond the most sockets a wallet is only asked about. */
  const listen = (walletAddress: string, state: Followed, key: OwnedKeys): void => {
    if (state.apiKey !== null && state.apiKey !== key.secrets.apiKey) hangUp(walletAddress, state);
    const known = lines.get(key.secrets.apiKey);
    if (known !== undefined) known.wallets.add(walletAddress);
    else if (lines.size < parts.mostSockets) lines.set(key.secrets.apiKey, openLine(walletAddress, key));
    else return;
    state.apiKey = key.secrets.apiKey;
  };

  const openLine = (walletAddress: string, key: OwnedKeys): Line => {
    const wallets = new Set([walletAddress]);
    const soon = () => {
      for (const wallet of wallets) nudge(wallet, true);
    };
    const socket = openReconnectingSocket({
      url: parts.socketUrl,
      name: 'the user socket',
      log: logger,
      onOpen: () => {
        socket.send(subscription(key.secrets));
        soon();
      },
      onFrame: (text) => hear(text, soon),
      onDown: soon,
      ...(parts.socketTimes === undefined ? {} : { times: parts.socketTimes }),
    });
    return { socket, wallets };
  };

  const hear = (text: string, soon: () => void): void => {
    const events = eventsIn(text);
    if (events === null) {
      unread += 1;
      logger.warn({}, 'a frame of the user socket was not understood');
      soon();
      return;
    }
    // What could not be recorded is asked for again.
    for (const event of events) record(event).catch(soon);
  };

  const record = async (event: OwnEvent): Promise<void> => {
    if (event.kind === 'order') {
      const { id } = event.order;
      const known = (await log.find([id])).get(id);
      if (known !== undefined)
        await parts.recorder.record(id, standingOf(event.order, known.order, now()), null);
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

  const hangUp = (walletAddress: string, state: Followed): void => {
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

  return {
    nudge,
    counts: () => ({
      followed_wallets: followed.size,
      user_sockets: lines.size,
      resyncs,
      frames_not_understood: unread,
    }),
    async stop() {
      isStopped = true;
      clearInterval(timer);
      await ticking;
      const wallets = [...followed.keys()];
      for (const [wallet, state] of followed) hangUp(wallet, state);
      followed.clear();
      await parts.recorder.settled();
      await log.release(holder, wallets).catch(() => {});
    },
  };
}
