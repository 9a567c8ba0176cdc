/** What is held or was, and what it is worth now: as the desk's own books say it, on both venues. */
import {
  ALL_VENUES,
  type ClosedPosition,
  type ExpiringPositions,
  type Position,
  type WalletPositions,
} from '@bellwether/contract';
import {
  divide,
  MICRO,
  type Micro,
  microToNumber,
  notional,
  PIPS,
  type Pips,
  pipsToNumber,
} from '@bellwether/contract/decimals';
import { type Address, asAddress } from '@bellwether/protocol';
import { type MarketRecord, markPrice, payoutPrice } from '../domain/market.ts';
import { READ_PATIENCE_MS, within } from '../domain/patience.ts';
import type { Caller, ClosedPage, PositionRow, WalletAddress } from '../ports/stores.ts';
import type { Deps } from './deps.ts';
import { sortFieldOf } from './position-filters.ts';
import { refusal } from './refusal.ts';
import { isSolana, kindOfWallet, type Scope, scopeOf, venueKind, venueName } from './venues.ts';

const PERCENT = 100;
const HOUR_MS = 3_600_000;
const RETRY_S = 1;

/** A position with its market as the venue knows it now, `null` once it has forgotten it or while it does not answer. */
export interface Valued {
  readonly row: PositionRow;
  readonly market: MarketRecord | null;
  readonly value: Micro;
}

/** Positions, and whether venue B has told of its markets: without it they are worth what they cost. */
export interface Holdings {
  readonly held: readonly Valued[];
  readonly answered: boolean;
}

export const percentOf = (gain: Micro, cost: Micro): number =>
  cost === 0n ? 0 : Math.round((Number(gain) / Number(cost)) * PERCENT * 1e4) / 1e4;

/** What a share cost, for markets of which nothing else is known. */
function paidPrice(row: PositionRow): Pips {
  const [cost, size] = row.size === 0n ? [row.boughtCost, row.boughtSize] : [row.cost, row.size];
  if (size === 0n) return 0;
  const paid = divide(cost * BigInt(PIPS), size, 'floor');
  return paid > BigInt(PIPS) ? PIPS : Number(paid);
}

function priceOf(row: PositionRow, market: MarketRecord | null): Pips {
  if (market !== null) return markPrice(market, row.outcome);
  const payout = row.market?.payout ?? null;
  return payout === null ? paidPrice(row) : payoutPrice(payout, row.outcome);
}

interface KnownMarkets {
  readonly byId: ReadonlyMap<string, MarketRecord>;
  readonly answered: boolean;
}

/** The markets of the rows, each asked for once. */
async function marketsOf(deps: Deps, rows: readonly PositionRow[]): Promise<KnownMarkets> {
  const idsOf = (kind: 'A' | 'B') => [
    ...new Set(rows.filter((row) => kindOfWallet(row.wallet) === kind).map((row) => row.conditionId)),
  ];
  const [onA, onB] = await Promise.all([
    Promise.all(idsOf('A').map((id) => deps.markets.find(id))),
    marketsOfB(deps, idsOf('B')),
  ]);
  const known = [...onA.filter((market) => market !== null), ...(onB ?? [])];
  return { byId: new Map(known.map((market) => [market.conditionId, market])), answered: onB !== null };
}

/** @returns `null` when the venue does not answer in time */
export const marketsOfB = async (
  deps: Deps,
  tickers: readonly string[],
): Promise<readonly MarketRecord[] | null> =>
  tickers.length === 0 ? [] : within(READ_PATIENCE_MS, deps.venueB.markets.findAll(tickers));

export const valued = (row: PositionRow, market: MarketRecord | null): Valued => ({
  row,
  market,
  value: notional(row.size, priceOf(row, market), 'floor'),
});

export async function holdings(deps: Deps, wallets: readonly WalletAddress[]): Promise<Holdings> {
  if (wallets.length === 0) return { held: [], answered: true };
  const rows = await deps.positions.held(wallets);
  const { byId, answered } = await marketsOf(deps, rows);
  return { held: rows.map((row) => valued(row, byId.get(row.conditionId) ?? null)), answered };
}

export const isResolved = ({ row, market }: Pick<Valued, 'row' | 'market'>): boolean =>
  market === null ? row.market?.payout != null : market.status === 'resolved';

/** What lost is closed by the resolution; on the chain it may still lie about. */
const isRedeemable = ({ row, market }: Pick<Valued, 'row' | 'market'>): boolean =>
  isResolved({ row, market }) && priceOf(row, market) > 0;

const labels = (deps: Deps, { row, market }: Pick<Valued, 'row' | 'market'>) => ({
  venue: venueName(deps, kindOfWallet(row.wallet)),
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
    redeemable: isRedeemable(valued),
    mergeable: hasTwin && !isSolana(row.wallet) && !isResolved(valued),
  };
}

