/** An account's standing at the venue: heartbeats, notifications, scoring, limits. Wire reference 2.3, 2.11 and 2.15. */
import { formatMicro, formatPips } from '@bellwether/contract/decimals';
import type { FastifyInstance } from 'fastify';
import type { TradeMatch, TradeRecord } from '../../trade-history.ts';
import { accountsOf } from './accounts.ts';
import type { DoorExchange, PolymarketDoorOptions } from './door-options.ts';
import { CHECK_EVERY_MS, Heartbeats } from './heartbeats.ts';
import { bodyText, type L2, type Reader } from './l2-auth.ts';
import { commanded, openHere } from './open-here.ts';
import { jsonOf, parameter } from './request-parts.ts';
import type { SignerLimits } from './signer-limits.ts';
import { nameOf, tokenOf } from './wire.ts';
import { invalidPayload, WireError } from './wire-error.ts';

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
