/** An agent that is silent for `silenceSeconds` has its open orders canceled, once, and its owner sees it. */
import { type Market, SolanaSigner } from '@bellwether/sdk';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ownerOf } from '../approving.ts';
import {
  aMarket,
  newTrader,
  restingOrder,
  startTestService,
  type TestService,
  type Trader,
  withTurns,
} from '../harness.ts';
import { poolOf } from '../live-desk.ts';
import { aSandboxMarket } from '../sandbox.ts';
import { manualClock } from '../world.ts';

const SECOND = 1_000;
/** Calls are written some seconds after they are made, and the watch waits for that. */
const WRITTEN_AFTER_S = 6;

let clock: ReturnType<typeof manualClock>;
let service: TestService;
let market: Market;
let trader: Trader;

beforeEach(async () => {
  clock = manualClock();
  service = await startTestService({ PAPER_WORLD: 'off' }, { clock });
  trader = await newTrader(service);
  market = await aMarket(trader.client);
});
afterEach(() => service.stop());

const rest = async (who = trader): Promise<string> =>
  (await who.client.placeTrade(await restingOrder(who, market))).orderId;
/** Looked up past the API: a request would be a sign of life. */
const statusOf = async (orderId: string): Promise<string | undefined> =>
  (await service.needs.orders.byIds([orderId]))[0]?.status;
const cancelAtOf = async (orderId: string) => (await service.needs.orders.byIds([orderId]))[0]?.cancelAt;

/** Lets time pass second by second, with the watch of each, as the clock of the service does. */
async function pass(seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    clock.advance(SECOND);
    await service.runJob('keep watch');
  }
  await service.runJob('cancel late orders');
}

/** Writes the call that was made last, which the service itself does every five seconds. */
async function written(): Promise<void> {
  const keys = await service.needs.agents.keys(trader.agentId);
  await service.needs.agents.touch(new Map(keys.map(({ id }) => [id, service.needs.clock.now()])));
}

