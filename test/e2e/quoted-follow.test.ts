/** The outcome of a submitted transaction: any replica follows it to its end. */
import { QuotedOrder, QuotedOrderDetail } from '@bellwether/contract';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openPool, type Sql } from '../../packages/server/src/platform/database/connection.ts';
import { resolveMarkets } from '../../packages/server/src/positions/resolve-markets.ts';
import { followChainOrders } from '../../packages/server/src/quoting/follow.ts';
import {
  createFakeQuoteVenue,
  createFakeWallet,
  type FakeQuoteVenue,
  fakeMarket,
  randomSignature,
} from '../fake-quote-venue.ts';
import { startTestService, type TestService } from '../harness.ts';
import { newQuoteTrader, type TraderB } from '../quote-trader.ts';
import { movingClock } from '../world.ts';

const clock = movingClock();
let service: TestService;
let venue: FakeQuoteVenue;
let trader: TraderB;
let sql: Sql;

beforeAll(async () => {
  venue = createFakeQuoteVenue('kalshi', clock.now);
  service = await startTestService({ PAPER_WORLD: 'off' }, { clock, venues: () => [venue] });
  sql = openPool(service.databaseUrl, { max: 2 });
  trader = await newQuoteTrader(service);
  return () => sql.end();
});

afterEach(() => {
  Object.assign(venue.controls, {
    silent: false,
    send: () => ({ kind: 'sent' }),
    simulation: { kind: 'unknown' },
  });
});

const ajv = formats.default(new Ajv({ strict: false }));
const isDetail = ajv.compile(QuotedOrderDetail);
const isOrder = ajv.compile(QuotedOrder);

/** Follows the order, half a second at a time, until it has the status. */
async function until(orderId: string, status: string, who = trader) {
  for (let turn = 0; turn < 100; turn += 1) {
    await service.runJob('follow');
    const order = await who.order(orderId);
    if (order.status === status) {
      expect(isDetail(order), JSON.stringify(isDetail.errors)).toBe(true);
      return order;
    }
    clock.advance(500);
  }
  throw new Error(`${orderId} does not read ${status}`);
}

const eventsOf = (order: { journal: { event: string; status: string }[] }) =>
  order.journal.map(({ event, status }) => `${event} → ${status}`);
const positionsOf = (wallet: string) =>
  sql`select outcome, size, cost, realized, fees from positions where wallet = ${wallet} order by outcome desc`;
const fills = (size: bigint, cost: bigint, fee = 0n) => ({ inAmount: cost + fee, outAmount: size, fee });

