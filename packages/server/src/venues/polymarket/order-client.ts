/**
 * The venue's routes of one API key: orders, cancels, own orders and trades. Each call is signed with the key's secret
 * (wire reference 2.2); nothing here is logged.
 */
import { bytesToHex, toChecksumAddress } from '@bellwether/protocol';
import { VenueUnavailable } from '../../domain/unavailable.ts';
import type { SignedMessage, VenueOrder } from '../venue.ts';
import type { Outcome, VenueCall, VenueHttp, VenueReply } from './http.ts';
import { type AccountKeys, l2Headers } from './l2-headers.ts';
import { orderOf, pageOf, tradeOf, type WireOrder, type WireTrade } from './order-wire.ts';

export interface TradeFilter {
  readonly id?: string;
  readonly market?: string;
  /** Epoch seconds. */
  readonly after?: number;
}

export interface OrderClient {
  post(key: AccountKeys, body: string, timeoutMs: number): Promise<Outcome>;
  postAll(key: AccountKeys, bodies: readonly string[], timeoutMs: number): Promise<Outcome>;
  cancel(key: AccountKeys, orderIds: readonly string[]): Promise<Outcome>;
  /** @param id of the last heartbeat; '' to begin */
  beat(key: AccountKeys, id: string, timeoutMs: number): Promise<Outcome>;
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
        const page = status === 200 ? pageOf(value) : null;
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
