/** The market channel over TCP: dump, changes, trades, ends; and its bounds. */
import { createConnection } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { MICRO } from '@bellwether/contract/decimals';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { changesBetween } from '../src/doors/polymarket/feed-events.ts';
import { MarketFeed } from '../src/doors/polymarket/market-feed.ts';
import { wireBook } from '../src/doors/polymarket/wire.ts';
import type { BookView, Entry, JournalledExchange, MarketView } from '../src/index.ts';
import { fakeExchange, PLAIN } from './fake-exchange.ts';
import { ALICE, cutJournal, marketBuy, restingBid, untilOpen } from './open-exchange-stage.ts';
import { SocketClient, socketStage } from './socket-stage.ts';

function marketOf(exchange: JournalledExchange): MarketView {
  return exchange.market(restingBid(exchange, 1).conditionId)!;
}

const wire = (exchange: JournalledExchange, market: MarketView, outcome: 'YES' | 'NO') =>
  wireBook(exchange.market(market.conditionId)!, outcome, exchange.book(market.conditionId, outcome)!);

describe('a subscription', () => {
  test('begins with an array of books, without those of unknown tokens', async () => {
    const { exchange, connect, watch } = await socketStage();
    const market = marketOf(exchange);
    const client = await watch([...market.tokenIds, '123', 'x']);
    expect(JSON.parse(client.frames[0]!)).toEqual([
      { ...wire(exchange, market, 'YES'), event_type: 'book' },
      { ...wire(exchange, market, 'NO'), event_type: 'book' },
    ]);
    const [yes] = client.messages;
    expect(Number(yes!.bids.at(-1).price)).toBeGreaterThan(Number(yes!.bids[0].price));
    expect(Number(yes!.asks.at(-1).price)).toBeLessThan(Number(yes!.asks[0].price));
    const empty = await connect('market');
    empty.send({ type: 'Market', assets_ids: ['123'] });
    await empty.until(({ frames }) => frames.length === 1);
    expect(empty.frames).toEqual(['[]']);
  });

  test('changes by operation, and without a dump when it asks for none', async () => {
    const { exchange, connect } = await socketStage();
    const market = marketOf(exchange);
    const client = await connect('market');
    client.send({ type: 'market', assets_ids: [], initial_dump: false });
    client.send({ operation: 'subscribe', assets_ids: [market.tokenIds[1]] });
    await client.until(({ frames }) => frames.length === 1);
    expect(client.messages).toMatchObject([{ event_type: 'book', asset_id: market.tokenIds[1] }]);
    client.send({ operation: 'unsubscribe', assets_ids: [market.tokenIds[1]] });
    client.send('PING');
    await client.until(({ frames }) => frames.includes('PONG'));
    await exchange.execute({ kind: 'place', order: restingBid(exchange, 1) });
    await sleep(50);
    expect(client.of('price_change')).toEqual([]);
  });

  test('PING is answered by PONG, and what is no frame by nothing', async () => {
    const { connect } = await socketStage();
    const client = await connect('market');
    for (const frame of ['', '{', 'null', '[]', '{"type":5}', '{"type":"market\u0000"}', 'ping'])
      client.send(frame);
    client.send('PING');
    await client.until(({ frames }) => frames.length > 0);
    expect(client.frames).toEqual(['PONG']);
  });
});

