/** What becomes of a guarded exit makes one event, a line in the briefing and, where shares are left unguarded, an alert. */
import { randomBytes } from 'node:crypto';
import { WEBHOOK_EVENTS } from '@bellwether/contract';
import type { ExitRequest, Market } from '@bellwether/sdk';
import { Check } from 'typebox/value';
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { claim, ownerOf } from '../approving.ts';
import { cli } from '../cli-process.ts';
import { bidOf, cursorOf, type ExitOrder, eventsOf, exitOrder, hold, passes } from '../exits.ts';
import {
  limitOrder,
  marketSell,
  newAgent,
  newTrader,
  openMarkets,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import type { Visitor } from '../passkey.ts';
import { dataFolder } from '../service-process.ts';
import { standIn } from '../stand-in.ts';
import { manualClock, resolveMarket } from '../world.ts';

const clock = manualClock();
const ENV = { PAPER_WORLD: 'off', MASTER_KEY: randomBytes(32).toString('hex') };
let service: TestService;
let markets: Market[];
let market: Market;
let trader: Trader;
let owner: Visitor;
let place = 0;
/** What the receiver of webhooks got. */
const got: { readonly id: string; readonly type: string; readonly data: object }[] = [];
let hooks: string;

beforeAll(async () => {
  hooks = await standIn((asked, response) => {
    got.push(JSON.parse(asked.body));
    response.writeHead(204).end();
  });
  service = await startTestService({ ...ENV, WEBHOOKS_ALLOW_LOOPBACK: 'on' }, { clock });
  markets = await openMarkets((await newTrader(service)).client);
  owner = await ownerOf(service);
});
beforeEach(async () => {
  market = markets[place] as Market;
  place += 1;
  trader = await newTrader(service);
  await hold(trader, market, 40);
  await claim(owner, trader);
});
afterEach(() => void vi.restoreAllMocks());

const tick = (price: number) => Math.round(price * 100) / 100;
const pass = (ms: number) => passes(service, clock, ms);
/** Sold in a minute, unless its terms say otherwise. */
async function leave(order: Partial<ExitOrder> = {}, more: Partial<ExitRequest> = {}): Promise<string> {
  const signed = await exitOrder(trader, market, { worst: tick(bidOf(service, market) * 0.95), ...order });
  clock.advance(1);
  const trigger = { kind: 'time', at: new Date(clock.now() + 60_000).toISOString() };
  return (await trader.client.leaveExit({ ...signed, trigger, ...more } as ExitRequest)).exitId;
}
const LATER = { trigger: { kind: 'price_at_or_above', price: 0.98 } } as const;
/** Left for a price that does not come. */
const leaveLater = (order: Partial<ExitOrder> = {}, more: Partial<ExitRequest> = {}) =>
  leave({ worst: 0.9, ...order }, { ...LATER, ...more } as Partial<ExitRequest>);
async function due(): Promise<void> {
  clock.advance(61_000);
  await pass(500);
}
/** One that rests above the bid when it is sent, and that the agent cancels there. */
async function failed(order: Partial<ExitOrder> = {}): Promise<string> {
  const exitId = await leave({ worst: 0.9, ...order });
  await due();
  await trader.client.cancelOrder((await trader.client.getExit(exitId)).orderId);
  await pass(500);
  return exitId;
}
/** Sells 9 of 30, and no more: nobody else bids so much. */
async function soldInPart(): Promise<string> {
  const price = tick(bidOf(service, market) + 0.01);
  const bidder = await newTrader(service);
  await bidder.client.placeTrade(
    await limitOrder(bidder, market, { side: 'BUY', size: 9, price: price.toFixed(2) }),
  );
  const exitId = await leave({ worst: price, size: 30, type: 'FAK' });
  await due();
  return exitId;
}

const exitEvents = async (agent: Pick<Trader, 'client'>, after: string) =>
  (await eventsOf(agent, after)).flatMap((event) =>
    event.type.startsWith('exit.') && 'id' in event ? [event] : [],
  );
const told = async (after: string) =>
  (await exitEvents(trader, after)).map(({ type, data }) => {
    const { exitId, because } = data as { readonly exitId: string; readonly because: string | null };
    return [exitId, type, because];
  });
const alertsOf = async () =>
  (await trader.client.getBriefing()).riskAlerts.filter(({ code }) => code.startsWith('exit_'));
const codes = async () => (await alertsOf()).map(({ code }) => code);
const path = (rest = '') => `/owner/agents/${trader.agentId}${rest}`;
const ownerCodes = async (): Promise<string[]> =>
  (await owner.send('GET', path())).body.alerts
    .map(({ code }: { code: string }) => code)
    .filter((code: string) => code.startsWith('exit_'));

describe('an event tells', () => {
  test('an order that was placed, and what it sold: all, a part, or nothing', async () => {
    const after = await cursorOf(trader);
    const all = await leave();
    await due();
    const part = await soldInPart();
    const none = await failed({ size: 5 });
    expect(await told(after)).toEqual([
      [all, 'exit.sent', null],
      [all, 'exit.filled', null],
      [part, 'exit.sent', null],
      [part, 'exit.filled_in_part', 'filled_in_part'],
      [none, 'exit.sent', null],
      [none, 'exit.failed', 'not_filled'],
    ]);
    const events = await exitEvents(trader, after);
    expect(events[3]?.data).toMatchObject({
      ...{ exitId: part, status: 'fired', size: 30, filledSize: 9, outcome: 'YES', marketId: market.id },
      message: expect.stringMatching(/has sold 9, and nothing of it waits any more. Sign a new exit/),
    });
    for (const { type, data } of events) expect(Check(WEBHOOK_EVENTS[type]?.data ?? {}, data)).toBe(true);
  });

  test('a pause that suspends, its end, and each way to end unsold', async () => {
    const after = await cursorOf(trader);
    const exit = await leaveLater();
    const apart = await leaveLater({}, { expiresAt: new Date(clock.now() + 120_000).toISOString() });
    await owner.send('POST', path('/pause'), { paused: true });
    await owner.send('POST', path('/pause'), { paused: false });
    await owner.send('POST', path(`/exits/${exit}/resume`));
    const next = await leaveLater({}, { replaces: exit });
    await trader.client.cancelExit({ exitId: next });
    clock.advance(120_001);
    await pass(500);
    const group = { group: 'one' };
    const first = await leave({}, group);
    const second = await leaveLater({}, group);
    await due();
    const last = await leaveLater();
    await trader.client.placeTrade(await marketSell(trader, market, 30));
    clock.advance(31_000);
    await pass(500);
    expect((await told(after)).map(([id, type, because]) => [id, `${type} ${because}`])).toEqual([
      [exit, 'exit.suspended pause'],
      [apart, 'exit.suspended pause'],
      [exit, 'exit.resumed null'],
      [exit, 'exit.canceled replaced'],
      [next, 'exit.canceled by_agent'],
      [apart, 'exit.expired null'],
      [first, 'exit.sent null'],
      [first, 'exit.filled null'],
      [second, 'exit.canceled group'],
      [last, 'exit.canceled position_closed'],
    ]);
  });

  test('a pause in the very moment in which one is left, and that an agent without an owner resumes it', async () => {
    trader = await newTrader(service);
    await hold(trader, market, 40);
    const after = await cursorOf(trader);
    const { exits } = service.needs;
    const real = exits.leave.bind(exits);
    vi.spyOn(exits, 'leave').mockImplementationOnce(async (...left) => {
      await trader.client.updateSettings({ tradingPaused: true });
      return real(...left);
    });
    const exit = await leaveLater();
    expect(await told(after)).toEqual([[exit, 'exit.suspended', 'pause']]);
    await trader.client.updateSettings({ tradingPaused: false });
    await trader.client.resumeOwnExit(exit);
    expect((await told(after)).at(-1)).toEqual([exit, 'exit.resumed', null]);
  });

  test('nothing of attempts, nor of a sale by the owner that is refused', async () => {
    const after = await cursorOf(trader);
    const exit = await leave({ worst: 0.02 }, { trigger: { kind: 'price_at_or_below', price: 0.02 } });
    const sell = async () => {
      const { body } = await owner.send('POST', path(`/exits/${exit}/passkey-options`), { act: 'sell' });
      return owner.send('POST', path(`/exits/${exit}/act`), {
        act: 'sell',
        ...owner.signature(body.challenge),
      });
    };
    expect((await sell()).body.code).toBe('exit_price_out_of_range');
    await owner.send('POST', path('/pause'), { paused: true });
    expect((await sell()).body.code).toBe('exit_price_out_of_range');
    expect(await told(after)).toEqual([[exit, 'exit.suspended', 'pause']]);
  });

  test('a trouble that lasts ten seconds: once for each code until it is over, whoever looks', async () => {
    const after = await cursorOf(trader);
    const replica = await startTestService({ ...ENV, DATABASE_URL: service.databaseUrl }, { clock });
    const look = () =>
      Promise.all([service, replica].map(({ needs }) => needs.exits.tellTroubles(clock.now())));
    /** Long enough for a trouble, and looked at as often as the desk looks. */
    const wait = async (seconds: number) => {
      for (let passed = 0; passed < seconds; passed += 2) {
        clock.advance(2_000);
        await service.runJob('watch exits');
        await look();
      }
    };
    const exit = await leave({ worst: 0.02 });
    clock.advance(61_000);
    await wait(8);
    expect([await told(after), await codes()]).toEqual([[], []]);
    await wait(30);
    expect(await told(after)).toEqual([[exit, 'exit.in_trouble', null]]);
    expect(await codes()).toEqual(['exit_in_trouble']);
    const [event] = await exitEvents(trader, after);
    expect(event?.data).toMatchObject({ status: 'armed', trouble: { code: 'exit_price_out_of_range' } });
    // A moment without it is no end of it.
    await service.needs.exits.reviewed(exit, null);
    await look();
    await wait(14);
    expect(await told(after)).toHaveLength(1);
    const { markets: data } = service.needs.venues.default;
    const real = data.book.bind(data);
    vi.spyOn(data, 'book').mockImplementation(async (...asked) => {
      const book = await real(...asked);
      return book === null ? null : { ...book, bids: [] };
    });
    await wait(44);
    expect(await exitEvents(trader, after)).toMatchObject([
      { data: { trouble: { code: 'exit_price_out_of_range' } } },
      { data: { trouble: { code: 'believed_bid_required' } } },
    ]);
    vi.restoreAllMocks();
    await wait(14);
    expect(await exitEvents(trader, after)).toHaveLength(3);
  });

  test('an agent of its own, by streams and webhooks under one id, and nothing to others', async () => {
    const other = await newAgent(service);
    const [mine, theirs] = [await cursorOf(trader), await cursorOf(other)];
    await trader.client.createWebhook({ url: `${hooks}/mine`, events: ['exit.*'] });
    await other.client.createWebhook({ url: `${hooks}/theirs`, events: ['*'] });
    const exit = await leaveLater();
    await trader.client.cancelExit({ exitId: exit });
    const [event, ...more] = await exitEvents(trader, mine);
    expect([event?.type, more]).toEqual(['exit.canceled', []]);
    await service.runJob('webhooks');
    await expect.poll(() => got.length).toBeGreaterThan(0);
    expect(got).toMatchObject([{ id: event?.id, type: 'exit.canceled', data: event?.data }]);
    expect(await exitEvents(other, theirs)).toEqual([]);
    const briefing = await other.client.getBriefing();
    expect([briefing.exitChanges, briefing.endedExits]).toEqual([[], []]);
    await expect(other.client.seeExits({ exitIds: [exit] })).rejects.toMatchObject({
      code: 'exit_not_found',
    });
  });
});

describe('the alert exit_unguarded', () => {
  test('stands once an order sold nothing or a part, and says what remains; another exit takes it away', async () => {
    const exit = await failed();
    expect(await alertsOf()).toEqual([
      {
        ...{ code: 'exit_unguarded', severity: 'critical', marketId: market.id, exitIds: [exit] },
        message: `Guarded exits have ended without selling all: ${exit} (not_filled). Nothing sells 10 YES of what they guarded: sign a new one.`,
      },
    ]);
    const next = await leaveLater({ size: 40 });
    expect(await codes()).toEqual([]);
    await trader.client.cancelExit({ exitId: next });
    expect(await codes()).toEqual(['exit_unguarded']);
    const part = await soldInPart();
    const [alert] = await alertsOf();
    expect(alert?.exitIds?.toSorted()).toEqual([exit, part].toSorted());
    // 31 are held.
    expect(alert?.message).toContain('Nothing sells 31 YES');
    await leaveLater({ size: 20 });
    expect((await alertsOf())[0]?.message).toContain('Nothing sells 11 YES');
  });

  test('stands once one has expired, and ends with the position: what is bought later is another one', async () => {
    await leaveLater({ outcome: 'NO' }, { expiresAt: new Date(clock.now() + 60_000).toISOString() });
    await due();
    expect(await codes()).toEqual(['exit_unguarded']);
    await trader.client.placeTrade(await marketSell(trader, market, 40, { outcome: 'NO' }));
    expect(await codes()).toEqual([]);
    clock.advance(1);
    await hold(trader, market, 10);
    expect(await codes()).toEqual([]);
  });

  test('goes once it is seen; the word of a stolen key hides nothing from the owner', async () => {
    const exit = await failed();
    const open = await leaveLater({ size: 5 });
    expect(await trader.client.seeExits({ exitIds: [exit, open] })).toEqual({ exitIds: [exit] });
    expect([await codes(), await ownerCodes()]).toEqual([[], ['exit_unguarded']]);
    const { alerts } = (await owner.send('GET', path())).body;
    const { exitIds } = alerts.find(({ code }: { code: string }) => code === 'exit_unguarded');
    expect(await owner.send('POST', path('/exits/seen'), { exitIds })).toMatchObject({
      status: 200,
      body: { exitIds },
    });
    expect(await ownerCodes()).toEqual([]);
    const stranger = await ownerOf(service);
    expect((await stranger.send('POST', path('/exits/seen'), { exitIds })).body.code).toBe('agent_not_found');
    // What is seen before its end would be hidden then.
    await trader.client.cancelExit({ exitId: open });
    const again = await failed({ size: 5 });
    expect((await alertsOf())[0]?.exitIds).toEqual([again]);
  });

  test('goes by the command line, which says what has no exit then; one that has not ended is not seen', async () => {
    const exit = await failed();
    const open = await leaveLater({ size: 5 });
    const env = {
      ...{ BELLWETHER_URL: service.url, BELLWETHER_HOME: dataFolder(), BELLWETHER_API_KEY: trader.apiKey },
    };
    const see = (...args: readonly string[]) => cli(['see-exits', ...args], env);
    expect(await see(open)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('None of them has ended'),
    });
    expect(await codes()).toEqual(['exit_unguarded']);
    const { code, stdout } = await see(open, exit);
    expect(code).toBe(0);
    expect(stdout).toContain(`Seen: ${exit}. What they guarded has no exit by that`);
    expect([await codes(), await ownerCodes()]).toEqual([[], ['exit_unguarded']]);
    expect(JSON.parse((await see(exit, '--json')).stdout)).toEqual({ exitIds: [exit] });
  });
});