describe('a transaction that lands', () => {
  test('is open, then filled by another transaction; the unspent amount is returned', async () => {
    const before = await trader.usage();
    const { orderId, txSignature } = await trader.trade({ reasoning: 'why not' });
    expect(await trader.usage()).toEqual({ trades: before.trades + 1, amount: before.amount + 10 });
    venue.landed.set(txSignature, { kind: 'landed' });
    expect(await until(orderId, 'open')).toMatchObject({ orderStatus: 1, filledSize: 0, fills: [] });
    venue.fill(txSignature, fills(16_000_000n, 9_600_000n, 300_000n));
    const order = await until(orderId, 'filled');
    expect(order).toMatchObject({
      orderStatus: 2,
      venueOrderId: txSignature,
      quoteId: orderId,
      marketTicker: 'KXTEST-1',
      side: 'YES',
      action: 'BUY',
      filledSize: 16,
      filledAmount: 9.6,
      avgPrice: 0.6,
      feePaid: 0.3,
      errorCode: null,
      reverts: [],
      fills: [{ price: 0.6, size: 16, cost: 9.6, fee: 0.3, txSignature: expect.stringMatching(/^\w{80,}$/) }],
    });
    expect(order.fills[0].txSignature).not.toBe(txSignature);
    expect(eventsOf(order)).toEqual(['recorded → submitted', 'landed → open', 'filled_completely → filled']);
    expect(await trader.order(txSignature)).toEqual(order);
    expect(await positionsOf(trader.wallet.address)).toEqual([
      { outcome: 'YES', size: 16_000_000n, cost: 9_600_000n, realized: 0n, fees: 300_000n },
    ]);
    // 9.6 of the 10 reserved were spent, without fees.
    const after = await trader.usage();
    expect(after.amount - before.amount).toBeCloseTo(9.6, 6);
    expect(after.trades).toBe(before.trades + 1);
  });

  test('is partially filled when the venue returns the rest', async () => {
    const who = await newQuoteTrader(service);
    const { orderId, txSignature } = await who.trade();
    venue.landed.set(txSignature, { kind: 'landed' });
    venue.outcomes.set(txSignature, {
      kind: 'open',
      fills: [{ signature: randomSignature(), ...fills(4_000_000n, 2_400_000n) }],
      reverts: [],
    });
    await until(orderId, 'open', who);
    const [first] = venue.outcomes.get(txSignature)?.kind === 'open' ? [venue.outcomes.get(txSignature)] : [];
    await expect
      .poll(async () => {
        clock.advance(500);
        await service.runJob('follow');
        return (await who.order(orderId)).filledSize;
      })
      .toBe(4);
    const early = first?.kind === 'open' ? first.fills : [];
    venue.outcomes.set(txSignature, {
      kind: 'closed',
      // One transaction may fill twice, and the order of the list may change.
      fills: [{ signature: randomSignature(), ...fills(1_000_000n, 610_000n) }, ...early],
      reverts: [{ signature: randomSignature(), mint: venue.quotes.collateralMint, amount: 6_990_000n }],
    });
    const order = await until(orderId, 'partially_filled', who);
    expect(order).toMatchObject({
      orderStatus: 2,
      filledSize: 5,
      filledAmount: 3.01,
      avgPrice: 0.602,
      reverts: [{ mint: venue.quotes.collateralMint, amount: '6990000' }],
    });
    expect(order.fills.map(({ size }: { size: number }) => size)).toEqual([4, 1]);
    expect(order.fills.map(({ price }: { price: number }) => price)).toEqual([0.6, 0.61]);
    expect(await who.usage()).toEqual({ trades: 1, amount: 3.01 });
  });

  test('is reverted when nothing is filled, and does not count as a trade then', async () => {
    const who = await newQuoteTrader(service);
    const { orderId, txSignature } = await who.trade();
    venue.landed.set(txSignature, { kind: 'landed' });
    // Closed, but neither filled nor returned: proves nothing.
    venue.outcomes.set(txSignature, { kind: 'closed', fills: [], reverts: [] });
    await until(orderId, 'open', who);
    await service.runJob('follow');
    expect((await who.order(orderId)).status).toBe('open');
    venue.outcomes.set(txSignature, {
      kind: 'closed',
      fills: [],
      reverts: [{ signature: randomSignature(), mint: venue.quotes.collateralMint, amount: 10_000_000n }],
    });
    expect(await until(orderId, 'reverted', who)).toMatchObject({
      orderStatus: 3,
      errorCode: 'reverted',
      errorMessage: expect.any(String),
      filledSize: 0,
    });
    expect(await who.usage()).toEqual({ trades: 0, amount: 0 });
  });

  test('fails on the chain', async () => {
    const who = await newQuoteTrader(service);
    const { orderId, txSignature } = await who.trade();
    venue.landed.set(txSignature, { kind: 'failed', reason: 'InstructionError: insufficient funds' });
    const order = await until(orderId, 'failed', who);
    expect(order).toMatchObject({ orderStatus: 5, errorCode: 'transaction_failed' });
    expect(order.journal.at(-1).detail).toContain('insufficient funds');
    expect(await who.usage()).toEqual({ trades: 0, amount: 0 });
    expect((await who.submit({ ...order, quoteId: orderId }, { signedTransaction: 'AAAA' })).status).toBe(
      409,
    );
  });

  test('delivers to another wallet: the position belongs to that wallet', async () => {
    const who = await newQuoteTrader(service);
    const receiver = createFakeWallet().address;
    const { orderId, txSignature } = await who.trade({ destinationWallet: receiver });
    venue.fill(txSignature, fills(16_000_000n, 9_600_000n));
    expect((await until(orderId, 'filled', who)).fills).toHaveLength(1);
    expect(await positionsOf(who.wallet.address)).toEqual([]);
    expect(await positionsOf(receiver)).toMatchObject([{ size: 16_000_000n }]);
    expect((await who.get(`/markets/orders/${orderId}`)).body.fills).toHaveLength(1);
  });

  test('sells more than the desk recorded: the excess has no gain', async () => {
    const who = await newQuoteTrader(service);
    const bought = await who.trade();
    venue.fill(bought.txSignature, fills(16_000_000n, 9_600_000n));
    await until(bought.orderId, 'filled', who);
    // The wallet got four contracts without the desk.
    const sold = await who.trade({ action: 'SELL', shares: 20 });
    venue.fill(sold.txSignature, { inAmount: 20_000_000n, outAmount: 13_500_000n, fee: 500_000n });
    expect(await until(sold.orderId, 'filled', who)).toMatchObject({
      filledSize: 20,
      filledAmount: 14,
      avgPrice: 0.7,
      feePaid: 0.5,
    });
    // 16 of 20 at 0.70 are 11.20, against 9.60.
    expect(await positionsOf(who.wallet.address)).toMatchObject([
      { size: 0n, cost: 0n, realized: 1_600_000n },
    ]);
    const unknown = await who.trade({ action: 'SELL', side: 'NO', shares: 1 });
    venue.fill(unknown.txSignature, { inAmount: 1_000_000n, outAmount: 400_000n, fee: 0n });
    await until(unknown.orderId, 'filled', who);
    expect(await positionsOf(who.wallet.address)).toMatchObject([
      { outcome: 'YES' },
      { outcome: 'NO', size: 0n, realized: 0n },
    ]);
  });
});

