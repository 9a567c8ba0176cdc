/** The venue's names of outcomes: which side is YES, what a request may say, and that every answer says which is which. */
import { createHash, randomUUID } from 'node:crypto';
import { BellwetherClient, linkSolanaWallet } from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import { auditReceipts } from '../../packages/server/src/receipts/audit.ts';
import { passes } from '../exits.ts';
import {
  call,
  marketBuy,
  newAgent,
  newTrader,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import { alteredVenue, liveOrder, newLiveTrader, poolOf, startLiveDesk, startVenue } from '../live-desk.ts';
import { undoMigrations } from '../postgres.ts';
import { newSandboxTrader, sandboxMarkets } from '../sandbox.ts';
import { movingClock } from '../world.ts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

type Names = readonly [string, string];

/** The names that the venue gives, by the market's condition; of every other market its own. */
const said = new Map<string, Names>();
const clock = movingClock();
let venue: TestService;
let venueUrl: string;

/** Gamma lists names, prices and tokens in one order; the CLOB names each token. */
const renamed = (record: Record<string, unknown>): Record<string, unknown> => {
  const names = said.get(String(record.conditionId ?? record.condition_id));
  if (names === undefined) return record;
  if ('clobTokenIds' in record) return { ...record, outcomes: JSON.stringify(names) };
  if (!('tokens' in record)) return record;
  const tokens = (record.tokens as Record<string, unknown>[]).map((token, nth) => ({
    ...token,
    outcome: names[nth],
  }));
  return { ...record, tokens };
};

beforeAll(async () => {
  venue = await startVenue({}, { clock });
  venueUrl = await alteredVenue(venue.url, renamed);
});

const SOON = () => ({ kind: 'time', at: new Date(clock.now() + 60_000).toISOString() }) as const;

const startDesk = (environment: Readonly<Record<string, string>> = {}) =>
  startLiveDesk({ ...venue, url: venueUrl }, environment, { clock });

/** An open market of the venue, of which it says these names from now on. */
function named(names: Names, nth = 0) {
  const market = [...venue.exchange.markets()].filter(
    ({ status, negRisk, version, tickSize }) =>
      status === 'open' && !negRisk && version === 'v1' && tickSize === 100,
  )[nth]!;
  said.set(market.conditionId, names);
  return market;
}

describe('a market of which the venue lists No first', () => {
  test('is turned around: YES is the outcome that is called Yes', async () => {
    const { conditionId, tokenIds } = named(['No', 'Yes']);
    const desk = await startDesk();
    const { client } = await newAgent(desk);
    const market = await client.getMarket(conditionId);
    expect(market).toMatchObject({ outcomes: ['Yes', 'No'], clobTokenIds: [tokenIds[1], tokenIds[0]] });
    const ask = venue.exchange.book(conditionId, 'NO')?.asks[0]?.[0] ?? 0;
    expect(market.bestAsk).toBe(String(ask / 10_000));
    const book = await client.getOrderBook(tokenIds[1]);
    expect(book).toMatchObject({ outcome: 'YES', outcomeName: 'Yes' });
  });
});

describe('a market whose outcomes have other names', () => {
  let trader: Trader;
  let desk: TestService;
  beforeAll(async () => {
    desk = await startDesk();
    trader = await newLiveTrader(desk, venue);
  });
  const answerOf = async (path: string, body: unknown) => {
    const answer = await trader.post(path, body);
    return [answer.status, answer.body.code ?? answer.body.status, answer.body.detail];
  };

  test('a request may name one; what could be mistaken is refused with both names', async () => {
    const { conditionId } = named(['FaZe', 'illwill'], 2);
    const market = await trader.client.getMarket(conditionId);
    expect(market.outcomes).toEqual(['FaZe', 'illwill']);
    const intent = (outcome: string) => ({
      ...{ clientOrderId: randomUUID(), marketId: market.id, outcome, side: 'BUY', price: 0.01, size: 10 },
      timestamp: Date.now(),
    });
    const { body: prepared } = await trader.post('/markets/trade/prepare', intent('faze'));
    expect(prepared).toMatchObject({ outcome: 'YES', outcomeName: 'FaZe', body: { outcome: 'YES' } });
    const both = expect.stringContaining('YES is "FaZe", NO is "illwill"');
    for (const word of ['Yes', 'no', '0', 'FaZe Clan'])
      expect(await answerOf('/markets/trade/prepare', intent(word))).toEqual([
        400,
        'outcome_name_mismatch',
        both,
      ]);
    const order = await liveOrder(trader, market, { side: 'BUY', outcome: 'NO', price: '0.01' });
    for (const word of ['draw', 'Yes'])
      expect(await answerOf('/markets/trade', { ...order, outcome: word })).toEqual([
        400,
        'outcome_name_mismatch',
        both,
      ]);
    expect(await answerOf('/markets/trade', { ...order, outcome: 'FaZe' })).toEqual([
      ...[400, 'outcome_token_mismatch'],
      expect.stringContaining('FaZe'),
    ]);
    expect(await answerOf('/markets/trade', { ...order, outcome: 'ILLWILL' })).toEqual([
      ...[201, 'live', undefined],
    ]);
    const exit = await liveOrder(trader, market, { side: 'SELL', price: '0.01' });
    expect(await answerOf('/markets/exits', { ...exit, outcome: 'illwill', trigger: SOON() })).toEqual([
      ...[400, 'outcome_token_mismatch', expect.any(String)],
    ]);
    const twins = named(['Up', 'UP '], 3);
    expect(await answerOf('/markets/trade/prepare', { ...intent('Up'), marketId: twins.id })).toEqual([
      ...[400, 'outcome_name_mismatch', expect.any(String)],
    ]);
  });

  test('every answer says it beside the side', async () => {
    const trader = await newLiveTrader(desk, venue);
    const { conditionId, tokenIds } = named(['São Paulo', "Côte d'Ivoire"], 4);
    const market = await trader.client.getMarket(conditionId);
    const order = (fields: Parameters<typeof liveOrder>[2]) => liveOrder(trader, market, fields);
    const { orderId } = await trader.client.placeTrade(
      await order({ side: 'BUY', price: market.bestAsk, size: 20 }),
    );
    await trader.client.placeTrade(await order({ side: 'BUY', outcome: 'NO', price: '0.01' }));
    const sale = await order({ side: 'SELL', price: market.bestBid, size: 20 });
    const { exitId } = await trader.client.leaveExit({ ...sale, trigger: SOON() });
    await trader.client.updateSettings({ approvalAbove: 50 });
    await trader.post('/markets/trade', await order({ side: 'BUY', price: '0.02', size: 4_000 }));
    await trader.client.updateSettings({ approvalAbove: null });
    await trader.post('/markets/trade', await order({ side: 'BUY', price: '0.02', size: 90_000 }));
    await desk.runJob('write receipts');
    const names: Readonly<Record<string, string | null>> = {
      ...{ YES: 'São Paulo', NO: "Côte d'Ivoire", BOTH: null },
    };
    let seen = 0;
    const wrong: unknown[] = [];
    const walk = (path: string, value: unknown): void => {
      if (Array.isArray(value)) for (const one of value) walk(path, one);
      if (typeof value !== 'object' || value === null) return;
      const one = value as Record<string, unknown>;
      const side = String(one.outcome ?? one.direction);
      if (side in names) {
        seen += 1;
        if (one.outcomeName !== names[side]) wrong.push([path, side, one.outcomeName]);
      }
      for (const inner of Object.values(one)) walk(path, inner);
    };
    const paths = [
      ...[`/markets/context/${conditionId}?size=10`, `/markets/orderbook/${tokenIds[1]}`],
      ...['/markets/current-positions', `/markets/wallet/${trader.funder}/positions`],
      ...['orders', 'orders/open', 'fills', 'exits'].map(
        (list) => `/markets/${list}?marketConditionId=${conditionId}`,
      ),
      ...[`/markets/orders/${orderId}`, `/markets/orders/${orderId}/receipt`, `/markets/exits/${exitId}`],
      ...[`/agents/statement?from=2020-01-01T00:00:00Z`, '/agents/approvals', '/agents/trades'],
    ];
    for (const path of paths) {
      const before = seen;
      const { status, body } = await trader.get(path);
      walk(path, body);
      expect([path, status, seen > before]).toEqual([path, 200, true]);
    }
    expect(wrong).toEqual([]);
    const byName = await trader.get(`/markets/exits?marketConditionId=${conditionId}&outcome=são paulo`);
    expect(byName.body).toMatchObject([{ exitId }]);
    for (const query of ['outcome=são paulo', `marketConditionId=${conditionId}&outcome=Yes`])
      expect((await trader.get(`/markets/exits?${query}`)).body.code).toBe('outcome_name_mismatch');
  });
});

test('on paper a market is bought by the name of its outcome, and the doors say it as the venue does', async () => {
  const service = await startTestService();
  const paper = await newTrader(service);
  const markets = await paper.client.listMarkets({ q: '*', limit: 500 });
  const withNames = markets.filter(({ outcomes }) => outcomes.join() !== 'Yes,No');
  expect(withNames.length / markets.length).toBeGreaterThanOrEqual(0.1);
  const { conditionId, clobTokenIds, outcomes, ...market } = withNames.find(
    ({ bestAsk, tickSize, version }) => bestAsk !== '0' && tickSize === '0.01' && version === 'v1',
  )!;
  const [yes, no] = outcomes as [string, string];
  const named = { ...market, conditionId, clobTokenIds, outcomes };
  await paper.client.placeTrade(await marketBuy(paper, named, 5, { outcome: yes.toUpperCase() }));
  expect(await paper.client.getCurrentPositions()).toMatchObject([{ outcome: 'YES', outcomeName: yes }]);
  const door = async (path: string) => (await call(service, 'GET', `/paper/${path}`)).body;
  expect(await door(`gamma/markets?condition_ids=${conditionId}`)).toMatchObject([
    { outcomes: JSON.stringify(outcomes) },
  ]);
  expect((await door(`clob/markets/${conditionId}`)).tokens).toMatchObject([
    { token_id: clobTokenIds[0], outcome: yes },
    { token_id: clobTokenIds[1], outcome: no },
  ]);
  const user = paper.signer.address.toLowerCase();
  const held = { asset: clobTokenIds[0], outcome: yes, outcomeIndex: 0 };
  expect(await door(`data/positions?user=${user}`)).toMatchObject([{ ...held, oppositeOutcome: no }]);
  await expect.poll(() => door(`data/trades?user=${user}&limit=1`)).toMatchObject([held]);
});

/** As an earlier release had it: without names, and before the migration that asks for them. */
async function asEarlier(desk: TestService) {
  const sql = poolOf(desk);
  await undoMigrations(sql, 106);
  // A later release's, which would write what its migration adds.
  await sql`drop trigger exits_writer on exits`;
  await sql`delete from sql_functions where file = 'exits.sql'`;
  await sql`update approvals set terms = terms - 'outcomeName'`;
  return sql;
}

test('what an earlier release stored is named, and each outcome computed anew from its token', async () => {
  const { conditionId, tokenIds } = named(['Yes', 'No'], 1);
  const earlier = await startDesk();
  const trader = await newLiveTrader(earlier, venue);
  const market = await trader.client.getMarket(conditionId);
  const order = (fields: Parameters<typeof liveOrder>[2]) => liveOrder(trader, market, fields);
  const inside = (Number(market.bestBid) + 0.01).toFixed(2);
  const resting = await trader.client.placeTrade(await order({ side: 'BUY', price: inside, size: 10 }));
  const bought = await trader.client.placeTrade(
    await order({ side: 'BUY', price: market.bestAsk, size: 20 }),
  );
  expect([resting.status, bought.status, bought.filledSize]).toEqual(['live', 'matched', 20]);
  const trigger = SOON();
  const sale = await order({ side: 'SELL', price: market.bestBid, size: 20 });
  const { exitId } = await trader.client.leaveExit({ ...sale, trigger });
  await trader.client.updateSettings({ approvalAbove: 50 });
  const big = await order({ side: 'BUY', price: '0.02', size: 4000 });
  const { approvalId } = (await trader.post('/markets/trade', big)).body;
  await poolOf(earlier)`update orders set outcome_name = null`;
  await earlier.runJob('write receipts');
  const receipts = await trader.client.listReceipts();
  expect(receipts.entries.length).toBeGreaterThan(0);
  await earlier.stop();

  const sql = await asEarlier(earlier);
  said.set(conditionId, ['No', 'Yes']);
  const { databaseUrl: DATABASE_URL, masterKey: MASTER_KEY } = earlier;
  const desk = await startDesk({ DATABASE_URL, MASTER_KEY });
  const client = new BellwetherClient({ baseUrl: desk.url, apiKey: trader.apiKey });
  const no = { outcome: 'NO', outcomeName: 'No', tokenId: tokenIds[0] };
  expect(await client.getCurrentPositions()).toMatchObject([{ ...no, size: 20 }]);
  expect(await client.listFills()).toMatchObject([no]);
  expect(await client.listOrders()).toMatchObject([no, no]);
  expect(await client.getApproval(approvalId)).toMatchObject({ ...no, status: 'waiting' });
  const bid = (venue.exchange.book(conditionId, 'YES')?.bids[0]?.[0] ?? 0) / 10_000;
  expect(await client.getExit(exitId)).toMatchObject({ ...no, status: 'armed', watch: { bid } });
  // What was signed stays as it was.
  expect(await client.listReceipts()).toEqual(receipts);
  expect((await auditReceipts(sql, { sha256 })).faults).toEqual([]);

  // What waited on the book is filled now; in another second, since the venue says of a fill no more than its second.
  clock.advance(1_000);
  const seller = await newLiveTrader(desk, venue);
  const whole = { conditionId: conditionId as never, amount: 10_000_000n };
  await venue.exchange.execute({ kind: 'split', account: seller.funder as never, ...whole });
  const turned = await client.getMarket(conditionId);
  const offered = { side: 'SELL', outcome: 'NO', price: inside, size: 10 } as const;
  await seller.client.placeTrade(await liveOrder(seller, turned, offered));
  await expect
    .poll(() => client.listFills())
    .toMatchObject([
      { ...no, orderId: resting.orderId, size: 10 },
      { ...no, orderId: bought.orderId },
    ]);
  expect(await client.getCurrentPositions()).toMatchObject([{ ...no, size: 30 }]);

  clock.moveTo(Date.parse(trigger.at));
  await expect
    .poll(async () => {
      await passes(desk, clock, 500);
      return client.getExit(exitId);
    })
    .toMatchObject({ status: 'fired', trouble: null });
  expect(await client.getCurrentPositions()).toMatchObject([{ ...no, size: 10 }]);
  await sql`select decide_approval(${approvalId}, user_id, 'approved', now(), now() + interval '1 hour', null)
    from agents where agent_id = ${trader.agentId}`;
  const { status, body } = await call(desk, 'POST', '/markets/trade', { key: trader.apiKey, body: big });
  expect([status, body.code]).toEqual([400, 'outcome_token_mismatch']);
  const same = { ...big, outcome: 'NO' };
  expect((await call(desk, 'POST', '/markets/trade', { key: trader.apiKey, body: same })).body).toMatchObject(
    {
      success: true,
      status: 'live',
    },
  );
});

test('on venue B they are those of the exchange, in markets, quotes, orders, positions and the SDK', async () => {
  const desk = await startTestService({ PAPER_WORLD: 'off' });
  const trader = await newSandboxTrader(desk);
  const market = (await sandboxMarkets(trader.client)).find(({ outcomes }) => outcomes.join() !== 'Yes,No');
  if (market === undefined) throw new Error('the sandbox lists no market with names');
  const [, , marketId] = market.id.split('-');
  const onExchange = [...desk.exchange.markets()].find(({ id }) => id === marketId);
  expect(market.outcomes).toEqual(onExchange?.outcomes);
  const [yes, no] = market.outcomes;
  for (const [side, outcomeName] of [
    ['YES', yes],
    ['NO', no],
  ] as const) {
    const ask = { marketTicker: market.id, side, action: 'BUY', amount: 5 } as const;
    expect((await trader.quote(ask)).body).toMatchObject({ side, outcomeName });
    await linkSolanaWallet(trader.client, trader.signer);
    expect(await trader.trade({ ticker: market.id, side, action: 'BUY', amount: 5 })).toMatchObject({
      ...{ side, outcomeName },
    });
    const mint = market.clobTokenIds[side === 'YES' ? 0 : 1];
    const positions = [
      ...(await trader.client.venueB.positions()),
      ...(await trader.client.getCurrentPositions()),
    ];
    expect(positions.filter(({ tokenId }) => tokenId === mint)).toMatchObject([
      { outcome: side, outcomeName },
      { outcome: side, outcomeName },
    ]);
  }
});
