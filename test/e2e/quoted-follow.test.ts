/** The outcome of a submitted transaction: any replica follows it to its end. */
import { QuotedOrder, QuotedOrderDetail } from '@bellwether/contract';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openPool, type Sql } from '../../packages/server/src/platform/database/connection.ts';
import { resolveMarkets } from '../../packages/server/src/positions/redeem.ts';
import { followChainOrders } from '../../packages/server/src/quoting/follow.ts';
import {
  CALM,
  createFakeWallet,
  type FakeQuoteVenue,
  fakeMarket,
  randomSignature,
} from '../fake-quote-venue.ts';
import type { RawAnswer, TestService } from '../harness.ts';
import { expectShape, newQuoteTrader, SIXTEEN, startQuotingDesk, type TraderB } from '../quote-trader.ts';
import { movingClock } from '../world.ts';

const clock = movingClock();
let service: TestService;
let venue: FakeQuoteVenue;
let sql: Sql;

beforeAll(async () => {
  ({ service, venue } = await startQuotingDesk(clock));
  sql = openPool(service.databaseUrl, { max: 2 });
  return () => sql.end();
});
afterEach(() => Object.assign(venue.controls, CALM));

/** One turn of the job, half a second after the one before. */
async function turn(): Promise<void> {
  clock.advance(500);
  await service.runJob('follow');
}

/** Follows the order until it has the status. */
async function until(who: TraderB, orderId: string, status: string): Promise<RawAnswer['body']> {
  for (let turns = 0; turns < 100; turns += 1) {
    await turn();
    const order = await who.order(orderId);
    if (order.status !== status) continue;
    expectShape(QuotedOrderDetail, order);
    return order;
  }
  throw new Error(`${orderId} does not read ${status}`);
}

const positionsOf = (wallet: string) =>
  sql`select outcome, size, cost, realized, fees from positions where wallet = ${wallet} order by outcome desc`;
const statusesOf = (orders: { status: string }[]) => orders.map(({ status }) => status);
/** What the venue gave back of the collateral. */
const returned = (amount: bigint) => ({
  signature: randomSignature(),
  mint: venue.quotes.collateralMint,
  amount,
});

