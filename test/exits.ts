/** Guarded exits in tests: a trader with shares, orders signed ahead, and a book that is moved past their triggers. */
import { randomUUID } from 'node:crypto';
import type { OrderProfile } from '@bellwether/protocol';
import type { AgentEvent, Market } from '@bellwether/sdk';
import { limitOrder, newTrader, type TestService, type Trader } from './harness.ts';
import type { ManualClock } from './world.ts';

export interface ExitOrder {
  readonly size?: number;
  readonly worst: number;
  readonly type?: 'GTC' | 'FAK' | 'FOK';
  readonly outcome?: 'YES' | 'NO';
  readonly side?: 'BUY' | 'SELL';
}

/** A SELL that is signed ahead. */
export const exitOrder = (
  { signer, signatureType }: Pick<Trader, 'signer' | 'signatureType'>,
  market: Market,
  { size = 10, worst, type = 'GTC', outcome = 'YES', side = 'SELL' }: ExitOrder,
) => limitOrder({ signer, signatureType }, market, { outcome, type, size, side, price: worst.toFixed(2) });

export const bidOf = (service: TestService, market: Market): number =>
  Number(service.exchange.book(market.conditionId, 'YES')?.bids[0]?.[0] ?? 0) / 10_000;

/** Shares of both outcomes. */
export const hold = (trader: Trader, market: Market, amount: number) =>
  trader.client.splitSets({ clientOrderId: randomUUID(), marketId: market.id, amount });

/** As much as a new trader can split. */
const MOST = 9_000;

/** Sells into the bids until the best one is no higher than this: the market's makers quote lower then. */
export async function pushBidTo(
  service: Pick<TestService, 'url'>,
  {
    market,
    price,
    profile = 'interface',
  }: { readonly market: Market; readonly price: number; readonly profile?: OrderProfile },
): Promise<void> {
  for (;;) {
    const { client } = await newTrader(service);
    const { bids } = await client.getOrderBook(market.clobTokenIds[0] as string);
    const above = bids.filter((level) => Number(level.price) > price + 1e-9);
    if (above.length === 0) return;
    const wanted = Math.ceil(above.reduce((sum, level) => sum + Number(level.size), 0));
    await sellDownTo(service, { market, price, profile, size: Math.max(5, Math.min(wanted, MOST)) });
  }
}

/** Sells so many shares to the bids above a price; what is left of them rests above it. */
export async function sellDownTo(
  service: Pick<TestService, 'url'>,
  {
    market,
    price,
    size,
    profile = 'interface',
  }: {
    readonly market: Market;
    readonly price: number;
    readonly size: number;
    readonly profile?: OrderProfile;
  },
): Promise<void> {
  const seller = await newTrader(service);
  await hold(seller, market, size);
  await seller.client.placeTrade(
    await limitOrder(seller, market, { profile, side: 'SELL', size, price: (price + 0.01).toFixed(2) }),
  );
}

/** So long that what stands in the way of an exit is told: it is seen, and ten seconds later it is there. */
export async function lasts(service: TestService, clock: ManualClock): Promise<void> {
  await passes(service, clock, 500);
  await passes(service, clock, 10_000);
}

/**
 * So much time passes on a desk whose jobs run by hand. It looks at its exits as it does by itself: twice a second at the
 * books, and once at what would stop one.
 */
export async function passes({ runJob }: TestService, clock: ManualClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 500) {
    clock.advance(500);
    await runJob('watch exits');
  }
  await runJob('review exits');
}

/** A setting that was not there before: its event is the last one that is read. */
let mark = 1_000;

/** The recorded events of an agent since a cursor, or of all its life. */
export async function eventsOf({ client }: Pick<Trader, 'client'>, after: string): Promise<AgentEvent[]> {
  const ending = new AbortController();
  const events: AgentEvent[] = [];
  mark += 1;
  const last = mark;
  await client.updateSettings({ maxTradesPerDay: last });
  for await (const event of client.events({ signal: ending.signal, after })) {
    events.push(event);
    if (event.type === 'safeguards' && event.data.settings.maxTradesPerDay === last) ending.abort();
  }
  return events;
}

export async function cursorOf({ client }: Pick<Trader, 'client'>): Promise<string> {
  const ending = new AbortController();
  let cursor = '';
  for await (const event of client.events({ signal: ending.signal })) {
    cursor = event.cursor;
    ending.abort();
  }
  return cursor;
}
