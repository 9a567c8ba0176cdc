/** A wallet at a glance: balance, exposure, P&L, concentration, and what to look at. */
import type { Notice, Portfolio, Position } from '@bellwether/contract';
import { microToNumber } from '@bellwether/contract/decimals';
import { concentration, exposure } from '../domain/exposure.ts';
import type { Caller } from '../ports/stores.ts';
import type { Deps } from './deps.ts';
import { hoursUntil, type PositionQuery, positionRecords, valuedPositions, walletsOf } from './positions.ts';
import { isVenueA } from './venues.ts';

const DAY_MS = 24 * 3_600_000;
const CONCENTRATED_PCT = 50;
const CONCENTRATION_FROM_MARKETS = 2;
const CLOSING_SOON_HOURS = 24;

export async function portfolio(deps: Deps, caller: Caller, query: PositionQuery): Promise<Portfolio> {
  const wallets = isVenueA(deps, query.venue) ? await walletsOf(deps, caller, query.user) : [];
  const [held, balances, results, lastDay] = await Promise.all([
    valuedPositions(deps, wallets),
    Promise.all(wallets.map((wallet) => deps.venueA.balance(wallet))),
    deps.positions.results(wallets),
    deps.positions.realizedSince(wallets, deps.clock.now() - DAY_MS),
  ]);
  const positions = positionRecords(deps, held);
  const byMarket = new Map<string, bigint>();
  for (const { row, value } of held)
    byMarket.set(row.conditionId, (byMarket.get(row.conditionId) ?? 0n) + value);
  const values = [...byMarket.values()];
  const unrealized = held.reduce((sum, { row, value }) => sum + value - row.cost, 0n);
  const balance = microToNumber(balances.reduce((sum, { available, held: on }) => sum + available + on, 0n));
  const pnlTotal = microToNumber(results.realized - results.fees + unrealized);
  const totalExposure = microToNumber(exposure(held.map(({ row }) => row)));
  const shares = { topMarketPct: concentration(values, 1), top3MarketsPct: concentration(values, 3) };
  const total = { positionsCount: positions.length, totalExposure };
  const venue = query.venue ?? deps.venueA.name;
  return {
    venue,
    balance,
    ...total,
    redeemableCount: positions.filter(({ redeemable }) => redeemable).length,
    pnl24h: microToNumber(lastDay),
    pnlTotal,
    realizedPnl: microToNumber(results.realized),
    unrealizedPnl: microToNumber(unrealized),
    fees: microToNumber(results.fees),
    concentration: shares,
    warnings: warnings(positions, shares.topMarketPct, byMarket.size, deps.clock.now()),
    venues: { [venue]: { balance, pnl: pnlTotal, ...total } },
    total,
  };
}

function warnings(positions: readonly Position[], topPct: number, markets: number, now: number): Notice[] {
  const found: Notice[] = [];
  const redeemable = positions.filter(({ redeemable: isDue }) => isDue);
  if (redeemable.length > 0) {
    const worth = redeemable.reduce((sum, { currentValue }) => sum + Math.round(currentValue * 1e6), 0) / 1e6;
    found.push({
      code: 'redeemable_positions',
      severity: 'info',
      message: `${redeemable.length} positions are resolved and pay ${worth}: POST /markets/redeem.`,
    });
  }
  if (markets >= CONCENTRATION_FROM_MARKETS && topPct > CONCENTRATED_PCT) {
    found.push({
      code: 'position_concentrated',
      severity: 'warning',
      message: `One market holds ${topPct} % of the value of all positions.`,
    });
  }
  const closing = positions.filter(
    ({ redeemable: isDue, endDate }) => !isDue && hoursUntil(endDate, now) <= CLOSING_SOON_HOURS,
  );
  if (closing.length > 0) {
    found.push({
      code: 'positions_closing_soon',
      severity: 'info',
      message: `${closing.length} positions end within ${CLOSING_SOON_HOURS} hours: GET /markets/positions/expiring.`,
    });
  }
  return found;
}
