/**
 * Asks the venue about single orders: the order's record, its trades, the list of open orders. What is found becomes
 * observations; that nothing was found is one, too, where the order was there before.
 */
import type { Micro } from '@bellwether/contract/decimals';
import type { Address } from '@bellwether/protocol';
import type { MarketRecord } from '../../domain/market.ts';
import type { LiveOrder, LiveOrderLog, LiveOrderRow } from '../live-orders.ts';
import type { OrderClient, OwnedKeys } from './order-client.ts';
import { DUST, matchedOf, type Observation, partsOf, type WireOrder, type WireTrade } from './order-wire.ts';
import type { OrderRecorder } from './recorder.ts';

/** Trades are listed by their own times, which the clocks of the venue decide. */
const CLOCK_MARGIN_S = 120;

interface LookUpParts {
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

// Brings the record of a wallet's unfinished orders up to what the venue says now. The list of open orders says what rests;
// what is not on it is looked up by its id; trades are asked for where a share is unaccounted for or a settlement is
// not final. An order that the venue has forgotten counts as over only when it is still unknown some seconds later, and a
// young one, or one that the venue holds back, much later: it need not be listed yet.

export interface ResyncParts {
  readonly client: OrderClient;
  readonly recorder: OrderRecorder;
  readonly log: LiveOrderLog;
  readonly findMarket: (conditionId: string) => Promise<MarketRecord | null>;
  readonly now: () => number;
  /** How long the venue may not show an order that it has. */
  readonly missingMs: number;
}

/** Times of `missingMs`, since an order was recorded, in which its silence proves nothing: of any order, and of one held back. */
const YOUNG = { resting: 10, heldBack: 40 } as const;
const LOOK_UPS_AT_ONCE = 8;

interface Resynced {
  /** Something is left that only another look will settle. */
  readonly isBusy: boolean;
  /** The orders that were looked at. */
  readonly placed: readonly Pick<LiveOrder['order'], 'orderId' | 'createdAt'>[];
}

/** @throws VenueUnavailable */
export async function resync(parts: ResyncParts, key: OwnedKeys, walletAddress: string): Promise<Resynced> {
  const { client, log, now } = parts;
  const unfinished = await log.unfinished(walletAddress);
  if (unfinished.length === 0) return { isBusy: false, placed: [] };
  const open = new Map((await client.openOrders(key)).map((order) => [order.id, order]));
  const seen = new Map<string, Observation[]>(unfinished.map(({ order }) => [order.orderId, []]));
  const gone: LiveOrder[] = [];
  const incomplete = new Set<string>();
  for (const live of unfinished) {
    const { orderId } = live.order;
    const record = open.get(orderId);
    if (record === undefined) gone.push(live);
    else {
      seen.get(orderId)?.push(...standingOf(record, live.order, now()));
      if (lacksTrades(live, record)) incomplete.add(orderId);
    }
  }
  const forgotten = new Set<string>();
  await inTurns(gone, LOOK_UPS_AT_ONCE, async (live) => {
    const { orderId } = live.order;
    incomplete.add(orderId);
    // An order whose end is known needs its trades only.
    if (live.venue?.ended != null && live.venue.isCounted) return;
    const record = await client.order(key, orderId);
    if (record === null) forgotten.add(orderId);
    else seen.get(orderId)?.push(...standingOf(record, live.order, now()));
  });
  for (const live of unfinished) if (hasOpenTrades(live)) incomplete.add(live.order.orderId);
  await addTrades(parts, key, { unfinished, incomplete, seen });
  endForgotten(parts, { unfinished, forgotten, seen });
  const isBusy = await writeAll(parts, unfinished, seen);
  return { isBusy, placed: unfinished.map(({ order }) => order) };
}

const lacksTrades = (live: LiveOrder, record: WireOrder): boolean => {
  const matched = matchedOf(record, live.order) ?? 0n;
  return matched > [...live.trades.values()].reduce((sum, { size }) => sum + size, 0n);
};

/** One question for each market, for all trades since the first of its orders. */
async function addTrades(
  { client, findMarket, now }: ResyncParts,
  key: OwnedKeys,
  {
    unfinished,
    incomplete,
    seen,
  }: {
    readonly unfinished: readonly LiveOrder[];
    readonly incomplete: ReadonlySet<string>;
    readonly seen: ReadonlyMap<string, Observation[]>;
  },
): Promise<void> {
  const wanted = unfinished.filter(({ order }) => incomplete.has(order.orderId));
  const byMarket = [...Map.groupBy(wanted, ({ order }) => order.conditionId)];
  await inTurns(byMarket, LOOK_UPS_AT_ONCE, async ([conditionId, orders]) => {
    const market = await findMarket(conditionId);
    if (market === null) return;
    const since = Math.min(...orders.map(({ order }) => order.createdAt));
    const after = Math.floor(since / 1000) - CLOCK_MARGIN_S;
    const trades = await client.trades(key, { market: conditionId, after });
    const isWanted = (orderId: string) => seen.has(orderId);
    for (const one of tradesSeen(trades, market, { isWanted, at: now() })) seen.get(one.orderId)?.push(one);
  });
}

/** Ends an order that the venue has forgotten: everything that was matched of it is among its trades. */
function endForgotten(
  { now, missingMs }: ResyncParts,
  {
    unfinished,
    forgotten,
    seen,
  }: {
    readonly unfinished: readonly LiveOrder[];
    readonly forgotten: ReadonlySet<string>;
    readonly seen: ReadonlyMap<string, Observation[]>;
  },
): void {
  for (const live of unfinished) {
    const { orderId } = live.order;
    if (!forgotten.has(orderId)) continue;
    const own = seen.get(orderId);
    const missingSince = live.venue?.missingSince ?? null;
    const sizes = new Map([...live.trades.values()].map(({ tradeId, size }) => [tradeId, size]));
    for (const one of own ?? []) if (one.kind === 'trade') sizes.set(one.part.tradeId, one.part.size);
    const matched = [...sizes.values()].reduce((sum, size) => sum + size, 0n);
    const { status, createdAt, shares } = live.order;
    const youngMs = missingMs * (status === 'delayed' ? YOUNG.heldBack : YOUNG.resting);
    const isYoung = matched < shares && now() - createdAt < youngMs;
    if (missingSince === null || now() - missingSince < missingMs || isYoung) {
      own?.push({ orderId, at: now(), kind: 'missing' });
      continue;
    }
    own?.push({
      ...{ orderId, at: now(), kind: 'standing', matched, end: 'undecided', isCounted: true },
      detail: null,
    });
  }
}

async function writeAll(
  { recorder, findMarket }: ResyncParts,
  unfinished: readonly LiveOrder[],
  seen: ReadonlyMap<string, Observation[]>,
): Promise<boolean> {
  const after = await Promise.all(
    unfinished.map(async ({ order }) => {
      const own = seen.get(order.orderId) ?? [];
      if (own.length === 0) return true;
      const market = own.some(({ kind }) => kind === 'trade') ? await findMarket(order.conditionId) : null;
      const live = await recorder.record(order.orderId, own, market);
      return live === null || live.venue === null || (!live.venue.isFinal && isWaiting(live));
    }),
  );
  return after.includes(true);
}

/** It is over, or one of its trades is not final: the next news may come by a look only. */
const isWaiting = ({ venue, trades }: LiveOrder): boolean =>
  venue?.ended != null || venue?.missingSince != null || hasOpenTrades({ trades });

/** Not final, or kept aside until the venue explains it. */
const hasOpenTrades = ({ trades }: Pick<LiveOrder, 'trades'>): boolean =>
  [...trades.values()].some(
    ({ status, aside }) => (status !== 'confirmed' && status !== 'failed') || aside?.state === 'held',
  );

async function inTurns<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const rest = [...items];
  const worker = async (): Promise<void> => {
    for (let next = rest.shift(); next !== undefined; next = rest.shift()) await work(next);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
}
