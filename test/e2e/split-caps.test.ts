/**
 * Random mixtures of BUY, SELL, split and merge under a cap: whatever is taken and refused, no mixture takes more than BUYs alone
 * could. What is used of each cap is counted here anew, from the money that moved at the exchange.
 */
import { buildMarketOrder, type Market } from '@bellwether/sdk';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { expectBooksToAgree } from '../books.ts';
import { newTrader, openMarkets, startTestService, type TestService, type Trader } from '../harness.ts';
import { micro } from '../world.ts';

let service: TestService;
let markets: Market[];

beforeAll(async () => {
  service = await startTestService({ PAPER_WORLD: 'off' });
  markets = await openMarkets((await newTrader(service)).client);
});

const step = fc.record({
  kind: fc.constantFrom('BUY', 'SELL', 'split', 'split', 'merge'),
  outcome: fc.constantFrom('YES', 'NO'),
  amount: fc.integer({ min: 100, max: 900 }).map((cents) => cents / 100),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const CAPS = {
  maxTradesPerDay: 9,
  maxTradeAmount: 5.5,
  dailyTradeAmountLimit: 31.000001,
  maxPositionValue: 13.000001,
} as const;
const CODES = {
  maxTradesPerDay: 'max_trades_per_day_exceeded',
  maxTradeAmount: 'max_trade_amount_exceeded',
  dailyTradeAmountLimit: 'daily_trade_amount_exceeded',
  maxPositionValue: 'max_position_value_exceeded',
} as const;
type Cap = keyof typeof CAPS;

let names = 0;

/** @returns the code of a refusal; `null`: it was done */
async function take({ kind, outcome, amount }: Step, trader: Trader, market: Market): Promise<string | null> {
  names += 1;
  const set = { clientOrderId: `mixture-${names}`, marketId: market.id, amount };
  const { signer } = trader;
  const order = { signer, market, outcome: outcome as 'YES' | 'NO' };
  const done = async (): Promise<{ success: boolean; errorCode?: string }> => {
    if (kind === 'split') return trader.client.splitSets(set);
    if (kind === 'merge') return trader.client.mergeSets(set);
    return trader.client.placeTrade(
      kind === 'BUY'
        ? await buildMarketOrder({ ...order, side: 'BUY', amount, worstPrice: 0.99 })
        : await buildMarketOrder({ ...order, side: 'SELL', shares: amount, worstPrice: 0.01 }),
    );
  };
  return done().then(
    ({ success, errorCode }) => (success ? null : (errorCode ?? 'refused')),
    (error: { code?: string }) => error.code ?? String(error),
  );
}

/** Everything that went into the market and has not come back, fees apart. */
async function stakeOf(trader: Trader): Promise<bigint> {
  const { fees } = await trader.client.getPortfolio();
  return micro(10_000) - service.exchange.account(trader.funder).available - micro(fees);
}

/**
 * What a position counts as, after each step: until the account splits, what its shares cost, by their average; then all that went
 * in and has not come back, but for what was lost before, as BUYs and SELLs alone can lose.
 */
function countPosition(trader: Trader, market: Market) {
  const held = () =>
    service.exchange.account(trader.funder).tokens.get(market.conditionId) ?? { yes: 0n, no: 0n };
  const costs = { yes: 0n, no: 0n };
  let { yes, no } = held();
  let stake = 0n;
  let lost: bigint | null = null;
  return async ({ kind, outcome }: Step): Promise<bigint> => {
    const before = { yes, no, stake };
    ({ yes, no } = held());
    stake = await stakeOf(trader);
    const side = outcome === 'YES' ? 'yes' : 'no';
    if (kind === 'split') lost ??= before.stake - costs.yes - costs.no;
    else if (kind === 'BUY') costs[side] += stake - before.stake;
    else {
      if (before.yes > 0n) costs.yes = (costs.yes * yes) / before.yes;
      if (before.no > 0n) costs.no = (costs.no * no) / before.no;
    }
    return lost === null ? costs.yes + costs.no : stake - (lost > 0n ? lost : 0n);
  };
}

test.each(Object.keys(CAPS) as Cap[])(
  '%s holds',
  async (cap) => {
    let refused = 0;
    let turn = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 30, maxLength: 30 }), async (steps) => {
        const trader = await newTrader(service);
        await trader.client.updateSettings({ [cap]: CAPS[cap] });
        const market = markets[turn % markets.length] as Market;
        turn += 1;
        const limit = micro(CAPS[cap]);
        let trades = 0;
        let spent = 0n;
        const countedNow = countPosition(trader, market);
        for (const one of steps) {
          const before = service.exchange.account(trader.funder).available;
          const code = await take(one, trader, market);
          if (code === CODES[cap]) refused += 1;
          if (code !== null) continue;
          if (cap === 'maxPositionValue') expect(await countedNow(one)).toBeLessThanOrEqual(limit);
          if (one.kind === 'merge') continue;
          trades += 1;
          if (one.kind === 'SELL') continue;
          const paid = before - service.exchange.account(trader.funder).available;
          // A taker's fee is beside what is counted.
          const counted = paid < micro(one.amount) ? paid : micro(one.amount);
          spent += counted;
          if (cap === 'maxTradeAmount') expect(counted).toBeLessThanOrEqual(limit);
          if (cap === 'dailyTradeAmountLimit') expect(spent).toBeLessThanOrEqual(limit);
        }
        if (cap === 'maxTradesPerDay') expect(trades).toBeLessThanOrEqual(CAPS.maxTradesPerDay);
        await expectBooksToAgree(service, [trader]);
      }),
      { numRuns: 4, endOnFailure: true },
    );
    expect(refused).toBeGreaterThan(0);
  },
  120_000,
);
