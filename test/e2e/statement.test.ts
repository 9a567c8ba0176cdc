/** The statement: whatever agents do on the paper exchange, its figures add up to the millionth, and nothing is left unexplained. */
import type { Statement } from '@bellwether/contract';
import { buildLimitOrder, buildMarketOrder, type Market } from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import { recordEquity } from '../../packages/server/src/console/equity.ts';
import type { WalletAddress } from '../../packages/server/src/domain/records.ts';
import { ownerOf } from '../approving.ts';
import {
  newAgent,
  newTrader,
  openMarkets,
  restingOrder,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import { endingMarkets, type ManualClock, manualClock, micro, resolveMarket } from '../world.ts';
import { csvOf, expectToAddUp, linesOf, refusedOf, statementOf, sum } from './statement-stage.ts';

const DAY_MS = 86_400_000;
const DEPOSIT = 10_000;

let service: TestService;
let clock: ManualClock;
let markets: Market[];
/** Registered before time moves: the venue wants recent time stamps. */
let traders: Trader[];

beforeAll(async () => {
  clock = manualClock();
  service = await startTestService({ PAPER_WORLD: 'off' }, { clock });
  traders = [];
  for (let i = 0; i < 10; i += 1) traders.push(await newTrader(service, (i % 4) as 0 | 1 | 2 | 3));
  markets = await endingMarkets(traders[0] as Trader);
});

const next = (): Trader => traders.pop() as Trader;
const nextMarket = (): Market => {
  for (;;) {
    const market = markets.shift();
    if (market === undefined) throw new Error('no market is left');
    if (service.exchange.market(market.conditionId)?.status === 'open') return market;
  }
};
const order = async (
  trader: Trader,
  market: Market,
  act: { side: 'BUY'; amount: number } | { side: 'SELL'; shares: number },
  labels: object = {},
  outcome: 'YES' | 'NO' = 'YES',
) => {
  const { signer, signatureType } = trader;
  const worstPrice = act.side === 'BUY' ? 0.99 : 0.01;
  const request = await buildMarketOrder({
    ...{ signer, signatureType, market, outcome, worstPrice },
    ...act,
  });
  clock.advance(1_000);
  const answer = await trader.client.placeTrade({ ...request, ...labels });
  expect(answer.success).toBe(true);
  return answer;
};
const exchangeCash = ({ funder }: Trader): bigint => {
  const { available, held } = service.exchange.account(funder);
  return available + held;
};
let names = 0;
const sets = (market: Market, amount: number) => {
  names += 1;
  return { clientOrderId: `set-${names}`, marketId: market.id, amount };
};

/** Buys, sells, rests, splits, merges, draws from the faucet; one market resolves and is redeemed. */
async function busyLife(trader: Trader): Promise<{ readonly stops: readonly number[] }> {
  const [first, second] = [nextMarket(), nextMarket()];
  const stops: number[] = [];
  const stop = () => {
    clock.advance(1_000);
    stops.push(clock.now());
    clock.advance(1_000);
  };
  await order(trader, first, { side: 'BUY', amount: 21.37 }, { skillSlug: 'momentum', source: 'sdk:a' });
  await order(trader, first, { side: 'BUY', amount: 7.01 }, {}, 'NO');
  stop();
  await order(trader, second, { side: 'BUY', amount: 33.333333 }, { source: 'sdk:b' });
  await trader.client.splitSets(sets(second, 12.5));
  await trader.client.placeTrade(await restingOrder(trader, second));
  stop();
  await order(trader, second, { side: 'SELL', shares: 10.01 });
  await trader.client.mergeSets(sets(second, 3.25));
  await service.needs.venues.default.paper?.faucet?.(trader.funder as WalletAddress, 500_000_000n, 'a draw');
  stop();
  await order(trader, first, { side: 'SELL', shares: 2 });
  await recordEquity(service.needs, [trader.funder as WalletAddress]);
  stop();
  await resolveMarket(service, clock, first.conditionId);
  stop();
  await trader.client.redeemPosition({ marketId: first.id });
  clock.advance(1_000);
  return { stops };
}

describe('a busy life on the paper exchange', () => {
  let trader: Trader;
  let stops: readonly number[];
  let whole: Statement;

  beforeAll(async () => {
    trader = next();
    ({ stops } = await busyLife(trader));
    whole = await statementOf(trader, { from: '2000-01-01' });
  });

  test('adds up, and leaves nothing unexplained', () => {
    expectToAddUp(whole);
    expect(whole).toMatchObject({
      isCurrent: true,
      opening: { cash: 0, costBasis: 0 },
      totals: { notExplained: 0, pastDesk: 0, platformFees: 0, deposits: DEPOSIT + 500 },
    });
    expect(micro(whole.closing.cash)).toBe(exchangeCash(trader));
    expect(new Set(whole.events.map(({ kind }) => kind))).toEqual(
      new Set(['deposit', 'buy', 'sell', 'split', 'merge', 'loss', 'payout']),
    );
  });

  test('says what the positions say', async () => {
    const [portfolio, held] = [await trader.client.getPortfolio(), await trader.client.getCurrentPositions()];
    expect(whole.totals).toMatchObject({ realizedPnl: portfolio.realizedPnl, venueFees: portfolio.fees });
    expect(sum(held.map(({ initialValue }) => initialValue))).toBe(micro(whole.closing.costBasis));
    expect(sum(held.map(({ currentValue }) => currentValue))).toBe(
      micro(whole.closing.positionsValue as number),
    );
    expect(micro(whole.closing.unrealizedPnl as number)).toBe(micro(portfolio.unrealizedPnl));
    expect(held.length).toBeGreaterThan(0);
  });

  test('in parts, each begins as the one before ended, and together they are the whole', async () => {
    const bounds = [Date.UTC(2000, 0), ...stops, undefined];
    const parts: Statement[] = [];
    for (const [i, from] of bounds.slice(0, -1).entries()) {
      const to = bounds[i + 1];
      parts.push(
        await statementOf(trader, {
          from: new Date(from as number).toISOString(),
          ...(to === undefined ? {} : { to: new Date(to).toISOString() }),
        }),
      );
    }
    for (const [i, part] of parts.entries()) {
      expectToAddUp(part);
      const before = parts[i - 1];
      if (before === undefined) continue;
      expect([part.opening.cash, part.opening.costBasis]).toEqual([
        before.closing.cash,
        before.closing.costBasis,
      ]);
    }
    expect(parts.flatMap(({ events }) => events.map(({ id }) => id))).toEqual(
      whole.events.map(({ id }) => id),
    );
    expect(sum(parts.map(({ totals }) => totals.net))).toBe(micro(whole.totals.net));
    expect(parts.length).toBeGreaterThan(4);
    // What it was worth then was recorded.
    expect(parts.some(({ opening }) => opening.positionsValue !== null && opening.positionsValue > 0)).toBe(
      true,
    );
  });

  test('first in, first out has other results on the way and the same balance', async () => {
    const fifo = await statementOf(trader, { from: '2000-01-01', method: 'fifo' });
    expectToAddUp(fifo);
    expect(fifo.method).toBe('fifo');
    expect(fifo.closing.cash).toBe(whole.closing.cash);
    expect(sum([fifo.totals.realizedPnl, -fifo.closing.costBasis])).toBe(
      sum([whole.totals.realizedPnl, -whole.closing.costBasis]),
    );
  });

  test('by skill and day the labels of the orders count', () => {
    expect(whole.bySkill.map(({ key }) => key)).toEqual(expect.arrayContaining(['momentum', '']));
    expect(whole.byDay.map(({ key }) => key)).toEqual(whole.byDay.map(({ key }) => key).toSorted());
    expect(whole.byCategory.every(({ key }) => key !== '')).toBe(true);
    expect(whole.byMarket).toHaveLength(2);
    expect(whole.totals.losses).toBeLessThan(0);
  });

  test('as CSV has the same lines, and its columns add up to the last', async () => {
    const lines = linesOf(await csvOf(service, trader, '&from=2000-01-01'));
    const events = lines.slice(1, -2);
    expect(events.map(({ at, kind, cash }) => [at, kind, micro(Number(cash))])).toEqual(
      whole.events.map(({ at, kind, cash }) => [at, kind, micro(cash)]),
    );
    expect(lines.at(-2)).toMatchObject({ kind: 'not_explained', cash: '0.000000' });
    expect(lines.at(-1)).toMatchObject({ kind: 'closing', cash: '' });
    const column = (name: string) => sum(lines.map((line) => Number(line[name])));
    expect(column('cash')).toBe(micro(Number(lines.at(-1)?.balance)));
    expect(column('costBasis')).toBe(micro(whole.closing.costBasis));
    expect(column('realizedPnl')).toBe(micro(whole.totals.realizedPnl));
    for (const { cash } of events) expect(cash).toMatch(/^-?\d+\.\d{6}$/);
  });

  test('in pages is the same, event by event', async () => {
    const ids: string[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < 100; page += 1) {
      const {
        events,
        next: following,
        eventsTotal,
      } = await trader.client.getStatement({
        ...{ from: '2000-01-01', limit: 4 },
        ...(cursor === undefined ? {} : { cursor }),
      });
      ids.push(...events.map(({ id }) => id));
      expect(eventsTotal).toBe(whole.eventsTotal);
      if (following === null) break;
      cursor = following;
    }
    expect(ids).toEqual(whole.events.map(({ id }) => id));
    expect(new Set(ids).size).toBe(ids.length);
  });
});

test('first in, first out sells the oldest shares first', async () => {
  const [trader, market] = [next(), nextMarket()];
  const { signer, signatureType, client } = trader;
  const limit = async (side: 'BUY' | 'SELL', size: number) => {
    const price = side === 'BUY' ? '0.99' : '0.01';
    const common = { signer, signatureType, market, outcome: 'YES' } as const;
    clock.advance(1_000);
    const { orderId } = await client.placeTrade(await buildLimitOrder({ ...common, side, price, size }));
    const { filledSize, filledAmount } = await client.getOrder(orderId);
    expect(filledSize).toBe(size);
    return micro(filledAmount);
  };
  const paid = await limit('BUY', 20);
  // Deep enough to cost more a share.
  const more = await limit('BUY', 2_000);
  const received = await limit('SELL', 20);
  const fifo = await statementOf(trader, { method: 'fifo' });
  expect(micro(fifo.totals.realizedPnl)).toBe(received - paid);
  const average = await statementOf(trader);
  expect(micro(average.totals.realizedPnl)).toBe(received - ((paid + more) * 20n) / 2_020n);
  expect(average.totals.realizedPnl).toBeLessThan(fifo.totals.realizedPnl);
});

test('two agents of one wallet: each sees the whole balance, and nothing of whose order it was', async () => {
  const [trader, market] = [next(), nextMarket()];
  const helper = await newAgent(service, '=SUM(A1:A9)');
  const owner = await ownerOf(service, trader, helper);
  await order(
    trader,
    market,
    { side: 'BUY', amount: 25 },
    { source: 'secret strategy', skillSlug: 'momentum' },
  );
  const grant = { walletAddress: trader.funder, granted: true };
  expect((await owner.send('POST', `/owner/agents/${helper.agentId}/wallets`, grant)).status).toBe(200);
  const byHelper = {
    ...helper,
    funder: trader.funder,
    signer: trader.signer,
    signatureType: trader.signatureType,
  };
  await order(byHelper, market, { side: 'SELL', shares: 5 }, { source: '-2+3' });

  const seen = await statementOf(helper);
  expectToAddUp(seen);
  expect(micro(seen.closing.cash)).toBe(exchangeCash(trader));
  const bought = seen.events.find(({ kind }) => kind === 'buy');
  expect(bought).toMatchObject({
    isOther: true,
    agentId: null,
    agentName: null,
    orderId: null,
    source: null,
    skillSlug: null,
  });
  expect(seen.otherAgents.cash).toBeLessThan(0);
  expect(JSON.stringify(seen)).not.toContain('secret strategy');
  expect(seen.events.find(({ kind }) => kind === 'sell')).toMatchObject({
    isOther: false,
    agentId: helper.agentId,
  });

  const { body } = await owner.send('GET', '/owner/statement?limit=1000');
  expectToAddUp(body);
  expect(body.otherAgents).toEqual({ cash: 0, realizedPnl: 0, fees: 0 });
  expect(new Set(body.events.map((event: { agentId: string | null }) => event.agentId))).toEqual(
    new Set([null, trader.agentId, helper.agentId]),
  );
  const one = await owner.send('GET', `/owner/statement?agentId=${helper.agentId}`);
  expect(one.body.closing.cash).toBe(body.closing.cash);
  expect(one.body.otherAgents.cash).toBe(seen.otherAgents.cash);

  // A spreadsheet runs none of these words.
  const csv = (await owner.send('GET', '/owner/statement?format=csv')).body as unknown as string;
  const [, , ...lines] = linesOf(csv);
  expect(lines.some(({ agent }) => agent === "'=SUM(A1:A9)")).toBe(true);
  expect(lines.some(({ source }) => source === "'-2+3")).toBe(true);
});

test('what an owner may not see is refused like what is not there', async () => {
  const [mine, stranger] = [next(), next()];
  const owner = await ownerOf(service, mine);
  const { status, body } = await owner.send('GET', `/owner/statement?agentId=${stranger.agentId}`);
  expect([status, body.code]).toEqual([404, 'agent_not_found']);
});

test('a span that cannot be, a day of no calendar, a cursor of nothing and a misspelt field are refused by name', async () => {
  const trader = next();
  const refused = (query: string) => refusedOf(service, trader, query);
  expect(await refused('from=2026-02-01&to=2026-01-01')).toEqual([400, 'contradictory_filter', 'from']);
  expect(await refused('from=2026-02-30')).toEqual([400, 'invalid_request', 'from']);
  expect(await refused('to=yesterday')).toEqual([400, 'invalid_request', 'to']);
  expect(await refused('cursor=abc')).toEqual([400, 'invalid_request', 'cursor']);
  const none = Buffer.from(`${new Date().toISOString()} ${'0'.repeat(32)}`).toString('base64url');
  expect(await refused(`cursor=${none}`)).toEqual([400, 'invalid_request', 'cursor']);
  expect(await refused('form=2026-01-01')).toEqual([400, 'invalid_request', 'form']);
  expect(await refused(`from=${new Date(clock.now() + DAY_MS).toISOString()}`)).toEqual([
    400,
    'contradictory_filter',
    'from',
  ]);
});

test('a wallet that never did anything has its deposit, and an agent without a wallet an empty statement', async () => {
  const idle = await statementOf(await newAgent(service));
  expect(idle).toMatchObject({ wallets: [], events: [], closing: { cash: 0, positionsValue: 0 } });
  expectToAddUp(idle);
});

test('a future end is now', async () => {
  const trader = traders[0] as Trader;
  const { to, closing } = await statementOf(trader, { to: '2999-01-01' });
  expect(Date.parse(to)).toBeLessThanOrEqual(clock.now());
  expect(closing.cash).toBe(DEPOSIT);
});

test('shares of one market that become shares of the others move cost and no money', async () => {
  const trader = next();
  const [market] = (await openMarkets(trader.client, '0.01', true)) as [Market];
  await order(trader, market, { side: 'BUY', amount: 20 }, {}, 'NO');
  const before = await statementOf(trader);
  await trader.client.convertSets(sets(market, 7));
  const after = await statementOf(trader);
  expectToAddUp(after);
  expect(after.totals.notExplained).toBe(0);
  expect(after.closing.cash).toBe(before.closing.cash);
  const converted = after.events.filter(({ kind }) => kind === 'convert');
  expect(converted.length).toBeGreaterThan(1);
  expect(sum(converted.map(({ cash }) => cash))).toBe(0n);
});
