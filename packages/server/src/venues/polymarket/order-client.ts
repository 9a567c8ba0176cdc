/**
 * The venue's routes of one API key: orders, cancels, own orders and trades. Each call is signed with the key's secret
 * (wire reference 2.2); nothing here is logged.
 */

import type { VenueRefusal } from '@bellwether/contract';
import {
  type Address,
  bytesToHex,
  l2Signature,
  type SignatureType,
  toChecksumAddress,
} from '@bellwether/protocol';
import { BoundedCache } from '../../domain/bounded-cache.ts';
import { VenueUnavailable } from '../../domain/unavailable.ts';
import type { FollowedWallet, LiveOrderLog } from '../live-orders.ts';
import type { SignedMessage, VenueOrder, VenueSecrets } from '../venue.ts';
import type { CallOutcome, VenueCall, VenueHttp, VenueReply } from './http.ts';
import { orderOf, readPage, tradeOf, type WireOrder, type WireTrade } from './order-wire.ts';

interface TradeFilter {
  readonly id?: string;
  readonly market?: string;
  /** Epoch seconds. */
  readonly after?: number;
}

export interface OrderClient {
  post(key: AccountKeys, body: string, timeoutMs: number): Promise<CallOutcome>;
  postAll(key: AccountKeys, bodies: readonly string[], timeoutMs: number): Promise<CallOutcome>;
  cancel(key: AccountKeys, orderIds: readonly string[]): Promise<CallOutcome>;
  /** @param id of the last heartbeat; '' to begin */
  beat(key: AccountKeys, id: string, timeoutMs: number): Promise<CallOutcome>;
  /** `null`: the venue has no such order, or no longer. @throws VenueUnavailable */
  order(key: AccountKeys, orderId: string): Promise<WireOrder | null>;
  /** Every open order of the key. @throws VenueUnavailable */
  openOrders(key: AccountKeys): Promise<readonly WireOrder[]>;
  /** Every trade that fits. @throws VenueUnavailable */
  trades(key: AccountKeys, filter: TradeFilter): Promise<readonly WireTrade[]>;
  /** Whether the key is one of that address. @throws VenueUnavailable */
  isKey(key: AccountKeys): Promise<boolean>;
}

const MAX_PAGES = 200;
const UNAUTHORIZED = 401;
const NOT_FOUND = 404;

export function createOrderClient(http: VenueHttp, clock: { now(): number }): OrderClient {
  const signed = (key: AccountKeys, call: VenueCall): VenueCall => {
    const { method = 'GET', path, body } = call;
    const toSign = { method, path, ...(body === undefined ? {} : { body }) };
    return { ...call, headers: l2Headers(key, toSign, clock.now()) };
  };

  const pages = <T extends { readonly id: string }>(
    key: AccountKeys,
    call: VenueCall,
    decode: (row: unknown) => T | null,
  ): Promise<readonly T[]> =>
    http.lists.all<T>({
      name: call.path,
      whose: key.secrets.apiKey,
      mostPages: MAX_PAGES,
      idOf: ({ id }) => id,
      async ask(cursor) {
        const query = { ...call.query, next_cursor: cursor };
        const { status, value } = await http.ask(signed(key, { ...call, query }));
        const page = status === 200 ? readPage(value) : null;
        if (page === null) throw new VenueUnavailable(`The venue does not list ${call.path} (${status})`);
        return { rows: page.rows.map((row) => requireRecord(decode(row), call.path)), next: page.next };
      },
    });

  return {
    post: (key, body, timeoutMs) =>
      http.send(signed(key, { method: 'POST', path: '/order', body, timeoutMs })),

    postAll: (key, bodies, timeoutMs) =>
      http.send(signed(key, { method: 'POST', path: '/orders', body: `[${bodies.join(',')}]`, timeoutMs })),

    cancel: (key, orderIds) =>
      http.send(signed(key, { method: 'DELETE', path: '/orders', body: JSON.stringify(orderIds) })),

    beat(key, id, timeoutMs) {
      const body = JSON.stringify({ heartbeat_id: id });
      return http.send(signed(key, { method: 'POST', path: '/v1/heartbeats', body, timeoutMs }));
    },

    async order(key, orderId) {
      const reply = await http.ask(signed(key, { path: `/data/order/${orderId}` }));
      if (isNothing(reply)) return null;
      const order = reply.status === 200 ? orderOf(reply.value) : null;
      if (order?.id !== orderId)
        throw new VenueUnavailable(`The venue does not show an order (${reply.status})`);
      return order;
    },

    openOrders: (key) => pages(key, { path: '/data/orders' }, orderOf),

    trades: (key, { id, market, after }) =>
      pages(key, { path: '/data/trades', query: { id, market, after } }, tradeOf),

    async isKey(key) {
      const { status, value } = await http.ask(signed(key, { path: '/auth/api-keys' }));
      if (status === UNAUTHORIZED || status === 400 || status === 403) return false;
      const keys = (value as { readonly apiKeys?: unknown } | null)?.apiKeys;
      if (status !== 200 || !Array.isArray(keys))
        throw new VenueUnavailable(`The venue does not list keys (${status})`);
      return true;
    },
  };
}

