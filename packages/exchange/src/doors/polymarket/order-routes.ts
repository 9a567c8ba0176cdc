/** Posting and cancelling orders. Wire reference 2.4 to 2.7. */

import { type Address, conditionIdOfBothWidths, parseHex } from '@bellwether/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { MarketView, NewOrder, OpenOrder, OrderId, Outcome } from '../../paper-exchange.ts';
import { charge, ENTRIES_PER_TOKEN } from '../limits.ts';
import { bodyText, type L2 } from './authentication.ts';
import { missingAllowance } from './balances.ts';
import type { Faults } from './faults.ts';
import {
  answerTo,
  delayedAnswer,
  duplicated,
  engineOrder,
  missingBalance,
  type OrderAnswer,
  type PostedBody,
  parseOrderBody,
  refusedLeg,
  verifyPostedOrder,
} from './posted-order.ts';
import {
  accountsOf,
  commanded,
  type DoorExchange,
  EngineRestarts,
  invalidPayload,
  jsonOf,
  noOrderbook,
  openHere,
  type PolymarketDoorOptions,
  WireError,
} from './requests.ts';
import { type SignerLimits, SignerTiers } from './signer-limits.ts';
import type { AuthenticatedKey } from './venue-keys.ts';

const MAX_BATCH = 15;
const INVALID_ORDER = 'Invalid order payload';

interface PostedItem {
  readonly market: MarketView;
  readonly outcome: Outcome;
}

interface OrderParts {
  readonly options: PolymarketDoorOptions;
  readonly limits: SignerLimits;
  readonly delayed: DelayedOrders;
}

