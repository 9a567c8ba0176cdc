/** The ids of a world's markets, as the venue's contracts make them. */
import { conditionIdOf, outcomeTokens, positionBaseHash } from '@bellwether/protocol';
import type { MarketIds } from '../world/listing.ts';

export const marketIds: MarketIds = {
  tokensOf: outcomeTokens,
  v2ConditionsOf(data, markets) {
    if (markets === 1) {
      const baseHash = positionBaseHash(1, data);
      return [conditionIdOf({ module: 1, baseHash, arity: 0, index: 0 })];
    }
    // The last one is "Other", which the arity does not count.
    const event = { module: 2, baseHash: positionBaseHash(2, data), arity: markets - 1 } as const;
    return Array.from({ length: markets }, (_, index) => conditionIdOf({ ...event, index }));
  },
};
