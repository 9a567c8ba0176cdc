/** What is held, and what it is worth now. */
import type { Position } from '@bellwether/contract';
import { microToNumber, notional, pipsToNumber } from '@bellwether/contract/decimals';
import { type Address, asAddress } from '@bellwether/protocol';
import { markPrice } from '../domain/market.ts';
import type { Caller, PositionRow } from '../ports/stores.ts';
import type { Deps } from './deps.ts';
import { refusal } from './refusal.ts';

const PERCENT = 100;

async function positionRecord(
  deps: Deps,
  row: PositionRow,
  rows: readonly PositionRow[],
): Promise<Position | null> {
  const market = await deps.markets.find(row.conditionId);
  if (market === null) return null;
  const price = markPrice(market, row.outcome);
  const value = notional(row.size, price, 'floor');
  const gain = value - row.cost;
  const other = rows.some(
    (twin) =>
      twin.wallet === row.wallet && twin.conditionId === row.conditionId && twin.outcome !== row.outcome,
  );
  return {
    venue: deps.venueA.name,
    marketId: market.id,
    conditionId: row.conditionId,
    tokenId: row.tokenId,
    title: market.question,
    outcome: row.outcome,
    size: microToNumber(row.size),
    avgPrice: microToNumber((row.cost * 1_000_000n) / row.size),
    currentPrice: pipsToNumber(price),
    initialValue: microToNumber(row.cost),
    currentValue: microToNumber(value),
    unrealizedPnl: microToNumber(gain),
    realizedPnl: microToNumber(row.realized),
    fees: microToNumber(row.fees),
    percentPnl: row.cost === 0n ? 0 : Math.round((Number(gain) / Number(row.cost)) * PERCENT * 1e4) / 1e4,
    redeemable: market.status === 'resolved',
    mergeable: other && market.status !== 'resolved',
    endDate: new Date(market.endDate).toISOString(),
    walletAddress: row.wallet,
  };
}

export async function positionsOf(deps: Deps, wallets: readonly Address[]): Promise<Position[]> {
  if (wallets.length === 0) return [];
  const rows = await deps.positions.held(wallets);
  const records = await Promise.all(rows.map((row) => positionRecord(deps, row, rows)));
  return records.filter((record) => record !== null);
}

/** The wallet that `user` names, else the agent's own with the account that pays for it. @throws Refusal wallet_not_found */
export async function walletsOf(
  deps: Deps,
  caller: Caller,
  user: string | undefined,
): Promise<readonly Address[]> {
  if (user === undefined) return deps.wallets.agentWallets(caller.agentId);
  const wallet = asAddress(user);
  if (!(await deps.wallets.wallets(caller.userId)).includes(wallet)) {
    throw refusal('wallet_not_found', "This wallet is none of your owner's.", { path: 'user' });
  }
  return [wallet];
}

export const currentPositions = async (
  deps: Deps,
  caller: Caller,
  user: string | undefined,
): Promise<Position[]> => positionsOf(deps, await walletsOf(deps, caller, user));
