/** What can happen while an exit waits: the wallet moves, keys rotate, the market changes or ends, the position is closed, a backup returns. */
import { randomUUID } from 'node:crypto';
import { createVenueCredentials, credentialRequest, type ExitRequest, type Market } from '@bellwether/sdk';
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { MarketRecord } from '../../packages/server/src/domain/market.ts';
import { bidOf, exitOrder, hold, lasts, passes } from '../exits.ts';
import {
  marketBuy,
  marketSell,
  newAgent,
  newTrader,
  openMarkets,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import { poolOf } from '../live-desk.ts';
import { manualClock, resolveMarket } from '../world.ts';
import { receiptOf } from './receipts-stage.ts';

const clock = manualClock();
let service: TestService;
let markets: Market[];
let market: Market;
let trader: Trader;
let place = 0;

beforeAll(async () => {
  service = await startTestService({ PAPER_WORLD: 'off' }, { clock });
  markets = (await openMarkets((await newTrader(service)).client)).sort(
    (a, b) => Date.parse(b.endDate) - Date.parse(a.endDate),
  );
});
beforeEach(async () => {
  market = markets[place] as Market;
  place += 1;
  trader = await newTrader(service);
  await hold(trader, market, 30);
});

afterEach(() => void vi.restoreAllMocks());

const tick = (price: number) => Math.round(price * 100) / 100;
/** Sold in a minute, at no less than the distance below the bid. */
async function leaveTimed(more: Partial<ExitRequest> = {}): Promise<string> {
  const order = await exitOrder(trader, market, { worst: tick(bidOf(service, market) * 0.95), size: 10 });
  const trigger = { kind: 'time', at: new Date(clock.now() + 60_000).toISOString() };
  return (await trader.client.leaveExit({ ...order, trigger, ...more } as ExitRequest)).exitId;
}
const exitOf = (exitId: string) => trader.client.getExit(exitId);
/** A minute on: the trigger holds. */
async function due(): Promise<void> {
  clock.advance(61_000);
  await passes(service, clock, 500);
}
/** Half a minute on: every exit is looked over again. */
async function reviewed(): Promise<void> {
  clock.advance(31_000);
  await passes(service, clock, 500);
}
const troubleOf = async (exitId: string) => (await exitOf(exitId)).trouble?.code ?? null;
const attemptsOf = async (exitId: string) =>
  (await service.needs.exits.byId(exitId, trader.agentId))?.attempts;
const sales = async () =>
  (await trader.client.listOrders({ limit: 100 })).filter(
    ({ side, orderType }) => side === 'SELL' && orderType !== 'MERGE',
  );

describe('the wallet', () => {
  test('moves to another owner: the exit is named in time, and sells nothing', async () => {
    const exit = await leaveTimed();
    const finder = await newAgent(service);
    const { nonce, message } = await finder.client.getLinkChallenge(trader.signer.address);
    const signature = await trader.signer.signMessage(message);
    await finder.client.linkWallet({ address: trader.signer.address, nonce, signature });
    await reviewed();
    expect(await troubleOf(exit)).toBe('credentials_not_registered');
    await due();
    expect(await attemptsOf(exit)).toBeGreaterThan(0);
    expect([(await exitOf(exit)).status, await sales()]).toEqual(['armed', []]);
  });

  test('has its venue key rotated: the exit is sent with the new one', async () => {
    const exit = await leaveTimed();
    const credentials = await createVenueCredentials({
      clobUrl: `${service.url}/paper/clob`,
      signer: trader.signer,
    });
    await trader.client.registerCredentials(credentialRequest(trader.signer, credentials));
    await due();
    expect((await exitOf(exit)).status).toBe('fired');
    expect(await sales()).toMatchObject([{ filledSize: 10 }]);
  });

  test('needs no venue key of its own, unless its order names one', async () => {
    const exit = await leaveTimed();
    const sql = poolOf(service);
    await sql`update credentials set api_key_hash = ${Buffer.alloc(32)} where user_id = (
      select user_id from agents where agent_id = ${trader.agentId})`;
    await sql`update callers_version set version = gen_random_uuid()`;
    await reviewed();
    await passes(service, clock, 3_000);
    // It named no key, so a new one serves it as well.
    expect((await exitOf(exit)).trouble).toBeNull();
    const order = await exitOrder(trader, market, { worst: 0.9 });
    const body = { ...order, owner: randomUUID(), trigger: { kind: 'price_at_or_above', price: 0.9 } };
    const refused = await trader.post('/markets/exits', body);
    expect(refused.body.code).toBe('owner_mismatch');
  });
});

describe('the market', () => {
  /** The desk reads the market so from now on. */
  const reads = (change: (record: MarketRecord) => MarketRecord) => {
    const { markets: data } = service.needs.venues.default;
    const real = data.find.bind(data);
    return vi.spyOn(data, 'find').mockImplementation(async (id) => {
      const found = await real(id);
      return found === null ? null : change(found);
    });
  };

  test.each([
    [
      'has another tick',
      (record: MarketRecord) => ({ ...record, tickSize: 1_000 }),
      /^(tick_size_mismatch|price_off_tick_grid)$/,
    ],
    [
      'trades by another contract',
      (record: MarketRecord) => ({ ...record, negRisk: !record.negRisk }),
      /^(neg_risk_mismatch|invalid_order_payload)$/,
    ],
  ])('%s: the exit names it, sells nothing, and is sent once it fits again', async (_what, change, code) => {
    const exit = await leaveTimed();
    const changed = reads(change as never);
    await reviewed();
    expect(await troubleOf(exit)).toMatch(code);
    await due();
    expect(await attemptsOf(exit)).toBeGreaterThan(0);
    await lasts(service, clock);
    expect(await sales()).toEqual([]);
    const { riskAlerts } = await trader.client.getBriefing();
    expect(riskAlerts.map((alert) => alert.code)).toContain('exit_in_trouble');
    changed.mockRestore();
    await passes(service, clock, 25_000);
    expect((await exitOf(exit)).status).toBe('fired');
  });

  test('ends: the exit ends with it', async () => {
    const ending = markets.at(-1) as Market;
    await hold(trader, ending, 10);
    const order = await exitOrder(trader, ending, { worst: 0.9 });
    const { exitId } = await trader.client.leaveExit({
      ...order,
      trigger: { kind: 'price_at_or_above', price: 0.95 },
    });
    await resolveMarket(service, clock, ending.conditionId);
    await reviewed();
    expect((await exitOf(exitId)).status).toBe('expired');
    expect((await exitOf(exitId)).because).toBe('market_ended');
  });
});

describe('the position', () => {
  test('is closed by hand: the exit goes, so that it sells no later position', async () => {
    const exit = await leaveTimed();
    await trader.client.placeTrade(await marketSell(trader, market, 30));
    await reviewed();
    expect((await exitOf(exit)).status).toBe('canceled');
    expect((await exitOf(exit)).because).toBe('position_closed');
    await hold(trader, market, 30);
    await due();
    await passes(service, clock, 2_000);
    expect(await sales()).toHaveLength(1);
  });

  test('is closed by hand, by the clock of a replica that is behind: the exit goes', async () => {
    clock.advance(4_000);
    const exit = await leaveTimed();
    clock.advance(-4_000);
    await trader.client.placeTrade(await marketSell(trader, market, 30));
    await hold(trader, market, 30);
    clock.advance(4_000);
    await due();
    await passes(service, clock, 2_000);
    expect((await exitOf(exit)).because).toBe('position_closed');
    expect(await sales()).toHaveLength(1);
  });

  test('is dust, less than a SELL can name: the exit goes; what rose again before was one holding', async () => {
    await trader.client.placeTrade(await marketSell(trader, market, 20));
    await hold(trader, market, 0.007894);
    const exit = await leaveTimed();
    await trader.client.placeTrade(await marketSell(trader, market, 5));
    await hold(trader, market, 5);
    await reviewed();
    expect((await exitOf(exit)).status).toBe('armed');
    await trader.client.placeTrade(await marketSell(trader, market, 10));
    await hold(trader, market, 30);
    await due();
    await passes(service, clock, 2_000);
    expect((await exitOf(exit)).because).toBe('position_closed');
    expect(await sales()).toHaveLength(3);
  });

  test('is smaller than the exit: it is named, and what is held stays', async () => {
    const exit = await leaveTimed();
    await trader.client.placeTrade(await marketSell(trader, market, 25));
    await reviewed();
    expect(await troubleOf(exit)).toBe('insufficient_balance');
    expect((await exitOf(exit)).status).toBe('armed');
  });

  test('is sold by the very order of the exit: the exit goes', async () => {
    const order = await exitOrder(trader, market, { worst: 0.9 });
    const trigger = { kind: 'price_at_or_above', price: 0.95 } as const;
    const { exitId } = await trader.client.leaveExit({ ...order, trigger });
    await trader.client.placeTrade(order);
    await reviewed();
    expect((await exitOf(exitId)).status).toBe('canceled');
    expect((await exitOf(exitId)).because).toBe('order_placed');
  });
});

describe('the database', () => {
  test('has thousands of exits: also those that it names last are watched on', async () => {
    const exit = await leaveTimed();
    const sql = poolOf(service);
    const columns = await sql<{ readonly name: string }[]>`
      select column_name as name from information_schema.columns where table_name = 'exits'`;
    const values = columns.map(
      ({ name }) =>
        ({
          exit_id: `'00000000-' || lpad(n::text, 8, '0')`,
          order_id: `'0x' || lpad(to_hex(n), 64, '0')`,
          trigger_at: `e.trigger_at + interval '1 day'`,
        })[name] ?? `e.${name}`,
    );
    await sql`alter table exits disable trigger exits_count`;
    await sql`insert into exits (${sql.unsafe(columns.map(({ name }) => name).join())})
      select ${sql.unsafe(values.join())} from exits e cross join generate_series(1, 2500) n where e.exit_id = ${exit}`;
    await sql`alter table exits enable trigger exits_count`;
    for (const seconds of [20, 20]) {
      clock.advance(seconds * 1_000);
      await service.runJob('watch exits');
    }
    clock.advance(21_000);
    await service.runJob('watch exits');
    expect((await exitOf(exit)).status).toBe('fired');
    await sql`delete from exits where exit_id like '00000000-%'`;
  });

  test('has an agent locked: its exits wait for that, and leave others the connections', async () => {
    const row = await service.needs.exits.byId(await leaveTimed(), trader.agentId);
    if (row === null) throw new Error('the exit was not left');
    const other = await newAgent(service);
    const session = await poolOf(service).session();
    await session`begin`;
    await session`select 1 from safeguards where agent_id = ${trader.agentId} for no key update`;
    const now = clock.now();
    const evidence = { cause: 'trigger', at: new Date(now).toISOString() } as const;
    const fired = Array.from({ length: 50 }, () => service.needs.exits.fire(row, evidence, now, now + 8_000));
    expect((await other.client.getMe()).openOrderCount).toBe(0);
    await session`commit`;
    session.end();
    expect((await Promise.all(fired)).filter((one) => one !== null)).toHaveLength(1);
  });

  test('is one that was restored: exits come back suspended, and say so; a takeover suspends none', async () => {
    const exit = await leaveTimed();
    const sql = poolOf(service);
    const [{ system }] = await sql<[{ readonly system: string }]>`
      select split_part(database_name, ' ', 1) as system from desk_watch`;
    // A standby that took over: another timeline, and the desk's last sign of life is recent.
    await sql`update desk_watch set database_name = ${`${system} 00000000`}, seen_at = ${new Date(clock.now())}`;
    await passes(service, clock, 500);
    expect((await exitOf(exit)).status).toBe('armed');
    await sql`update desk_watch set database_name = ${`${system} 00000000`}, seen_at = ${new Date(clock.now() - 601_000)}`;
    await passes(service, clock, 500);
    expect(await exitOf(exit)).toMatchObject({ status: 'suspended', because: 'restored' });
    const { riskAlerts } = await trader.client.getBriefing();
    expect(riskAlerts.find(({ code }) => code === 'exit_suspended')?.message).toContain('restored');
    await due();
    await passes(service, clock, 2_000);
    expect(await sales()).toEqual([]);
  });

  test('keeps what was signed sealed, and drops it with the exit', async () => {
    const exit = await leaveTimed();
    const sql = poolOf(service);
    const [row] = await sql`select sealed, row_to_json(e)::text as text from exits e where exit_id = ${exit}`;
    const order = await exitOrder(trader, market, { worst: 0.9 });
    expect(String(row?.text)).not.toContain(Buffer.from('makerAmount').toString('hex'));
    expect(row?.text).not.toContain(order.order.signature.slice(2, 20));
    await trader.client.cancelExit({ exitId: exit });
    const [ended] = await sql`select sealed, key_id from exits where exit_id = ${exit}`;
    expect(ended).toEqual({ sealed: null, key_id: null });
  });

  test('holds so many of an agent, and no more', async () => {
    await poolOf(service)`update safeguards set open_exits = open_exits where agent_id = ${trader.agentId}`;
    const trigger = { kind: 'price_at_or_above', price: 0.95 } as const;
    const left = await Promise.allSettled(
      Array.from({ length: 52 }, async () =>
        trader.client.leaveExit({ ...(await exitOrder(trader, market, { worst: 0.9, size: 5 })), trigger }),
      ),
    );
    const refused = left.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []));
    expect(refused).toEqual(['exit_limit_reached', 'exit_limit_reached']);
  });
});

test('receipts name the trigger, with the prices and the book of that moment', async () => {
  const exit = await leaveTimed();
  await due();
  expect((await exitOf(exit)).status).toBe('fired');
  const { orderId } = await exitOf(exit);
  const { entries } = await receiptOf(service, trader, orderId);
  expect(entries[0]?.body.exit).toMatchObject({
    exitId: exit,
    trigger: { kind: 'time' },
    fired: { cause: 'trigger', bid: expect.any(Number), bids: expect.any(Array) },
  });
});

test('risk settings alert, and name the exits of the position', async () => {
  await trader.client.placeTrade(await marketBuy(trader, market, 20));
  await trader.client.updateSettings({ riskControlEnabled: true, stopLossPercent: 1, takeProfitPercent: 1 });
  const exit = await leaveTimed();
  await trader.client.placeTrade(await marketBuy(trader, market, 300, { outcome: 'NO' }));
  const { riskAlerts } = await trader.client.getBriefing();
  const told = riskAlerts.filter(
    ({ code }) => code === 'stop_loss_reached' || code === 'take_profit_reached',
  );
  expect(told.map(({ message }) => message).join(' ')).toContain(`1 guarded exit, 1 armed: ${exit} (armed)`);
});