describe('a transaction that does not land', () => {
  test('is sent again, byte for byte, until its blockhash is dead; then trade and amount are returned', async () => {
    const who = await newQuoteTrader(service);
    venue.controls.send = () => ({ kind: 'unknown' });
    const { orderId, txSignature } = await who.trade();
    const sends = () => venue.sent.filter(({ signature }) => signature === txSignature);
    await expect
      .poll(async () => {
        clock.advance(500);
        await service.runJob('follow');
        return sends().length;
      })
      .toBeGreaterThanOrEqual(2);
    expect(new Set(sends().map(({ wire }) => Buffer.from(wire).toString('hex'))).size).toBe(1);
    expect(await who.usage()).toEqual({ trades: 1, amount: 10 });
    const { lastValidBlockHeight } = await who.order(orderId);
    // Too old to be sent, too recent to be dead.
    venue.controls.height = lastValidBlockHeight + 2;
    clock.advance(600);
    const count = sends().length;
    await service.runJob('follow');
    expect((await who.order(orderId)).status).toBe('submitted');
    venue.controls.silent = true;
    venue.controls.height = lastValidBlockHeight + 200;
    clock.advance(600);
    await service.runJob('follow');
    // Silence proves nothing.
    expect((await who.order(orderId)).status).toBe('submitted');
    venue.controls.silent = false;
    expect(await until(orderId, 'expired', who)).toMatchObject({ orderStatus: 3, errorCode: 'not_landed' });
    expect(sends()).toHaveLength(count);
    expect(await who.usage()).toEqual({ trades: 0, amount: 0 });
  });

  test('is refused by the node: reported at once, and again on a repeat', async () => {
    const who = await newQuoteTrader(service);
    venue.controls.send = () => ({ kind: 'refused', reason: 'insufficient lamports' });
    const quote = await who.quote();
    const first = await who.submit(quote);
    expect(first).toMatchObject({
      status: 200,
      body: { success: false, status: 'failed', orderStatus: 5, errorCode: 'refused_by_chain' },
    });
    expect((await who.submit(quote)).body).toEqual(first.body);
    expect(await who.usage()).toEqual({ trades: 0, amount: 0 });
    expect((await who.order(quote.quoteId)).journal.at(-1)).toMatchObject({
      status: 'failed',
      detail: 'insufficient lamports',
    });
  });

  test('is refused because it has already landed: counts as landed', async () => {
    const who = await newQuoteTrader(service);
    venue.controls.send = (signature) => {
      venue.fill(signature, fills(16_000_000n, 9_600_000n));
      return { kind: 'refused', reason: 'AlreadyProcessed' };
    };
    const { orderId, success } = await who.trade();
    expect(success).toBe(true);
    await until(orderId, 'filled', who);
  });

  test('is followed although the first send got no answer', async () => {
    const who = await newQuoteTrader(service);
    venue.controls.send = () => ({ kind: 'unknown' });
    const { orderId, txSignature, status } = await who.trade();
    expect(status).toBe('submitted');
    venue.fill(txSignature, fills(16_000_000n, 9_600_000n));
    await until(orderId, 'filled', who);
  });
});