/** @returns records in the order of the rows */
export function positionRecords(deps: Deps, held: readonly Valued[]): Position[] {
  const legs = new Map<string, number>();
  const key = ({ row }: Valued) => `${row.wallet} ${row.conditionId}`;
  for (const valued of held) legs.set(key(valued), (legs.get(key(valued)) ?? 0) + 1);
  return held.map((valued) => positionRecord(deps, valued, legs.get(key(valued)) === 2));
}

/**
 * On venue A: the wallet that `user` names with the account that pays for it, else all that the agent reaches.
 * @throws Refusal wallet_not_found
 */
export async function walletsOfA(
  deps: Deps,
  caller: Caller,
  user: string | undefined,
  path = 'user',
): Promise<readonly Address[]> {
  const wallets = await deps.wallets.wallets(caller);
  if (user === undefined) return wallets;
  const wallet = asAddress(user);
  if (!wallets.includes(wallet)) throw notYours(path);
  const credential = await deps.wallets.credential(caller, wallet);
  return credential === null ? [wallet] : [...new Set([wallet, credential.funder])];
}

const notYours = (path: string) =>
  refusal('wallet_not_found', "This wallet is none of your owner's, or out of this agent's reach.", { path });

/** The wallets of a scope, those of venue A first. @throws Refusal wallet_not_found */
export async function walletsOf(
  deps: Deps,
  caller: Caller,
  { kinds, user }: Scope,
  path = 'user',
): Promise<readonly WalletAddress[]> {
  const onA = async () => (kinds.includes('A') ? walletsOfA(deps, caller, user ?? undefined, path) : []);
  const onB = async () => {
    if (!kinds.includes('B')) return [];
    const { proved, unproved } = await deps.wallets.solanaWallets(caller);
    if (user === null) return proved;
    // The agent's by its own word alone: nothing was traded with it here.
    if (user === unproved) return [];
    if (!proved.some((wallet) => wallet === user)) throw notYours(path);
    return proved.filter((wallet) => wallet === user);
  };
  return (await Promise.all([onA(), onB()])).flat();
}

export interface PositionQuery {
  readonly venue?: string;
  readonly user?: string;
}

/**
 * Asked for venue B alone, a read says that the venue does not answer; asked for both, it goes on with what positions
 * cost.
 */
function requireAnswer(deps: Deps, venue: string | undefined, answered: boolean): void {
  if (answered || venueKind(deps, venue) !== 'B') return;
  throw refusal('service_unavailable', `${venue} does not answer.`, { retryAfterS: RETRY_S });
}

/** @throws Refusal unknown_venue, wallet_not_found, service_unavailable */
export async function currentPositions(
  deps: Deps,
  caller: Caller,
  query: PositionQuery,
): Promise<Position[]> {
  const wallets = await walletsOf(deps, caller, scopeOf(deps, query));
  const { held, answered } = await holdings(deps, wallets);
  requireAnswer(deps, query.venue, answered);
  return positionRecords(deps, held);
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
  query: PositionQuery & ClosedPage,
): Promise<{ readonly positions: ClosedPosition[]; readonly total: number }> {
  const wallets = await walletsOf(deps, caller, scopeOf(deps, query));
  const sortBy = sortFieldOf(query.sortBy);
  const { rows, total } = await deps.positions.closed(wallets, {
    ...query,
    ...(sortBy === null ? {} : { sortBy }),
  });
  const { byId, answered } = await marketsOf(deps, rows);
  requireAnswer(deps, query.venue, answered);
  return {
    positions: rows.map((row) => closedRecord(deps, row, byId.get(row.conditionId) ?? null)),
    total,
  };
}

export async function walletPositions(
  deps: Deps,
  caller: Caller,
  address: string,
  venue: string | undefined,
): Promise<WalletPositions> {
  // A wallet is of one venue; naming the other asks for nothing, which is no mistake.
  const asked = venueKind(deps, venue);
  const scope = scopeOf(deps, { user: address }, 'address');
  const wallets = await walletsOf(deps, caller, scope, 'address');
  const isAsked = asked === null || scope.kinds.includes(asked);
  const { held, answered } = await holdings(deps, isAsked ? wallets : []);
  requireAnswer(deps, venueName(deps, scope.kinds[0] ?? 'A'), answered);
  return {
    walletAddress: scope.user ?? address,
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
  const wallets = await walletsOf(deps, caller, scopeOf(deps, query));
  const { held, answered } = await holdings(deps, wallets);
  requireAnswer(deps, query.venue, answered);
  const now = deps.clock.now();
  const open = new Set(
    held.filter((one) => !isResolved(one)).map(({ row }) => `${row.wallet} ${row.tokenId}`),
  );
  const expiring = positionRecords(deps, held)
    .filter(
      ({ walletAddress, tokenId, endDate }) =>
        open.has(`${walletAddress} ${tokenId}`) && Date.parse(endDate) <= now + query.hours * HOUR_MS,
    )
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
    venue: query.venue ?? ALL_VENUES,
  };
}

export const hoursUntil = (endDate: string, now: number): number =>
  Math.max(0, Math.round(((Date.parse(endDate) - now) / HOUR_MS) * 100) / 100);
