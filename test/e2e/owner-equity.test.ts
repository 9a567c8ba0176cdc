/** Equity over time: what is recorded behind trades, what is shown of it to whom, and how much work that is at most. */
import { type AgentEquity, type EquitySeries, OWNER_LIMITS, type OwnerHome } from '@bellwether/contract';
import { buildLimitOrder, buildMarketOrder, linkSolanaWallet, type Market } from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  createEquityRecorder,
  recordEquity,
  WALLETS_PER_TURN,
} from '../../packages/server/src/console/equity.ts';
import { createEquityStore } from '../../packages/server/src/console/store.ts';
import type { WalletAddress } from '../../packages/server/src/domain/records.ts';
import { migrate } from '../../packages/server/src/platform/database/migrate.ts';
import { ownerOf } from '../approving.ts';
import { aMarket, newTrader, startTestService, type TestService, type Trader } from '../harness.ts';
import type { Visitor } from '../passkey.ts';
import { openAsAdmin, openTestDatabase } from '../postgres.ts';
import { aSandboxMarket, newSandboxTrader } from '../sandbox.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const DEPOSIT = 10_000;

let service: TestService;
let market: Market;
/** The service's time, which tests move forward. */
let ahead = 0;
const clock = { now: () => Date.now() + ahead };

beforeAll(async () => {
  service = await startTestService({ PAPER_WORLD: 'off' }, { clock });
  market = await aMarket((await newTrader(service)).client);
});

const common = ({ signer, signatureType }: Trader) => ({
  ...{ signer, signatureType, market },
  outcome: 'YES' as const,
});
/** Whole shares, so that all of them can be sold. */
const buy = async (trader: Trader, size: number) =>
  trader.client.placeTrade(await buildLimitOrder({ ...common(trader), side: 'BUY', price: '0.99', size }));
/** All of it. */
async function sell(trader: Trader) {
  const [position] = await trader.client.getCurrentPositions();
  const shares = position?.size ?? 0;
  await trader.client.placeTrade(
    await buildMarketOrder({ ...common(trader), side: 'SELL', shares, worstPrice: 0.01 }),
  );
}
const record = ({ funder }: Trader) => recordEquity(service.needs, [funder as WalletAddress]);

async function read<T = EquitySeries>(owner: Visitor, path = '/owner/equity', interval = '1d'): Promise<T> {
  await owner.signIn();
  const { status, body } = await owner.send('GET', `${path}?interval=${interval}`);
  expect([status, body.code]).toEqual([200, undefined]);
  return body;
}
const equityOf = (agent: Pick<Trader, 'agentId'>) => `/owner/agents/${agent.agentId}/equity`;
const profits = ({ points }: EquitySeries) => points.map(({ equity, netDeposits }) => equity - netDeposits);

