/** The live venue: its services over HTTP and sockets, as one object of the desk's port. */
import { asAddress } from '@bellwether/protocol';
import type { OutboundLog } from '../../platform/outbound/http.ts';
import type { HttpSend } from '../../platform/outbound/outbound.ts';
import type { HeartbeatLog } from '../heartbeats.ts';
import type { FollowedWallet, LiveOrderLog } from '../live-orders.ts';
import type { SignedOrders, Venue, VenueSecrets } from '../venue.ts';
import { createLiveAccounts } from './accounts.ts';
import { createShortageReason } from './approvals.ts';
import type { FollowerTimes } from './follower.ts';
import { watchGeoblock } from './geoblock.ts';
import { createGovernor, type GovernorOptions } from './governor.ts';
import { HEARTBEAT } from './heartbeats.ts';
import { createLiveOrders } from './live-orders.ts';
import { createLivePriceHistory } from './price-history.ts';
import { createPublicMarkets, type PolymarketUrls } from './public-markets.ts';
import type { SocketTimes } from './reconnecting-socket.ts';
import { createLiveRedemption } from './redemption.ts';
import { createRelayer, createRelaying, type RelayerCredentials } from './relayer.ts';
import { createLiveSets } from './sets.ts';
import type { KeepsOrder } from './translate-market.ts';
import { startVenueClock } from './venue-clock.ts';

export interface PolymarketVenueOptions extends Pick<SignedOrders, 'signing' | 'rules'> {
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

export interface PolymarketVenue {
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
