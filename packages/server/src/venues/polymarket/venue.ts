/** The live venue: its services over HTTP and sockets, as one object of the desk's port. */
import { asAddress } from '@bellwether/protocol';
import type { HttpSend, OutboundLog } from '../../platform/outbound/http.ts';
import type { FollowedWallet, LiveOrderLog } from '../live-orders.ts';
import type { HeartbeatLog, SignedOrders, Venue, VenueSecrets } from '../venue.ts';
import { createLiveAccounts, createShortageReason } from './accounts.ts';
import type { FollowerTimes } from './follower.ts';
import { HEARTBEAT } from './heartbeats.ts';
import { createGovernor, type GovernorOptions, type VenueHttp } from './http.ts';
import { createLiveOrders } from './live-orders.ts';
import { createLivePriceHistory } from './price-history.ts';
import { createPublicMarkets, type PolymarketUrls } from './public-markets.ts';
import type { SocketTimes } from './reconnecting-socket.ts';
import { createRelayer, createRelaying, type RelayerCredentials } from './relayer.ts';
import { createLiveRedemption, createLiveSets } from './sets.ts';
import { type KeepsOrder, READ } from './translate-market.ts';

interface PolymarketVenueOptions extends Pick<SignedOrders, 'signing' | 'rules'> {
  readonly id: string;
  readonly urls: PolymarketUrls;
  readonly send: HttpSend;
  readonly clock: { now(): number };
  readonly log: OutboundLog;
  readonly orders: LiveOrderLog;
  readonly heartbeats: HeartbeatLog;
  readonly openSecrets: (wallet: FollowedWallet) => VenueSecrets;
  /** Names this replica in leases. */
  readonly holder: string;
  /** `null`: the relayer is not used. */
  readonly relayer: RelayerCredentials | null;
  /** False: everything but sending orders. */
  readonly sends: boolean;
  readonly doubtMs: number;
  /** Buckets for the venue's limits, which all replicas share. */
  readonly bucketsOf: GovernorOptions['bucketsOf'];
  readonly keepsOrder?: KeepsOrder;
  /** Shorter ones for tests. */
  readonly times?: FollowerTimes;
  readonly socketTimes?: SocketTimes;
  readonly missingMs?: number;
}

interface PolymarketVenue {
  readonly venue: Venue;
  stop(): Promise<void>;
}

export function createPolymarketVenue(options: PolymarketVenueOptions): PolymarketVenue {
  const { id, urls, send, clock, log, signing, rules } = options;
  const sockets = {
    ...(options.socketTimes === undefined ? {} : { socketTimes: options.socketTimes }),
  };
  const governor = createGovernor({ venue: id, bucketsOf: options.bucketsOf });
  const open = createPublicMarkets({
    ...{ name: id, urls, send, clock, log, governor, keepsOrder: options.keepsOrder, ...sockets },
  });
  const { clob, data, site, books, markets } = open;
  const geoblock = watchGeoblock({ http: site, log });
  const venueClock = startVenueClock({ http: clob, clock, log });
  const orders = createLiveOrders({
    http: clob,
    log: options.orders,
    heartbeats: options.heartbeats,
    openSecrets: options.openSecrets,
    findMarket: markets.find,
    clock,
    venueClock,
    logger: log,
    holder: options.holder,
    socketUrl: `${urls.sockets}/user`,
    sends: options.sends,
    doubtMs: options.doubtMs,
    shortageReason: (order, words) => shortageReason(order, words),
    onTraded: (account) => accounts.traded(asAddress(account)),
    ...sockets,
    ...(options.times === undefined ? {} : { times: options.times }),
    ...(options.missingMs === undefined ? {} : { missingMs: options.missingMs }),
  });
  const { keysOf, unsettled } = orders;
  const accounts = createLiveAccounts({ clob, data, keysOf, clock: venueClock, unsettled });
  const shortageReason = createShortageReason({ accounts, markets });
  const chainParts = { markets, accounts, data, keysOf, chainId: signing.chainId };
  const relayer = options.relayer === null || !options.sends ? null : relayerOf(options.relayer);
  const redemption = createLiveRedemption({ ...chainParts, relaying: relayer });
  const sets = createLiveSets({ ...chainParts, relayer, sends: options.sends });

  function relayerOf(credentials: RelayerCredentials) {
    const made = createRelayer({ http: open.relayer, credentials, clock: venueClock });
    return { ...made, ...createRelaying(made, { clock: venueClock, chainId: signing.chainId }) };
  }

  const status = (): string => {
    const said = [clob.status(), venueClock.status(), orders.status()].find((one) => one !== 'ready');
    return said ?? 'ready';
  };
  return {
    venue: {
      id,
      backend: 'live',
      status,
      notice: geoblock.notice,
      counts: () => {
        const clock_ahead_s = venueClock.aheadS();
        const clocks = clock_ahead_s === null ? {} : { clock_ahead_s };
        return { ...orders.counts(), ...open.counts(), ...governor.counts(), ...clocks };
      },
      markets,
      accounts,
      signedOrders: {
        signing,
        rules,
        verifyCredentials: orders.verifyCredentials,
        balance: (account, question) => {
          if (question === undefined) throw new Error('a balance of the live venue is of one market');
          return accounts.balance(account, question);
        },
        submit: orders.submit,
        submitAll: orders.submitAll,
        resolve: orders.resolve,
        pause: orders.pause,
      },
      cancel: { orders: orders.cancel },
      heartbeat: HEARTBEAT,
      keptAside: orders.keptAside,
      sets,
      redemption,
      history: createLivePriceHistory({ clob, clock }),
    },
    async stop() {
      geoblock.close();
      governor.stop();
      venueClock.stop();
      await Promise.all([orders.stop(), books.close()]);
    },
  };
}

