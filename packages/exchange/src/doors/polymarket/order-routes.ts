/** Posting orders. Wire reference 2.4 to 2.6. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { MarketView, NewOrder, Outcome } from '../../paper-exchange.ts';
import { charge } from '../limits.ts';
import { accountsOf } from './accounts.ts';
import { missingAllowance } from './allowances.ts';
import type { DelayedOrders } from './delayed-orders.ts';
import type { PolymarketDoorOptions } from './door-options.ts';
import { bodyText, type L2 } from './l2-auth.ts';
import { commanded, openHere } from './open-here.ts';
import {
  answerTo,
  delayedAnswer,
  duplicated,
  missingBalance,
  type OrderAnswer,
  refusedLeg,
} from './order-answers.ts';
import { type PostedBody, parseOrderBody } from './order-body.ts';
import { verifyPostedOrder } from './order-signature.ts';
import { engineOrder } from './order-terms.ts';
import { jsonOf } from './request-parts.ts';
import type { SignerLimits } from './signer-limits.ts';
import { SignerTiers } from './signer-tiers.ts';
import type { AuthenticatedKey } from './venue-keys.ts';
import { EngineRestarts, noOrderbook, WireError } from './wire-error.ts';

const MAX_BATCH = 15;
const INVALID_ORDER = 'Invalid order payload';

interface PostedItem {
  readonly market: MarketView;
  readonly outcome: Outcome;
}

interface Parts {
  readonly options: PolymarketDoorOptions;
  readonly limits: SignerLimits;
  readonly delayed: DelayedOrders;
}

export function orderRoutes(door: FastifyInstance, l2: L2, parts: Parts): void {
  const { options, limits } = parts;
  const onFault = (error: unknown) => door.log.error({ err: error }, 'a signer’s tier could not be found');
  const tiers = new SignerTiers({ ...options, limits, onFault });
  door.post('/order', async (request, reply) => {
    const key = await l2.key(request);
    tiers.follow(key.address);
    limits.draw(reply, key.address, 'orders', 1);
    return place(parts, key, jsonOf(bodyText(request), INVALID_ORDER));
  });

  door.post('/orders', async (request, reply) => {
    const key = await l2.key(request);
    const bodies = batchOf(request);
    // Each order may become a permanent record.
    await charge(options.guard, request, bodies.length - 1);
    tiers.follow(key.address);
    limits.draw(reply, key.address, 'orders', bodies.length);
    const answers: OrderAnswer[] = [];
    // One after another: each is judged by what the ones before it left.
    for (const body of bodies) answers.push(await leg(parts, key, { body, isFirst: answers.length === 0 }));
    return answers;
  });
}

function batchOf(request: FastifyRequest): readonly unknown[] {
  const bodies = jsonOf(bodyText(request), INVALID_ORDER);
  if (!Array.isArray(bodies) || bodies.length === 0) throw new WireError(400, INVALID_ORDER);
  if (bodies.length > MAX_BATCH)
    throw new WireError(400, `Too many orders in payload: ${bodies.length}, max allowed: ${MAX_BATCH}`);
  return bodies;
}

async function leg(
  parts: Parts,
  key: AuthenticatedKey,
  { body, isFirst }: { readonly body: unknown; readonly isFirst: boolean },
): Promise<OrderAnswer> {
  try {
    return await place(parts, key, body);
  } catch (error) {
    if (error instanceof WireError) return refusedLeg(error.message);
    // Legs before it may have been executed: only their own answers say so.
    if (error instanceof EngineRestarts && !isFirst) return refusedLeg('Service is not ready');
    throw error;
  }
}

/** @throws WireError */
async function place(
  { options, delayed }: Parts,
  key: AuthenticatedKey,
  json: unknown,
): Promise<OrderAnswer> {
  const exchange = openHere(options);
  const body = parseOrderBody(json);
  if (body === null) throw new WireError(400, INVALID_ORDER);
  requireOwner(body, key);
  const listed = exchange.marketByToken(body.fields.tokenId.toString());
  if (listed === undefined || listed.market.status !== 'open') throw noOrderbook();
  const order = checked(options, key, { body, listed });
  const account = () => exchange.account(order.account);
  const [needed, available] =
    order.side === 'BUY'
      ? [order.spend ?? body.fields.makerAmount, exchange.available(order.account)]
      : [order.size, exchange.freeTokens(order.account, order.conditionId, order.outcome)];
  // Before the engine, which keeps a record of every order that it refuses.
  const missing = missingBalance(order, needed, available, account);
  if (missing !== null) throw missing;
  const unallowed = missingAllowance(options, order, { market: listed.market, needed });
  if (unallowed !== null) throw unallowed;
  // An order that was placed before must not wait to be refused.
  const isKnown = options.faults?.isOn === true && (await exchange.orderRecords([order.orderId])).size > 0;
  if (isKnown || delayed.find(order.orderId) !== undefined) throw duplicated(order.orderId);
  const execute = () => exchange.execute({ kind: 'place', order });
  if (delayed.hold(order, listed.market, execute)) return delayedAnswer(order);
  const events = await commanded(execute);
  const tradeId = (match: number) => exchange.history.tradeId(match);
  return answerTo({ order, market: listed.market, events }, account, tradeId);
}

function requireOwner({ owner, fields }: PostedBody, key: AuthenticatedKey): void {
  if (owner !== key.apiKey) throw new WireError(400, 'the order owner has to be the owner of the API KEY');
  const { signer, maker, signatureType } = fields;
  const isOwnWallet = signatureType === 3 && signer === maker && accountsOf(key.address).includes(signer);
  if (signer !== key.address && !isOwnWallet)
    throw new WireError(400, 'the order signer address has to be the address of the API KEY');
}

function checked(
  { domains, chainId, recover, now, gtdMinLeadS }: PolymarketDoorOptions,
  key: AuthenticatedKey,
  { body, listed }: { readonly body: PostedBody; readonly listed: PostedItem },
): NewOrder {
  const terms = { domains, chainId, recover };
  const verdict = verifyPostedOrder(body, listed.market.negRisk, key.address, terms);
  if (!verdict.ok) throw new WireError(400, verdict.fault);
  return engineOrder(body, listed, {
    orderId: verdict.orderId,
    key: { address: key.address, nonce: key.nonce.toString() },
    rules: { now: now(), gtdMinLeadS },
  });
}
