/** Splits and merges at a live venue: judged, handed out to be signed, looked for on the chain, and booked once. */
import { type Market, verifyWalletCalls, type WalletPins } from '@bellwether/sdk';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { followSets } from '../../packages/server/src/trading/sets.ts';
import type { Sets } from '../../packages/server/src/venues/venue.ts';
import { call, openMarkets, type TestService, type Trader } from '../harness.ts';
import { liveOrder, newLiveTrader, orderAt, poolOf, startLiveDesk, startVenue } from '../live-desk.ts';
import { micro } from '../world.ts';

let venue: TestService;
let desk: TestService;
let market: Market;
let other: Market;
let names = 0;

beforeAll(async () => {
  venue = await startVenue();
  desk = await startLiveDesk(venue);
  const trader = await newLiveTrader(desk, venue);
  [market, other] = (await openMarkets(trader.client)) as [Market, Market];
});

const of = (amount: number, on = market) => {
  names += 1;
  return { clientOrderId: `live-set-${names}`, marketId: on.id, amount };
};
const ask = (trader: Trader, kind: 'split' | 'merge', body: unknown, at = desk) =>
  call(at, 'POST', `/markets/${kind}`, { key: trader.apiKey, body });
/** The owner has sent it, and the chain has it. */
const onChain = (trader: Trader, kind: 'split' | 'merge', amount: number, on = market) =>
  venue.exchange.execute({
    ...{ kind, account: trader.funder, conditionId: on.conditionId, amount: micro(amount) },
  });
const pinsOf = ({ signer, funder }: Trader, on = market): WalletPins => ({
  ...{ signer, wallet: funder, market: on },
});

/** Looks for what was handed out, as if its time had come. */
async function follow(at = desk): Promise<void> {
  await poolOf(at)`update handed_out_sets set due_at = now() - interval '1 second'`;
  await followSets(at.needs);
}
const statusOf = async (trader: Trader, orderId: string) => (await orderAt(desk, trader, orderId)).status;
const ended = (trader: Trader, orderId: string) =>
  expect
    .poll(
      async () => {
        await follow();
        return statusOf(trader, orderId);
      },
      { timeout: 15_000, interval: 300 },
    )
    .toBe('filled');

describe.each([0, 1, 2, 3] as const)('of a wallet of type %i', (type) => {
  test('a split is handed out, seen on the chain, and merged again', async () => {
    const trader = await newLiveTrader(desk, venue, type);
    const body = of(10);
    const split = await trader.client.splitSets(body);
    expect(split).toMatchObject({
      ...{ success: true, status: 'unsigned', amount: 0, txHash: null, walletAddress: trader.funder },
      expiresAt: expect.any(String),
    });
    const signed = verifyWalletCalls(split, { kind: 'split', amount: 10 }, pinsOf(trader));
    expect(signed[0]?.from).toBe(type === 0 || type === 3 ? trader.funder : trader.signer.address);
    expect(await trader.client.splitSets(body)).toEqual(split);

    await onChain(trader, 'split', 10);
    await ended(trader, split.orderId);
    const filled = await trader.client.splitSets(body);
    expect(filled).toMatchObject({ status: 'filled', amount: 10, txHash: expect.stringMatching(/^0x/) });
    expect(filled.transactions).toBeUndefined();
    const held = await trader.client.getCurrentPositions();
    expect(held.map(({ outcome, size }) => [outcome, size]).sort()).toEqual([
      ['NO', 10],
      ['YES', 10],
    ]);
    expect(held.reduce((sum, { initialValue }) => sum + initialValue, 0)).toBeCloseTo(10, 5);

    const merge = await trader.client.mergeSets(of(4));
    verifyWalletCalls(merge, { kind: 'merge', amount: 4 }, pinsOf(trader));
    await onChain(trader, 'merge', 4);
    await ended(trader, merge.orderId);
    expect((await trader.client.getCurrentPositions()).map(({ size }) => size)).toEqual([6, 6]);
    expect(await orderAt(desk, trader, merge.orderId)).toMatchObject({
      ...{ orderType: 'MERGE', side: 'SELL', filledSize: 4 },
      journal: [
        { event: 'recorded' },
        { event: 'handed_out', status: 'live' },
        { event: 'filled_completely', detail: expect.stringMatching(/^0x/) },
      ],
    });
  });
});

