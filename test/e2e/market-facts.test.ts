/** Facts of a live market that change what a trade or an exit does: its end, and what the venue does to its orders. */
import type { ExitRequest, Market, TradeIntent } from '@bellwether/sdk';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { bidOf, lasts, passes } from '../exits.ts';
import { openMarkets, type TestService, type Trader } from '../harness.ts';
import { alteredVenue, liveOrder, newLiveTrader, startLiveDesk, startVenue } from '../live-desk.ts';
import { movingClock } from '../world.ts';

const clock = movingClock();
/** What the venue says otherwise, by condition. */
const says = new Map<unknown, Record<string, unknown>>();
let venue: TestService;
let desk: TestService;
let trader: Trader;
let markets: Market[];
let market: Market;
let place = 0;

beforeAll(async () => {
  venue = await startVenue({}, { clock });
  const url = await alteredVenue(venue.url, (record) =>
    'clobTokenIds' in record ? { ...record, ...says.get(record.conditionId) } : record,
  );
  desk = await startLiveDesk({ ...venue, url }, {}, { clock });
  trader = await newLiveTrader(desk, venue);
  markets = await openMarkets(trader.client);
});
beforeEach(() => {
  market = markets[place] as Market;
  place += 1;
});

let asked = 1;
/** The catalogue says it, and the desk has read it: a search that was not made before is asked of the venue. */
async function venueSays(fields: Record<string, unknown>): Promise<Market> {
  says.set(market.conditionId, fields);
  asked += 1;
  await trader.client.listMarkets({ q: market.question.replace(' ', ' '.repeat(asked)) });
  return trader.client.getMarket(market.id);
}
const inMinutes = (minutes: number) => new Date(clock.now() + minutes * 60_000).toISOString();
const held = () => Number(venue.exchange.freeTokens(trader.funder, market.conditionId, 'YES')) / 1e6;

async function hold(): Promise<void> {
  const price = Number(market.bestAsk);
  await trader.client.placeTrade(
    await liveOrder(trader, market, { side: 'BUY', size: 20, price, type: 'FAK' } as never),
  );
  await expect.poll(held).toBe(20);
}
/** The desk looks at its exits, and again at what would stop one. */
async function reviewed(): Promise<void> {
  clock.advance(31_000);
  await passes(desk, clock, 1_000);
}
const exitBefore = async (minutes: number) => ({
  ...(await liveOrder(trader, market, { side: 'SELL', price: bidOf(venue, market) } as never)),
  trigger: { kind: 'before_end' as const, minutes },
});
const alerts = async () =>
  (await trader.client.getBriefing()).riskAlerts.filter(({ marketId }) => marketId === market.id);
const OF_AN_END = ['market_closing_soon', 'position_near_resolution'];

test.each([
  ['names no end', { endDate: null, endDateIso: null }, '9999-12-31T23:59:59.999Z', 'names no end'],
  ['names a past one', { endDate: '2026-01-01T00:00:00Z' }, '2026-01-01T00:00:00.000Z', 'is past'],
])('a venue that %s: no exit waits for it, and nothing warns of it', async (_what, fields, endDate, why) => {
  await hold();
  const resting = await liveOrder(trader, market, { side: 'BUY' });
  await trader.client.placeTrade(resting);
  expect(await venueSays(fields)).toMatchObject({ endDate, active: true });
  const { status, body } = await trader.post('/markets/exits', await exitBefore(60));
  expect([status, body.code, body.errors[0].path]).toEqual([
    400,
    'exit_trigger_out_of_range',
    'trigger.kind',
  ]);
  expect(body.detail).toContain(why);
  expect(body.fix).toContain('trigger.kind time');
  expect((await alerts()).filter(({ code }) => OF_AN_END.includes(code))).toEqual([]);
  const { warnings } = await trader.client.getMarketContext(market.id);
  expect(warnings.map(({ code }) => code)).not.toContain('market_closing_soon');
  const { positions } = await trader.client.getExpiringPositions({ hours: 720 });
  expect(positions.filter(({ marketId }) => marketId === market.id)).toEqual([]);
});

test('an end that was moved into the past, or is named no more, sells nothing and says so; one ahead sells', async () => {
  await hold();
  await venueSays({ endDate: inMinutes(300) });
  const { exitId } = await trader.client.leaveExit((await exitBefore(60)) as ExitRequest);
  for (const fields of [{ endDate: inMinutes(-1) }, { endDate: null, endDateIso: null }]) {
    await venueSays(fields);
    await reviewed();
    const exit = await trader.client.getExit(exitId);
    expect([exit.status, exit.trouble?.code]).toEqual(['armed', 'exit_trigger_out_of_range']);
    await lasts(desk, clock);
    expect((await alerts()).map(({ code }) => code)).toContain('exit_in_trouble');
  }
  expect(held()).toBe(20);
  await venueSays({ endDate: inMinutes(62) });
  await reviewed();
  expect((await trader.client.getExit(exitId)).trouble).toBeNull();
  clock.advance(120_000);
  await expect
    .poll(async () => {
      await passes(desk, clock, 1_000);
      return (await trader.client.getExit(exitId)).status;
    })
    .toBe('fired');
});

test('an end that is near is one that is due, and promises no cancel', async () => {
  await trader.client.placeTrade(await liveOrder(trader, market, { side: 'BUY' }));
  await venueSays({ endDate: inMinutes(10) });
  const near = (await alerts()).find(({ code }) => code === 'market_closing_soon');
  expect(near?.message).toMatch(/^The market is due to end in 10 minutes, and you have 1 open order in it/);
  expect(near?.message).not.toContain('will be');
});

test('the start of a game and an “Other” outcome are named by the market, its context and prepare', async () => {
  const start = inMinutes(300);
  const said = {
    ...{ secondsDelay: 3, clearBookOnStart: true, negRiskOther: true, resolutionSource: 'the\u202e league' },
    gameStartTime: `${start.slice(0, 19).replace('T', ' ')}+00`,
  };
  const gameStartTime = `${start.slice(0, 19)}.000Z`;
  const found = await venueSays(said);
  const facts = {
    ...{ takerDelaySeconds: 3, gameStartTime, ordersCanceledAtStart: true, isOtherOutcome: true },
  };
  expect(found).toMatchObject({ ...facts, resolutionSource: said.resolutionSource });
  const codes = ['taker_delay', 'orders_canceled_at_start', 'other_outcome'];
  const { market: shown, warnings } = await trader.client.getMarketContext(market.id);
  expect(shown).toMatchObject({ ...facts, resolutionSource: 'the  league' });
  expect(warnings.map(({ code }) => code)).toEqual(expect.arrayContaining(codes));
  const intent: TradeIntent = {
    ...{ clientOrderId: 'game', marketId: market.id, outcome: 'YES', side: 'BUY', price: 0.01, size: 10 },
    ...{ timestamp: clock.now(), walletAddress: trader.funder },
  };
  const prepared = await trader.client.prepareTrade(intent);
  expect(prepared.warnings).toEqual(warnings.filter(({ code }) => codes.includes(code)));
  expect(prepared.warnings.map(({ message }) => message).join(' ')).toMatch(
    new RegExp(`for 3 s .* when the game starts, at ${gameStartTime}\\. .* added to the event`),
  );
  // Once it has started nothing is swept any more.
  await venueSays({ ...said, gameStartTime: `${inMinutes(-1).slice(0, 19).replace('T', ' ')}+00` });
  const after = await trader.client.prepareTrade({ ...intent, clientOrderId: 'later' });
  expect(after.warnings.map(({ code }) => code)).toEqual(['taker_delay', 'other_outcome']);
});
