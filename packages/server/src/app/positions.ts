/** What is held or was, and what it is worth now. */
import type { ClosedPosition, ExpiringPositions, Position, WalletPositions } from '@bellwether/contract';
import { MICRO, type Micro, microToNumber, notional, pipsToNumber } from '@bellwether/contract/decimals';
import { type Address, asAddress } from '@bellwether/protocol';
import { type MarketRecord, markPrice, payoutPrice } from '../domain/market.ts';
import type { Caller, PositionRow } from '../ports/stores.ts';
import type { Deps } from './deps.ts';
import { refusal } from './refusal.ts';
import { isVenueA } from './venues.ts';

const PERCENT = 100;
const HOUR_MS = 3_600_000;

/** A position with its market as the venue knows it now, `null` once it has forgotten it. */
export interface Valued {
  readonly row: PositionRow;
  readonly market: MarketRecord | null;
  readonly value: Micro;
}

const percentOf = (gain: Micro, cost: Micro): number =>
  cost === 0n ? 0 : Math.round((Number(gain) / Number(cost)) * PERCENT * 1e4) / 1e4;

const priceOf = (row: PositionRow, market: MarketRecord | null): number =>
  market === null ? payoutPrice(row.market?.payout ?? 'HALF', row.outcome) : markPrice(market, row.outcome);

/** The markets of the rows, each asked for once. */
async function marketsOf(
  deps: Deps,
  rows: readonly PositionRow[],
): Promise<ReadonlyMap<string, MarketRecord | null>> {
  const ids = [...new Set(rows.map((row) => row.conditionId))];
  return new Map(await Promise.all(ids.map(async (id) => [id, await deps.markets.find(id)] as const)));
}

export const valued = (row: PositionRow, market: MarketRecord | null): Valued => ({
  row,
  market,
  value: notional(row.size, priceOf(row, market), 'floor'),
});

export async function valuedPositions(deps: Deps, wallets: readonly Address[]): Promise<readonly Valued[]> {
  if (wallets.length === 0) return [];
  const rows = await deps.positions.held(wallets);
  const markets = await marketsOf(deps, rows);
  return rows.map((row) => valued(row, markets.get(row.conditionId) ?? null));
}

const isResolved = ({ row, market }: Pick<Valued, 'row' | 'market'>): boolean =>
  market === null ? row.market?.payout != null : market.status === 'resolved';

const labels = (deps: Deps, { row, market }: Pick<Valued, 'row' | 'market'>) => ({
  venue: deps.venueA.name,
  marketId: market?.id ?? row.market?.marketId ?? row.conditionId,
  conditionId: row.conditionId,
  tokenId: row.tokenId,
  title: market?.question ?? row.market?.question ?? '',
  outcome: row.outcome,
  endDate: new Date(market?.endDate ?? row.market?.endDate ?? 0).toISOString(),
  walletAddress: row.wallet,
});

function positionRecord(deps: Deps, valued: Valued, hasTwin: boolean): Position {
  const { row, market, value } = valued;
  const gain = value - row.cost;
  return {
    ...labels(deps, valued),
    size: microToNumber(row.size),
    avgPrice: microToNumber((row.cost * MICRO) / row.size),
    currentPrice: pipsToNumber(priceOf(row, market)),
    initialValue: microToNumber(row.cost),
    currentValue: microToNumber(value),
    unrealizedPnl: microToNumber(gain),
    realizedPnl: microToNumber(row.realized),
    fees: microToNumber(row.fees),
    percentPnl: percentOf(gain, row.cost),
    redeemable: isResolved(valued),
    mergeable: hasTwin && !isResolved(valued),
  };
}

/** @returns records in the order of the rows */
export function positionRecords(deps: Deps, held: readonly Valued[]): Position[] {
  const legs = new Map<string, number>();
  const key = ({ row }: Valued) => `${row.wallet} ${row.conditionId}`;
  for (const valued of held) legs.set(key(valued), (legs.get(key(valued)) ?? 0) + 1);
  return held.map((valued) => positionRecord(deps, valued, legs.get(key(valued)) === 2));
}

export const positionsOf = async (deps: Deps, wallets: readonly Address[]): Promise<Position[]> =>
  positionRecords(deps, await valuedPositions(deps, wallets));