export function orderRoutes(door: FastifyInstance, l2: L2, parts: OrderParts): void {
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
  parts: OrderParts,
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
  { options, delayed }: OrderParts,
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

// Orders that wait before they are matched, as at the venue in markets with a delay for takers. Only a fault delays an order here. While it
// waits it can be read, and neither cancelled nor posted again; then it is executed like any other, and may still be refused.
// It waits in memory: when the process ends meanwhile, it is never executed.

type PostedOrder = NewOrder & { readonly posted: NonNullable<NewOrder['posted']> };

export interface DelayedOrder {
  readonly order: PostedOrder;
  readonly market: MarketView;
  /** When it was posted. */
  readonly at: number;
}

export class DelayedOrders {
  readonly #faults: Faults | undefined;
  readonly #waiting = new Map<OrderId, DelayedOrder & { readonly timer: NodeJS.Timeout }>();

  constructor(faults: Faults | undefined) {
    this.#faults = faults;
  }

  find(orderId: OrderId): DelayedOrder | undefined {
    return this.#waiting.get(orderId);
  }

  /** @returns true when the order waits; `execute` is then called later */
  hold(order: NewOrder, market: MarketView, execute: () => Promise<unknown>): boolean {
    const faults = this.#faults;
    if (faults?.isOn !== true || order.posted === undefined || !isMarketable(order, market)) return false;
    const ms = faults.delayMs();
    if (ms === 0) return false;
    const { orderId, posted } = order;
    const timer = setTimeout(() => {
      // Its outcome is in the exchange's records.
      execute()
        .catch(() => {})
        .finally(() => this.#waiting.delete(orderId));
    }, ms).unref();
    this.#waiting.set(orderId, { order: { ...order, posted }, market, at: faults.now(), timer });
    return true;
  }

  close(): void {
    for (const { timer } of this.#waiting.values()) clearTimeout(timer);
    this.#waiting.clear();
  }
}

function isMarketable({ side, outcome, limit, postOnly }: NewOrder, market: MarketView): boolean {
  if (postOnly) return false;
  const buysYes = (side === 'BUY') === (outcome === 'YES');
  const price = outcome === 'YES' ? limit : 10_000 - limit;
  const best = buysYes ? market.bestAsk : market.bestBid;
  return best !== undefined && (buysYes ? price >= best : price <= best);
}

// Cancelling orders of the key's accounts.

/** The venue's limit since 2026-06-15; a body with so many ids is larger than other bodies. */
const MAX_CANCELS = 1_000;
const CANCELS_BODY_BYTES = 128 * 1024;
const ORDER_ID_BYTES = 32;
const NOT_FOUND = "order can't be found - already canceled or matched";

interface CancelAnswer {
  readonly canceled: readonly OrderId[];
  readonly not_canceled: Readonly<Record<OrderId, string>>;
}

export function cancelRoutes(
  door: FastifyInstance,
  l2: L2,
  { options, limits }: { readonly options: PolymarketDoorOptions; readonly limits: SignerLimits },
): void {
  door.delete('/order', async (request, reply): Promise<CancelAnswer> => {
    const key = await l2.key(request);
    limits.draw(reply, key.address, 'cancels', 1);
    const { orderID } = (jsonOf(bodyText(request)) ?? {}) as { readonly orderID?: unknown };
    return cancelIds(openHere(options), key.address, [orderIdOf(orderID)]);
  });

  door.delete('/orders', { bodyLimit: CANCELS_BODY_BYTES }, async (request, reply): Promise<CancelAnswer> => {
    const key = await l2.key(request);
    const ids = jsonOf(bodyText(request));
    if (!Array.isArray(ids)) throw invalidPayload();
    if (ids.length > MAX_CANCELS)
      throw new WireError(400, `Too many orders in payload, max allowed: ${MAX_CANCELS}`);
    await charge(options.guard, request, ids.length / ENTRIES_PER_TOKEN);
    limits.draw(reply, key.address, 'cancels', ids.length);
    return cancelIds(openHere(options), key.address, [...new Set(ids.map(orderIdOf))]);
  });

  /** Costs a token and one for each order: what it comes to is known afterwards. */
  const cancelSome =
    (isMeant: (order: OpenOrder, asked: CancelBody) => boolean) =>
    async (address: Address, asked: CancelBody): Promise<CancelAnswer> => {
      const exchange = openHere(options);
      const open = accountsOf(address).flatMap((account) => exchange.openOrders(account));
      return cancelOpen(
        exchange,
        open.filter((order) => isMeant(order, asked)),
      );
    };
  const all = cancelSome(() => true);
  const ofMarket = cancelSome(
    (order, { market, outcome }) =>
      (market === '' || order.conditionId === market) && (outcome === null || order.outcome === outcome),
  );

  door.delete('/cancel-all', async (request, reply): Promise<CancelAnswer> => {
    const key = await l2.key(request);
    limits.draw(reply, key.address, 'cancels', 1);
    const answer = await all(key.address, { market: '', outcome: null });
    limits.settle(reply, key.address, 'cancels', answer.canceled.length);
    return answer;
  });

  door.delete('/cancel-market-orders', async (request, reply): Promise<CancelAnswer> => {
    const key = await l2.key(request);
    limits.draw(reply, key.address, 'cancels', 1);
    const asked = cancelsAskedOf(openHere(options), jsonOf(bodyText(request)));
    const answer = asked === null ? NOTHING_CANCELLED : await ofMarket(key.address, asked);
    limits.settle(reply, key.address, 'cancels', answer.canceled.length);
    return answer;
  });
}

const NOTHING_CANCELLED: CancelAnswer = { canceled: [], not_canceled: {} };

interface CancelBody {
  /** Condition id; '' for any. */
  readonly market: string;
  readonly outcome: 'YES' | 'NO' | null;
}

/** @returns `null` for a token that nothing can be open for @throws WireError */
function cancelsAskedOf(exchange: Pick<DoorExchange, 'marketByToken'>, json: unknown): CancelBody | null {
  const { market = '', asset_id: token = '' } = (json ?? {}) as { market?: unknown; asset_id?: unknown };
  if (typeof market !== 'string' || typeof token !== 'string' || (market === '' && token === ''))
    throw invalidPayload();
  const conditionId = conditionIdOfBothWidths(market.toLowerCase());
  if (token === '') return { market: conditionId, outcome: null };
  const found = exchange.marketByToken(token);
  if (found === undefined || (conditionId !== '' && found.market.conditionId !== conditionId)) return null;
  return { market: found.market.conditionId, outcome: found.outcome };
}

/** @throws WireError */
function orderIdOf(value: unknown): OrderId {
  const bytes = typeof value === 'string' ? parseHex(value) : null;
  if (bytes?.length !== ORDER_ID_BYTES) throw new WireError(400, 'Invalid orderID');
  return (value as string).toLowerCase();
}

/** Orders of other accounts are answered like those that do not exist. */
async function cancelIds(
  exchange: DoorExchange,
  address: Address,
  ids: readonly OrderId[],
): Promise<CancelAnswer> {
  const own = new Set<string>(accountsOf(address));
  const open = ids.flatMap((id) => exchange.openOrder(id) ?? []).filter(({ account }) => own.has(account));
  const answer = await cancelOpen(exchange, open);
  const done = new Set(answer.canceled);
  const rest = ids.filter((id) => !done.has(id)).map((id): [OrderId, string] => [id, NOT_FOUND]);
  return { canceled: answer.canceled, not_canceled: Object.fromEntries(rest) };
}

/** Orders of one command: others go in between, however many an account has. */
const CANCELS_PER_COMMAND = 500;

/** In slices, one after another. */
export async function cancelOpen(
  exchange: Pick<DoorExchange, 'execute'>,
  open: readonly OpenOrder[],
): Promise<CancelAnswer> {
  const asked = new Set(open.map(({ orderId }) => orderId));
  const canceled: OrderId[] = [];
  const refused: [OrderId, string][] = [];
  for (const [account, orders] of Map.groupBy(open, (order) => order.account)) {
    for (let from = 0; from < orders.length; from += CANCELS_PER_COMMAND) {
      const orderIds = orders.slice(from, from + CANCELS_PER_COMMAND).map(({ orderId }) => orderId);
      for (const event of await commanded(() => exchange.execute({ kind: 'cancel', account, orderIds }))) {
        if (!('orderId' in event) || !asked.has(event.orderId)) continue;
        if (event.kind === 'order_done' && event.reason === 'canceled') canceled.push(event.orderId);
        else if (event.kind === 'cancel_refused') refused.push([event.orderId, NOT_FOUND]);
      }
    }
  }
  return { canceled, not_canceled: Object.fromEntries(refused) };
}