describe('the briefing', () => {
  test('has a line for what became of exits since the last one, each once, and the exits that ended', async () => {
    const before = await trader.client.getBriefing();
    const exit = await leave();
    const kept = await leaveLater({ size: 20 });
    await due();
    await trader.client.updateSettings({ tradingPaused: true });
    const { exitChanges, endedExits, nextCursor } = await trader.client.getBriefing({
      since: before.nextCursor,
    });
    expect(exitChanges.map(({ type, data }) => [type, data.exitId])).toEqual([
      ['exit.suspended', kept],
      ['exit.filled', exit],
      ['exit.sent', exit],
    ]);
    expect(exitChanges[1]?.data.message).toMatch(
      /^Guarded exit \S+, to sell 10 YES: its order has sold 10\.$/,
    );
    expect(endedExits).toMatchObject([{ exitId: exit, status: 'fired', fired: { cause: 'trigger' } }]);
    const next = await trader.client.getBriefing({ since: nextCursor });
    expect([next.exitChanges, next.endedExits]).toEqual([[], []]);
    expect((await trader.client.getBriefing()).exitChanges).toEqual(exitChanges);
  });

  test('and lists keep exits that have ended', async () => {
    const [exit, kept] = [await leaveLater(), await leaveLater()];
    await trader.client.cancelExit({ exitId: exit });
    const listed = async (query: object) =>
      (await trader.client.listExits(query)).map(({ exitId, status }) => [exitId, status]);
    expect(await listed({})).toEqual([
      [kept, 'armed'],
      [exit, 'canceled'],
    ]);
    expect(await listed({ status: 'ended' })).toEqual([[exit, 'canceled']]);
    expect(await listed({ status: 'open' })).toEqual([[kept, 'armed']]);
  });
});

/** The clock moves by days: the last one. */
test('a market that is decided has nothing to guard: no alert', async () => {
  market = markets.at(-1) as Market;
  await hold(trader, market, 20);
  await failed();
  expect(await codes()).toEqual(['exit_unguarded']);
  await resolveMarket(service, clock, market.conditionId);
  await pass(500);
  expect(await codes()).not.toContain('exit_unguarded');
});
