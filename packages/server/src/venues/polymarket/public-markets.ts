/** Answers of the venue to everybody: markets, books and outcomes, without any credential. */

import type { OutboundLog } from '../../platform/outbound/http.ts';
import type { HttpSend } from '../../platform/outbound/outbound.ts';
import type { MarketData } from '../venue.ts';
import { createLiveBooks, type LiveBooks } from './books.ts';
import { createGamma } from './gamma.ts';
import type { Governor, VenueService } from './governor.ts';
import { createVenueHttp, type VenueHttp } from './http.ts';
import { createLiveMarketData } from './market-data.ts';
import type { SocketTimes } from './reconnecting-socket.ts';
import { createResolutions } from './resolutions.ts';
import type { KeepsOrder } from './translate-market.ts';

export interface PolymarketUrls {
  readonly clob: string;
  readonly gamma: string;
  readonly data: string;
  /** The venue's pages: the check of the region. */
  readonly site: string;
  readonly relayer: string;
  /** Address of the sockets, without the channel. */
  readonly sockets: string;
}

export interface PublicMarketsOptions {
  /** In logs and errors. */
  readonly name: string;
  readonly urls: PolymarketUrls;
  readonly send: HttpSend;
  readonly clock: { now(): number };
  readonly log: OutboundLog;
  readonly governor?: Governor;
  readonly keepsOrder?: KeepsOrder | undefined;
  readonly socketTimes?: SocketTimes;
  /** Shorter ones for tests. */
  readonly times?: { readonly marketLifeMs?: number; readonly askAgainMs?: number };
}

export interface PublicMarkets {
  readonly clob: VenueHttp;
  readonly data: VenueHttp;
  readonly site: VenueHttp;
  readonly relayer: VenueHttp;
  readonly books: LiveBooks;
  readonly markets: MarketData;
  /** `ready`, or a sentence that says what is wrong. No I/O. */
  status(): string;
  /** Since the start, for operators. */
  counts(): Readonly<Record<string, number>>;
}

export function createPublicMarkets(options: PublicMarketsOptions): PublicMarkets {
  const { name, urls, send, clock, log, socketTimes, governor, keepsOrder, times = {} } = options;
  const service = (what: string, baseUrl: string, limits?: VenueService) =>
    createVenueHttp({
      ...{ service: `${name}'s ${what}`, baseUrl, send, clock, log },
      governor:
        governor === undefined || limits === undefined ? undefined : { of: governor, service: limits },
    });
  const clob = service('order book', urls.clob, 'clob');
  const data = service('data service', urls.data, 'data');
  const catalogue = service('catalogue', urls.gamma, 'gamma');
  const gamma = createGamma({ http: catalogue, clock, log, keepsOrder });
  const books = createLiveBooks({
    clob,
    socketUrl: `${urls.sockets}/market`,
    log,
    ...(socketTimes === undefined ? {} : { socketTimes }),
  });
  const resolutions = createResolutions({ data, clob, ...times });
  const services = [clob, data, catalogue];
  return {
    clob,
    data,
    site: service('site', urls.site),
    relayer: service('relayer', urls.relayer, 'relayer'),
    books,
    markets: createLiveMarketData({ gamma, books, resolutions, clock, keepsOrder, ...times }),
    status: clob.status,
    counts: () => ({
      ...books.counts(),
      unreadable_markets: gamma.malformed(),
      unfinished_lists: services.reduce((sum, { lists }) => sum + lists.unfinished(), 0),
    }),
  };
}
