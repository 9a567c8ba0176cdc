/** A trade that is kept aside, as the operator finds it and decides about it over HTTP. */
import { expect, test } from 'vitest';
import { call, openMarkets, type RawAnswer } from '../harness.ts';
import { liveOrder, newLiveTrader, orderAt, poolOf, startLiveDesk, startVenue } from '../live-desk.ts';

const OPERATOR_KEY = 'operator-key-of-the-kept-trades';

test('is listed with its order, decided once, and only with the operator’s key', async () => {
  const venue = await startVenue();
  const desk = await startLiveDesk(venue, { OPERATOR_KEY });
  const trader = await newLiveTrader(desk, venue);
  const [market] = await openMarkets(trader.client);
  const { orderId } = await trader.client.placeTrade(await liveOrder(trader, market!, { side: 'BUY' }));
  // As the adapter writes a trade of ten shares in millionths.
  const said = { size: '10000000000000', cost: '1000000000000', fee: '0', price: 1000, liquidity: 'taker' };
  const aside = { why: 'it is too much', since: Date.now(), said: { ...said, matchedAt: Date.now() } };
  const sql = poolOf(desk);
  await sql`insert into venue_trades (order_id, trade_id, nth, status, size, cost, fee, is_counted, aside_state, aside)
    values (${orderId}, 't1', 0, 'confirmed', 0, 0, 0, false, 'held', ${sql.json(aside)})`;

  expect((await call(desk, 'GET', '/operator/kept-trades', { key: trader.apiKey })).status).toBe(401);
  const listed = await call(desk, 'GET', '/operator/kept-trades', { key: OPERATOR_KEY });
  expect(listed.body.trades).toMatchObject([
    {
      ...{ orderId, tradeId: 't1', agentId: trader.agentId, side: 'BUY', why: 'it is too much' },
      signed: { shares: '10' },
      said: { status: 'confirmed', size: '10000000', cost: '1000000' },
    },
  ]);
  const { orderId: later } = await trader.client.placeTrade(
    await liveOrder(trader, market!, { side: 'BUY' }),
  );
  for (const trade of ['t2', 't3'])
    await sql`insert into venue_trades (order_id, trade_id, nth, status, size, cost, fee, is_counted, aside_state, aside)
      values (${later}, ${trade}, 0, 'confirmed', 0, 0, 0, false, 'held', ${sql.json(aside)})`;
  const seen: string[][] = [];
  let next: string | undefined = '/operator/kept-trades?limit=1';
  for (let pages = 0; next !== undefined && pages < 3; pages += 1) {
    const page: RawAnswer = await call(desk, 'GET', next, { key: OPERATOR_KEY });
    expect([page.status, page.headers.get('x-total-count')]).toEqual([200, '3']);
    seen.push(page.body.trades.map(({ tradeId }: { tradeId: string }) => tradeId).sort());
    next = /<(.+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1];
  }
  expect(seen).toEqual([['t1'], ['t2', 't3']]);
  await sql`delete from venue_trades where order_id = ${later}`;
  const status = await call(desk, 'GET', '/operator/status', { key: OPERATOR_KEY });
  expect(status.body.orders.tradesKeptAside).toBe(1);

  const decide = (body: object, key = OPERATOR_KEY) =>
    call(desk, 'POST', '/operator/kept-trades/decide', { key, body });
  const discard = { orderId, tradeId: 't1', decision: 'discard' };
  expect((await decide(discard, trader.apiKey)).status).toBe(401);
  expect((await decide({ ...discard, decision: 'forget' })).status).toBe(400);
  expect((await decide({ ...discard, tradeid: 't1' })).status).toBe(400);
  const unknown = { status: 404, body: { code: 'kept_trade_not_found' } };
  for (const other of [{ tradeId: 't2' }, { orderId: `0x${'7'.repeat(64)}` }, { orderId: 'no order' }])
    expect(await decide({ ...discard, ...other })).toMatchObject(unknown);
  expect((await decide(discard)).body).toMatchObject({ decided: true, orderStatus: 'live' });
  expect(await decide(discard)).toMatchObject(unknown);
  expect((await call(desk, 'GET', '/operator/kept-trades', { key: OPERATOR_KEY })).body.trades).toEqual([]);
  const { journal } = await orderAt(desk, trader, orderId);
  expect(journal.at(-1)).toMatchObject({ event: 'trade_discarded' });
});
