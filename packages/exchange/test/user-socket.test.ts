/** The user channel over TCP: orders, trades with rising status, credentials. */
import { MICRO } from '@bellwether/contract/decimals';
import { type Address, walletKindsOf } from '@bellwether/protocol';
import { describe, expect, test } from 'vitest';
import { wireTrade } from '../src/doors/polymarket/index.ts';
import type { JournalledExchange, NewOrder } from '../src/index.ts';
import { ALICE, marketBuy, orderId, restingBid } from './open-exchange-stage.ts';
import { BOB, socketStage } from './socket-stage.ts';

/** A bid above the house's, which the next seller meets first. */
function bestBid(exchange: JournalledExchange, number: number): NewOrder {
  const order = restingBid(exchange, number);
  const limit = exchange.book(order.conditionId, 'YES', 1)!.bids[0]![0] + 100;
  return { ...order, limit, size: 10n * MICRO };
}

async function sellTo(exchange: JournalledExchange, order: NewOrder, number: number, size: bigint) {
  const { conditionId, limit } = order;
  await exchange.execute({ kind: 'split', account: BOB, conditionId, amount: size });
  const sell: NewOrder = {
    ...order,
    ...{ orderId: orderId(number), account: BOB, side: 'SELL', limit, size, timeInForce: 'FAK' },
  };
  await exchange.execute({ kind: 'place', order: sell });
}

describe('orders', () => {
  test('are sent when they are placed, matched and cancelled', async () => {
    const { exchange, clock, user, auth } = await socketStage();
    const client = await user(auth);
    const order = bestBid(exchange, 1);
    await exchange.execute({ kind: 'place', order });
    await sellTo(exchange, order, 2, 4n * MICRO);
    await exchange.execute({ kind: 'cancel', account: ALICE, orderIds: [order.orderId] });
    await client.until((one) => one.of('order').length === 3);
    const market = exchange.market(order.conditionId)!;
    const [placed, updated, cancelled] = client.of('order');
    const seconds = String(Math.floor(clock.time / 1000));
    expect(placed).toEqual({
      event_type: 'order',
      type: 'PLACEMENT',
      id: order.orderId,
      owner: auth.apiKey,
      order_owner: auth.apiKey,
      market: order.conditionId,
      asset_id: market.tokenIds[0],
      side: 'BUY',
      original_size: '10',
      size_matched: '0',
      price: String(order.limit / 10_000),
      associate_trades: null,
      outcome: 'Yes',
      created_at: seconds,
      expiration: '0',
      order_type: 'GTC',
      status: 'LIVE',
      maker_address: ALICE,
      timestamp: String(clock.time),
    });
    const [trade] = await exchange.history.trades({ account: ALICE, limit: 1 });
    expect(updated).toMatchObject({
      type: 'UPDATE',
      size_matched: '4',
      status: 'LIVE',
      associate_trades: [trade!.id],
    });
    expect(cancelled).toMatchObject({ type: 'CANCELLATION', size_matched: '4', status: 'CANCELED' });
  });

  test('that were open before are known; a killed one carries its reason', async () => {
    const { exchange, user, auth } = await socketStage();
    const order = bestBid(exchange, 1);
    await exchange.execute({ kind: 'place', order });
    const client = await user(auth);
    await sellTo(exchange, order, 2, 10n * MICRO);
    const killed = { ...marketBuy(exchange, 3), limit: 100, timeInForce: 'FOK' as const };
    await exchange.execute({ kind: 'place', order: killed });
    await exchange.execute({ kind: 'place', order: marketBuy(exchange, 4) });
    await client.until((one) => one.of('order').length === 3);
    expect(client.of('order')).toMatchObject([
      { id: order.orderId, type: 'UPDATE', status: 'MATCHED', size_matched: '10' },
      {
        id: killed.orderId,
        type: 'CANCELLATION',
        status: "CANCELED_order couldn't be fully filled. FOK orders are fully filled or killed.",
      },
      { id: orderId(4), type: 'PLACEMENT', status: 'MATCHED', original_size: '5', order_type: 'FAK' },
    ]);
  });

  test('only of the key’s accounts, and of the markets that were asked for', async () => {
    const { exchange, user, auth } = await socketStage();
    const { safe } = walletKindsOf(ALICE as Address);
    await exchange.execute({ kind: 'deposit', account: safe, amount: 10_000n * MICRO });
    const order = restingBid(exchange, 1);
    const [other] = [...exchange.markets()].filter(
      ({ conditionId, status, tickSize }) =>
        conditionId !== order.conditionId && status === 'open' && tickSize === 100,
    );
    const all = await user(auth);
    const some = await user(auth, [other!.conditionId]);
    await exchange.execute({ kind: 'place', order });
    await exchange.execute({ kind: 'place', order: { ...order, orderId: orderId(2), account: safe } });
    await exchange.execute({ kind: 'place', order: { ...order, orderId: orderId(3), account: BOB } });
    const there = { ...order, orderId: orderId(4), conditionId: other!.conditionId };
    await exchange.execute({ kind: 'place', order: there });
    await all.until((one) => one.of('order').length === 3);
    await some.until((one) => one.of('order').length === 1);
    expect(all.of('order').map(({ id }) => id)).toEqual([order.orderId, orderId(2), orderId(4)]);
    expect(some.of('order').map(({ id }) => id)).toEqual([orderId(4)]);
    some.send({ operation: 'subscribe', markets: [order.conditionId] });
    some.send({ operation: 'unsubscribe', markets: [other!.conditionId] });
    some.send('PING');
    await some.until(({ frames }) => frames.includes('PONG'));
    await exchange.execute({ kind: 'place', order: { ...there, orderId: orderId(5) } });
    await exchange.execute({ kind: 'place', order: { ...order, orderId: orderId(6) } });
    await some.until((one) => one.of('order').length === 2);
    expect(some.of('order')[1]!.id).toBe(orderId(6));
  });
});

