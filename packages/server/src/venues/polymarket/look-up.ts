/**
 * Asks the venue about single orders: the order's record, its trades, the list of open orders. What is found becomes
 * observations; that nothing was found is one, too, where the order was there before.
 */
import type { Micro } from '@bellwether/contract/decimals';
import type { Address } from '@bellwether/protocol';
import type { MarketRecord } from '../../domain/market.ts';
import type { LiveOrder, LiveOrderLog, LiveOrderRow } from '../live-orders.ts';
import type { OwnedKeys } from './l2-headers.ts';
import type { Observation } from './observations.ts';
import type { OrderClient } from './order-client.ts';
import { matchedOf, partsOf, type WireOrder, type WireTrade } from './order-wire.ts';
import { DUST } from './signed-bounds.ts';

/** Trades are listed by their own times, which the clocks of the venue decide. */
const CLOCK_MARGIN_S = 120;

export interface LookUpParts {
  readonly client: OrderClient;
  readonly now: () => number;
}

/** Reads an order's record. */
export function standingOf(record: WireOrder, order: LiveOrderRow, at: number): Observation[] {
  const matched = matchedOf(record, order);
  const isThere = { orderId: order.orderId, at, kind: 'accepted' as const, word: null, ...NOTHING };
  const [word = '', ...reason] = record.status.split('_');
  const isResolved = record.status.toUpperCase() === RESOLVED;
  const said = reason.length > 0 && !isResolved ? reason.join('_') : null;
  const detail = word === 'INVALID' ? (said ?? INVALID) : word === 'CANCELED' ? said : null;
  const base = { orderId: order.orderId, at, kind: 'standing' as const, matched, detail };
  const isCounted = matched !== null;
  if (isResolved) return [isThere, { ...base, end: 'market_resolved', isCounted }];
  switch (word) {
    case 'MATCHED':
      // The venue says LIVE of an order that is matched in part and rests.
      return [isThere, { ...base, end: 'undecided', isCounted }];
    case 'CANCELED':
    case 'INVALID':
    case 'EXPIRED':
      return [isThere, { ...base, end: 'undecided', isCounted }];
    default:
      return [isThere, { ...base, end: null, isCounted: false }];
  }
}

const RESOLVED = 'CANCELED_MARKET_RESOLVED';
/** It watches what covers resting orders. */
const INVALID =
  'The venue removed it as invalid: as a rule because the balance or an approval of its wallet covers it no more.';
const NOTHING = { filled: 0n, cost: 0n, fees: 0n } as const;

/** The parts of these orders in those trades. */
export function tradesSeen(
  trades: readonly WireTrade[],
  market: MarketRecord,
  { isWanted, at }: { readonly isWanted: (orderId: string) => boolean; readonly at: number },
): Observation[] {
  return trades.flatMap((trade) =>
    partsOf(trade, market)
      .filter(({ orderId }) => isWanted(orderId))
      .map(({ orderId, part }) => ({
        orderId,
        at,
        kind: 'trade' as const,
        part: { ...part, matchedAt: part.matchedAt === 0 ? at : part.matchedAt },
      })),
  );
}

/** Shares that an account bought and that are not settled: until then the venue refuses to sell them. */
export async function unsettledShares(
  log: Pick<LiveOrderLog, 'account' | 'unfinished'>,
  account: Address,
  { conditionId, outcome }: Pick<LiveOrderRow, 'conditionId' | 'outcome'>,
): Promise<Micro> {
  const wallet = await log.account(account);
  const orders = wallet === null ? [] : await log.unfinished(wallet.walletAddress);
  return orders
    .filter(({ order }) => order.side === 'BUY' && order.funder === account)
    .filter(({ order }) => order.conditionId === conditionId && order.outcome === outcome)
    .flatMap(({ trades }) => [...trades.values()])
    .filter(({ status, isCounted }) => isCounted && status !== 'confirmed')
    .reduce((sum, { size }) => sum + size, 0n);
}

/** Something of it will be known only by asking: a trade, or how it ended. */
export function isIncomplete({ venue, trades }: LiveOrder): boolean {
  if (venue === null || venue.isFinal) return false;
  const known = [...trades.values()].reduce((sum, { size }) => sum + size, 0n);
  return venue.matched > known || venue.missingSince !== null || (venue.ended !== null && !venue.isCounted);
}

/** Sums the trades of one order, each counted once: a list may show a trade twice. */
export function sumOfTrades(seen: readonly Observation[], what: 'size' | 'fee'): bigint {
  const amounts = new Map(
    seen.flatMap((one) => (one.kind === 'trade' ? [[one.part.tradeId, one.part[what]]] : [])),
  );
  return [...amounts.values()].reduce((sum, amount) => sum + amount, 0n);
}

/** Everything that the venue says of one order. An order without a record is over or was never there. @throws VenueUnavailable */
export async function lookUp(
  { client, now }: LookUpParts,
  key: OwnedKeys,
  { live, market }: { readonly live: Pick<LiveOrder, 'order'>; readonly market: MarketRecord },
): Promise<{ readonly seen: readonly Observation[]; readonly isListed: boolean }> {
  const { order } = live;
  const record = await client.order(key, order.orderId);
  const standing = record === null ? [] : standingOf(record, order, now());
  // After the record: a trade of a match that the record counts is listed by then.
  const after = Math.floor(order.createdAt / 1000) - CLOCK_MARGIN_S;
  const trades = await client.trades(key, { market: order.conditionId, after });
  const at = now();
  const isWanted = (orderId: string) => orderId === order.orderId;
  const parts = tradesSeen(trades, market, { isWanted, at });
  const total = sumOfTrades(parts, 'size');
  // A record may round what is matched: where it is over, the complete list of its trades decides.
  const seen = standing.map((one) =>
    one.kind === 'standing' && one.end !== null && one.matched !== null && near(one.matched, total)
      ? { ...one, matched: total, isCounted: true }
      : one,
  );
  return { seen: [...seen, ...parts], isListed: record !== null };
}

const near = (a: bigint, b: bigint): boolean => (a > b ? a - b : b - a) < DUST;