describe('what is shown', () => {
  test('the result as it was, never a deposit as profit; an idle agent counts with what it was given', async () => {
    const [trader, idle] = [await newTrader(service), await newTrader(service)];
    const owner = await ownerOf(service, trader, idle);
    ahead += 10 * MINUTE_MS;
    await buy(trader, 100);
    await record(trader);
    ahead += 60 * MINUTE_MS;
    await service.needs.venues.default.paper?.faucet?.(
      trader.funder as WalletAddress,
      500_000_000n,
      'a draw',
    );
    await record(trader);
    ahead += 60 * MINUTE_MS;
    await sell(trader);
    await record(trader);
    ahead += 60 * MINUTE_MS;

    const one = await read<AgentEquity>(owner, equityOf(trader));
    expect(one.points.map(({ netDeposits }) => Math.round(netDeposits))).toEqual([
      DEPOSIT,
      DEPOSIT,
      DEPOSIT + 500,
      DEPOSIT + 500,
      DEPOSIT + 500,
    ]);
    const [begin, bought, paid, sold, last] = profits(one);
    expect(begin).toBeCloseTo(0, 6);
    // The spread and the fee.
    expect(bought).toBeLessThan(0);
    expect(paid).toBeCloseTo(bought as number, 6);
    expect(last).toBeCloseTo(sold as number, 6);
    expect(one.trades.length).toBeGreaterThanOrEqual(2);
    const all = await read(owner);
    expect(all.points.map(({ netDeposits }) => Math.round(netDeposits))).toContain(2 * DEPOSIT);
    expect(all.points.at(-1)?.equity).toBeCloseTo((one.points.at(-1)?.equity ?? 0) + DEPOSIT, 5);
    expect(profits(all).at(-1)).toBeCloseTo(last as number, 5);
    for (const interval of ['1w', '1m', '1y'])
      expect(profits(await read(owner, equityOf(trader), interval)).at(-1)).toBeCloseTo(last as number, 5);
  });

  test('the last day of each agent in a few values, each its own', async () => {
    const [trader, idle] = [await newTrader(service), await newTrader(service)];
    const owner = await ownerOf(service, trader, idle);
    ahead += 10 * MINUTE_MS;
    await buy(trader, 100);
    await record(trader);
    ahead += 6 * 60 * MINUTE_MS;
    await sell(trader);
    await record(trader);
    ahead += 6 * 60 * MINUTE_MS;
    await owner.signIn();
    const { body } = await owner.send('GET', '/owner/home');
    const { agents, unrealizedPnl } = body as OwnerHome;
    const of = (agentId: string) => agents.find((agent) => agent.agentId === agentId);
    const curve = of(trader.agentId)?.recentEquity ?? [];
    expect(curve).toHaveLength(OWNER_LIMITS.recentPoints);
    expect(curve.at(-1)).toBe(of(trader.agentId)?.equity);
    // The sale, at a spread below what was paid, is half a day ago.
    const [early, late] = [curve[OWNER_LIMITS.recentPoints / 2 + 2], curve.at(-2)];
    expect(early).toBeGreaterThan(late ?? Number.POSITIVE_INFINITY);
    expect(late).toBe(of(trader.agentId)?.equity);
    expect(of(idle.agentId)?.recentEquity).toEqual([]);
    expect(unrealizedPnl).toBe(0);
    const detail = await owner.send('GET', `/owner/agents/${trader.agentId}`);
    expect(detail.body.recentEquity).toHaveLength(OWNER_LIMITS.recentPoints);
  });

  test('of a Solana wallet on the other venue, too', async () => {
    const agent = await newSandboxTrader(service);
    await linkSolanaWallet(agent.client, agent.signer, { now: clock.now });
    const owner = await ownerOf(service, agent);
    const market = await aSandboxMarket(agent.client);
    await agent.trade({ ticker: market.id, side: 'YES', action: 'BUY', amount: 40 });
    ahead += 10 * MINUTE_MS;
    await recordEquity(service.needs, [agent.wallet]);
    ahead += 10 * MINUTE_MS;
    const shown = await read(owner, equityOf(agent));
    expect(new Set(shown.points.map(({ netDeposits }) => Math.round(netDeposits)))).toEqual(
      new Set([DEPOSIT]),
    );
    const [begin, ...later] = profits(shown);
    expect(begin).toBeCloseTo(0, 6);
    for (const result of later) expect(result).toBeCloseTo(later.at(-1) as number, 6);
    expect(later.at(-1)).toBeLessThan(0);
    expect(later.at(-1)).toBeGreaterThan(-10);
  });

  test('nothing of the time when the wallet was another owner’s', async () => {
    const trader = await newTrader(service);
    const owner = await ownerOf(service, trader);
    const sql = await openAsAdmin(service.databaseUrl);
    await createEquityStore(sql).record([
      {
        wallet: trader.funder as WalletAddress,
        at: clock.now() - MINUTE_MS * 60,
        equity: 1n,
        deposits: 1n,
        isOpen: false,
      },
    ]);
    const { points } = await read(owner);
    expect(Math.min(...points.map(({ equity }) => equity))).toBeCloseTo(DEPOSIT, 5);
  });

  test('a misspelt interval is refused', async () => {
    const trader = await newTrader(service);
    const owner = await ownerOf(service, trader);
    const answer = await owner.send('GET', '/owner/equity?intervall=1w');
    expect([answer.status, answer.body.errors?.[0]?.path]).toEqual([400, 'intervall']);
  });
});

describe('what is recorded', () => {
  test('nothing twice: a wallet that did not change has no new point', async () => {
    const trader = await newTrader(service);
    await buy(trader, 50);
    const sql = await openAsAdmin(service.databaseUrl);
    const count = async () => {
      const [row] = await sql<{ n: number }[]>`
        select count(*)::int as n from equity_points where wallet = ${trader.funder} and step = 5`;
      return row?.n;
    };
    await record(trader);
    ahead += 10 * MINUTE_MS;
    await record(trader);
    expect(await count()).toBe(1);
    await sell(trader);
    await record(trader);
    expect(await count()).toBe(2);
  });

  test('a trade between two readings is no deposit', async () => {
    const trader = await newTrader(service);
    await buy(trader, 50);
    const wallet = trader.funder as WalletAddress;
    await record(trader);
    const before = (await service.needs.equity.latest([wallet])).get(wallet);
    ahead += 10 * MINUTE_MS;
    // Books of before a trade with balances of after it, another trade each time.
    let asked = 0;
    const venue = service.needs.venues.default;
    const balances: typeof venue.accounts.balances = async (accounts, patience) => {
      const known = await venue.accounts.balances(accounts, patience);
      asked += 1;
      return { ...known, total: known.total - BigInt(asked) * 5_000_000n };
    };
    const torn = { ...venue, accounts: { ...venue.accounts, balances } };
    const venues = Object.assign(new Map([[venue.id, torn]]), { default: torn });
    await recordEquity({ ...service.needs, venues }, [wallet]);
    expect(asked).toBe(2);
    const after = (await service.needs.equity.latest([wallet])).get(wallet);
    expect([after?.deposits, after?.equity]).toEqual([before?.deposits, before?.equity]);
  });

  test('what a process that was frozen writes late changes nothing newer', async () => {
    const wallet = `0x${'d'.repeat(40)}` as WalletAddress;
    const { equity } = service.needs;
    const at = Math.floor(clock.now() / DAY_MS) * DAY_MS + 12 * 60 * MINUTE_MS;
    await equity.record([{ wallet, at: at + 60_000, equity: 2n, deposits: 2n, isOpen: false }]);
    await equity.record([{ wallet, at, equity: 1n, deposits: 1n, isOpen: false }]);
    expect((await equity.latest([wallet])).get(wallet)).toEqual({
      at: at + 60_000,
      equity: 2n,
      deposits: 2n,
    });
  });

  test('a venue that does not answer leaves no wrong point', async () => {
    const trader = await newTrader(service);
    await buy(trader, 50);
    const venue = service.needs.venues.default;
    const mute = {
      ...venue,
      accounts: { ...venue.accounts, balances: async () => ({ total: 0n, available: 0n, ageMs: null }) },
    };
    const venues = Object.assign(new Map([[venue.id, mute]]), { default: mute });
    const points: unknown[] = [];
    const equity = {
      ...service.needs.equity,
      record: async (written: readonly unknown[]) => void points.push(...written),
    };
    await recordEquity({ ...service.needs, venues, equity }, [trader.funder as WalletAddress]);
    expect(points).toEqual([]);
  });
});

