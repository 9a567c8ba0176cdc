/** An account's standing at the venue: heartbeats, notifications, scoring, limits. Wire reference 2.3, 2.11 and 2.15. */

import { randomUUID } from 'node:crypto';
import { formatMicro, formatPips } from '@bellwether/contract/decimals';
import type { FastifyInstance } from 'fastify';
import type { OpenOrder } from '../../paper-exchange.ts';
import type { TradeMatch, TradeRecord } from '../../trade-history.ts';
import { bodyText, type L2, type Reader } from './authentication.ts';
import { cancelOpen } from './order-routes.ts';
import {
  accountsOf,
  commanded,
  type DoorExchange,
  invalidPayload,
  jsonOf,
  openHere,
  type PolymarketDoorOptions,
  parameter,
  WireError,
} from './requests.ts';
import type { SignerLimits } from './signer-limits.ts';
import type { AuthenticatedKey, VenueKeys } from './venue-keys.ts';
import { nameOf, tokenOf } from './wire.ts';

const MAX_SCORED = 1_000;
const NOTIFICATIONS_KEPT_MS = 48 * 3_600_000;
const MOST_NOTIFICATIONS = 100;
/** An own resting order was filled. The venue has other types, for what the paper venue does not announce. */
const ORDER_FILLED = 2;
const IDS = /^[0-9]{1,15}(,[0-9]{1,15}){0,99}$/;

export function accountRoutes(
  door: FastifyInstance,
  l2: L2,
  { options, limits }: { readonly options: PolymarketDoorOptions; readonly limits: SignerLimits },
): void {
  heartbeatRoutes(door, l2, options);
  notificationRoutes(door, l2, options);

  door.get('/auth/ban-status/closed-only', async (request) => {
    await l2.reader(request);
    return { closed_only: false };
  });

  // Nothing pays rewards here, so no order scores.
  door.get('/order-scoring', async (request) => {
    await l2.reader(request);
    return { scoring: false };
  });
  door.post('/orders-scoring', async (request) => {
    await l2.reader(request);
    const ids = jsonOf(bodyText(request));
    if (!Array.isArray(ids) || ids.some((id) => typeof id !== 'string')) throw invalidPayload();
    if (ids.length > MAX_SCORED)
      throw new WireError(400, `Too many orders in payload, max allowed: ${MAX_SCORED}`);
    return Object.fromEntries((ids as string[]).map((id) => [id, false]));
  });

  door.get('/v1/user/rate-limit-tier', async (request) => {
    const { address } = await l2.reader(request);
    const { name, orders, cancels } = limits.tierOf(address);
    const rate = ({ perSecond, burst }: typeof orders) => ({ per_second: perSecond, burst });
    return { tier: name, orders: rate(orders), cancels: rate(cancels) };
  });
  door.get('/v1/user/session-signers', async (request) => {
    await l2.reader(request);
    return { session_signers: [] };
  });
}

function heartbeatRoutes(door: FastifyInstance, l2: L2, options: PolymarketDoorOptions): void {
  const { keys, now, exchange } = options;
  const onFault = (error: unknown) => door.log.error({ err: error }, 'the heartbeats could not be checked');
  const heartbeats = new Heartbeats({ keys, now, exchange, onFault });
  const timer = setInterval(() => void heartbeats.check(), options.heartbeatCheckMs ?? CHECK_EVERY_MS);
  timer.unref();
  door.addHook('onClose', async () => {
    clearInterval(timer);
    await heartbeats.idle();
  });

  door.post('/v1/heartbeats', async (request, reply) => {
    const key = await l2.key(request);
    openHere(options);
    const { heartbeat_id: given = '' } = (jsonOf(bodyText(request) || '{}') ?? {}) as {
      heartbeat_id?: unknown;
    };
    if (given !== null && typeof given !== 'string') throw invalidPayload();
    const { ok, id } = await heartbeats.beat(key, given ?? '');
    if (ok) return { heartbeat_id: id };
    const text = 'Invalid Heartbeat ID';
    return reply.code(400).send({ error: text, error_msg: text, heartbeat_id: id });
  });
  door.post('/heartbeats', async (request) => {
    const key = await l2.key(request);
    openHere(options);
    await heartbeats.beat(key, '');
    return { status: 'ok' };
  });
}

function notificationRoutes(door: FastifyInstance, l2: L2, options: PolymarketDoorOptions): void {
  const { notifications } = options.keys;

  /** Fills of the account's resting orders within the last days, newest first. */
  const fills = async (exchange: DoorExchange, { address }: Reader): Promise<readonly TradeRecord[]> => {
    const since = options.now() - NOTIFICATIONS_KEPT_MS;
    const query = { role: 'maker', since, limit: MOST_NOTIFICATIONS } as const;
    const found = await commanded(() =>
      Promise.all(accountsOf(address).map((account) => exchange.history.trades({ ...query, account }))),
    );
    return found
      .flat()
      .sort((a, b) => b.number - a.number)
      .slice(0, MOST_NOTIFICATIONS);
  };

  door.get('/notifications', async (request) => {
    const reader = await l2.reader(request);
    const found = await fills(openHere(options), reader);
    const dropped = await notifications.of(reader.address);
    const own = new Set<string>(accountsOf(reader.address));
    return found
      .filter(({ number }) => !dropped.has(number))
      .flatMap((trade) =>
        trade.matches
          .filter(({ account }) => own.has(account))
          .slice(0, 1)
          .map((match) => notificationOf(trade, match, reader)),
      );
  });

  door.delete('/notifications', async (request, reply) => {
    const key = await l2.key(request);
    const ids = parameter(request, 'ids');
    if (ids !== '' && !IDS.test(ids)) throw invalidPayload();
    const shown = (await fills(openHere(options), key)).map(({ number }) => number);
    const asked = new Set(ids === '' ? [] : ids.split(',').map(Number));
    const known = shown.filter((number) => asked.has(number));
    if (known.length > 0) await notifications.drop(key.address, known, shown.at(-1)!);
    return reply.type('application/json').send('"OK"');
  });
}

