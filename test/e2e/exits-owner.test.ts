/** What suspends guarded exits, who resumes them, and what the owner can do with them; what a thief of the agent's key cannot. */
import type { ExitRequest, Market } from '@bellwether/sdk';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { approve, claim, ownerOf } from '../approving.ts';
import { bidOf, exitOrder, hold, passes, pushBidTo } from '../exits.ts';
import { call, newTrader, openMarkets, startTestService, type TestService, type Trader } from '../harness.ts';
import { Visitor } from '../passkey.ts';
import { manualClock } from '../world.ts';

const clock = manualClock();
let service: TestService;
let markets: Market[];
let market: Market;
let trader: Trader;
let owner: Visitor;
let place = 0;

beforeAll(async () => {
  service = await startTestService({ PAPER_WORLD: 'off' }, { clock });
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

const tick = (price: number) => Math.round(price * 100) / 100;
type Trigger = ExitRequest['trigger'];
const below = (price: number): Trigger => ({ kind: 'price_at_or_below', price });
async function leave(worst: number, trigger: Trigger, more: object = {}) {
  const order = await exitOrder(trader, market, { worst, size: 10 });
  // Of several, the first one is sent.
  clock.advance(1);
  return (await trader.client.leaveExit({ ...order, trigger, ...more })).exitId;
}
/** A stop that waits: three ticks below the bid. */
async function leaveStop(more: object = {}): Promise<string> {
  const stop = tick(bidOf(service, market) - 0.03);
  return leave(tick(stop * 0.95), below(stop), more);
}
const exitOf = (exitId: string) => trader.client.getExit(exitId);
const pass = (ms: number) => passes(service, clock, ms);
/** Longer than a trigger must hold. */
async function becomes(exitId: string, status: string): Promise<void> {
  await pass(2_500);
  expect((await exitOf(exitId)).status).toBe(status);
}
const statuses = async (...ids: string[]) =>
  Promise.all(ids.map(async (id) => [(await exitOf(id)).status, (await exitOf(id)).because]));
const sales = async () =>
  (await trader.client.listOrders({ limit: 100 })).filter(
    ({ side, orderType }) => side === 'SELL' && orderType !== 'MERGE',
  );

const path = (rest = '') => `/owner/agents/${trader.agentId}${rest}`;
const pause = (paused: boolean, by = owner) => by.send('POST', path('/pause'), { paused });
const resume = (exitId: string, by = owner) => by.send('POST', path(`/exits/${exitId}/resume`));
type Act = 'sell' | 'arm_for_pause' | 'disarm_for_pause';
async function act(
  exitId: string,
  wanted: Act,
  { by = owner, asked = wanted }: { by?: Visitor; asked?: Act } = {},
) {
  const options = await by.send('POST', path(`/exits/${exitId}/passkey-options`), { act: asked });
  if (options.status !== 200) return options;
  return by.send('POST', path(`/exits/${exitId}/act`), {
    act: wanted,
    ...by.signature(options.body.challenge),
  });
}

interface Several {
  readonly exitIds: readonly string[];
  readonly resumeTrading: boolean;
  readonly agentId?: string;
}
async function resumeSeveral(wanted: Several, { by = owner, asked = wanted } = {}) {
  const options = await by.send('POST', '/owner/exits/resume/passkey-options', asked);
  if (options.status !== 200) return options;
  return by.send('POST', '/owner/exits/resume', { ...wanted, ...by.signature(options.body.challenge) });
}

describe('a pause', () => {
  test('suspends exits, by whom it may be; only the owner resumes them', async () => {
    const exit = await leaveStop();
    await trader.client.updateSettings({ tradingPaused: true });
    expect(await statuses(exit)).toEqual([['suspended', 'pause']]);
    await trader.client.updateSettings({ tradingPaused: false });
    expect(await statuses(exit)).toEqual([['suspended', 'pause']]);
    const { riskAlerts } = await trader.client.getBriefing();
    expect(riskAlerts).toContainEqual(
      expect.objectContaining({ code: 'exit_suspended', severity: 'critical', marketId: market.id }),
    );
    expect(await resume(exit)).toMatchObject({ status: 200, body: { status: 'armed', because: null } });
    expect(await resume(exit)).toMatchObject({ status: 410, body: { code: 'exit_gone' } });
  });

  test('a trigger that held meanwhile sells nothing by itself; one that lets go and holds anew does', async () => {
    const bid = bidOf(service, market);
    const exit = await leaveStop();
    await pause(true);
    await pushBidTo(service, { market, price: tick(bid - 0.03) });
    expect((await resume(exit)).body.code).toBe('trading_paused');
    await pause(false);
    await pass(3_000);
    expect(await statuses(exit)).toEqual([['suspended', 'pause']]);
    await resume(exit);
    await pass(500);
    expect((await exitOf(exit)).trouble?.code).toBe('trigger_held_meanwhile');
    await pass(3_000);
    expect([await statuses(exit), await sales()]).toEqual([[['armed', null]], []]);
    const bidder = await newTrader(service);
    const { orderId } = await bidder.client.placeTrade({
      ...(await exitOrder(bidder, market, { worst: tick(bid - 0.01), size: 50, side: 'BUY' })),
    });
    await pass(500);
    expect((await exitOf(exit)).trouble).toBeNull();
    await bidder.client.cancelOrder(orderId);
    await becomes(exit, 'fired');
    expect(await sales()).toHaveLength(1);
  });

  test('of the owner sends what was armed for it, one of a group, although the agent is paused', async () => {
    const bid = bidOf(service, market);
    const worst = tick(bid * 0.95);
    const low = tick(bid * 0.6);
    const armed = await leave(worst, below(low), { group: 'position' });
    const second = await leave(worst, below(low), { group: 'position' });
    const plain = await leave(worst, below(low));
    for (const exit of [armed, second])
      expect(await act(exit, 'arm_for_pause')).toMatchObject({ status: 200, body: { firesOnPause: true } });
    await pause(true);
    await becomes(armed, 'fired');
    expect(await statuses(second, plain)).toEqual([
      ['canceled', 'group'],
      ['suspended', 'pause'],
    ]);
    expect((await exitOf(armed)).fired).toMatchObject({ cause: 'pause', bid: expect.any(Number) });
    expect(await sales()).toMatchObject([{ filledSize: 10 }]);
  });

  test("by the agent's key sends nothing, and does not stop what the owner has armed", async () => {
    const stop = tick(bidOf(service, market) - 0.03);
    const [mine, other] = [await leave(tick(stop * 0.95), below(stop)), await leaveStop()];
    await act(mine, 'arm_for_pause');
    await trader.client.updateSettings({ tradingPaused: true });
    await pass(2_000);
    expect([await statuses(mine, other), await sales()]).toEqual([
      [
        ['armed', null],
        ['suspended', 'pause'],
      ],
      [],
    ]);
    await pushBidTo(service, { market, price: stop });
    await becomes(mine, 'fired');
    expect((await exitOf(mine)).fired).toMatchObject({ cause: 'trigger' });
  });

  test('armed for it, a suspended exit is resumed by the rules of that: it lets go first, and a pause sends it', async () => {
    const bid = bidOf(service, market);
    const exit = await leaveStop();
    await pause(true);
    expect(await act(exit, 'arm_for_pause')).toMatchObject({ status: 403, body: { code: 'trading_paused' } });
    expect((await exitOf(exit)).firesOnPause).toBe(false);
    await pushBidTo(service, { market, price: tick(bid - 0.03) });
    await pause(false);
    expect(await act(exit, 'disarm_for_pause')).toMatchObject({ body: { status: 'suspended' } });
    expect(await act(exit, 'arm_for_pause')).toMatchObject({ body: { status: 'armed', firesOnPause: true } });
    await pass(3_000);
    expect([await statuses(exit), await sales()]).toEqual([[['armed', null]], []]);
    await pause(true);
    await becomes(exit, 'fired');
    expect((await exitOf(exit)).fired).toMatchObject({ cause: 'pause' });
  });
});

describe('several suspended exits', () => {
  test('are armed with trading in one act, of every agent or of one, those that were shown and no others', async () => {
    const [mine, second] = [await leaveStop(), await leaveStop()];
    const first = trader;
    trader = await newTrader(service);
    await hold(trader, market, 20);
    await claim(owner, trader);
    const ofOther = await leaveStop();
    await owner.send('POST', '/owner/pause', { paused: true });
    const listed = (await owner.send('GET', '/owner/exits?status=suspended')).body;
    expect(listed.slice(0, 3).map(({ exitId }: { exitId: string }) => exitId)).toEqual([
      ...[ofOther, second, mine],
    ]);
    expect(listed[2]).toMatchObject({ agentId: first.agentId, marketTitle: market.question });
    const ofFirst = await owner.send('GET', `/owner/exits?status=suspended&agentId=${first.agentId}`);
    expect(ofFirst.body).toHaveLength(2);

    const all = { exitIds: [mine, ofOther], resumeTrading: true };
    const others = { ...all, exitIds: [mine, second] };
    for (const asked of [others, { ...all, resumeTrading: false }, { ...all, agentId: trader.agentId }]) {
      const { body } = await resumeSeveral(all, { asked });
      expect(['passkey_challenge_expired', 'exit_not_found']).toContain(body.code);
    }
    expect((await trader.client.getSettings()).tradingPaused).toBe(true);
    expect(await resumeSeveral(all)).toMatchObject({
      status: 200,
      body: { exitIds: all.exitIds, notResumed: [] },
    });
    const settings = await Promise.all([first, trader].map(({ client }) => client.getSettings()));
    expect(settings.map(({ tradingPaused }) => tradingPaused)).toEqual([false, false]);
    const state = async (of: Trader, id: string) => (await of.client.getExit(id)).status;
    expect([await state(first, mine), await state(first, second), await state(trader, ofOther)]).toEqual([
      ...['armed', 'suspended', 'armed'],
    ]);
  });

  test('alone lift no pause; each says by itself why it stays suspended', async () => {
    const [mine, second, third] = [await leaveStop(), await leaveStop(), await leaveStop()];
    await pause(true);
    const alone = { exitIds: [mine], resumeTrading: false };
    expect((await resumeSeveral(alone)).body).toMatchObject({
      exitIds: [],
      notResumed: [{ exitId: mine, code: 'trading_paused' }],
    });
    expect((await trader.client.getSettings()).pausedByOwner).toBe(true);
    const { tradesToday } = await trader.client.getMe();
    await trader.client.updateSettings({ maxTradesPerDay: tradesToday + 1 });
    await trader.client.cancelExit({ exitId: third });
    const both = { exitIds: [third, second, mine], resumeTrading: true, agentId: trader.agentId };
    expect((await resumeSeveral(both)).body).toMatchObject({
      exitIds: [mine],
      notResumed: [
        { exitId: third, code: 'exit_gone', message: 'It was canceled.' },
        { exitId: second, code: 'max_trades_per_day_exceeded' },
      ],
    });
    expect(await statuses(mine, second)).toEqual([
      ['armed', null],
      ['suspended', 'pause'],
    ]);
    // What is armed already is as it should be.
    expect((await resumeSeveral({ ...both, exitIds: [mine] })).body).toMatchObject({ exitIds: [mine] });
  });

  test('of another owner are not there, and a stolen session without a passkey arms none', async () => {
    const exit = await leaveStop();
    await pause(true);
    const wanted = { exitIds: [exit], resumeTrading: true };
    const other = await ownerOf(service);
    expect(await resumeSeveral(wanted, { by: other })).toMatchObject({
      status: 404,
      body: { code: 'exit_not_found' },
    });
    expect((await other.send('GET', '/owner/exits')).body).toEqual([]);
    const stranger = await other.send('GET', `/owner/exits?agentId=${trader.agentId}`);
    expect(stranger.body.code).toBe('agent_not_found');
    const stolen = new Visitor(service);
    stolen.cookie = owner.cookie;
    expect((await resumeSeveral(wanted, { by: stolen })).body.code).toBe('passkey_rejected');
    expect((await resumeSeveral({ ...wanted, exitIds: [] })).body.code).toBe('invalid_request');
    expect(await statuses(exit)).toEqual([['suspended', 'pause']]);
  });
});

describe('a key', () => {
  test('that is revoked suspends what was left with it, and nothing else', async () => {
    const first = await leaveStop();
    const { apiKeyCode, id } = await trader.client.createApiKey('second');
    const order = await exitOrder(trader, market, { worst: 0.9, size: 10 });
    const body = { ...order, trigger: { kind: 'price_at_or_above', price: 0.95 } };
    const left = await call(service, 'POST', '/markets/exits', { key: apiKeyCode, body });
    await owner.send('POST', path(`/keys/${id}/revoke`));
    expect(await statuses(first, left.body.exitId)).toEqual([
      ['armed', null],
      ['suspended', 'key_revoked'],
    ]);
    await resume(left.body.exitId);
    expect(await statuses(left.body.exitId)).toEqual([['armed', null]]);
  });

  test('that left an exit and is revoked does not stop one that the owner has resumed', async () => {
    const { apiKeyCode, id } = await trader.client.createApiKey('second');
    const bid = bidOf(service, market);
    const stop = tick(bid - 0.02);
    const body = { ...(await exitOrder(trader, market, { worst: tick(stop * 0.95) })), trigger: below(stop) };
    const { exitId } = (await call(service, 'POST', '/markets/exits', { key: apiKeyCode, body })).body;
    await owner.send('POST', path(`/keys/${id}/revoke`));
    await resume(exitId);
    await pass(500);
    expect((await service.needs.exits.byId(exitId, trader.agentId))?.mustLetGo).toBe(false);
    await pushBidTo(service, { market, price: stop });
    await becomes(exitId, 'fired');
  });
});

describe('the owner sells by an exit', () => {
  test('with a passkey, also one that is suspended, and the agent paused', async () => {
    const worst = tick(bidOf(service, market) * 0.95);
    const exit = await leave(worst, below(tick(worst * 0.9)));
    await pause(true);
    const sold = await act(exit, 'sell');
    expect(sold).toMatchObject({ status: 200, body: { status: 'fired', fired: { cause: 'owner' } } });
    expect(await sales()).toMatchObject([{ filledSize: 10 }]);
    const again = await owner.send('POST', path(`/exits/${exit}/passkey-options`), { act: 'sell' });
    expect(again.body.code).toBe('exit_gone');
    expect(await sales()).toHaveLength(1);
  });

  test('at no price far below the bid: it goes back to where it was', async () => {
    const exit = await leave(0.05, below(0.05));
    expect((await act(exit, 'sell')).body.code).toBe('exit_price_out_of_range');
    expect(await statuses(exit)).toEqual([['armed', null]]);
    await pause(true);
    expect((await act(exit, 'sell')).body.code).toBe('exit_price_out_of_range');
    expect(await statuses(exit)).toEqual([['suspended', 'pause']]);
    expect(await sales()).toEqual([]);
  });

  test('no session, no other act and no other owner can', async () => {
    const worst = tick(bidOf(service, market) * 0.95);
    const exit = await leave(worst, below(tick(worst * 0.9)));
    const stolen = new Visitor(service);
    stolen.cookie = owner.cookie;
    expect((await act(exit, 'sell', { by: stolen })).body.code).toBe('passkey_rejected');
    expect((await act(exit, 'sell', { asked: 'arm_for_pause' })).body.code).toBe('passkey_challenge_expired');
    const other = await ownerOf(service);
    expect((await act(exit, 'sell', { by: other })).body.code).toBe('agent_not_found');
    expect((await resume(exit, other)).body.code).toBe('agent_not_found');
    expect([await statuses(exit), await sales()]).toEqual([[['armed', null]], []]);
    const listed = await owner.send('GET', `/owner/exits?status=open&agentId=${trader.agentId}`);
    expect(listed.body.map(({ exitId }: { exitId: string }) => exitId)).toEqual([exit]);
    expect((await owner.send('POST', path('/exits/cancel'), { exitId: exit })).body).toMatchObject({
      status: 'canceled',
      because: 'by_owner',
    });
  });

  test('an exit above approvalAbove asks its owner when its trigger holds; his word by passkey is one', async () => {
    await trader.client.updateSettings({ approvalAbove: 1 });
    const bid = bidOf(service, market);
    const order = async () => exitOrder(trader, market, { worst: tick(bid * 0.95), size: 10 });
    const first = await trader.client.leaveExit({ ...(await order()), trigger: below(bid) });
    const second = await trader.client.leaveExit({ ...(await order()), trigger: below(tick(bid * 0.95)) });
    expect([first.needsApproval, second.needsApproval]).toEqual([true, true]);
    await pass(2_500);
    expect((await exitOf(first.exitId)).trouble?.code).toBe('approval_required');
    const [asked] = (await owner.send('GET', '/owner/approvals?status=waiting')).body;
    expect(asked.orderId).toBe(first.orderId);
    expect((await approve(owner, asked.approvalId)).status).toBe(200);
    await pass(5_000);
    await becomes(first.exitId, 'fired');
    expect((await act(second.exitId, 'sell')).body.status).toBe('fired');
    expect(await sales()).toHaveLength(2);
  });

  test('with a passkey does not pass the caps: a distance is no way around them', async () => {
    const worst = tick(bidOf(service, market) * 0.95);
    const exit = await leave(worst, below(tick(worst * 0.9)));
    await trader.client.updateSettings({ maxTradeAmount: 1 });
    expect((await act(exit, 'sell')).body.code).toBe('max_trade_amount_exceeded');
    expect(await sales()).toEqual([]);
  });
});
