/** Notes how traded markets of venue B ended. The venue tells nobody, so it is asked. */
import type { ResolutionEvidence } from '../../ports/evidence.ts';
import type { Deps } from '../deps.ts';

const MARKETS_PER_TURN = 500;

/** @returns how many outcomes were written */
export async function resolveTickers(deps: Deps): Promise<number> {
  const tickers = await deps.chainOrders.unresolved(MARKETS_PER_TURN);
  if (tickers.length === 0) return 0;
  const at = deps.clock.now();
  const resolutions = (await deps.venueB.markets.findAll(tickers)).flatMap((market): ResolutionEvidence[] =>
    market.status === 'resolved' && market.payout !== undefined
      ? [{ conditionId: market.conditionId, payout: market.payout, at }]
      : [],
  );
  if (resolutions.length === 0) return 0;
  await deps.chainOrders.resolve(resolutions);
  return resolutions.length;
}