/** A record that is not understood may be the one that matters. */
function requireRecord<T>(record: T | null, path: string): T {
  if (record === null) throw new VenueUnavailable(`A record of ${path} has another shape than is known`);
  return record;
}

/** A filled or canceled order is purged soon: null, an empty body or 404. A page in HTML comes from somebody else. */
const isNothing = ({ status, value, text }: VenueReply): boolean => {
  const isEmpty = value === null || text.trim() === '';
  if (status === NOT_FOUND) return isEmpty || value !== undefined;
  return status === 200 && (isEmpty || text.trim() === '{}');
};

/** The body of an order, in the venue's struct of version 2 (wire reference 2.4). */
export function orderBody(
  order: Pick<VenueOrder, 'timeInForce' | 'postOnly'>,
  { fields, extras, signature, deferExec }: SignedMessage,
  owner: string,
): string {
  if (extras === null) throw new Error('an order of this venue has a timestamp, metadata and builder');
  return JSON.stringify({
    order: {
      salt: Number(fields.salt),
      maker: toChecksumAddress(fields.maker),
      signer: toChecksumAddress(fields.signer),
      tokenId: fields.tokenId.toString(),
      makerAmount: fields.makerAmount.toString(),
      takerAmount: fields.takerAmount.toString(),
      side: fields.side === 0 ? 'BUY' : 'SELL',
      signatureType: fields.signatureType,
      timestamp: extras.timestamp.toString(),
      expiration: order.timeInForce === 'GTD' ? fields.expiration.toString() : '0',
      metadata: bytesToHex(extras.metadata),
      builder: bytesToHex(extras.builder),
      signature,
    },
    owner,
    orderType: order.timeInForce,
    deferExec,
    ...(order.postOnly ? { postOnly: true } : {}),
  });
}

// The venue's authentication of a request by the agent's own credential. The headers must not reach a log or an error.

interface AccountKeys {
  /** The key that the credential belongs to, never the wallet that it controls. */
  readonly eoa: Address;
  readonly secrets: VenueSecrets;
}

interface SignedCall {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Below the base URL, without a query. */
  readonly path: string;
  /** Byte for byte what is sent. */
  readonly body?: string;
}

/** The credential of an account that the desk may use, of whichever agent. */
export interface OwnedKeys extends AccountKeys {
  readonly signatureType: SignatureType;
}