describe('an agent that says nothing', () => {
  test('keeps its orders until its time is over, and has none then; what another agent has stays', async () => {
    await trader.client.updateSettings({ silenceSeconds: 60 });
    const other = await newTrader(service);
    const [order, others] = [await rest(), await rest(other)];
    await written();
    await pass(60);
    expect(await cancelAtOf(order)).toBeNull();
    await pass(WRITTEN_AFTER_S + 1);
    expect(await statusOf(order)).toBe('canceled');
    expect(await statusOf(others)).toBe('live');
    const { journal } = await trader.client.getOrder(order);
    expect(journal.at(-1)).toMatchObject({
      event: 'canceled',
      detail: 'canceled by the desk: the agent had made no request for silenceSeconds',
    });
    const { riskAlerts } = await trader.client.getBriefing();
    expect(riskAlerts).toContainEqual(
      expect.objectContaining({ code: 'agent_silent', message: expect.stringContaining('1 open order was') }),
    );
    // It has spoken.
    await written();
    const codes = (await trader.client.getBriefing()).riskAlerts.map(({ code }) => code);
    expect(codes).not.toContain('agent_silent');
  });

  test('is told of once: what it places afterwards lives, and its next silence counts anew', async () => {
    await trader.client.updateSettings({ silenceSeconds: 30 });
    const first = await rest();
    await written();
    await pass(40);
    expect(await statusOf(first)).toBe('canceled');
    const second = await rest();
    await written();
    await pass(30);
    expect(await cancelAtOf(second)).toBeNull();
    await pass(WRITTEN_AFTER_S + 1);
    expect(await statusOf(second)).toBe('canceled');
  });

  test('a request is life, an open stream is none', async () => {
    await trader.client.updateSettings({ silenceSeconds: 30 });
    const order = await rest();
    const ending = new AbortController();
    const streaming = (async () => {
      for await (const event of trader.client.events({ signal: ending.signal }))
        if (event.type === 'order.canceled') ending.abort();
    })();
    await pass(25);
    await trader.client.getHealth();
    await trader.client.getMe();
    await written();
    await pass(25);
    expect(await cancelAtOf(order)).toBeNull();
    await pass(15);
    expect(await statusOf(order)).toBe('canceled');
    await streaming;
  });

  test('time in which the desk was down is no silence', async () => {
    await trader.client.updateSettings({ silenceSeconds: 60 });
    const order = await rest();
    await written();
    await pass(2);
    // No watch looked for ten minutes.
    clock.advance(600 * SECOND);
    await pass(60);
    expect(await cancelAtOf(order)).toBeNull();
    await pass(WRITTEN_AFTER_S + 1);
    expect(await statusOf(order)).toBe('canceled');
  });

  test('what its venue does not give up is asked for again and again', async () => {
    await service.stop();
    service = await startTestService({ PAPER_WORLD: 'off', PAPER_B_FILL: 'never' }, { clock });
    trader = await newTrader(service);
    await trader.client.updateSettings({ silenceSeconds: 30 });
    const ticker = (await aSandboxMarket(trader.client)).id;
    const terms = { ticker, side: 'YES', action: 'BUY', amount: 5 } as const;
    const { orderId } = await trader.client.venueB.trade({ ...terms, signer: SolanaSigner.generate() });
    const followed = () => {
      clock.advance(SECOND);
      return statusOf(orderId);
    };
    await withTurns(service, ['follow'], expect.poll(followed).toBe('delayed'));
    await written();
    await pass(40);
    const dueAt = async (): Promise<number> => {
      const [row] = await poolOf(service)`select due_at from late_orders where order_id = ${orderId}`;
      return Number(row?.due_at);
    };
    for (const _ of [1, 2]) {
      const due = await dueAt();
      clock.advance(60 * SECOND);
      await service.runJob('cancel late orders');
      expect(await dueAt()).toBeGreaterThan(due);
    }
    expect(await dueAt()).toBeLessThan(service.needs.clock.now() + 120 * SECOND);
    expect(await statusOf(orderId)).toBe('delayed');
  });

  test('of several replicas one acts', async () => {
    await trader.client.updateSettings({ silenceSeconds: 30 });
    const orders = [await rest(), await rest()];
    await written();
    await pass(30);
    const at = service.needs.clock.now() + (WRITTEN_AFTER_S + 1) * SECOND;
    await Promise.all([0, 1, 2, 3].map((later) => service.needs.orders.cancelSilent(at + later)));
    clock.moveTo(at + 4);
    await service.runJob('cancel late orders');
    for (const order of orders) expect(await statusOf(order)).toBe('canceled');
    // One time for both: no other replica handed them over again.
    expect(new Set(await Promise.all(orders.map(cancelAtOf))).size).toBe(1);
  });
});

describe('the setting', () => {
  test('an owner locks it: the agent may lengthen it, never shorten it or switch it off', async () => {
    const owner = await ownerOf(service, trader);
    const path = `/owner/agents/${trader.agentId}/safeguards`;
    const set = await owner.send('POST', path, { silenceSeconds: { limit: 300, locked: true } });
    expect(set).toMatchObject({ status: 200, body: { settings: { silenceSeconds: 300 } } });
    for (const silenceSeconds of [299, 30, null])
      await expect(trader.client.updateSettings({ silenceSeconds })).rejects.toMatchObject({
        code: 'locked_by_owner',
      });
    expect(await trader.client.updateSettings({ silenceSeconds: 600 })).toMatchObject({
      silenceSeconds: 600,
    });
    // It is no cap of orders: the caps can be switched off beside it.
    expect(await trader.client.updateSettings({ tradeLimitEnabled: false })).toMatchObject({
      tradeLimitEnabled: false,
    });
    const rows = (await owner.send('GET', '/owner/safeguards')).body;
    expect(rows.find(({ name }: { name: string }) => name === 'silenceSeconds')).toMatchObject({
      range: { minimum: 30, maximum: 86_400 },
      denial: null,
    });
  });

  test.each([29, 86_401, 30.5, '60', 0])('%j is refused', async (silenceSeconds) => {
    await expect(trader.client.updateSettings({ silenceSeconds } as never)).rejects.toMatchObject({
      status: 400,
    });
  });
});
