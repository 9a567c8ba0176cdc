/** Selects the mid prices for the price history: moved by a tick, at most one a minute per market. */
import type { ConditionId } from '../engine/types.ts';
import type { World } from '../world/world.ts';
import type { PriceTick } from './commit.ts';

const LEAST_INTERVAL_MS = 60_000;
/** More than can be open at a time: entries of ended markets are dropped when it is reached. */
const MANY = 1_000;

export class PriceTicks {
  /** Last recorded: twice the mid price, so that it is an integer. */
  #last = new Map<ConditionId, { readonly doubled: number; readonly at: number }>();

  collect(world: World, at: number): PriceTick[] {
    if (this.#last.size > MANY) this.#forgetClosed(world);
    const ticks: PriceTick[] = [];
    world.eachMid((market, doubled) => {
      const last = this.#last.get(market.conditionId);
      const moved = last === undefined || Math.abs(doubled - last.doubled) >= 2 * market.tickSize;
      if (!moved || (last !== undefined && at - last.at < LEAST_INTERVAL_MS)) return;
      this.#last.set(market.conditionId, { doubled, at });
      const [tokenId, noTokenId] = market.tokenIds;
      ticks.push({
        tokenId,
        at,
        pips: Math.floor(doubled / 2),
        ...(last === undefined ? { noTokenId } : {}),
      });
    });
    return ticks;
  }

  #forgetClosed(world: World): void {
    this.#last = new Map(
      [...this.#last].filter(([conditionId]) => world.market(conditionId)?.status === 'open'),
    );
  }
}
