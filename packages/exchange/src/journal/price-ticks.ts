/** Selects the mid prices for the price history: moved by a tick, at most one a minute per market. */
import type { ConditionId, EngineEvent } from '../engine/types.ts';
import type { World } from '../world/world.ts';
import type { PriceTick } from './commit.ts';

const LEAST_INTERVAL_MS = 60_000;

export class PriceTicks {
  readonly #world: World;
  /** Last recorded: twice the mid price, so that it is an integer. */
  readonly #last = new Map<ConditionId, { readonly doubled: number; readonly at: number }>();
  /** Markets whose price may have moved since they were last looked at: of thousands few have. */
  readonly #touched: Set<ConditionId>;

  constructor(world: World) {
    this.#world = world;
    this.#touched = new Set(world.catalogue.conditionIds());
  }

  /** Must receive every event of the engine. */
  observe(events: readonly EngineEvent[]): void {
    for (const event of events) if ('conditionId' in event) this.#touched.add(event.conditionId);
  }

  collect(at: number): PriceTick[] {
    const ticks: PriceTick[] = [];
    for (const conditionId of this.#touched) {
      const last = this.#last.get(conditionId);
      // It stays, to be looked at when its minute is over.
      if (last !== undefined && at - last.at < LEAST_INTERVAL_MS) continue;
      this.#touched.delete(conditionId);
      const mid = this.#world.mid(conditionId);
      if (mid === undefined) {
        if (this.#world.catalogue.life(conditionId)?.status !== 'open') this.#last.delete(conditionId);
        continue;
      }
      const { market, doubled } = mid;
      if (last !== undefined && Math.abs(doubled - last.doubled) < 2 * market.tickSize) continue;
      this.#last.set(conditionId, { doubled, at });
      const [tokenId, noTokenId] = market.tokenIds;
      ticks.push({
        tokenId,
        at,
        pips: Math.floor(doubled / 2),
        ...(last === undefined ? { noTokenId } : {}),
      });
    }
    return ticks;
  }
}