describe('books', () => {
  test('a change is sent for both tokens, with hashes, best prices and the new total of its level', async () => {
    const { exchange, watch } = await socketStage();
    const market = marketOf(exchange);
    const client = await watch([market.tokenIds[0]]);
    const before = exchange.book(market.conditionId, 'YES')!;
    const order = restingBid(exchange, 1);
    await exchange.execute({ kind: 'place', order });
    await client.until((one) => one.of('price_change').length === 1);
    const [change] = client.of('price_change');
    const resting = (before.bids.find(([price]) => price === 100)?.[1] ?? 0n) + order.size;
    const yes = wire(exchange, market, 'YES');
    const no = wire(exchange, market, 'NO');
    expect(change).toEqual({
      event_type: 'price_change',
      market: market.conditionId,
      timestamp: yes.timestamp,
      price_changes: [
        {
          asset_id: market.tokenIds[0],
          price: '0.01',
          size: String(Number(resting) / 1e6),
          side: 'BUY',
          hash: yes.hash,
          best_bid: yes.bids.at(-1)!.price,
          best_ask: yes.asks.at(-1)!.price,
        },
        {
          asset_id: market.tokenIds[1],
          price: '0.99',
          size: String(Number(resting) / 1e6),
          side: 'SELL',
          hash: no.hash,
          best_bid: no.bids.at(-1)!.price,
          best_ask: no.asks.at(-1)!.price,
        },
      ],
    });
    await exchange.execute({ kind: 'cancel', account: ALICE, orderIds: [order.orderId] });
    await client.until((one) => one.of('price_change').length === 2);
    expect(client.of('price_change')[1]!.price_changes[0]).toMatchObject({
      price: '0.01',
      size: String(Number(resting - order.size) / 1e6),
    });
  });

  test('kept by its messages, a book is the exchange’s, after any change of it', async () => {
    const { exchange, clock, watch } = await socketStage();
    const market = marketOf(exchange);
    const client = await watch([...market.tokenIds]);
    for (let i = 0; i < 40; i += 1) {
      clock.time += 1_000;
      await exchange.step();
      await exchange.execute({ kind: 'place', order: marketBuy(exchange, 100 + i) });
      await exchange.execute({ kind: 'place', order: restingBid(exchange, 200 + i) });
      // Changes of a few milliseconds travel together.
      await sleep(10);
    }
    const kept = () => keep(client, market);
    await expect
      .poll(() => [kept()[market.tokenIds[0]], kept()[market.tokenIds[1]]])
      .toEqual([levels(wire(exchange, market, 'YES')), levels(wire(exchange, market, 'NO'))]);
    expect(client.of('price_change').length).toBeGreaterThan(20);
    // And a trade is sent with a whole book behind it.
    const kinds = client.messages.map((message) => message.event_type);
    expect(kinds[kinds.indexOf('last_trade_price') + 1]).toMatch(/book|last_trade_price/);
    expect(client.of('last_trade_price').find(({ size }) => Number(size) > 0)).toMatchObject({
      market: market.conditionId,
      side: expect.stringMatching(/^(BUY|SELL)$/),
      price: expect.stringMatching(/^0\.\d+$/),
    });
  });

  test('what turns one book into another is each changed level once', () => {
    const book = (bids: [number, bigint][], asks: [number, bigint][]) => ({ bids, asks });
    expect(
      changesBetween(
        book(
          [
            [50, 1n],
            [40, 2n],
          ],
          [[60, 1n]],
        ),
        book(
          [
            [50, 3n],
            [30, 2n],
          ],
          [
            [60, 1n],
            [70, 4n],
          ],
        ),
      ),
    ).toEqual([
      { side: 'BUY', price: 50, size: 3n },
      { side: 'BUY', price: 30, size: 2n },
      { side: 'BUY', price: 40, size: 0n },
      { side: 'SELL', price: 70, size: 4n },
    ]);
  });

  test('a new tick size is sent before the books that are on it', async () => {
    const exchange = fakeExchange();
    let tickSize = 100;
    let listener: (entries: readonly Entry[]) => void = () => {};
    const sent: string[] = [];
    const find = {
      ...exchange,
      marketByToken: () => ({ market: { ...PLAIN, tickSize }, outcome: 'YES' as const }),
      market: () => ({ ...PLAIN, tickSize }),
      book: (): BookView => ({ ...exchange.book(PLAIN.conditionId, 'YES')! }),
      catalogue: {
        listings: 0,
        lives: 0,
        changes: 0,
        conditionIds: () => [],
        life: () => undefined,
        changedSince: () => undefined,
      },
      subscribe: (listen: typeof listener) => {
        listener = listen;
        return () => {};
      },
      term: 1,
    };
    const feed = new MarketFeed({ find: () => find, now: () => 7 });
    const peer = { send: (text: string) => sent.push(text), close: () => {}, cut: () => {} };
    const handler = feed.open(peer as never, async () => true);
    handler.text(JSON.stringify({ type: 'market', assets_ids: [PLAIN.tokenIds[0]] }));
    await expect.poll(() => sent.length).toBe(1);
    tickSize = 10;
    listener([{ seq: 1, at: 7, command: { kind: 'step' }, events: [], markets: new Map() }]);
    await expect.poll(() => sent.length).toBe(4);
    expect(sent.slice(1).map((text) => JSON.parse(text))).toMatchObject([
      {
        event_type: 'tick_size_change',
        asset_id: PLAIN.tokenIds[0],
        old_tick_size: '0.01',
        new_tick_size: '0.001',
      },
      { event_type: 'tick_size_change', asset_id: PLAIN.tokenIds[1], timestamp: '7' },
      { event_type: 'book', asset_id: PLAIN.tokenIds[0], tick_size: '0.001' },
    ]);
    handler.closed();
  });
});

