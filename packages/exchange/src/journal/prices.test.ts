import { expect, test } from 'vitest';
import type { NewOrder } from '../engine/commands.ts';
import type { MarketView } from '../world/markets.ts';
import { World } from '../world/world.ts';
import type { PriceTick } from './commits.ts';
import { PriceTicks } from './prices.ts';

const START = Date.UTC(2026, 10, 23);
const MINUTE = 60_000;
const ALICE = '0x00000000000000000000000000000000000a11ce';

/** Looks at every market at every step. */
class EveryMarket {
  readonly #last = new Map<string, { readonly doubled: number; readonly at: number }>();

  collect(world: World, at: number): PriceTick[] {
    const ticks: PriceTick[] = [];
    for (const { conditionId, status, bestBid, bestAsk, tickSize, tokenIds } of world.markets()) {
      if (status !== 'open' || bestBid === undefined || bestAsk === undefined) continue;
      const doubled = bestBid + bestAsk;
      const last = this.#last.get(conditionId);
      if (last !== undefined && at - last.at < MINUTE) continue;
      if (last !== undefined && Math.abs(doubled - last.doubled) < 2 * tickSize) continue;
      this.#last.set(conditionId, { doubled, at });
      const [tokenId, noTokenId] = tokenIds;
      const first = last === undefined ? { noTokenId } : {};
      ticks.push({ tokenId, at, pips: Math.floor(doubled / 2), ...first });
    }
    return ticks;
  }
}

/** Takes what a market offers, so that its price moves. */
const taking = (market: MarketView, nth: number): NewOrder => ({
  orderId: `0x${nth.toString(16).padStart(64, '0')}`,
  account: ALICE,
  conditionId: market.conditionId,
  outcome: nth % 2 === 0 ? 'YES' : 'NO',
  side: 'BUY',
  limit: 10_000 - market.tickSize,
  size: 5_000_000n,
  spend: 5_000_000n,
  timeInForce: 'FAK',
  postOnly: false,
});

const byToken = (ticks: readonly PriceTick[]): PriceTick[] =>
  ticks.toSorted((a, b) => a.tokenId.localeCompare(b.tokenId));

test('what is recorded of touched markets is what looking at every market would record, also after a restart', () => {
  const { world: begun } = World.begin('ticks', 1_000, START);
  let world = begun;
  let ticks = new PriceTicks(world);
  let every = new EveryMarket();
  world.execute({ kind: 'deposit', account: ALICE, amount: 1_000_000_000n, reason: 'faucet' }, START);
  expect(byToken(ticks.collect(START))).toEqual(byToken(every.collect(world, START)));
  let recorded = 0;
  for (let step = 1; step <= 600; step += 1) {
    const at = START + step * 1_000;
    ticks.observe(world.step(at));
    const open = [...world.markets()].filter(({ status }) => status === 'open');
    const market = open[(step * 7) % open.length] as MarketView;
    ticks.observe(world.execute({ kind: 'place', order: taking(market, step) }, at));
    if (step === 300) {
      world = World.restore(world.snapshot());
      ticks = new PriceTicks(world);
      every = new EveryMarket();
    }
    const found = byToken(ticks.collect(at));
    expect(found).toEqual(byToken(every.collect(world, at)));
    recorded += found.length;
  }
  expect(recorded).toBeGreaterThan(500);
});