describe('trades', () => {
  test('are sent to taker and maker at the match, when they are mined and when they are confirmed', async () => {
    const { exchange, clock, user, auth, keys } = await socketStage({
      exchange: { settlement: { minedAfterMs: 60, confirmedAfterMs: 120 } },
    });
    const bobs = (await keys.create(BOB as Address, 0n))!;
    const maker = await user(auth);
    const taker = await user(bobs);
    const order = bestBid(exchange, 1);
    await exchange.execute({ kind: 'place', order });
    await sellTo(exchange, order, 2, 4n * MICRO);
    for (const client of [maker, taker]) {
      await client.until((one) => one.of('trade').length === 3);
      expect(client.of('trade').map(({ status }) => status)).toEqual(['MATCHED', 'MINED', 'CONFIRMED']);
      expect(client.of('trade').map(({ transaction_hash: hash }) => hash)).toEqual([
        null,
        expect.stringMatching(/^0x[0-9a-f]{64}$/),
        expect.stringMatching(/^0x[0-9a-f]{64}$/),
      ]);
      expect(new Set(client.of('trade').map(({ id }) => id)).size).toBe(1);
    }
    const [first] = taker.of('trade');
    expect(first).toMatchObject({
      event_type: 'trade',
      type: 'TRADE',
      taker_order_id: orderId(2),
      side: 'SELL',
      size: '4',
      price: String(order.limit / 10_000),
      outcome: 'Yes',
      trader_side: 'TAKER',
      owner: bobs.apiKey,
      trade_owner: bobs.apiKey,
      match_time: String(Math.floor(clock.time / 1000)),
      maker_orders: [
        { order_id: orderId(1), maker_address: ALICE, matched_amount: '4', side: 'BUY', outcome_index: 0 },
      ],
    });
    expect(maker.of('trade')[0]).toMatchObject({
      trader_side: 'MAKER',
      trade_owner: auth.apiKey,
      maker_orders: [{ owner: auth.apiKey }],
    });
    expect(first!.maker_orders[0].owner).not.toBe(auth.apiKey);
    // The poll says the same.
    clock.time += 1_000;
    const [record] = await exchange.history.trades({ account: BOB, limit: 1 });
    const polled = wireTrade(record!, { accounts: new Set([BOB]), apiKey: bobs.apiKey });
    const last = taker.of('trade')[2]!;
    for (const [field, value] of Object.entries(polled))
      if (field !== 'match_time_nano') expect(last[field], field).toEqual(value);
  });

  test('that fail are sent as RETRYING and FAILED, without a hash', async () => {
    const { exchange, clock, user, auth } = await socketStage({
      exchange: { settlement: { minedAfterMs: 30, confirmedAfterMs: 60 }, failingTrades: () => true },
    });
    const client = await user(auth);
    await exchange.execute({ kind: 'place', order: marketBuy(exchange, 1) });
    await client.until((one) => one.of('trade').length === 2);
    clock.time += 60;
    await exchange.reverseFailed();
    await client.until((one) => one.of('trade').length === 3);
    expect(client.of('trade').map(({ status, transaction_hash: hash }) => [status, hash])).toEqual([
      ['MATCHED', null],
      ['RETRYING', null],
      ['FAILED', null],
    ]);
    expect(exchange.available(ALICE)).toBe(10_000n * MICRO);
  });

  test('against the house show an address and a digest, not its names', async () => {
    const { exchange, user, auth } = await socketStage();
    const client = await user(auth);
    await exchange.execute({ kind: 'place', order: marketBuy(exchange, 1) });
    await client.until((one) => one.of('trade').length === 1);
    expect(client.frames.join()).not.toContain('house');
    for (const maker of client.of('trade')[0]!.maker_orders) {
      expect(maker.order_id).toMatch(/^0x[0-9a-f]{64}$/);
      expect(maker.maker_address).toMatch(/^0x[0-9a-f]{40}$/);
    }
  });
});

describe('credentials', () => {
  test.each(['secret', 'passphrase', 'apiKey'] as const)('a wrong %s closes the socket', async (field) => {
    const { connect, auth } = await socketStage();
    const client = await connect('user');
    client.send({ type: 'user', auth: { ...auth, [field]: `${auth[field].slice(0, -2)}zz` } });
    expect(await client.closed).toMatchObject({ code: 1008, reason: 'Unauthorized/Invalid api key' });
    expect(client.frames).toEqual([]);
  });

  test('nothing is sent before they were given', async () => {
    const { exchange, connect } = await socketStage();
    const client = await connect('user');
    client.send({ operation: 'subscribe', markets: [restingBid(exchange, 1).conditionId] });
    client.send({ type: 'user', markets: [] });
    client.send({ type: 'user', auth: { apiKey: 5 } });
    await exchange.execute({ kind: 'place', order: restingBid(exchange, 1) });
    client.send('PING');
    await client.until(({ frames }) => frames.length > 0);
    expect(client.frames).toEqual(['PONG']);
  });
});
