/**
 * Streams while connections are cut, the leading process is killed and another one is stopped, under trades: an agent hears
 * of everything once, and a book that is kept by its changes is the venue's book.
 */
import { randomBytes } from 'node:crypto';
import {
  type AgentEvent,
  BellwetherClient,
  createVenueCredentials,
  credentialRequest,
  type Market,
  type MarketEvent,
  type RecordedAgentEvent,
  Signer,
} from '@bellwether/sdk';
import { beforeAll, expect, test } from 'vitest';
import { aMarket, marketBuy } from '../harness.ts';
import { createDeskDatabase } from '../postgres.ts';
import { kill, type ServiceProcess, startProcess } from '../service-process.ts';

const env: Record<string, string> = {};
const ANY_BASE = 'http://desk.test';

/** The replicas behind one address; a connection can be cut while it is open. */
const replicas: ServiceProcess[] = [];
const cuts = new Set<() => void>();
let turn = 0;

async function balanced(url: string, init: RequestInit): Promise<Response> {
  turn += 1;
  const target = replicas[turn % replicas.length]?.url ?? '';
  const cut = new AbortController();
  const signal = init.signal ? AbortSignal.any([init.signal, cut.signal]) : cut.signal;
  if (/\/events|\/stream/.test(url)) cuts.add(() => cut.abort());
  return fetch(url.replace(ANY_BASE, target), { ...init, signal });
}

const cutAll = () => {
  for (const cut of cuts) cut();
  cuts.clear();
};

beforeAll(async () => {
  Object.assign(env, {
    DATABASE_URL: await createDeskDatabase(),
    MASTER_KEY: randomBytes(32).toString('hex'),
    RATE_LIMITS: 'off',
    LOG_LEVEL: 'warn',
  });
  replicas.push(await startProcess({ env }), await startProcess({ env }));
});

const clientFor = (apiKey: string) =>
  new BellwetherClient({ baseUrl: ANY_BASE, apiKey, fetch: balanced, maxRetries: 40, maxWaitMs: 60_000 });

async function newTrader() {
  const url = replicas[0]?.url ?? '';
  const { apiKeyCode } = await new BellwetherClient({ baseUrl: url }).registerAgent({ name: 'Listener' });
  const signer = Signer.generate();
  const client = new BellwetherClient({ baseUrl: url, apiKey: apiKeyCode });
  const credentials = await createVenueCredentials({ clobUrl: `${url}/paper/clob`, signer });
  await client.registerCredentials(credentialRequest(signer, credentials));
  await client.updateSettings({ maxTradesPerDay: 5000, dailyTradeAmountLimit: 100_000 });
  return { signer, client: clientFor(apiKeyCode), market: await aMarket(client) };
}

interface KeptBook {
  sequence: number;
  bids: Map<string, string>;
  asks: Map<string, string>;
}

const levelsOf = (side: readonly { price: string; size: string }[]) =>
  new Map(side.map(({ price, size }) => [price, size]));

/** @returns whether the event continues the book */
function keep(book: KeptBook | null, event: MarketEvent): KeptBook | null {
  if (event.type === 'book')
    return {
      sequence: event.data.sequence,
      bids: levelsOf(event.data.bids),
      asks: levelsOf(event.data.asks),
    };
  if (event.type === 'gap') return null;
  if (event.type !== 'delta' || book === null) return book;
  expect(event.data.previousSequence).toBe(book.sequence);
  for (const side of ['bids', 'asks'] as const)
    for (const { price, size } of event.data[side])
      if (size === '0') book[side].delete(price);
      else book[side].set(price, size);
  return { ...book, sequence: event.data.sequence };
}

const sorted = (side: ReadonlyMap<string, string>) => [...side].sort(([a], [b]) => Number(a) - Number(b));