// How far the venue's clock is from ours, asked of its `/time`. Requests are signed with the venue's time, because it refuses
// signatures that are too old or too new; how old is nowhere documented. Beyond half a minute one of the two clocks is
// plainly wrong, and ends of orders and matches would be judged by it: the venue then takes no orders, and says why.

interface VenueClock {
  /** Our clock, with the difference added. Epoch milliseconds. */
  now(): number;
  /** Whole seconds that the venue's clock is ahead of ours, negative: behind; `null`: never heard. */
  aheadS(): number | null;
  /** `ready`, or a sentence that says what is wrong. No I/O. */
  status(): string;
  stop(): void;
}

interface VenueClockParts {
  readonly http: Pick<VenueHttp, 'ask'>;
  readonly clock: { now(): number };
  readonly log: OutboundLog;
  /** Shorter ones for tests. */
  readonly everyMs?: number;
  readonly againMs?: number;
}

const EVERY_MS = 60_000;
/** While the clocks differ too much, so that it shows soon when one was set right. */
const AGAIN_MS = 5_000;
const MOST_AHEAD_MS = 30_000;
/** A slower answer says too little of the moment in which it was given. */
const MAX_ROUND_TRIP_MS = 4_000;
/** The venue tells whole seconds: on average it is half a second later. */
const HALF_A_SECOND_MS = 500;
const SECOND_MS = 1_000;
const EARLIEST_S = Date.UTC(2020, 0, 1) / SECOND_MS;
const LATEST_S = Date.UTC(2100, 0, 1) / SECOND_MS;

export function startVenueClock(parts: VenueClockParts): VenueClock {
  const { http, clock, log, everyMs = EVERY_MS, againMs = AGAIN_MS } = parts;
  let aheadMs: number | null = null;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  const isTooFar = (): boolean => aheadMs !== null && Math.abs(aheadMs) > MOST_AHEAD_MS;

  const ask = async (): Promise<void> => {
    const sent = performance.now();
    const sentAt = clock.now();
    const { status, value } = await http.ask({ path: '/time' });
    const tookMs = performance.now() - sent;
    const isTime =
      status === 200 &&
      Number.isSafeInteger(value) &&
      (value as number) > EARLIEST_S &&
      (value as number) < LATEST_S;
    if (!isTime || tookMs > MAX_ROUND_TRIP_MS) return;
    const wasTooFar = isTooFar();
    const ahead = (value as number) * SECOND_MS + HALF_A_SECOND_MS - (sentAt + tookMs / 2);
    // A difference within whole seconds is none.
    aheadMs = Math.abs(ahead) < SECOND_MS ? 0 : ahead;
    if (isTooFar() !== wasTooFar)
      log.warn(
        { aheadS: secondsOf(aheadMs) },
        isTooFar() ? 'the clocks differ too much' : 'the clocks agree again',
      );
  };
  const again = (): void => {
    // A venue that does not answer says nothing of its clock.
    ask()
      .catch(() => {})
      .finally(() => {
        if (!isStopped) timer = setTimeout(again, isTooFar() ? againMs : everyMs).unref();
      });
  };
  again();

  return {
    now: () => clock.now() + (aheadMs ?? 0),
    aheadS: () => (aheadMs === null ? null : secondsOf(aheadMs)),
    status() {
      if (aheadMs === null || !isTooFar()) return 'ready';
      const [seconds, side] = [Math.abs(secondsOf(aheadMs)), aheadMs > 0 ? 'ahead of' : 'behind'];
      return `the venue's clock is ${seconds} s ${side} this service's: set the clock of this machine (NTP)`;
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

const secondsOf = (ms: number): number => Math.round(ms / SECOND_MS);

// Whether the venue serves this machine's region, as the venue's own public check says. Information only: the venue judges
// every order itself, and a check that fails must not stop cancels.

const GEOBLOCK_EVERY_MS = 3_600_000;
const PATH = '/api/geoblock';

interface Geoblock {
  /** `null`: not known. */
  readonly blocked: () => boolean | null;
  /** `null`, or a sentence for the venue's status. */
  readonly notice: () => string | null;
  readonly close: () => void;
}

export function watchGeoblock(options: {
  readonly http: VenueHttp;
  readonly log: OutboundLog;
  readonly everyMs?: number;
}): Geoblock {
  const { http, log, everyMs = GEOBLOCK_EVERY_MS } = options;
  let said: { readonly blocked: boolean; readonly region: string } | null = null;
  const ask = async (): Promise<void> => {
    const found = await http.read({ path: PATH }, READ.geoblock);
    if (found === null) return;
    const region = [found.country, found.region].filter((part) => !!part).join(' ');
    if (found.blocked && said?.blocked !== true) log.warn({ region }, 'the venue does not serve this region');
    said = { blocked: found.blocked, region };
  };
  const again = () => void ask().catch(() => {});
  const timer = setInterval(again, everyMs);
  timer.unref();
  again();
  return {
    blocked: () => said?.blocked ?? null,
    notice: () =>
      said?.blocked === true
        ? `the venue does not serve this region (${said.region}): it refuses orders`
        : null,
    close: () => clearInterval(timer),
  };
}