/** @param now epoch milliseconds @throws RangeError when the secret is not base64; it is not quoted */
export function l2Headers(
  { eoa, secrets }: AccountKeys,
  call: SignedCall,
  now: number,
): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000));
  return {
    POLY_ADDRESS: toChecksumAddress(eoa),
    POLY_API_KEY: secrets.apiKey,
    POLY_PASSPHRASE: secrets.passphrase,
    POLY_TIMESTAMP: timestamp,
    POLY_SIGNATURE: l2Signature(secrets.secret, { timestamp, ...call }),
  };
}

// The venue keys of wallets, opened from where they are sealed. Kept for a moment, because each order needs one; a key
// that the venue refuses is read again.

export interface Keyring {
  /** `null`: the wallet is not registered. */
  of(walletAddress: string): Promise<OwnedKeys | null>;
  /** The key for an account: of its own registration, else of a wallet that it pays for. */
  ofAccount(account: string): Promise<OwnedKeys | null>;
  /** Reads the wallet's key again. @returns whether it is another one now */
  refresh(walletAddress: string, refused: OwnedKeys): Promise<boolean>;
}

const KEPT_MS = 10_000;
const MAX_KEPT = 5_000;

interface KeyringParts {
  readonly log: Pick<LiveOrderLog, 'wallet' | 'account'>;
  readonly open: (wallet: FollowedWallet) => OwnedKeys;
  readonly now: () => number;
}

export function createKeyring({ log, open, now }: KeyringParts): Keyring {
  const keptBy = (read: (address: string) => Promise<FollowedWallet | null>) => {
    const kept = new BoundedCache<{ readonly key: Promise<OwnedKeys | null>; readonly until: number }>({
      entries: MAX_KEPT,
      weight: MAX_KEPT,
      weightOf: () => 1,
    });
    const load = (address: string): Promise<OwnedKeys | null> => {
      const key = read(address).then((wallet) => (wallet === null ? null : open(wallet)));
      kept.set(address, { key, until: now() + KEPT_MS });
      const forget = () => {
        if (kept.get(address)?.key === key) kept.delete(address);
      };
      // A wallet may be registered in the next moment.
      key.then((found) => found === null && forget(), forget);
      return key;
    };
    return {
      load,
      get(address: string): Promise<OwnedKeys | null> {
        const found = kept.get(address);
        return found !== undefined && found.until > now() ? found.key : load(address);
      },
    };
  };
  const wallets = keptBy(log.wallet);
  const accounts = keptBy(log.account);

  return {
    of: wallets.get,
    ofAccount: accounts.get,
    async refresh(walletAddress, refused) {
      const fresh = await wallets.load(walletAddress);
      if (fresh === null) return false;
      const { apiKey, secret, passphrase } = fresh.secrets;
      const before = refused.secrets;
      return apiKey !== before.apiKey || secret !== before.secret || passphrase !== before.passphrase;
    },
  };
}

// The venue's refusals in the desk's codes, and what an answer proves about an order (wire reference 2.5). 400, 401, 403,
// 404, and 429 of its own limiter are proof that the order was not taken; every other answer without an understood success
// proves nothing.