describe('asked for again', () => {
  test('while its transactions cannot be made, it is no order in doubt: it stays unsigned', async () => {
    const trader = await newLiveTrader(desk, venue);
    const body = of(5);
    const first = await trader.client.splitSets(body);
    const { sets } = desk.needs.venues.default as { sets: Sets };
    for (const answer of [
      { kind: 'rejected', reason: 'venue_unavailable' },
      // The service has credentials of the relayer since: with a digest, too, the owner could sign twice.
      { kind: 'unsigned', transactions: [], relay: {} },
    ]) {
      const spied = vi.spyOn(sets, 'submit').mockResolvedValueOnce(answer as never);
      const again = await ask(trader, 'split', body);
      spied.mockRestore();
      expect(again).toMatchObject({
        status: 503,
        body: { code: 'service_unavailable', orderId: first.orderId },
      });
      expect(Number(again.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    const again = await ask(trader, 'split', body);
    expect(again).toMatchObject({ status: 200, body: first });
    expect(again.headers.get('idempotency-replayed')).toBe('true');
  });

  test('while it ends, it answers how it ended', async () => {
    const trader = await newLiveTrader(desk, venue);
    const body = of(5);
    const first = await trader.client.splitSets(body);
    const { handedOutSets } = desk.needs;
    const { find } = handedOutSets;
    vi.spyOn(handedOutSets, 'find').mockImplementationOnce(async (orderId) => {
      await onChain(trader, 'split', 5);
      await ended(trader, first.orderId);
      return find(orderId);
    });
    expect(await ask(trader, 'split', body)).toMatchObject({
      status: 200,
      body: { status: 'filled', amount: 5 },
    });
  });
});

describe('before it is handed out', () => {
  test.each([
    ['a pause', { tradingPaused: true }, 'trading_paused'],
    ['maxTradeAmount', { maxTradeAmount: 9.999999 }, 'max_trade_amount_exceeded'],
    ['maxTradesPerDay', { maxTradesPerDay: 1 }, 'max_trades_per_day_exceeded'],
    ['dailyTradeAmountLimit', { dailyTradeAmountLimit: 14.999999 }, 'daily_trade_amount_exceeded'],
    ['maxPositionValue', { maxPositionValue: 14.999999 }, 'max_position_value_exceeded'],
    ['approvalAbove', { approvalAbove: 9.999999 }, 'approval_required'],
  ])('%s refuses a split, while another one is with its owner', async (_, settings, code) => {
    const trader = await newLiveTrader(desk, venue);
    expect((await trader.client.splitSets(of(5))).status).toBe('unsigned');
    await trader.client.updateSettings(settings);
    const refused = await ask(trader, 'split', of(10));
    expect(refused.body.code ?? refused.body.errors?.[0]?.code).toBe(code);
    expect(refused.body.transactions).toBeUndefined();
  });

  test('what the wallet does not have is refused, and a pause stops no merge', async () => {
    const trader = await newLiveTrader(desk, venue);
    await onChain(trader, 'split', 10);
    expect((await ask(trader, 'split', of(999_999))).body.code).toMatch(/insufficient_balance|max_trade/);
    await expect
      .poll(async () => (await ask(trader, 'merge', of(11))).body.detail ?? '')
      .toContain('10 pairs can be merged');
    await trader.client.updateSettings({ tradingPaused: true });
    expect((await ask(trader, 'merge', of(10))).body.status).toBe('unsigned');
  });

  test('a market of which the desk sends nothing hands nothing out', async () => {
    const dry = await startLiveDesk(venue, { LIVE_ORDERS: 'off' });
    const trader = await newLiveTrader(dry, venue);
    const answer = await ask(trader, 'split', of(5), dry);
    expect(answer.body).toMatchObject({ success: false, status: 'rejected', errorCode: 'dry_run' });
    expect((await trader.client.getMe()).tradesToday).toBe(0);
  });
});

test('one transaction is the proof of one order', async () => {
  const trader = await newLiveTrader(desk, venue);
  const [one, two] = [await trader.client.splitSets(of(7)), await trader.client.splitSets(of(7))];
  await onChain(trader, 'split', 7);
  await ended(trader, one.orderId);
  await Promise.all([follow(), follow()]);
  expect(await statusOf(trader, two.orderId)).toBe('live');
  expect((await trader.client.getCurrentPositions()).map(({ size }) => size)).toEqual([7, 7]);
  await onChain(trader, 'split', 7);
  await ended(trader, two.orderId);
  expect((await trader.client.getCurrentPositions()).map(({ size }) => size)).toEqual([14, 14]);
});

/** Sells at once, and is settled before anything is looked for on the chain. */
async function sellNow(trader: Trader, size: number): Promise<string> {
  const { bestBid } = await trader.client.getMarket(market.id);
  const order = { side: 'SELL', price: bestBid, size, type: 'FAK' } as const;
  // The venue knows of the shares at once, what the desk knows of them is some seconds old.
  const sold = await vi.waitFor(
    async () => trader.client.placeTrade(await liveOrder(trader, market, order)),
    30_000,
  );
  await expect.poll(() => statusOf(trader, sold.orderId), { timeout: 30_000 }).toBe('filled');
  return sold.orderId;
}

describe('a split that is sold before the desk hears of it', () => {
  test('leaves what the venue holds, and the sale has the result that it would have had', async () => {
    const trader = await newLiveTrader(desk, venue);
    const split = await trader.client.splitSets(of(20));
    await onChain(trader, 'split', 20);
    const sold = await sellNow(trader, 8);
    await ended(trader, split.orderId);
    const held = await trader.client.getCurrentPositions();
    expect(held.map(({ outcome, size }) => [outcome, size]).sort()).toEqual([
      ['NO', 20],
      ['YES', 12],
    ]);
    const yes = held.find(({ outcome }) => outcome === 'YES');
    const no = held.find(({ outcome }) => outcome === 'NO');
    const paid = 1 - (no?.avgPrice ?? 0);
    expect(yes?.avgPrice).toBeCloseTo(paid, 5);
    const { fills } = await trader.client.getOrder(sold);
    const brought = fills.reduce((sum, { size, price }) => sum + size * price, 0);
    expect(yes?.realizedPnl).toBeCloseTo(brought - 8 * paid, 4);
  });
});

test('neither another amount, nor another market, nor what was done before is a proof', async () => {
  const trader = await newLiveTrader(desk, venue);
  const { orderId } = await trader.client.splitSets(of(7));
  await onChain(trader, 'split', 6);
  await onChain(trader, 'split', 7, other);
  await poolOf(
    desk,
  )`update orders set created_at = created_at + interval '1 hour' where order_id = ${orderId}`;
  await onChain(trader, 'split', 7);
  // What is on the chain has been read once this one is found.
  const proved = await trader.client.splitSets(of(9));
  await onChain(trader, 'split', 9);
  await ended(trader, proved.orderId);
  expect(await statusOf(trader, orderId)).toBe('live');
});

test('what is never sent expires after a day, and counts on its own day all the same', async () => {
  const trader = await newLiveTrader(desk, venue);
  await trader.client.updateSettings({ maxPositionValue: 12 });
  const body = of(10);
  const { orderId, expiresAt } = await trader.client.splitSets(body);
  const { createdAt } = await trader.client.getOrder(orderId);
  expect(Date.parse(expiresAt ?? '') - Date.parse(String(createdAt))).toBe(24 * 3_600_000);
  expect((await ask(trader, 'split', of(3))).body.code).toBe('max_position_value_exceeded');
  await poolOf(
    desk,
  )`update handed_out_sets set ends_at = now() - interval '1 second' where order_id = ${orderId}`;
  await follow();
  expect(await trader.client.splitSets(body)).toMatchObject({ status: 'expired', amount: 0 });
  expect(await statusOf(trader, orderId)).toBe('expired');
  expect((await ask(trader, 'split', of(3))).body.status).toBe('unsigned');
  expect((await trader.client.getMe()).tradesToday).toBe(2);
});

test('a cancel says that nothing can be called back', async () => {
  const trader = await newLiveTrader(desk, venue);
  const { orderId } = await trader.client.splitSets(of(5));
  const body = await trader.client.cancelAll();
  expect(JSON.stringify(body)).toContain('with the owner of the wallet');
  expect(await statusOf(trader, orderId)).toBe('live');
});

test('nothing is handed out of an order that was ended while its transactions were made', async () => {
  const trader = await newLiveTrader(desk, venue);
  const sql = poolOf(desk);
  const { orderId } = await trader.client.splitSets(of(5));
  await sql`update handed_out_sets set ends_at = now() - interval '1 second' where order_id = ${orderId}`;
  await follow();
  const times = { at: Date.now(), endsAt: Date.now() + 1_000, dueAt: Date.now() };
  expect(await desk.needs.handedOutSets.handOut({ orderId }, times)).toBe(false);
  expect(await sql`select 1 from handed_out_sets where order_id = ${orderId}`).toEqual([]);
});