test('nothing is lost and nothing repeated when connections break, the leader is killed and a replica stops', async () => {
  const { signer, client, market } = await newTrader();
  const tokenId = market.clobTokenIds[0] as string;
  const ending = new AbortController();
  const heard: RecordedAgentEvent[] = [];
  let begun = '';
  const listening = listen(client, ending.signal, (event) => {
    if (event.type === 'ready') begun ||= event.cursor;
    else if (event.type !== 'venue') heard.push(event);
  });
  let book: KeptBook | null = null;
  const seen = { book: 0, delta: 0, gap: 0, fresh: 0 };
  const watching = (async () => {
    for await (const event of client.watchMarket(tokenId, { signal: ending.signal })) {
      seen[event.type] += 1;
      book = keep(book, event);
    }
  })();
  await expect.poll(() => begun).not.toBe('');

  const orders: string[] = [];
  const trade = async (count: number) => {
    for (let nth = 0; nth < count; nth += 1) orders.push(await buy(client, signer, market));
  };
  const [leader, second] = [...replicas];
  await trade(8);
  cutAll();
  await trade(8);
  const underLoad = trade(12);
  replicas.splice(0, 1);
  kill(leader?.child.pid ?? 0, 'SIGKILL');
  await leader?.exit();
  await underLoad;
  replicas.push(await startProcess({ env }));
  const more = trade(12);
  replicas.splice(0, 1);
  second?.child.kill('SIGTERM');
  await second?.exit();
  await more;

  const isTold = (id: string) =>
    heard.some(({ type, data }) => type === 'order.filled' && data.orderId === id);
  await expect.poll(() => orders.filter((id) => !isTold(id)), { timeout: 30_000 }).toEqual([]);
  await expect
    .poll(
      async () => {
        const answer = await client.getOrderBook(tokenId).catch(() => null);
        return answer !== null && book !== null && answer.sequence === book.sequence
          ? { bids: sorted(book.bids), asks: sorted(book.asks), answer }
          : null;
      },
      { timeout: 30_000, interval: 20 },
    )
    .toSatisfy(
      (both) =>
        both !== null &&
        JSON.stringify(both.bids) === JSON.stringify(sorted(levelsOf(both.answer.bids))) &&
        JSON.stringify(both.asks) === JSON.stringify(sorted(levelsOf(both.answer.asks))),
    );
  ending.abort();
  await Promise.all([listening, watching]);

  const cursors = heard.map(({ cursor }) => cursor);
  expect(new Set(cursors).size).toBe(cursors.length);
  expect(new Set(orders).size).toBe(40);
  for (const id of orders)
    expect(heard.filter(({ type, data }) => type === 'order.filled' && data.orderId === id)).toHaveLength(1);
  // The whole log once more, from where the stream began: the same events in the same order.
  const again: RecordedAgentEvent[] = [];
  const stop = new AbortController();
  await listen(
    client,
    stop.signal,
    (event) => {
      if (event.type !== 'ready' && event.type !== 'venue') again.push(event);
      if (again.length === heard.length) stop.abort();
    },
    begun,
  );
  expect(again.map(({ cursor, id, type }) => [cursor, id, type])).toEqual(
    heard.map(({ cursor, id, type }) => [cursor, id, type]),
  );
  expect(seen.gap).toBeGreaterThanOrEqual(2);
  expect(seen.book).toBeGreaterThanOrEqual(3);
  expect(seen.delta).toBeGreaterThan(0);
});

async function listen(
  client: BellwetherClient,
  signal: AbortSignal,
  onEvent: (event: AgentEvent) => void,
  after?: string,
): Promise<void> {
  for await (const event of client.events({ signal, ...(after === undefined ? {} : { after }) }))
    onEvent(event);
}

/** A signed order is sent again, the same, until there is an answer. */
async function buy(client: BellwetherClient, signer: Signer, market: Market): Promise<string> {
  const order = await marketBuy({ signer }, market, 2);
  for (let attempt = 0; ; attempt += 1) {
    try {
      return (await client.placeTrade(order)).orderId;
    } catch (error) {
      if (attempt === 30) throw error;
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
  }
}
