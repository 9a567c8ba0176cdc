/**
 * One connection to the venue's market socket, for some tokens: beyond a few hundred the venue sends no snapshots. A book is
 * known only between its snapshot and the first doubt: a change that does not lead to the best prices that the venue
 * names, a new tick size, or the end of the connection.
 */
import type { OutboundLog } from '../../platform/outbound/http.ts';
import { openReconnectingSocket, type SocketTimes } from './reconnecting-socket.ts';
import { TokenBook } from './token-book.ts';
import { isTokenId, millisecondsOf } from './translate-market.ts';
import { READ } from './wire.ts';

/** A socket that still answers PINGs says something at least so often. */
const HEARD_WITHIN_MS = 15_000;

export interface TradeSeen {
  readonly tokenId: string;
  readonly price: unknown;
  readonly size: unknown;
  /** The taker's. */
  readonly side: string;
  readonly at: number | null;
}

export interface ShardOptions {
  readonly url: string;
  readonly log: OutboundLog;
  readonly times?: SocketTimes;
  readonly heardWithinMs?: number;
  /** After a token's book became known, changed or unknown. */
  readonly onBook: (tokenId: string) => void;
  readonly onTrade: (trade: TradeSeen) => void;
  readonly onTickSize: (tokenId: string) => void;
  /** A book that was known is asked for again. */
  readonly onDoubt?: () => void;
}

export interface BookShard {
  readonly size: () => number;
  readonly add: (tokenId: string) => void;
  readonly remove: (tokenId: string) => void;
  /** The book as the socket says it, while nothing speaks against it. */
  readonly book: (tokenId: string) => TokenBook | null;
  /** Forgets the book and asks for a new snapshot. */
  readonly doubt: (tokenId: string, reason: string) => void;
  readonly isOpen: () => boolean;
  readonly close: () => Promise<void>;
}

export function openBookShard(options: ShardOptions): BookShard {
  const { url, log, onBook, onTrade, onTickSize, heardWithinMs = HEARD_WITHIN_MS } = options;
  const tokens = new Set<string>();
  const books = new Map<string, TokenBook>();
  /** The last books, for what a later snapshot leaves out. */
  const terms = new Map<string, TokenBook>();

  const subscribe = (operation: 'subscribe' | 'unsubscribe', tokenIds: readonly string[]): void => {
    socket.send(JSON.stringify({ operation, assets_ids: tokenIds }));
  };
  const forget = (tokenId: string): void => {
    if (books.delete(tokenId)) onBook(tokenId);
  };
  const doubt = (tokenId: string, reason: string): void => {
    if (!tokens.has(tokenId)) return;
    log.info({ reason }, "a book of the venue's socket is asked for again");
    options.onDoubt?.();
    forget(tokenId);
    subscribe('unsubscribe', [tokenId]);
    subscribe('subscribe', [tokenId]);
  };

  const readBook = (frame: unknown): void => {
    const wire = READ.book(frame);
    if (wire === null || !tokens.has(wire.asset_id)) return;
    const book = TokenBook.read(wire);
    if (book === null) {
      forget(wire.asset_id);
      return;
    }
    // Snapshots repeat; one that was made before a change that is known already would undo it.
    const known = books.get(wire.asset_id);
    if (known !== undefined && book.at < known.at) return;
    books.set(wire.asset_id, book.withTermsOf(terms.get(wire.asset_id)));
    terms.set(wire.asset_id, book);
    onBook(wire.asset_id);
  };
  const readChanges = (frame: unknown): void => {
    const wire = READ.priceChanges(frame);
    if (wire === null) {
      socket.reconnect('a change that cannot be read');
      return;
    }
    const at = millisecondsOf(wire.timestamp);
    for (const [tokenId, changes] of Map.groupBy(wire.price_changes, (change) => change.asset_id)) {
      const book = books.get(tokenId);
      if (book === undefined || (at !== null && at < book.at)) continue;
      if (book.apply(changes, at)) onBook(tokenId);
      else doubt(tokenId, 'it does not follow from the one before');
    }
  };
  const readTrade = (frame: unknown): void => {
    const wire = READ.lastTrade(frame);
    if (wire === null) return;
    const at = millisecondsOf(wire.timestamp);
    books.get(wire.asset_id)?.traded(wire.price, at);
    onTrade({ tokenId: wire.asset_id, price: wire.price, size: wire.size, side: wire.side, at });
  };
  const readTickSize = (frame: unknown): void => {
    const wire = READ.tickSizeChange(frame);
    if (wire === null) return;
    terms.delete(wire.asset_id);
    onTickSize(wire.asset_id);
    doubt(wire.asset_id, 'its tick size changed');
  };
  const readers: Readonly<Record<string, (frame: unknown) => void>> = {
    book: readBook,
    price_change: readChanges,
    last_trade_price: readTrade,
    tick_size_change: readTickSize,
  };
  const readEvent = (frame: unknown): void => {
    const type = READ.typed(frame)?.event_type;
    if (type !== undefined && Object.hasOwn(readers, type)) readers[type]!(frame);
  };

  const socket = openReconnectingSocket({
    url,
    name: 'the market socket',
    log,
    ...(options.times === undefined ? {} : { times: options.times }),
    onOpen: () => {
      if (tokens.size > 0)
        socket.send(JSON.stringify({ type: 'market', assets_ids: [...tokens], initial_dump: true }));
    },
    onFrame: (text) => {
      const frame: unknown = JSON.parse(text);
      for (const one of Array.isArray(frame) ? frame : [frame]) readEvent(one);
    },
    onDown: () => {
      for (const tokenId of [...books.keys()]) forget(tokenId);
    },
  });

  const isHeard = (): boolean => {
    const at = socket.lastFrameAt();
    return at !== null && performance.now() - at <= heardWithinMs;
  };

  return {
    size: () => tokens.size,
    add(tokenId) {
      if (tokens.has(tokenId) || !isTokenId(tokenId)) return;
      const isFirst = tokens.size === 0;
      tokens.add(tokenId);
      if (isFirst) socket.send(JSON.stringify({ type: 'market', assets_ids: [tokenId], initial_dump: true }));
      else subscribe('subscribe', [tokenId]);
    },
    remove(tokenId) {
      if (!tokens.delete(tokenId)) return;
      books.delete(tokenId);
      terms.delete(tokenId);
      subscribe('unsubscribe', [tokenId]);
    },
    book: (tokenId) => (isHeard() ? (books.get(tokenId) ?? null) : null),
    doubt,
    isOpen: socket.isOpen,
    close: socket.close,
  };
}