describe('two replicas that follow the same order', () => {
  test('record every fill once', async () => {
    const who = await newQuoteTrader(service);
    const orders = await Promise.all(Array.from({ length: 20 }, () => who.trade()));
    for (const { txSignature } of orders) venue.fill(txSignature, fills(16_000_000n, 9_600_000n, 100_000n));
    // As if every lease had already expired.
    for (let i = 0; i < 6; i += 1) {
      await sql`update chain_orders set due_at = now() - interval '1 minute' where stage <> 'done'`;
      await Promise.all([
        followChainOrders(service.needs),
        sql`update chain_orders set due_at = now() - interval '1 minute' where stage <> 'done'`,
        followChainOrders(service.needs),
        followChainOrders(service.needs),
      ]);
    }
    for (const { orderId } of orders) await until(orderId, 'filled', who);
    expect(await positionsOf(who.wallet.address)).toMatchObject([
      { size: 320_000_000n, cost: 192_000_000n, fees: 2_000_000n },
    ]);
    const [count] = await sql`select count(*)::int as n from fills where wallet = ${who.wallet.address}`;
    expect(count?.n).toBe(20);
    expect(await who.usage()).toEqual({ trades: 20, amount: 192 });
  });
});

describe('a settled market', () => {
  test('is recorded; an order that no safeguard denies redeems the winner and does not count as a trade', async () => {
    const who = await newQuoteTrader(service);
    venue.listed.set('KXEND', fakeMarket('KXEND'));
    const bought = await who.trade({ marketTicker: 'KXEND' });
    venue.fill(bought.txSignature, fills(16_000_000n, 9_600_000n));
    await until(bought.orderId, 'filled', who);
    expect(await resolveMarkets(service.needs)).toBe(0);
    venue.settle('KXEND', 'YES');
    await Promise.all([resolveMarkets(service.needs), resolveMarkets(service.needs)]);
    const [market] = await sql`select payout, venue from traded_markets where condition_id = 'KXEND'`;
    expect(market).toEqual({ payout: 'YES', venue: 'kalshi' });
    // The job for winnings that are paid on request does not include it.
    const due = await service.needs.redemptions.due(['polymarket'], 100);
    expect(due.map(({ conditionId }) => conditionId)).not.toContain('KXEND');

    const before = await who.usage();
    await who.client.updateSettings({ tradingPaused: true, maxTradesPerDay: 0, maxTradeAmount: 1 });
    const quote = await who.quote({ marketTicker: 'KXEND', action: 'SELL', shares: 16 });
    expect(quote).toMatchObject({
      isRedemption: true,
      outAmount: '16000000',
      status: 'settled',
      yesPrice: '1',
    });
    const redeemed = (await who.submit(quote)).body;
    expect(redeemed).toMatchObject({ success: true, status: 'submitted' });
    venue.fill(redeemed.txSignature, { inAmount: 16_000_000n, outAmount: 16_000_000n, fee: 0n });
    expect(await until(redeemed.orderId, 'filled', who)).toMatchObject({ isRedemption: true, avgPrice: 1 });
    expect(await positionsOf(who.wallet.address)).toMatchObject([{ size: 0n, realized: 6_400_000n }]);
    expect(await who.usage()).toEqual(before);
    const [results] = await sql`select sum(trades)::int as trades, sum(volume)::bigint as volume
      from agent_results where agent_id = ${who.agentId}`;
    expect(results).toEqual({ trades: 1, volume: 9_600_000n });
    expect((await who.quote()).quoteErrorCode).toBe('trading_paused');
  });

  test('a failed redemption returns no trade, because it reserved none', async () => {
    const who = await newQuoteTrader(service);
    venue.listed.set('KXEND2', fakeMarket('KXEND2'));
    venue.settle('KXEND2', 'YES');
    await who.trade();
    expect(await who.usage()).toEqual({ trades: 1, amount: 10 });
    const { orderId, txSignature } = await who.trade({ marketTicker: 'KXEND2', action: 'SELL', shares: 3 });
    venue.landed.set(txSignature, { kind: 'failed', reason: 'nothing there' });
    await until(orderId, 'failed', who);
    expect(await who.usage()).toEqual({ trades: 1, amount: 10 });
  });
});

