/** Cancelling orders of the key's accounts. Wire reference 2.7. */
import { type Address, conditionIdOfBothWidths, parseHex } from '@bellwether/protocol';
import type { FastifyInstance } from 'fastify';
import type { OpenOrder, OrderId } from '../../paper-exchange.ts';
import { charge, ENTRIES_PER_TOKEN } from '../limits.ts';
import { accountsOf } from './accounts.ts';
import type { DoorExchange, PolymarketDoorOptions } from './door-options.ts';
import { bodyText, type L2 } from './l2-auth.ts';
import { commanded, openHere } from './open-here.ts';
import { jsonOf } from './request-parts.ts';
import type { SignerLimits } from './signer-limits.ts';
import { invalidPayload, WireError } from './wire-error.ts';

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
    const asked = askedOf(openHere(options), jsonOf(bodyText(request)));
    const answer = asked === null ? NOTHING : await ofMarket(key.address, asked);
    limits.settle(reply, key.address, 'cancels', answer.canceled.length);
    return answer;
  });
}

const NOTHING: CancelAnswer = { canceled: [], not_canceled: {} };

interface CancelBody {
  /** Condition id; '' for any. */
  readonly market: string;
  readonly outcome: 'YES' | 'NO' | null;
}

/** @returns `null` for a token that nothing can be open for @throws WireError */
function askedOf(exchange: Pick<DoorExchange, 'marketByToken'>, json: unknown): CancelBody | null {
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