describe('how much work it is', () => {
  test('a turn takes a bounded number of wallets, and a round begins no sooner than points are apart', async () => {
    const wallets = Array.from(
      { length: 250 },
      (_, i) => `0x${String(i).padStart(40, '0')}` as WalletAddress,
    );
    const asked: number[] = [];
    let at = 0;
    const recorder = createEquityRecorder({
      ...service.needs,
      clock: { now: () => at },
      equity: {
        ...service.needs.equity,
        forget: async () => {},
        next: async (after, limit) => wallets.filter((wallet) => wallet > after).slice(0, limit),
        record: async () => {},
        latest: async () => new Map(),
        results: async (some) => {
          asked.push(some.length);
          return new Map();
        },
      },
    });
    for (let turn = 0; turn < 5; turn += 1) await recorder.run();
    // Each wallet without a point is read twice, to be sure of its deposits.
    expect(Math.max(...asked)).toBe(WALLETS_PER_TURN);
    expect(asked.reduce((sum, count) => sum + count, 0)).toBe(2 * wallets.length);
    at += 6 * MINUTE_MS;
    await recorder.run();
    expect(asked.reduce((sum, count) => sum + count, 0)).toBe(2 * (wallets.length + WALLETS_PER_TURN));
  });

  test('every wallet that holds something is found once, and one that did until its last point', async () => {
    const sql = await openTestDatabase();
    await migrate(sql, []);
    await sql`insert into positions (wallet, token_id, condition_id, outcome, size, cost, realized, fees, updated_at,
        bought_size, bought_cost)
      select '0xf' || lpad((i / 4)::text, 39, '0'), i::text, 'c' || i, 'YES', 1, 1, 0, 0, now(), 1, 1
      from generate_series(1, 20000) i`;
    const store = createEquityStore(sql);
    const all = async () => {
      const seen: WalletAddress[] = [];
      for (;;) {
        const page = await store.next(seen.at(-1) ?? '', 1_000);
        seen.push(...page);
        if (page.length < 1_000) return seen;
      }
    };
    const wallet = '0xa' as WalletAddress;
    const point = { wallet, at: clock.now(), equity: 1n, deposits: 1n };
    await store.record([{ ...point, isOpen: true }]);
    const seen = await all();
    expect([seen.length, new Set(seen).size, seen[0]]).toEqual([5_002, 5_002, wallet]);
    await store.record([{ ...point, isOpen: false }]);
    expect(await all()).toEqual(seen.slice(1));
  });

  test('points are forgotten in time, the coarser ones later', async () => {
    const sql = await openAsAdmin(service.databaseUrl);
    const wallet = `0x${'e'.repeat(40)}` as WalletAddress;
    const store = createEquityStore(sql);
    for (const days of [2, 40, 500])
      await store.record([
        { wallet, at: clock.now() - days * DAY_MS, equity: 1n, deposits: 1n, isOpen: false },
      ]);
    const recorder = createEquityRecorder({
      ...service.needs,
      equity: { ...service.needs.equity, next: async () => [] },
    });
    await recorder.run();
    const rows = await sql<{ step: number; days: number }[]>`
      select step, round(extract(epoch from ${new Date(clock.now())}::timestamptz - at) / 86400)::int as days
      from equity_points where wallet = ${wallet} order by step, days`;
    expect(rows.map(({ step, days }) => [step, days])).toEqual([
      [60, 2],
      [1440, 2],
      [1440, 40],
    ]);
  });
});
