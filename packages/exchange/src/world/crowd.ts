/**
 * A small noise crowd: it buys and sells small amounts at the best price at random, so that volumes and last trades
 * change. Its orders never rest. Its draws do not depend on other accounts.
 */
import { divide, MICRO, type Micro, PIPS } from '@bellwether/contract/decimals';
import type { Engine } from '../engine/engine.ts';
import type { AccountId, OrderId } from '../engine/types.ts';
import { HOUSE_PREFIX, type Run, TOP_UP } from './house.ts';
import type { Random } from './random.ts';
import type { WorldMarket } from './records.ts';

export const CROWD: readonly AccountId[] = ['ash', 'birch', 'cedar', 'dogwood'].map(
  (name) => `${HOUSE_PREFIX}crowd-${name}`,
);

/** Collateral of one trade. */
const LEAST_SPEND = 2;
const GREATEST_SPEND = 30;
const LEAST_BALANCE: Micro = 10_000n * MICRO;

/** One trade in `market`, by a random member. */
export function crowdTrade(
  engine: Engine,
  market: WorldMarket,
  random: Random,
  newOrderId: () => OrderId,
  run: Run,
): void {
  const account = random.pick(CROWD);
  const outcome = random.sign() > 0 ? 'YES' : 'NO';
  const wantsToSell = random.below(3) === 0;
  const spend = BigInt(random.between(LEAST_SPEND, GREATEST_SPEND)) * MICRO;

  const best = engine.bestPrices(market.conditionId);
  if (best?.bid === undefined || best.ask === undefined) return;
  const held = engine.freeTokens(account, market.conditionId, outcome);
  const common = {
    orderId: newOrderId(),
    account,
    conditionId: market.conditionId,
    outcome,
    timeInForce: 'FAK',
    postOnly: false,
  } as const;
  if (wantsToSell && held > 0n) {
    const limit = outcome === 'YES' ? best.bid : PIPS - best.ask;
    const worth = divide(spend * BigInt(PIPS), BigInt(limit), 'floor');
    run({ kind: 'place', order: { ...common, side: 'SELL', limit, size: worth < held ? worth : held } });
    return;
  }
  if (engine.available(account) < LEAST_BALANCE) run({ kind: 'deposit', account, amount: TOP_UP });
  const limit = outcome === 'YES' ? best.ask : PIPS - best.bid;
  const size = divide(spend * BigInt(PIPS), BigInt(limit), 'floor');
  run({ kind: 'place', order: { ...common, side: 'BUY', limit, size, spend } });
}
