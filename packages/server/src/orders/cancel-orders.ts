/** Orders canceled at their venues. No safeguard stands in the way of a cancel. */
import type { CancelAllResponse, CancelMarketResponse, CancelResponse } from '@bellwether/contract';
import { conditionIdOfBothWidths } from '@bellwether/protocol';
import { isInDoubt, mayFill, statusWord } from '../domain/lifecycle.ts';
import {
  type ActingAgent,
  type Caller,
  type OrderRow,
  type Owner,
  parseWallet,
  type WalletAddress,
} from '../domain/records.ts';
import { decideOnce } from '../platform/database/idempotency-store.ts';
import { createFairLine, type FairLine, type Job, type JobLog } from '../platform/scheduler.ts';
import { cancelOnChain } from '../quoting/index.ts';
import { namedVenue, venueOf } from '../venues/asking.ts';
import type { Venue } from '../venues/venue.ts';
import { type OrderNeeds, ownOrder } from './read-orders.ts';

const laneOf = ({ venue, funder }: OrderRow): string => `${venue} ${funder}`;

interface CancelOutcome {
  canceled: string[];
  notCanceled: Record<string, string>;
  known: boolean;
}

/** Cancels orders wallet by wallet, at each one's venue; each order ends up in one of the two lists. */
async function cancelRows(
  needs: OrderNeeds,
  rows: readonly OrderRow[],
): Promise<Map<WalletAddress, CancelOutcome>> {
  const groups = Map.groupBy(rows, laneOf);
  const outcomes = await Promise.all([...groups.values()].map((orders) => cancelGroup(needs, orders)));
  const byWallet = Map.groupBy(outcomes, ({ wallet }) => wallet);
  return new Map([...byWallet].map(([wallet, some]) => [wallet, merge(some)]));
}

/** @param orders of one wallet on one venue; at least one */
async function cancelGroup(
  needs: OrderNeeds,
  orders: readonly OrderRow[],
): Promise<CancelOutcome & { readonly wallet: WalletAddress }> {
  const [{ venue, funder, kind }] = orders as readonly [OrderRow, ...OrderRow[]];
  if (kind === 'quoted') return { wallet: funder, ...(await cancelOnChain(needs, orders)), known: true };
  return { wallet: funder, ...(await cancelAtVenue(venueOf(needs, venue, funder), funder, orders)) };
}

const WITH_OWNER = 'its transactions are with the owner of the wallet, and cannot be called back';

/** It also asks the venue to cancel orders in doubt: the venue may hold them. */
async function cancelAtVenue(
  { cancel }: Venue,
  funder: WalletAddress,
  orders: readonly OrderRow[],
): Promise<CancelOutcome> {
  const notCanceled: Record<string, string> = {};
  for (const order of orders)
    if (!mayFill(order.status))
      notCanceled[order.orderId] = `already ${statusWord(order).replaceAll('_', ' ')}`;
    else if (order.kind !== 'signed' && order.status === 'live') notCanceled[order.orderId] = WITH_OWNER;
  const open = orders
    .filter(({ orderId, status }) => mayFill(status) && notCanceled[orderId] === undefined)
    .map((order) => order.orderId);
  if (open.length === 0) return { canceled: [], notCanceled, known: true };
  if (cancel === undefined) {
    for (const orderId of open) notCanceled[orderId] = 'the venue cannot call an order back';
    return { canceled: [], notCanceled, known: true };
  }
  const answer = await cancel.orders(funder, open);
  if (answer.kind === 'unknown') {
    for (const orderId of open) notCanceled[orderId] = 'the venue gave no answer; ask again';
    return { canceled: [], notCanceled, known: false };
  }
  Object.assign(notCanceled, answer.notCanceled);
  // It may still be on its way there: that the venue does not know it proves nothing.
  for (const { orderId, status } of orders)
    if (isInDoubt(status) && orderId in answer.notCanceled)
      notCanceled[orderId] =
        `the order is in doubt, and the venue says: ${answer.notCanceled[orderId]}; ask again in a moment`;
  return { canceled: [...answer.canceled], notCanceled, known: answer.isRecorded !== false };
}

const merge = (outcomes: Iterable<CancelOutcome>): CancelOutcome => {
  const all: CancelOutcome = { canceled: [], notCanceled: {}, known: true };
  for (const { canceled, notCanceled, known } of outcomes) {
    all.canceled.push(...canceled);
    Object.assign(all.notCanceled, notCanceled);
    all.known &&= known;
  }
  return all;
};

export async function cancelOrder(
  needs: OrderNeeds,
  caller: ActingAgent,
  orderId: string,
): Promise<CancelResponse> {
  const row = await ownOrder(needs, caller, orderId);
  const { canceled, notCanceled, known } = merge((await cancelRows(needs, [row])).values());
  return { success: canceled.length > 0, canceled, notCanceled, syncedToMkOrder: known };
}