/** In this order: the first that fits. Texts carry ids and figures. */
const TEXTS: readonly (readonly [RegExp, VenueRefusal])[] = [
  [/couldn't be fully filled|FOK orders are fully filled/i, 'fok_not_filled'],
  [/no orders found to match with FAK/i, 'fak_no_match'],
  [/only GTC and GTD order types/i, 'post_only_needs_gtc_or_gtd'],
  [/order crosses book|crosses the book/i, 'post_only_would_cross'],
  [/the allowance is not enough/i, 'allowance_missing'],
  [/not enough balance \/ allowance/i, 'insufficient_balance'],
  [/breaks minimum tick size rule/i, 'price_off_tick_grid'],
  [/lower than the minimum/i, 'size_below_minimum'],
  [/invalid amount for a marketable BUY/i, 'amount_below_minimum'],
  [/max accuracy of|the taker amount for a/i, 'amounts_too_precise'],
  [/invalid expiration/i, 'already_expired'],
  [/order_version_mismatch/i, 'order_version_refused'],
  [/use the deposit wallet flow/i, 'wallet_not_allowed'],
  [/address banned|closed only mode/i, 'account_restricted'],
  [/Trading restricted in your region/i, 'region_restricted'],
  [/signer address has to be the address of the API KEY/i, 'signer_not_of_api_key'],
  [/owner of the API KEY|Unauthorized|Invalid api key/i, 'credentials_refused'],
  [/not yet ready to process new orders/i, 'market_not_ready'],
  [/No orderbook exists/i, 'market_closed'],
  [/Rate limit exceeded for tokenId|Too Many Requests/i, 'venue_rate_limited'],
  [/invalid signature|invalid nonce|invalid fee rate|Invalid order payload/i, 'order_not_understood'],
  [/canceled in the CTF exchange contract/i, 'order_not_understood'],
];

/** Texts of a 400 that prove nothing: the order may be there, or may come to be. */
const NO_PROOF = /Duplicated|already been placed|context canceled|match delayed/i;

type Verdict =
  | { readonly kind: 'rejected'; readonly reason: VenueRefusal; readonly detail: string | null }
  /** `isThere`: the venue says that it has the order. */
  | { readonly kind: 'unknown'; readonly isThere: boolean };

const UNKNOWN: Verdict = { kind: 'unknown', isThere: false };
/** The venue does not always say why it answers 401. */
const CREDENTIALS_REFUSED: Verdict = { kind: 'rejected', reason: 'credentials_refused', detail: null };
const MAX_DETAIL_CHARS = 500;

const codeOf = (text: string): VenueRefusal | null => TEXTS.find(([form]) => form.test(text))?.[1] ?? null;

/** @param onUnmapped called with a text that the desk has no code for */
export function verdictOf(reply: VenueReply, onUnmapped: (text: string) => void): Verdict {
  const { status, limits } = reply;
  const text = errorTextOf(reply);
  if (NO_PROOF.test(text)) return { kind: 'unknown', isThere: /Duplicated|already been placed/i.test(text) };
  if (status === 429)
    return limits.remaining === null && limits.reset === null
      ? UNKNOWN
      : { kind: 'rejected', reason: 'venue_rate_limited', detail: null };
  if (status === 401 && codeOf(text) === null) return CREDENTIALS_REFUSED;
  if (status === 400 || status === 401 || status === 403 || status === 404) return refusal(text, onUnmapped);
  return UNKNOWN;
}

/** A text beside a 200: a refusal only where it is a known one. */
export function legVerdict(text: string, onUnmapped: (text: string) => void): Verdict {
  if (NO_PROOF.test(text)) return { kind: 'unknown', isThere: /Duplicated|already been placed/i.test(text) };
  if (codeOf(text) !== null) return refusal(text, onUnmapped);
  onUnmapped(text);
  return UNKNOWN;
}

function refusal(text: string, onUnmapped: (text: string) => void): Verdict {
  const known = codeOf(text);
  // It names the contract.
  if (known === 'allowance_missing') return { kind: 'rejected', reason: known, detail: plain(text) };
  if (known !== null) return { kind: 'rejected', reason: known, detail: null };
  onUnmapped(text);
  return { kind: 'rejected', reason: 'refused_by_venue', detail: plain(text) };
}

/** Word for word, without what could break a log or a page. */
const plain = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
  text.replace(/[\u0000-\u001f\u007f\u202a-\u202e\u2066-\u2069]/g, ' ').slice(0, MAX_DETAIL_CHARS);

export function errorTextOf({ value, text }: Pick<VenueReply, 'value' | 'text'>): string {
  if (typeof value === 'object' && value !== null) {
    const { error, errorMsg, error_msg, message } = value as Readonly<Record<string, unknown>>;
    const found = [error, errorMsg, error_msg, message].find((one) => typeof one === 'string' && one !== '');
    if (typeof found === 'string') return found;
  }
  return text;
}