describe('records', () => {
  test('are listed, filtered by status number, and the same on every route', async () => {
    const who = await newQuoteTrader(service);
    const filled = await who.trade();
    venue.fill(filled.txSignature, fills(16_000_000n, 9_600_000n));
    await until(filled.orderId, 'filled', who);
    const failed = await who.trade({ marketTicker: 'KXTEST-2' });
    venue.landed.set(failed.txSignature, { kind: 'failed', reason: 'no' });
    await until(failed.orderId, 'failed', who);
    const reverted = await who.trade();
    venue.landed.set(reverted.txSignature, { kind: 'landed' });
    venue.outcomes.set(reverted.txSignature, {
      kind: 'closed',
      fills: [],
      reverts: [{ signature: randomSignature(), mint: venue.quotes.collateralMint, amount: 1n }],
    });
    await until(reverted.orderId, 'reverted', who);
    const open = await who.trade();
    const ids = async (query: string) => {
      const { body, headers } = await who.get(`/venueb/agent/orders${query}`);
      expect(
        body.every((one: unknown) => isOrder(one)),
        JSON.stringify(isOrder.errors),
      ).toBe(true);
      return {
        ids: body.map((one: { orderId: string }) => one.orderId),
        total: headers.get('x-total-count'),
      };
    };
    expect(await ids('')).toEqual({
      ids: [open, reverted, failed, filled].map(({ orderId }) => orderId),
      total: '4',
    });
    expect(await ids('?orderStatus=1')).toEqual({ ids: [open.orderId], total: '1' });
    expect(await ids('?orderStatus=2')).toEqual({ ids: [filled.orderId], total: '1' });
    expect(await ids('?orderStatus=3')).toEqual({ ids: [reverted.orderId], total: '1' });
    expect(await ids('?orderStatus=5')).toEqual({ ids: [failed.orderId], total: '1' });
    expect(await ids('?marketTicker=KXTEST-2&limit=1')).toEqual({ ids: [failed.orderId], total: '1' });
    expect(await ids('?limit=1&offset=1')).toEqual({ ids: [reverted.orderId], total: '4' });

    const everywhere = (await who.get('/markets/orders')).body;
    expect(everywhere.map((one: { status: string }) => one.status)).toEqual([
      'submitted',
      'reverted',
      'failed',
      'filled',
    ]);
    expect(everywhere[0]).toMatchObject({
      venue: 'kalshi',
      signatureType: null,
      orderVersion: null,
      orderType: 'FAK',
    });
    expect((await who.get('/markets/orders/open')).body).toMatchObject([{ orderId: open.orderId }]);
    expect((await who.get(`/markets/orders/${filled.orderId}`)).body).toMatchObject({
      status: 'filled',
      fills: [{ matchKind: 'DFLOW', liquidity: 'taker' }],
      journal: [{ status: 'submitted' }, { status: 'open' }, { status: 'filled' }],
    });
    const { trades } = (await who.get('/agents/trades')).body;
    expect(trades.map((one: { status: string }) => one.status)).toEqual([
      'submitted',
      'reverted',
      'failed',
      'filled',
    ]);
    const stranger = await newQuoteTrader(service);
    for (const id of [filled.orderId, filled.txSignature, 'nothing']) {
      expect(await stranger.get(`/venueb/agent/orders/${id}`)).toMatchObject({ status: 404 });
    }
  });
});