/**
 * The wallet that `user` names with the account that pays for it, else the agent's own.
 * @throws Refusal wallet_not_found
 */
export async function walletsOf(
  deps: Deps,
  caller: Caller,
  user: string | undefined,
  path = 'user',
): Promise<readonly Address[]> {
  if (user === undefined) return deps.wallets.agentWallets(caller.agentId);
  const wallet = asAddress(user);
  if (!(await deps.wallets.wallets(caller.userId)).includes(wallet)) {
    throw refusal('wallet_not_found', "This wallet is none of your owner's.", { path });
  }
  const credential = await deps.wallets.credential(caller.userId, wallet);
  return credential === null ? [wallet] : [...new Set([wallet, credential.funder])];
}

export const currentPositions = async (
  deps: Deps,
  caller: Caller,
  user: string | undefined,
): Promise<Position[]> => positionsOf(deps, await walletsOf(deps, caller, user));

export interface PositionQuery {
  readonly venue?: string;
  readonly user?: string;
}

function closedRecord(deps: Deps, row: PositionRow, market: MarketRecord | null): ClosedPosition {
  return {
    ...labels(deps, { row, market }),
    size: 0,
    avgPrice: row.boughtSize === 0n ? 0 : microToNumber((row.boughtCost * MICRO) / row.boughtSize),
    currentPrice: pipsToNumber(priceOf(row, market)),
    initialValue: microToNumber(row.boughtCost),
    currentValue: 0,
    unrealizedPnl: 0,
    realizedPnl: microToNumber(row.realized),
    fees: microToNumber(row.fees),
    percentPnl: percentOf(row.realized, row.boughtCost),
    redeemable: false,
    mergeable: false,
    closedAt: new Date(row.closedAt ?? 0).toISOString(),
  };
}

export async function closedPositions(
  deps: Deps,
  caller: Caller,
  query: PositionQuery & { readonly limit: number; readonly offset: number },
): Promise<{ readonly positions: ClosedPosition[]; readonly total: number }> {
  if (!isVenueA(deps, query.venue)) return { positions: [], total: 0 };
  const wallets = await walletsOf(deps, caller, query.user);
  const { rows, total } = await deps.positions.closed(wallets, query);
  const markets = await marketsOf(deps, rows);
  return {
    positions: rows.map((row) => closedRecord(deps, row, markets.get(row.conditionId) ?? null)),
    total,
  };
}

export async function walletPositions(
  deps: Deps,
  caller: Caller,
  address: string,
  venue: string | undefined,
): Promise<WalletPositions> {
  const wallets = await walletsOf(deps, caller, address, 'address');
  const held = isVenueA(deps, venue) ? await valuedPositions(deps, wallets) : [];
  return {
    walletAddress: asAddress(address),
    positionCount: held.length,
    positions: positionRecords(deps, held),
    totalValue: microToNumber(held.reduce((sum, { value }) => sum + value, 0n)),
  };
}

/** Those that end within `hours` and are not resolved; past their end they wait for the outcome and count as 0 hours. */
export async function expiringPositions(
  deps: Deps,
  caller: Caller,
  query: PositionQuery & { readonly hours: number },
): Promise<ExpiringPositions> {
  const isOurs = isVenueA(deps, query.venue);
  const positions = isOurs ? await currentPositions(deps, caller, query.user) : [];
  const now = deps.clock.now();
  const expiring = positions
    .filter(({ redeemable, endDate }) => !redeemable && Date.parse(endDate) <= now + query.hours * HOUR_MS)
    .sort((a, b) => Date.parse(a.endDate) - Date.parse(b.endDate))
    .map((position) => ({
      ...position,
      resolutionTimestamp: position.endDate,
      hoursUntilResolution: hoursUntil(position.endDate, now),
    }));
  return {
    positions: expiring,
    total: expiring.length,
    hours: query.hours,
    venue: query.venue ?? deps.venueA.name,
  };
}

export const hoursUntil = (endDate: string, now: number): number =>
  Math.max(0, Math.round(((Date.parse(endDate) - now) / HOUR_MS) * 100) / 100);