interface CancelScope {
  readonly venue?: string;
  readonly marketConditionId?: string;
  readonly tokenId?: string;
  readonly walletAddress?: string;
}

export async function cancelMarket(
  needs: OrderNeeds,
  caller: ActingAgent,
  scope: CancelScope,
): Promise<CancelMarketResponse> {
  const named = scope.walletAddress;
  const wallet = named === undefined ? undefined : (parseWallet(named) ?? named);
  // A name that is none must not cancel what was meant to stay, nor pass for having canceled anything.
  namedVenue(needs, scope.venue);
  const rows = await openOnce(needs, caller, (open) =>
    open.filter(
      (row) =>
        row.agentId === caller.agentId &&
        (scope.venue === undefined || row.venue === scope.venue) &&
        (scope.marketConditionId === undefined ||
          row.conditionId === conditionIdOfBothWidths(scope.marketConditionId)) &&
        (scope.tokenId === undefined || row.tokenId === scope.tokenId) &&
        (wallet === undefined || row.walletAddress === wallet || row.funder === wallet),
    ),
  );
  return cancelListed(needs, rows);
}

/** Under an Idempotency-Key those that were open when it came first: what was placed since stays. */
async function openOnce(
  { orders }: Pick<OrderNeeds, 'orders'>,
  { userId }: Pick<Owner, 'userId'>,
  choose: (open: readonly OrderRow[]) => Promise<readonly OrderRow[]> | readonly OrderRow[],
): Promise<readonly OrderRow[]> {
  const open = await orders.openOfOwner(userId);
  const chosen = await decideOnce(async () => (await choose(open)).map(({ orderId }) => orderId));
  const ids = new Set(chosen);
  return open.filter(({ orderId }) => ids.has(orderId));
}

/** Everything of all agents of an owner. */
export const cancelOfOwner = async (
  needs: OrderNeeds,
  owner: Pick<Owner, 'userId'>,
): Promise<CancelMarketResponse> => cancelListed(needs, await openOnce(needs, owner, (open) => open));

async function cancelListed(needs: OrderNeeds, rows: readonly OrderRow[]): Promise<CancelMarketResponse> {
  const { canceled, notCanceled, known } = merge((await cancelRows(needs, rows)).values());
  return { canceled, notCanceled, totalCanceled: canceled.length, syncedToMkOrder: known };
}

/** Agents that are dead, frozen or cut off: what rests of them is canceled as late orders are. */
const cancelSilent = ({ orders, clock }: OrderNeeds): Promise<void> => orders.cancelSilent(clock.now());

/** At most so many late orders in one turn. */
const LATE_AT_ONCE = 200;

/**
 * Hands over the orders whose `cancelAfterMs` is over, together those of a wallet at its venue: one that answers late holds up no
 * other. An order that its venue does not give up is asked for again later.
 */
async function cancelLate(needs: OrderNeeds, line: FairLine): Promise<void> {
  const rows = await needs.orders.late(needs.clock.now(), LATE_AT_ONCE);
  for (const [lane, orders] of Map.groupBy(rows, laneOf))
    line.add({
      key: orders.map(({ orderId }) => orderId).join(),
      ...{ lane, isRepeat: false },
      run: () => cancelGroup(needs, orders),
    });
}

/** Everything of the owner's on the wallets that the agent reaches, and all of its own. */
export async function cancelAll(needs: OrderNeeds, caller: Caller): Promise<CancelAllResponse> {
  const rows = await openOnce(needs, caller, async (open) => {
    const wallets = open.flatMap(({ funder, walletAddress }) => [funder, walletAddress]);
    const reached = await needs.wallets.reachable(caller, [...new Set(wallets)]);
    return open.filter(
      ({ agentId, funder, walletAddress }) =>
        agentId === caller.agentId || reached.has(funder) || reached.has(walletAddress),
    );
  });
  const outcomes = await cancelRows(needs, rows);
  const results = [...outcomes].map(([walletAddress, { canceled, notCanceled }]) => ({
    walletAddress,
    canceled,
    notCanceled,
  }));
  const total = results.reduce((sum, { canceled }) => sum + canceled.length, 0);
  return { results, totalCanceled: total, syncedCount: total };
}

export function orderJobs(needs: OrderNeeds, log: JobLog): readonly Job[] {
  const onFailed = (error: unknown): void => log.error({ err: error }, 'late orders could not be canceled');
  const line = createFairLine({ atOnce: 64, ofLane: 1, mostWaiting: 200, onFailed });
  return [
    {
      name: 'keep watch',
      everyMs: 1_000,
      async run() {
        if (await needs.deskWatch.turn()) await cancelSilent(needs);
      },
    },
    { name: 'cancel late orders', everyMs: 250, run: () => cancelLate(needs, line), line },
  ];
}