test('custom features: best prices, new markets and ends, only for those who ask', async () => {
  const { exchange, clock, connect, watch } = await socketStage({ exchange: { speed: 1_000 } });
  const open = [...exchange.markets()].filter(({ status }) => status === 'open');
  const soonest = open.reduce((first, market) => (market.endDate < first.endDate ? market : first));
  const tokens = [...soonest.tokenIds, ...marketOf(exchange).tokenIds];
  const plain = await connect('market');
  plain.send({ type: 'market', assets_ids: tokens });
  const custom = await watch(tokens, { custom_feature_enabled: true });
  await plain.until(({ frames }) => frames.length === 1);
  await exchange.execute({ kind: 'place', order: marketBuy(exchange, 1, 500n * MICRO) });
  for (let i = 0; i < 400 && exchange.market(soonest.conditionId)?.status !== 'resolved'; i += 1) {
    clock.time += 1_000;
    await exchange.step();
  }
  await custom.until((one) => one.of('market_resolved').length === 1, 'its end');
  const { payout } = exchange.market(soonest.conditionId)!;
  expect(custom.of('market_resolved')[0]).toMatchObject({
    market: soonest.conditionId,
    assets_ids: soonest.tokenIds,
    winning_outcome: payout === 'YES' ? 'Yes' : 'No',
    winning_asset_id: soonest.tokenIds[payout === 'YES' ? 0 : 1],
  });
  const [listed] = custom.of('new_market');
  expect(exchange.market(listed!.market)).toMatchObject({
    question: listed!.question,
    tokenIds: listed!.assets_ids,
  });
  const best = custom.of('best_bid_ask').at(-1)!;
  expect(Number(best.best_ask) - Number(best.best_bid)).toBeCloseTo(Number(best.spread), 6);
  for (const kind of ['market_resolved', 'new_market', 'best_bid_ask']) expect(plain.of(kind)).toEqual([]);
  expect(plain.of('price_change').length).toBe(custom.of('price_change').length);
});