describe('a transaction that lands', () => {
  test('is open, then filled by another transaction; the unspent amount is returned', async () => {
    const who = await newQuoteTrader(service);
    const { orderId, txSignature } = await who.trade({ reasoning: 'why not' });
    expect(await who.usage()).toEqual({ trades: 1, amount: 10 });
    venue.landed.set(txSignature, { kind: 'landed' });
    expect(await until(who, orderId, 'open')).toMatchObject({ orderStatus: 1, filledSize: 0, fills: [] });
    const bought = { inAmount: 9_900_000n, outAmount: 16_000_000n, fee: 300_000n };
    venue.fill(txSignature, bought, [returned(100_000n)]);
    const order = await until(who, orderId, 'filled');
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
      reverts: [{ amount: '100000' }],
      fills: [{ price: 0.6, size: 16, cost: 9.6, fee: 0.3, txSignature: expect.stringMatching(/^\w{80,}$/) }],
    });
    expect(order.fills[0].txSignature).not.toBe(txSignature);
    expect(order.journal.map(({ event, status }: Record<string, string>) => `${event} → ${status}`)).toEqual([
      'recorded → submitted',
      'landed → open',
      'filled_completely → filled',
    ]);
    expect(await who.order(txSignature)).toEqual(order);
    expect(await positionsOf(who.wallet.address)).toEqual([
      { outcome: 'YES', size: 16_000_000n, cost: 9_600_000n, realized: 0n, fees: 300_000n },
    ]);
    // 9.6 of the 10 reserved were spent, without fees.
    expect(await who.usage()).toEqual({ trades: 1, amount: 9.6 });
  });

  test('is partially filled when the venue returns the rest', async () => {
    const who = await newQuoteTrader(service);
    const { orderId, txSignature } = await who.trade();
    const early = { signature: randomSignature(), inAmount: 2_400_000n, outAmount: 4_000_000n, fee: 0n };
    venue.landed.set(txSignature, { kind: 'landed' });
    venue.outcomes.set(txSignature, { kind: 'open', fills: [early], reverts: [] });
    await until(who, orderId, 'open');
    await expect.poll(() => turn().then(async () => (await who.order(orderId)).filledSize)).toBe(4);
    // One transaction may fill twice, and the order of the list may change.
    const later = { signature: randomSignature(), inAmount: 610_000n, outAmount: 1_000_000n, fee: 0n };
    venue.outcomes.set(txSignature, {
      kind: 'closed',
      fills: [later, early],
      reverts: [returned(6_990_000n)],
    });
    expect(await until(who, orderId, 'partially_filled')).toMatchObject({
      orderStatus: 2,
      filledSize: 5,
      filledAmount: 3.01,
      avgPrice: 0.602,
      reverts: [{ mint: venue.quotes.collateralMint, amount: '6990000' }],
      fills: [
        { size: 4, price: 0.6 },
        { size: 1, price: 0.61 },
      ],
    });
    expect(await who.usage()).toEqual({ trades: 1, amount: 3.01 });
  });

  test('is partially filled when less comes than was promised, although nothing came back', async () => {
    const who = await newQuoteTrader(service);
    const { orderId, txSignature } = await who.trade();
    venue.fill(txSignature, { inAmount: 9_990_000n, outAmount: 1_000_000n, fee: 0n });
    const { journal } = await until(who, orderId, 'partially_filled');
    expect(journal.at(-1).detail).toBe('1 where the quote promised at least 16; nothing came back');
  });

  test('is reverted when nothing is filled, and does not count as a trade then', async () => {
    const who = await newQuoteTrader(service);
    const { orderId, txSignature } = await who.trade();
    venue.landed.set(txSignature, { kind: 'landed' });
    // Closed, but neither filled nor returned: proves nothing.
    venue.outcomes.set(txSignature, { kind: 'closed', fills: [], reverts: [] });
    await until(who, orderId, 'open');
    await service.runJob('follow');
    expect((await who.order(orderId)).status).toBe('open');
    venue.outcomes.set(txSignature, { kind: 'closed', fills: [], reverts: [returned(10_000_000n)] });
    expect(await until(who, orderId, 'reverted')).toMatchObject({
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
    const order = await until(who, orderId, 'failed');
    expect(order).toMatchObject({ orderStatus: 5, errorCode: 'transaction_failed' });
    expect(order.journal.at(-1).detail).toContain('insufficient funds');
    expect(await who.usage()).toEqual({ trades: 0, amount: 0 });
    expect((await who.submit({ quoteId: orderId }, { signedTransaction: 'AAAA' })).status).toBe(409);
  });

  test('delivers to another wallet: the position belongs to that wallet', async () => {
    const who = await newQuoteTrader(service);
    const receiver = createFakeWallet().address;
    const { orderId, txSignature } = await who.trade({ destinationWallet: receiver });
    venue.fill(txSignature, SIXTEEN);
    expect((await until(who, orderId, 'filled')).fills).toHaveLength(1);
    expect(await positionsOf(who.wallet.address)).toEqual([]);
    expect(await positionsOf(receiver)).toMatchObject([{ size: 16_000_000n }]);
    expect((await who.get(`/markets/orders/${orderId}`)).body.fills).toHaveLength(1);
  });

  test('sells more than the desk recorded: the excess has no gain', async () => {
    const who = await newQuoteTrader(service);
    const bought = await who.trade();
    venue.fill(bought.txSignature, SIXTEEN);
    await until(who, bought.orderId, 'filled');
    // The wallet got four contracts without the desk.
    const sold = await who.trade({ action: 'SELL', shares: 20 });
    venue.fill(sold.txSignature, { inAmount: 20_000_000n, outAmount: 13_500_000n, fee: 500_000n });
    expect(await until(who, sold.orderId, 'filled')).toMatchObject({
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
    await until(who, unknown.orderId, 'filled');
    expect(await positionsOf(who.wallet.address)).toMatchObject([
      { outcome: 'YES' },
      { outcome: 'NO', size: 0n, realized: 0n },
    ]);
  });

  test('is filled once, whatever number of replicas follow it', async () => {
    const who = await newQuoteTrader(service);
    const orders = await Promise.all(Array.from({ length: 20 }, () => who.trade()));
    for (const { txSignature } of orders)
      venue.fill(txSignature, { inAmount: 9_700_000n, outAmount: 16_000_000n, fee: 100_000n });
    // As if every lease had already expired.
    const expire = () =>
      sql`update chain_orders set due_at = now() - interval '1 minute' where stage <> 'done'`;
    const follow = () => followChainOrders(service.needs);
    for (let i = 0; i < 6; i += 1) {
      await expire();
      await Promise.all([follow(), expire(), follow(), follow()]);
    }
    for (const { orderId } of orders) await until(who, orderId, 'filled');
    expect(await positionsOf(who.wallet.address)).toMatchObject([
      { size: 320_000_000n, cost: 192_000_000n, fees: 2_000_000n },
    ]);
    const [count] = await sql`select count(*)::int as n from fills where wallet = ${who.wallet.address}`;
    expect(count?.n).toBe(20);
    expect(await who.usage()).toEqual({ trades: 20, amount: 192 });
  });
});

describe('a transaction that does not land', () => {
  test('is sent again, byte for byte, until its blockhash is dead; then trade and amount are returned', async () => {
    const who = await newQuoteTrader(service);
    venue.controls.send = () => ({ kind: 'unknown' });
    const { orderId, txSignature } = await who.trade();
    const sends = () => venue.sent.filter(({ signature }) => signature === txSignature);
    await expect.poll(() => turn().then(() => sends().length)).toBeGreaterThanOrEqual(2);
    expect(new Set(sends().map(({ wire }) => Buffer.from(wire).toString('hex'))).size).toBe(1);
    expect(await who.usage()).toEqual({ trades: 1, amount: 10 });
    const { lastValidBlockHeight } = await who.order(orderId);
    const count = sends().length;
    // Too old to be sent, too recent to be dead; and while the chain is silent, silence proves nothing.
    for (const [age, silent] of [
      [2, false],
      [200, true],
    ] as const) {
      Object.assign(venue.controls, { height: lastValidBlockHeight + age, silent });
      clock.advance(100);
      await turn();
      expect((await who.order(orderId)).status).toBe('submitted');
    }
    venue.controls.silent = false;
    expect(await until(who, orderId, 'expired')).toMatchObject({ orderStatus: 3, errorCode: 'not_landed' });
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
      venue.fill(signature, SIXTEEN);
      return { kind: 'refused', reason: 'AlreadyProcessed' };
    };
    const { orderId, success } = await who.trade();
    expect(success).toBe(true);
    await until(who, orderId, 'filled');
  });

  test('is followed although the first send got no answer', async () => {
    const who = await newQuoteTrader(service);
    venue.controls.send = () => ({ kind: 'unknown' });
    const { orderId, txSignature, status } = await who.trade();
    expect(status).toBe('submitted');
    venue.fill(txSignature, SIXTEEN);
    await until(who, orderId, 'filled');
  });
});

describe('a settled market', () => {
  test('is recorded; an order that no safeguard denies redeems the winner and does not count as a trade', async () => {
    const who = await newQuoteTrader(service);
    venue.listed.set('KXEND', fakeMarket('KXEND'));
    const bought = await who.trade({ marketTicker: 'KXEND' });
    venue.fill(bought.txSignature, SIXTEEN);
    await until(who, bought.orderId, 'filled');
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
    expect(quote.quoteErrorCode).toBeUndefined();
    const redeemed = (await who.submit(quote)).body;
    expect(redeemed).toMatchObject({ success: true, status: 'submitted' });
    venue.fill(redeemed.txSignature, { inAmount: 16_000_000n, outAmount: 16_000_000n, fee: 0n });
    expect(await until(who, redeemed.orderId, 'filled')).toMatchObject({ isRedemption: true, avgPrice: 1 });
    expect(await positionsOf(who.wallet.address)).toMatchObject([{ size: 0n, realized: 6_400_000n }]);
    expect(await who.usage()).toEqual(before);
    const [results] = await sql`select sum(trades)::int as trades, sum(volume)::bigint as volume
      from agent_results where agent_id = ${who.agentId}`;
    expect(results).toEqual({ trades: 1, volume: 9_600_000n });
    expect((await who.quote()).quoteErrorCode).toBe('trading_paused');
  });

  test('that pays 0.24 is resolved, worth that on every page, and redeems for it', async () => {
    const who = await newQuoteTrader(service);
    venue.listed.set('KXPART', fakeMarket('KXPART'));
    const bought = await who.trade({ marketTicker: 'KXPART' });
    venue.fill(bought.txSignature, SIXTEEN);
    await until(who, bought.orderId, 'filled');
    venue.settle('KXPART', '0.24');
    await resolveMarkets(service.needs);
    const { client } = who;
    expect(await client.getCurrentPositions({ venue: 'kalshi' })).toMatchObject([
      { size: 16, currentPrice: 0.24, currentValue: 3.84, unrealizedPnl: -5.76, redeemable: true },
    ]);
    expect(await client.getMarket('KXPART')).toMatchObject({ resolved: true, yesPrice: 0.24, noPrice: 0.76 });
    const { market } = await client.getMarketContext('KXPART');
    expect(market).toMatchObject({ status: 'resolved', yesPrice: 0.24 });
    const { riskAlerts } = await client.getBriefing();
    expect(riskAlerts.map(({ message }) => message).join()).toContain(
      'YES pays a part: 3.84 can be redeemed',
    );
    expect(await client.getPortfolio({ venue: 'kalshi' })).toMatchObject({
      positionsCount: 1,
      unrealizedPnl: -5.76,
    });

    const quote = await who.quote({ marketTicker: 'KXPART', action: 'SELL', shares: 16 });
    expect(quote).toMatchObject({
      isRedemption: true,
      outAmount: '3840000',
      yesPrice: '0.24',
      noPrice: '0.76',
    });
    const redeemed = (await who.submit(quote)).body;
    venue.fill(redeemed.txSignature, { inAmount: 16_000_000n, outAmount: 3_840_000n, fee: 0n });
    expect(await until(who, redeemed.orderId, 'filled')).toMatchObject({
      isRedemption: true,
      avgPrice: 0.24,
    });
    expect(await positionsOf(who.wallet.address)).toMatchObject([{ size: 0n, realized: -5_760_000n }]);
  });

  test('with a result that the desk does not know is named, not redeemed, and valued by nothing new', async () => {
    const who = await newQuoteTrader(service);
    venue.listed.set('KXVOID', fakeMarket('KXVOID'));
    const bought = await who.trade({ marketTicker: 'KXVOID' });
    venue.fill(bought.txSignature, SIXTEEN);
    await until(who, bought.orderId, 'filled');
    const ended = { status: 'closed', phase: 'closed', unknownResult: 'void' } as const;
    venue.listed.set('KXVOID', { ...fakeMarket('KXVOID'), ...ended });
    expect(await resolveMarkets(service.needs)).toBe(0);
    const { client } = who;
    expect(await client.getMarket('KXVOID')).toMatchObject({ resolved: false, unknownResult: 'void' });
    expect(await client.getCurrentPositions({ venue: 'kalshi' })).toMatchObject([
      { size: 16, redeemable: false },
    ]);
    expect((await client.getBriefing()).riskAlerts.map(({ code }) => code)).toContain('unknown_result');
    const { warnings } = await client.getMarketContext('KXVOID');
    expect(warnings.map(({ code }) => code)).toContain('unknown_result');
  });

  test('a failed redemption returns no trade, because it reserved none', async () => {
    const who = await newQuoteTrader(service);
    venue.listed.set('KXEND2', fakeMarket('KXEND2'));
    venue.settle('KXEND2', 'YES');
    await who.trade();
    expect(await who.usage()).toEqual({ trades: 1, amount: 10 });
    const { orderId, txSignature } = await who.trade({ marketTicker: 'KXEND2', action: 'SELL', shares: 3 });
    venue.landed.set(txSignature, { kind: 'failed', reason: 'nothing there' });
    await until(who, orderId, 'failed');
    expect(await who.usage()).toEqual({ trades: 1, amount: 10 });
  });
});

test('records are listed, filtered by status number, and the same on every route', async () => {
  const who = await newQuoteTrader(service);
  const filled = await who.trade();
  venue.fill(filled.txSignature, SIXTEEN);
  await until(who, filled.orderId, 'filled');
  const failed = await who.trade({ marketTicker: 'KXTEST-2' });
  venue.landed.set(failed.txSignature, { kind: 'failed', reason: 'no' });
  await until(who, failed.orderId, 'failed');
  const reverted = await who.trade();
  venue.landed.set(reverted.txSignature, { kind: 'landed' });
  venue.outcomes.set(reverted.txSignature, { kind: 'closed', fills: [], reverts: [returned(1n)] });
  await until(who, reverted.orderId, 'reverted');
  const open = await who.trade();
  for (const [query, total, ...listed] of [
    ['', '4', open, reverted, failed, filled],
    ['?orderStatus=1', '1', open],
    ['?orderStatus=2', '1', filled],
    ['?orderStatus=3', '1', reverted],
    ['?orderStatus=5', '1', failed],
    ['?marketTicker=KXTEST-2&limit=1', '1', failed],
    ['?limit=1&offset=1', '4', reverted],
  ]) {
    const { body, headers } = await who.get(`/venueb/agent/orders${query}`);
    for (const order of body) expectShape(QuotedOrder, order);
    expect(body.map(({ orderId }: { orderId: string }) => orderId)).toEqual(
      listed.map(({ orderId }) => orderId),
    );
    expect(headers.get('x-total-count'), query).toBe(total);
  }

  const statuses = ['submitted', 'reverted', 'failed', 'filled'];
  const everywhere = (await who.get('/markets/orders')).body;
  expect(statusesOf(everywhere)).toEqual(statuses);
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
  expect(statusesOf((await who.get('/agents/trades')).body.trades)).toEqual(statuses);
  const stranger = await newQuoteTrader(service);
  for (const id of [filled.orderId, filled.txSignature, 'nothing'])
    expect((await stranger.get(`/venueb/agent/orders/${id}`)).status).toBe(404);
});
