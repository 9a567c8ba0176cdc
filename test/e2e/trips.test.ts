/**
 * Every count of statements: what a request, or many that arrive together, may cost the database and the chain. A
 * statement says for which request it is sent, so neither jobs nor other requests matter.
 */
import { randomBytes } from 'node:crypto';
import { currentOrigin, GroupCommit, openPool, transact, withOrigin } from '@bellwether/durable';
import { toBase64 } from '@bellwether/protocol';
import {
  buildMarketOrder,
  linkSolanaWallet,
  type Market,
  SolanaSigner,
  type TradeIntent,
} from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Chain } from '../../packages/server/src/venues/chain.ts';
import { ownerOf } from '../approving.ts';
import {
  aMarket,
  call,
  marketBuy,
  newAgent,
  newTrader,
  openMarkets,
  type RawAnswer,
  recordFirst,
  restingOrder,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import { liveOrder, newLiveTrader, startLiveDesk, startVenue } from '../live-desk.ts';
import { createTestDatabase } from '../postgres.ts';
import { aSandboxMarket, newSandboxTrader, type SandboxTrader } from '../sandbox.ts';

interface Sent {
  readonly connection: number;
  readonly text: string;
  /** A request's id, or a job's name. */
  readonly origin: string | undefined;
  /** Statements with the same number went out in the same turn of the event loop. */
  readonly turn: number;
}
const sent: Sent[] = [];
let turn = 0;
let isTurn = false;
function onStatement(connection: number, statement: string, origin: string | undefined): void {
  sent.push({ connection, text: statement.replaceAll(/\s+/g, ' ').trim(), origin, turn });
  if (isTurn) return;
  isTurn = true;
  setImmediate(() => {
    isTurn = false;
    turn += 1;
  });
}

const idsOf = (answers: readonly RawAnswer[]) =>
  new Set<string | undefined>(answers.map(({ headers }) => headers.get('x-request-id') as string));
/** Statements of the requests that were answered so, once they are let in. */
const statementsOf = (...answers: readonly RawAnswer[]): readonly Sent[] => {
  const ids = idsOf(answers);
  return sent.filter(({ origin }) => ids.has(origin));
};

/** A transaction that takes locks has a trip for all its reads, and another for its writes and the commit. */
function tripsOfTransaction(lines: readonly string[]): string[] {
  const writes = [
    ...(lines.some((line) => line.includes('insert into orders')) ? ['record'] : []),
    ...(lines.some((line) => line.includes('exchange_journal')) ? ['journal'] : []),
    ...(lines.some((line) => line.includes('insert into venue_orders')) ? ['answer'] : []),
  ];
  const trips = [
    ...(lines.some((line) => line.includes('for no key update')) ? ['lock and read'] : []),
    ...(writes.length > 0 ? [[...writes, 'commit'].join(', ')] : []),
  ];
  return trips.length > 0 ? trips : ['look'];
}

/** Trips that requests wait for, in order: each transaction by what it does, each other statement by its text. */
function tripsOf(...answers: readonly RawAnswer[]): string[] {
  const trips: string[] = [];
  const open = new Map<number, string[]>();
  for (const { connection, text } of statementsOf(...answers)) {
    if (text === 'begin') open.set(connection, []);
    const transaction = open.get(connection);
    if (transaction === undefined) trips.push(text);
    else transaction.push(text);
    if (transaction === undefined || !/^(commit|rollback)$/.test(text)) continue;
    open.delete(connection);
    trips.push(...tripsOfTransaction(transaction));
  }
  return trips;
}

const WRITES = /\b(insert|update|delete|merge|record_\w+|for no key update|nextval|pg_notify)\b/i;

let service: TestService;
let trader: Trader;
let market: Market;
let quoting: SandboxTrader;
let quoted: Market;
/** Questions to the chain, with the request that asked. */
const asked: { readonly name: string; readonly origin: string | undefined }[] = [];
const questionsOf = (...answers: readonly RawAnswer[]) => {
  const ids = idsOf(answers);
  return asked.filter(({ origin }) => ids.has(origin)).map(({ name }) => name);
};
/** Simulations whose answers wait until so many have come, so that their submits go on together. */
let together = 1;
let simulated: (() => void)[] = [];

async function meet(): Promise<void> {
  const released = new Promise<void>((resolve) => simulated.push(resolve));
  if (simulated.length >= together) {
    for (const release of simulated) release();
    simulated = [];
  }
  await released;
}

/** Follows what the desk asks the chain. */
function listenToChain(): void {
  const venue = [...service.needs.venues.values()].find(({ quotes }) => quotes !== undefined);
  const chain = venue?.quotes?.chain as Chain;
  for (const name of Object.keys(chain) as (keyof Chain)[]) {
    if (name === 'status') continue;
    const own = chain[name] as (...args: unknown[]) => unknown;
    Object.assign(chain, {
      [name]: async (...args: unknown[]) => {
        asked.push({ name, origin: currentOrigin() });
        const answer = await own(...args);
        if (name === 'simulate') await meet();
        return answer;
      },
    });
  }
}

beforeAll(async () => {
  service = await startTestService({ PAPER_WORLD: 'off', PAPER_B_FILL_DELAY_MS: '60000' }, { onStatement });
  listenToChain();
  trader = await newTrader(service);
  market = await aMarket(trader.client);
  quoting = await newSandboxTrader(service);
  quoted = await aSandboxMarket(quoting.client);
});

const send = (body: unknown, agent: Pick<Trader, 'post'> = trader, path = '') =>
  agent.post(`/markets/trade${path}`, body);
const read = (path: string, agent: Pick<Trader, 'get'> = trader) => agent.get(path);
const succeeded = (answer: RawAnswer) =>
  expect(answer).toMatchObject({ status: expect.toBeOneOf([200, 201]), body: { success: true } });

test('a statement says for whom it is sent, although it waits for a connection or a commit', async () => {
  const told: [origin: string | undefined, text: string][] = [];
  const onStatement = (_: number, text: string, origin: string | undefined) => told.push([origin, text]);
  const sql = openPool(await createTestDatabase(), { max: 1, onStatement });
  const textsOf = (origin?: string) => told.filter(([who]) => who === origin).map(([, text]) => text);
  const reading = (origin: string) =>
    withOrigin(origin, () => transact(sql, async (tx) => void (await tx`select 1`)));
  await Promise.all([
    reading('a'),
    reading('b'),
    withOrigin('c', () => sql`select 2`.execute()),
    sql`select 3`,
  ]);
  const committed: (string | undefined)[][] = [];
  const { promise: isTaken, resolve: taken } = Promise.withResolvers<void>();
  const group = new GroupCommit<string>({
    async commit(take) {
      committed.push([currentOrigin(), ...take()]);
      taken();
      await sql`select 4`;
    },
    onCommitted: () => void committed.push([currentOrigin()]),
    onFailed: (cause) => expect.fail(String(cause)),
    errorOf: () => new Error(),
  });
  await withOrigin('a', async () => {
    const first = group.add('1');
    await isTaken;
    await Promise.all([first, withOrigin('b', () => group.add('2')), group.add('3')]);
  });
  expect(committed).toEqual([['a', '1'], [undefined], ['b', '2', '3'], [undefined]]);
  for (const origin of ['a', 'b'])
    expect(textsOf(origin)).toEqual(['begin', 'select 1', 'commit', 'select 4']);
  expect([textsOf('c'), textsOf()]).toEqual([['select 2'], ['select 3']]);
  await sql.end();
});

describe('a signed order', () => {
  test('takes two awaited trips where this process leads the exchange', async () => {
    await send(await marketBuy(trader, market, 20));
    expect(tripsOf(await send(await marketBuy(trader, market, 20)))).toEqual([
      'lock and read',
      'record, journal, commit',
    ]);
  });

  test('a sale takes no more: its position is read with the rest, and from then on it is known', async () => {
    const agent = await newTrader(service);
    await send(await marketBuy(agent, market, 50), agent);
    const reads: number[] = [];
    for (let nth = 0; nth < 2; nth += 1) {
      const common = { signer: agent.signer, market, outcome: 'YES', side: 'SELL' } as const;
      const sold = await send(
        await buildMarketOrder({ ...common, shares: 5 + nth, worstPrice: 0.02 }),
        agent,
      );
      succeeded(sold);
      expect(tripsOf(sold)).toEqual(['lock and read', 'record, journal, commit']);
      const own = statementsOf(sold);
      expect(new Set(own.map((one) => one.turn)).size).toBe(2);
      reads.push(own.filter(({ text }) => text.includes('join positions p using')).length);
    }
    expect(reads).toEqual([1, 0]);
  });

  test('those of different agents that arrive together share these two trips', async () => {
    const agents = await Promise.all(Array.from({ length: 6 }, () => newTrader(service)));
    for (const agent of agents) await send(await marketBuy(agent, market, 1), agent);
    const requests = await Promise.all(
      agents.map(async (agent) => ({ agent, request: await marketBuy(agent, market, 1) })),
    );
    // The first trade is on its way while the others arrive, and they form one group.
    const answers = await Promise.all(requests.map(({ agent, request }) => send(request, agent)));
    for (const answer of answers) succeeded(answer);
    const groups = tripsOf(...answers).filter((trip) => trip === 'record, journal, commit').length;
    expect(groups).toBeGreaterThan(0);
    expect(groups).toBeLessThanOrEqual(agents.length / 2);
  });

  test('takes three where another process leads: recorded first, then sent', async () => {
    const recording = recordFirst(service);
    try {
      await send(await marketBuy(trader, market, 20));
      const answer = await send(await marketBuy(trader, market, 20));
      expect(tripsOf(answer)).toEqual(['lock and read', 'record, commit', 'journal, commit']);
    } finally {
      recording.end();
    }
  });

  test('takes three at a live venue, too: its answer is recorded without being read again', async () => {
    const venue = await startVenue();
    const desk = await startLiveDesk(venue, {}, { onStatement });
    const agent = await newLiveTrader(desk, venue);
    const [open] = (await openMarkets(agent.client)) as [Market];
    const answer = await agent.post('/markets/trade', await liveOrder(agent, open, { side: 'BUY' }));
    succeeded(answer);
    // What the user socket says of the order is not waited for.
    const trips = tripsOf(answer).filter((trip) => /commit|lock/.test(trip));
    expect(trips.slice(0, 3)).toEqual(['lock and read', 'record, commit', 'answer, commit']);
  });

  test('a replayed one and a denied one take one trip', async () => {
    const request = await restingOrder(trader, market);
    await send(request);
    const advice = 'select amount from faucet_draws where address = $1 and day = $2::date';
    for (const [again, ...further] of [
      [request],
      [await marketBuy(trader, market, 99_000), advice],
    ] as const) {
      const before = sent.length;
      const answer = await send(again);
      // A denial does not wait for its rollback; what the faucet still gives is read once nothing is locked any more. That
      // it was refused is noted afterwards, for all requests.
      const seen = () => ({
        trips: tripsOf(answer),
        isNoted: sent.slice(before).some(({ text }) => text.includes('record_refusals')),
      });
      const isNoted = answer.status === 400;
      await expect.poll(seen).toEqual({ trips: ['lock and read', ...further], isNoted });
    }
  });
});

describe('what callers are judged by', () => {
  const ofCallers = (answer: RawAnswer) =>
    statementsOf(answer).filter(({ text }) => text.includes('join api_keys k on k.id = t.key_id')).length;

  test('is not asked again while nothing changes, but for figures of limits and quotes', async () => {
    const agent = await newTrader(service);
    const askedBy = async () => ofCallers(await send(await marketBuy(agent, market, 1), agent));
    expect(await askedBy()).toBe(1);
    expect([await askedBy(), await askedBy()]).toEqual([0, 0]);
    await agent.client.updateSettings({ maxPositionValue: 100_000 });
    expect([await askedBy(), await askedBy(), await askedBy()]).toEqual([1, 1, 1]);
    const askedByQuote = async () => ofCallers(await submit(await signed()));
    expect([await askedByQuote(), await askedByQuote()]).toEqual([1, 1]);
  });
});

const ask = (agent = quoting) =>
  agent.quote({ marketTicker: quoted.id, side: 'YES', action: 'BUY', amount: 5 });

async function signed(agent = quoting) {
  const { body } = await ask(agent);
  const wire = agent.signer.signTransaction(new Uint8Array(Buffer.from(body.unsignedTransaction, 'base64')));
  return { agent, quoteId: body.quoteId as string, transaction: toBase64(wire) };
}
const submit = ({ agent, quoteId, transaction }: Awaited<ReturnType<typeof signed>>) =>
  agent.submit(quoteId, transaction);

describe('a quoted trade', () => {
  test('a quote takes three trips: the venue issues, the desk looks and stores', async () => {
    await ask();
    const answer = await ask();
    expect(answer.status).toBe(200);
    expect(tripsOf(answer)).toEqual([
      expect.stringContaining('insert into sandbox_orders'),
      'look',
      expect.stringContaining('insert into quotes'),
    ]);
    expect(questionsOf(answer).toSorted()).toEqual([
      ...['blockHeight', 'blockMs', 'lamports', 'simulate'],
      ...['tokenAccount', 'tokenAccount'],
    ]);
  });

  test('a submit takes four: it reads the quote, locks and reads, records, begins to send', async () => {
    await submit(await signed());
    const answer = await submit(await signed());
    succeeded(answer);
    expect(tripsOf(answer)).toEqual([
      expect.stringMatching(/^select c\.\*, q\.\*/),
      'lock and read',
      'record, commit',
      expect.stringContaining('update chain_orders c set attempts'),
    ]);
    expect(questionsOf(answer)).toEqual(['blockHeight', 'simulate', 'send']);
  });

  test('submits of many agents that arrive together share these trips', async () => {
    const agents = await Promise.all(Array.from({ length: 6 }, () => newSandboxTrader(service)));
    const ready = await Promise.all(agents.map(signed));
    together = ready.length;
    const answers = await Promise.all(ready.map(submit));
    together = 1;
    for (const answer of answers) succeeded(answer);
    const trips = tripsOf(...answers);
    const count = (what: RegExp) => trips.filter((trip) => what.test(trip)).length;
    expect(count(/record/)).toBeGreaterThan(0);
    expect(count(/record/)).toBeLessThanOrEqual(3);
    expect(count(/set attempts/)).toBeLessThanOrEqual(3);
  });
});

describe('reads', () => {
  /** With a wallet at both venues, an open order and a position. */
  async function onBoth(): Promise<Trader> {
    const agent = await newTrader(service);
    await linkSolanaWallet(agent.client, SolanaSigner.generate());
    await send(await restingOrder(agent, market), agent);
    await send(await marketBuy(agent, market, 20), agent);
    return agent;
  }

  test('a briefing takes one trip, for any content', async () => {
    const agent = await onBoth();
    const { body } = await read('/markets/briefing', agent);
    const queries = [
      ...['', `?since=${body.nextCursor}`, `?since=${Date.now()}`],
      ...[`?user=${agent.funder}`, '?venue=kalshi', '?includeMarkets=false'],
    ];
    for (const query of queries) {
      const answer = await read(`/markets/briefing${query}`, agent);
      expect([query, answer.status, statementsOf(answer).length]).toEqual([query, 200, 1]);
    }
  });

  test('a context takes one trip; many that arrive together share trips', async () => {
    const path = `/markets/context/${market.id}`;
    const query = `?size=10&side=BUY&myProbability=0.6&user=${trader.funder}`;
    expect(statementsOf(await read(path + query))).toHaveLength(1);
    const answers = await Promise.all(Array.from({ length: 30 }, () => read(path)));
    expect(statementsOf(...answers).length).toBeLessThan(answers.length);
  });

  test('of keys that arrive together the agents are looked up together', async () => {
    const hashes = Array.from({ length: 83 }, () => randomBytes(32));
    await withOrigin('keys', () =>
      Promise.all(hashes.map((hash) => service.needs.agents.callerByKeyHash(hash))),
    );
    const lookUps = sent.filter(({ origin }) => origin === 'keys');
    // Two statements at most are under way; the keys that arrive with them form the next ones, of at most 64 keys.
    expect(lookUps.length).toBeGreaterThan(0);
    expect(lookUps.length).toBeLessThanOrEqual(3);
  });

  test('of an owner, many agents share statements', async () => {
    const agents = await Promise.all(Array.from({ length: 40 }, () => newAgent(service)));
    const visitor = await ownerOf(service, ...agents);
    const home = await visitor.send('GET', '/owner/home');
    expect(home.body.agents).toHaveLength(40);
    // Thirty-two at a time.
    expect(statementsOf(home).filter(({ text }) => text.includes('changes_limit'))).toHaveLength(2);
  });

  test('a hundred unknown tickers and mints take one trip', async () => {
    const tickers = Array.from({ length: 100 }, (_, nth) => `KXNONE-${nth}`);
    const answer = await call(service, 'POST', '/paper/dflow/metadata/api/v1/markets/batch', {
      body: { tickers },
    });
    expect(answer.body).toEqual({ markets: [], cursor: null });
    expect(statementsOf(answer)).toHaveLength(1);
  });
});

describe('writes nothing, locks nothing and counts nothing', () => {
  const intent = (more: Partial<TradeIntent>): Partial<TradeIntent> => ({
    ...{ clientOrderId: 'never-sent', marketId: market.id, outcome: 'YES', side: 'BUY', worstPrice: 0.95 },
    ...more,
  });
  test.each<[string, () => Promise<RawAnswer>]>([
    ['a prepared trade', () => send(intent({ amount: 20 }), trader, '/prepare')],
    ['one that the desk would refuse', () => send(intent({ amount: 200_000 }), trader, '/prepare')],
    [
      'a trade that is only checked',
      async () => send({ ...(await marketBuy(trader, market, 20)), validateOnly: true }),
    ],
    ['a briefing', () => read('/markets/briefing')],
    ['a context', () => read(`/markets/context/${market.id}`)],
  ])('%s', async (_, request) => {
    const before = await trader.client.getMe();
    const answer = await request();
    expect(answer.status).toBe(200);
    expect(statementsOf(answer).length).toBeGreaterThan(0);
    expect(statementsOf(answer).filter(({ text }) => WRITES.test(text))).toEqual([]);
    const { tradesToday, simulationBalance } = await trader.client.getMe();
    expect({ tradesToday, simulationBalance }).toEqual({
      tradesToday: before.tradesToday,
      simulationBalance: before.simulationBalance,
    });
  });
});