describe('bounds', () => {
  const expectClose = async (client: SocketClient, code: number, reason: RegExp) => {
    const closed = await client.closed;
    expect(closed).toMatchObject({ code, reason: expect.stringMatching(reason) });
  };

  test('at most 500 tokens, text frames, of 64 KiB, twenty a second', async () => {
    const { exchange, connect } = await socketStage();
    const many = await connect('market');
    many.send({ type: 'market', assets_ids: Array.from({ length: 501 }, (_, i) => String(i)) });
    await expectClose(many, 1008, /at most 500 tokens/);
    const binary = await connect('market');
    binary.socket.send(Buffer.from('PING'));
    await expectClose(binary, 1003, /text/);
    const huge = await connect('market');
    huge.send('x'.repeat(65 * 1024));
    await expectClose(huge, 1009, /^$/);
    const fast = await connect('market');
    for (let i = 0; i < 100; i += 1) fast.send('PING');
    await expectClose(fast, 1008, /too many frames/);
    expect(exchange.status).toBe('open');
  });

  test('sockets per address; one that leaves makes room', async () => {
    const { connect } = await socketStage({ bounds: { perAddress: 2, total: 10 } });
    const first = await connect('market');
    await connect('user');
    await expect(connect('market')).rejects.toThrow('HTTP 429');
    first.socket.close();
    await first.closed;
    await expect
      .poll(() =>
        connect('market').then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
  });

  test('a subscription costs its address tokens by its length', async () => {
    const guard = {
      admit: () => 0,
      charge: (_: unknown, tokens: number) => (tokens > 3 ? 9 : 0),
      sourceOf: () => 'a',
    };
    const { connect } = await socketStage({ guard });
    const client = await connect('market');
    client.send({ type: 'market', assets_ids: Array.from({ length: 40 }, (_, i) => String(i)) });
    await expectClose(client, 1008, /wait 9 s/);
  });

  test('a client that does not read is dropped, not buffered for', async () => {
    const { exchange, connect, url } = await socketStage({ bounds: { perAddress: 1, total: 1 } });
    const raw = createConnection(Number(new URL(url).port), '127.0.0.1');
    const key = Buffer.alloc(16).toString('base64');
    raw.write(
      `GET /paper/ws/market HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`,
    );
    await new Promise((resolve) => raw.once('data', resolve));
    raw.pause();
    raw.on('error', () => {});
    const tokens = [...exchange.markets()].flatMap(({ tokenIds }) => tokenIds);
    const text = Buffer.from(JSON.stringify({ type: 'market', assets_ids: tokens }));
    // The frame's length in two bytes, and a mask of zeros.
    const head = Buffer.from([0x81, 0xfe, text.length >> 8, text.length & 255, 0, 0, 0, 0]);
    const gone = () =>
      connect('market').then(
        () => true,
        () => false,
      );
    let dumps = 0;
    for (; !(await gone()); dumps += 1) {
      expect(dumps).toBeLessThan(300);
      if (!raw.destroyed) raw.write(Buffer.concat([head, text]));
      await sleep(50);
    }
    expect(dumps).toBeGreaterThan(2);
    raw.destroy();
  });
});

test('a plain request is asked to upgrade, a broken handshake is refused', async () => {
  const { app, url } = await socketStage();
  const answer = await app.inject('/paper/ws/market');
  expect([answer.statusCode, answer.headers.upgrade]).toEqual([426, 'websocket']);
  expect((await fetch(url.replace('ws', 'http').concat('/nowhere'))).status).toBe(404);
  await expect(new SocketClient(`${url}/nowhere`).open()).rejects.toThrow('HTTP 404');
  const status = await new Promise((resolve) => {
    const { port } = new URL(url);
    const raw = createConnection(Number(port), '127.0.0.1');
    raw.write(
      'GET /paper/ws/market HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n',
    );
    raw.once('data', (data) => resolve(String(data).slice(9, 12)));
  });
  expect(status).toBe('400');
});

test('when the exchange was reopened its clients are asked to connect again', async () => {
  const { exchange, sql, watch } = await socketStage();
  const client = await watch([...marketOf(exchange).tokenIds]);
  await cutJournal(sql);
  while (exchange.status === 'open') await sleep(1);
  await untilOpen(exchange);
  expect(await client.closed).toEqual({ code: 1012, reason: 'connect again' });
  await watch([...marketOf(exchange).tokenIds]);
});

test('a stop ends every socket', async () => {
  const { app, connect } = await socketStage();
  const clients = [await connect('market'), await connect('user')];
  await app.close();
  for (const client of clients) expect((await client.closed).code).toBe(1001);
  expect(clients.every(({ socket }) => socket.readyState === WebSocket.CLOSED)).toBe(true);
});

type Side = readonly { readonly price: string; readonly size: string }[];
const levels = ({ bids, asks }: { readonly bids: Side; readonly asks: Side }) => {
  const sorted = (side: Side) => side.map(({ price, size }) => `${price} ${size}`).sort();
  return { bids: sorted(bids), asks: sorted(asks) };
};

/** A client's own books, from the messages alone. */
function keep(client: SocketClient, market: MarketView) {
  const books: Record<string, { bids: Map<string, string>; asks: Map<string, string> }> = {};
  for (const message of client.messages) {
    if (message.event_type === 'book') {
      const of = (side: Side) => new Map(side.map(({ price, size }) => [price, size]));
      books[message.asset_id] = { bids: of(message.bids), asks: of(message.asks) };
    }
    if (message.event_type !== 'price_change') continue;
    for (const change of message.price_changes) {
      const book = books[change.asset_id];
      const side = change.side === 'BUY' ? book?.bids : book?.asks;
      if (change.size === '0') side?.delete(change.price);
      else side?.set(change.price, change.size);
    }
  }
  const list = (side: Map<string, string>) => [...side].map(([price, size]) => ({ price, size }));
  return Object.fromEntries(
    market.tokenIds.map((token) => [
      token,
      levels({ bids: list(books[token]!.bids), asks: list(books[token]!.asks) }),
    ]),
  );
}
