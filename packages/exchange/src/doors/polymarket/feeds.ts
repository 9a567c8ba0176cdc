/**
 * Shared by both channels of the venue's sockets: the exchange as they see it, their clients, and the frames that these
 * send.
 */

import { conditionIdOfBothWidths } from '@bellwether/protocol';
import type { Entry, PaperExchange } from '../../paper-exchange.ts';
import type { TradeHistory } from '../../trade-history.ts';
import { CLOSE, type SocketHandler, type SocketPeer } from '../web-sockets.ts';
import type { Line } from './faults.ts';

export interface FeedExchange
  extends Pick<
    PaperExchange,
    'market' | 'marketByToken' | 'book' | 'openOrders' | 'catalogue' | 'subscribe'
  > {
  readonly history: Pick<TradeHistory, 'tradesIn' | 'settlement' | 'delays'>;
  /** Another number after it was reopened: what happened in between, subscribers do not learn. */
  readonly term: number;
}

/** `undefined` while another process leads it, or it is not open. */
export type FindExchange = () => FeedExchange | undefined;

const LOOK_EVERY_MS = 500;

/**
 * Follows one exchange as long as somebody listens: attached with the first listener, detached after the last. When the exchange
 * is lost or was reopened, entries may be missing: the listeners are ended, because only a client that starts again is right again.
 */
export class Attachment {
  readonly #find: FindExchange;
  readonly #onEntries: (entries: readonly Entry[]) => void;
  readonly #onLost: () => void;
  #attached:
    | { readonly exchange: FeedExchange; readonly term: number; readonly detach: () => void }
    | undefined;
  #look: NodeJS.Timeout | undefined;

  constructor(
    find: FindExchange,
    { onEntries, onLost }: { onEntries: (entries: readonly Entry[]) => void; onLost: () => void },
  ) {
    this.#find = find;
    this.#onEntries = onEntries;
    this.#onLost = onLost;
  }

  /** Attaches when it is not. @returns undefined where there is no exchange here */
  exchange(): FeedExchange | undefined {
    if (this.#attached !== undefined && !this.#isLost()) return this.#attached.exchange;
    if (this.#attached !== undefined) this.#lose();
    const exchange = this.#find();
    if (exchange === undefined) return undefined;
    const { term } = exchange;
    const detach = exchange.subscribe((entries) => {
      if (this.#isLost()) this.#lose();
      else this.#onEntries(entries);
    });
    this.#attached = { exchange, term, detach };
    this.#look = setInterval(() => {
      if (this.#isLost()) this.#lose();
    }, LOOK_EVERY_MS).unref();
    return exchange;
  }

  detach(): void {
    clearInterval(this.#look);
    this.#attached?.detach();
    this.#attached = undefined;
  }

  #isLost(): boolean {
    const attached = this.#attached;
    return (
      attached === undefined || this.#find() !== attached.exchange || attached.exchange.term !== attached.term
    );
  }

  #lose(): void {
    this.detach();
    this.#onLost();
  }
}

// A client of a channel, market or user: how its texts become work.

export interface FeedListener {
  readonly peer: SocketPeer;
  readonly line: Line;
  readonly mustAsk: NodeJS.Timeout;
  isClosed: boolean;
  /** Frames are obeyed one after another. */
  work: Promise<void>;
}

/** Closes a client that does not subscribe in time. */
export const mustSubscribe = (peer: SocketPeer, withinMs: number): NodeJS.Timeout =>
  setTimeout(() => peer.close(CLOSE.policy, 'subscribe first'), withinMs).unref();

export const handlerOf = (
  listener: FeedListener,
  { obey, leave }: { readonly obey: (frame: ClientFrame) => Promise<void>; readonly leave: () => void },
): SocketHandler => ({
  text: (text) => {
    const frame = readFrame(text);
    if (frame === null) return;
    if (frame.kind === 'ping') return listener.line.pong();
    listener.work = listener.work
      .then(() => obey(frame))
      .catch(() => listener.peer.close(CLOSE.failed, 'internal error'));
  },
  closed: () => {
    listener.isClosed = true;
    clearTimeout(listener.mustAsk);
    leave();
  },
});

// Frames that clients send on the venue's sockets. Wire reference 4.1 and 4.2. What is none of these is ignored, as at the venue.

export type ClientFrame =
  | { readonly kind: 'ping' }
  | {
      readonly kind: 'market';
      readonly tokens: readonly string[];
      readonly wantsDump: boolean;
      readonly wantsCustom: boolean;
    }
  | { readonly kind: 'user'; readonly auth: FrameAuth; readonly markets: readonly string[] }
  | {
      readonly kind: 'change';
      readonly operation: 'subscribe' | 'unsubscribe';
      readonly tokens: readonly string[];
      readonly markets: readonly string[];
    };

export interface FrameAuth {
  readonly apiKey: string;
  readonly secret: string;
  readonly passphrase: string;
}

/** Most tokens, or markets, of one socket. */
export const MOST_SUBSCRIPTIONS = 500;
const TOKEN = /^[0-9]{1,78}$/;
const CONDITION = /^0x(?:[0-9a-f]{62}|[0-9a-f]{64})$/i;
const MOST_AUTH_CHARS = 200;

type Json = Readonly<Record<string, unknown>>;

const texts = (value: unknown, form: RegExp): string[] =>
  Array.isArray(value)
    ? [...new Set(value.filter((one): one is string => typeof one === 'string' && form.test(one)))]
    : [];

/** @returns null for what is no frame of the venue's */
function readFrame(text: string): ClientFrame | null {
  if (text === 'PING') return { kind: 'ping' };
  let frame: Json;
  try {
    frame = JSON.parse(text) as Json;
  } catch {
    return null;
  }
  if (typeof frame !== 'object' || frame === null) return null;
  const tokens = texts(frame.assets_ids, TOKEN);
  const markets = texts(frame.markets, CONDITION).map((market) =>
    conditionIdOfBothWidths(market.toLowerCase()),
  );
  const { operation, type } = frame;
  if (operation === 'subscribe' || operation === 'unsubscribe')
    return { kind: 'change', operation, tokens, markets };
  // The official clients write the channel's name in either case.
  const channel = typeof type === 'string' ? type.toLowerCase() : '';
  if (channel === 'market')
    return {
      kind: 'market',
      tokens,
      wantsDump: frame.initial_dump !== false,
      wantsCustom: frame.custom_feature_enabled === true,
    };
  if (channel !== 'user') return null;
  const auth = authOf(frame.auth);
  return auth === null ? null : { kind: 'user', auth, markets };
}

function authOf(value: unknown): FrameAuth | null {
  const { apiKey, secret, passphrase } = (value ?? {}) as Json;
  const isText = (part: unknown): part is string =>
    typeof part === 'string' && part.length <= MOST_AUTH_CHARS;
  return isText(apiKey) && isText(secret) && isText(passphrase) ? { apiKey, secret, passphrase } : null;
}
