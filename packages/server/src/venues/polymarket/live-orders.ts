/** The orders of a live connection: submit, resolve, cancel, and what becomes of them, over one set of parts. */
import type { Address } from '@bellwether/protocol';
import type { MarketRecord } from '../../domain/market.ts';
import type { OutboundLog } from '../../platform/outbound/http.ts';
import type { HeartbeatLog } from '../heartbeats.ts';
import type { FollowedWallet, LiveOrderLog } from '../live-orders.ts';
import type { Cancel, KeptAside, SignedOrders, VenueSecrets } from '../venue.ts';
import type { KeysOf, UnsettledShares } from './accounts.ts';
import type { ShortageReason } from './approvals.ts';
import { createCancel } from './cancel.ts';
import { createDoubtWatch } from './doubt-watch.ts';
import { type FollowerTimes, startFollower } from './follower.ts';
import { type HeartbeatTimes, startHeartbeats } from './heartbeats.ts';
import type { VenueHttp } from './http.ts';
import { createKeptAside } from './kept-aside.ts';
import { createKeyring } from './keyring.ts';
import { unsettledShares } from './look-up.ts';
import { createModes, sentenceOf } from './modes.ts';
import { createOrderClient } from './order-client.ts';
import type { SocketTimes } from './reconnecting-socket.ts';
import { createRecorder } from './recorder.ts';
import { createResolve } from './resolve.ts';
import { createSubmit } from './submit.ts';

export interface LiveOrdersOptions {
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