const notificationOf = (trade: TradeRecord, match: TradeMatch, { apiKey }: Reader) => ({
  id: trade.number,
  type: ORDER_FILLED,
  owner: apiKey,
  timestamp: Math.floor(trade.at / 1000),
  payload: {
    trade_id: trade.id,
    order_id: match.orderId,
    market: trade.conditionId,
    asset_id: tokenOf(trade.market, match.outcome),
    question: trade.market.question,
    market_slug: trade.market.slug,
    outcome: nameOf(trade.market, match.outcome),
    outcome_index: match.outcome === 'YES' ? 0 : 1,
    side: match.side,
    price: formatPips(match.price),
    matched_size: formatMicro(match.size),
    owner: apiKey,
    transaction_hash: trade.settlement.transactionHash ?? '',
  },
});

// The dead-man switch: once a key has sent a heartbeat it must go on, or all open orders of the key are cancelled. Wire
// reference 2.11. Which keys have a switch is durable: after a restart of the exchange each has the whole time again, and a
// client that died meanwhile loses its orders all the same.

/** Silence after which the orders are cancelled, and how often that is looked for. */
const SILENCE_MS = 10_000;
const CHECK_EVERY_MS = 5_000;

type HeartbeatKey = Pick<AuthenticatedKey, 'address' | 'nonce'>;

interface Switch {
  readonly key: HeartbeatKey;
  readonly id: string;
  readonly at: number;
}

interface HeartbeatNeeds {
  readonly keys: VenueKeys;
  readonly now: () => number;
  readonly exchange: () => DoorExchange | null;
  readonly onFault: (error: unknown) => void;
}

const nameOfKey = ({ address, nonce }: HeartbeatKey): string => `${address}:${nonce}`;

export class Heartbeats {
  readonly #needs: HeartbeatNeeds;
  readonly #switches = new Map<string, Switch>();
  /** The exchange that the switches were read for; another one when it was opened again, or here for the first time. */
  #readFor: DoorExchange | null = null;
  #checking: Promise<void> | null = null;

  constructor(needs: HeartbeatNeeds) {
    this.#needs = needs;
  }

  /**
   * @param given the last id; '' to begin, also again
   * @returns the next id, or the one that was expected
   */
  async beat(key: AuthenticatedKey, given: string): Promise<{ readonly ok: boolean; readonly id: string }> {
    await this.#readOnce();
    const known = this.#switches.get(nameOfKey(key));
    if (given !== '' && known !== undefined && known.id !== given) return { ok: false, id: known.id };
    const { address, nonce } = key;
    const next = { key: { address, nonce }, id: randomUUID(), at: this.#needs.now() };
    await this.#needs.keys.heartbeats.set(next.key, next.id);
    this.#switches.set(nameOfKey(key), next);
    return { ok: true, id: next.id };
  }

  /** Cancels what silent keys have left open. Runs once at a time. */
  check(): Promise<void> {
    this.#checking ??= this.#check()
      .catch(this.#needs.onFault)
      .finally(() => {
        this.#checking = null;
      });
    return this.#checking;
  }

  /** Resolves when no check is running. */
  async idle(): Promise<void> {
    await this.#checking;
  }

  async #check(): Promise<void> {
    const exchange = this.#needs.exchange();
    if (exchange === null) {
      this.#readFor = null;
      return;
    }
    await this.#readOnce();
    for (const one of [...this.#switches.values()]) {
      if (this.#needs.now() - one.at <= SILENCE_MS) continue;
      // A fault with one key must not keep the orders of others open.
      await this.#cut(exchange, one).catch(this.#needs.onFault);
    }
  }

  async #cut(exchange: DoorExchange, one: Switch): Promise<void> {
    await cancelOpen(exchange, await ordersOf(exchange, one.key));
    // A heartbeat that came meanwhile begins again.
    if (this.#switches.get(nameOfKey(one.key)) !== one) return;
    this.#switches.delete(nameOfKey(one.key));
    await this.#needs.keys.heartbeats.end(one.key, one.id);
  }

  async #readOnce(): Promise<void> {
    const exchange = this.#needs.exchange();
    if (exchange === null || exchange === this.#readFor) return;
    const stored = await this.#needs.keys.heartbeats.all();
    this.#readFor = exchange;
    this.#switches.clear();
    const at = this.#needs.now();
    for (const { key, id } of stored) this.#switches.set(nameOfKey(key), { key, id, at });
  }
}

/** Those that the key posted, and those that the desk placed for its accounts. */
async function ordersOf(
  exchange: DoorExchange,
  { address, nonce }: HeartbeatKey,
): Promise<readonly OpenOrder[]> {
  const open = accountsOf(address).flatMap((account) => exchange.openOrders(account));
  const posted = await exchange.postedOrders(open.map(({ orderId }) => orderId));
  return open.filter(({ orderId }) => {
    const key = posted.get(orderId)?.order.posted.key;
    return key === undefined || (key.address === address && key.nonce === nonce.toString());
  });
}
