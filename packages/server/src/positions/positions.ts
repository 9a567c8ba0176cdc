/** Positions that are held or were, and what they are worth now: as the desk's own books say it, on every venue. */
import {
  ALL_VENUES,
  type ClosedPosition,
  type ExpiringPositions,
  outcomeName,
  POSITION_SORT_FIELDS,
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
import { type Address, asAddress, conditionIdOfBothWidths } from '@bellwether/protocol';
import { endText, knownPrice, type MarketRecord, payoutPrice, untilEnd } from '../domain/market.ts';
import {
  type ActingAgent,
  ADDRESS_FAMILIES,
  type AddressFamily,
  type PositionRow,
  type WalletAddress,
} from '../domain/records.ts';
import { READ_PATIENCE_MS, within } from '../domain/unavailable.ts';
import type { Clock } from '../platform/clock.ts';
import { refusal } from '../platform/refusal.ts';
import {
  filterOf,
  type HasVenues,
  namedVenue,
  redeemsBy,
  type Scope,
  scopeOf,
  silentVenue,
  venueOf,
} from '../venues/asking.ts';
import type { Venue, Venues } from '../venues/venue.ts';
import type { WalletStore } from '../wallets/index.ts';
import type { ClosedPage, PositionStore } from './position-store.ts';

export interface PositionNeeds {
  readonly clock: Clock;
  readonly wallets: WalletStore;
  readonly positions: PositionStore;
  readonly venues: Venues;
}

const PERCENT = 100;
const HOUR_MS = 3_600_000;

/** A position with its market as the venue knows it now, `null` once it has forgotten it or while it does not answer. */
export interface Valued {
  readonly venue: Venue;
  readonly row: PositionRow;
  readonly market: MarketRecord | null;
  readonly value: Micro;
}

/** Positions, and the venues that did not tell of their markets in time: there they are worth what they cost. */
export interface Holdings {
  readonly held: readonly Valued[];
  readonly silent: ReadonlySet<Venue>;
}

export const percentOf = (gain: Micro, cost: Micro): number =>
  cost === 0n ? 0 : Math.round((Number(gain) / Number(cost)) * PERCENT * 1e4) / 1e4;

/** Cost of a share, where nothing says what it is worth. */
export function paidPrice(row: PositionRow): Pips {
  const [cost, size] = row.size === 0n ? [row.boughtCost, row.boughtSize] : [row.cost, row.size];
  if (size === 0n) return 0;
  const paid = divide(cost * BigInt(PIPS), size, 'floor');
  return paid > BigInt(PIPS) ? PIPS : Number(paid);
}

function priceOf(row: PositionRow, market: MarketRecord | null): Pips {
  if (market !== null) return knownPrice(market, row.outcome) ?? paidPrice(row);
  const payout = row.market?.payout ?? null;
  return payout === null ? paidPrice(row) : payoutPrice(payout, row.outcome);
}

interface KnownMarkets {
  readonly of: (row: PositionRow) => MarketRecord | null;
  readonly silent: ReadonlySet<Venue>;
}

/** The markets of the rows, of each venue in one question. */
async function marketsOf(needs: HasVenues, rows: readonly PositionRow[]): Promise<KnownMarkets> {
  const ids = new Map<Venue, Set<string>>();
  for (const row of rows) {
    const venue = venueOf(needs, row.venue, row.wallet);
    ids.set(venue, (ids.get(venue) ?? new Set()).add(row.conditionId));
  }
  const known = new Map<Venue, ReadonlyMap<string, MarketRecord>>();
  await Promise.all(
    [...ids].map(async ([venue, conditionIds]) => {
      const found = await within(READ_PATIENCE_MS, venue.markets.findAll([...conditionIds]));
      if (found !== null) known.set(venue, new Map(found.map((market) => [market.conditionId, market])));
    }),
  );
  return {
    of: (row) => known.get(venueOf(needs, row.venue, row.wallet))?.get(row.conditionId) ?? null,
    silent: new Set([...ids.keys()].filter((venue) => !known.has(venue))),
  };
}

export const valued = (venue: Venue, row: PositionRow, market: MarketRecord | null): Valued => ({
  venue,
  row,
  market,
  value: notional(row.size, priceOf(row, market), 'floor'),
});

/** Positions of the wallets on the venues. */
export async function holdings(
  needs: PositionNeeds,
  wallets: readonly WalletAddress[],
  venues: readonly Venue[] = [...needs.venues.values()],
): Promise<Holdings> {
  if (wallets.length === 0) return { held: [], silent: new Set() };
  return valuedRows(needs, await needs.positions.held(wallets, filterOf(needs, venues)));
}

async function valuedRows(needs: HasVenues, rows: readonly PositionRow[]): Promise<Holdings> {
  const markets = await marketsOf(needs, rows);
  return {
    held: rows.map((row) => valued(venueOf(needs, row.venue, row.wallet), row, markets.of(row))),
    silent: markets.silent,
  };
}

export const isResolved = ({ row, market }: Pick<Valued, 'row' | 'market'>): boolean =>
  market === null ? row.market?.payout != null : market.status === 'resolved';

/** A losing position is closed by the resolution; on the chain it may still lie about. */
const isRedeemable = ({ venue, row, market }: Omit<Valued, 'value'>): boolean =>
  redeemsBy(venue) !== null && isResolved({ row, market }) && priceOf(row, market) > 0;

const labels = ({ venue, row, market }: Omit<Valued, 'value'>) => ({
  venue: venue.id,
  marketId: market?.id ?? row.market?.marketId ?? row.conditionId,
  marketConditionId: row.conditionId,
  conditionId: row.conditionId,
  tokenId: row.tokenId,
  title: market?.question ?? row.market?.question ?? '',
  outcome: row.outcome,
  outcomeName: outcomeName(market?.outcomes ?? row.market?.outcomes, row.outcome),
  endDate: endText((market === null ? row.market?.endDate : market.endDate) ?? null),
  walletAddress: row.wallet,
});

function positionRecord(valued: Valued, hasTwin: boolean): Position {
  const { venue, row, market, value } = valued;
  const gain = value - row.cost;
  return {
    ...labels(valued),
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
    mergeable: hasTwin && venue.signedOrders !== undefined && !isResolved(valued),
  };
}

/** @returns records in the order of the rows */
export function positionRecords(held: readonly Valued[]): Position[] {
  const legs = new Map<string, number>();
  const key = ({ row }: Valued) => `${row.wallet} ${row.conditionId}`;
  for (const valued of held) legs.set(key(valued), (legs.get(key(valued)) ?? 0) + 1);
  return held.map((valued) => positionRecord(valued, legs.get(key(valued)) === 2));
}

/**
 * EVM wallets: the one that `user` names with the account that pays for it, else all that the agent reaches.
 * @throws Refusal wallet_not_found
 */
export async function evmWallets(
  needs: PositionNeeds,
  caller: ActingAgent,
  user: string | undefined,
  path = 'user',
): Promise<readonly Address[]> {
  const wallets = await needs.wallets.wallets(caller);
  if (user === undefined) return wallets;
  const wallet = asAddress(user);
  if (!wallets.includes(wallet)) throw notYours(path);
  const credential = await needs.wallets.credential(caller, wallet);
  return credential === null ? [wallet] : [...new Set([wallet, credential.funder])];
}

const notYours = (path: string) =>
  refusal('wallet_not_found', "This wallet is none of your owner's, or out of this agent's reach.", { path });

/** The same for Solana wallets. A wallet that the agent only names has no positions: nothing was traded with it here. */
async function solanaWallets(
  needs: PositionNeeds,
  caller: ActingAgent,
  user: WalletAddress | null,
  path: string,
): Promise<readonly WalletAddress[]> {
  const { proved, unproved } = await needs.wallets.solanaWallets(caller);
  if (user === null) return proved;
  if (user === unproved) return [];
  if (!proved.some((wallet) => wallet === user)) throw notYours(path);
  return proved.filter((wallet) => wallet === user);
}

/** The wallets of a scope, EVM wallets first. @throws Refusal wallet_not_found */
export async function walletsOf(
  needs: PositionNeeds,
  caller: ActingAgent,
  { venues, user }: Scope,
  path = 'user',
): Promise<readonly WalletAddress[]> {
  const reach: Readonly<Record<AddressFamily, () => Promise<readonly WalletAddress[]>>> = {
    evm: () => evmWallets(needs, caller, user ?? undefined, path),
    solana: () => solanaWallets(needs, caller, user, path),
  };
  return (await Promise.all(familiesOf(venues).map((family) => reach[family]()))).flat();
}

const familiesOf = (venues: readonly Venue[]): readonly AddressFamily[] =>
  ADDRESS_FAMILIES.filter((family) => venues.some(({ accounts }) => accounts.family === family));

export interface PositionQuery {
  readonly venue?: string;
  readonly user?: string;
}

/** Asked for one venue alone, a read says that it does not answer; asked for all, it goes on with what positions cost. */
function requireAnswer(venue: Venue | null, silent: ReadonlySet<Venue>): void {
  if (venue === null || !silent.has(venue)) return;
  throw silentVenue(venue);
}

/** Positions that a query is about. @throws Refusal unknown_venue, wallet_not_found, service_unavailable */
async function heldBy(
  needs: PositionNeeds,
  caller: ActingAgent,
  query: PositionQuery,
): Promise<readonly Valued[]> {
  const scope = scopeOf(needs, query);
  const { venues, user } = scope;
  const { held, silent } =
    user === null
      ? await valuedRows(
          needs,
          await needs.positions.heldByAgent(caller, familiesOf(venues), filterOf(needs, venues)),
        )
      : await holdings(needs, await walletsOf(needs, caller, scope), venues);
  requireAnswer(namedVenue(needs, query.venue), silent);
  return held;
}

/** @throws Refusal unknown_venue, wallet_not_found, service_unavailable */
export const currentPositions = async (
  needs: PositionNeeds,
  caller: ActingAgent,
  query: PositionQuery,
): Promise<Position[]> => positionRecords(await heldBy(needs, caller, query));

function closedRecord(venue: Venue, row: PositionRow, market: MarketRecord | null): ClosedPosition {
  return {
    ...labels({ venue, row, market }),
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
  needs: PositionNeeds,
  caller: ActingAgent,
  query: PositionQuery & ClosedPage,
): Promise<{ readonly positions: ClosedPosition[]; readonly total: number }> {
  const scope = scopeOf(needs, query);
  const wallets = await walletsOf(needs, caller, scope);
  const sortBy = sortFieldOf(query.sortBy);
  const { rows, total } = await needs.positions.closed(wallets, filterOf(needs, scope.venues), {
    ...query,
    ...(sortBy === null ? {} : { sortBy }),
  });
  const markets = await marketsOf(needs, rows);
  requireAnswer(namedVenue(needs, query.venue), markets.silent);
  return {
    positions: rows.map((row) => closedRecord(venueOf(needs, row.venue, row.wallet), row, markets.of(row))),
    total,
  };
}

export async function walletPositions(
  needs: PositionNeeds,
  caller: ActingAgent,
  address: string,
  venue: string | undefined,
): Promise<WalletPositions> {
  const asked = namedVenue(needs, venue);
  const scope = scopeOf(needs, { user: address }, 'address');
  const wallets = await walletsOf(needs, caller, scope, 'address');
  // Naming a venue that does not know such wallets asks for nothing, which is no mistake.
  const venues = asked === null ? scope.venues : scope.venues.filter((one) => one === asked);
  const { held, silent } = await holdings(needs, venues.length === 0 ? [] : wallets, venues);
  const [only, ...others] = scope.venues;
  requireAnswer(others.length === 0 ? only : asked, silent);
  return {
    walletAddress: scope.user ?? address,
    positionCount: held.length,
    positions: positionRecords(held),
    totalValue: microToNumber(held.reduce((sum, { value }) => sum + value, 0n)),
  };
}

/** Those that end within `hours` and are not resolved; past their end they wait for the outcome and count as 0 hours. */
/** Beyond the end that its venue names, or without one: nothing says when it ends. */
const tradesOn = ({ market }: Pick<Valued, 'market'>, now: number): boolean =>
  market?.status === 'open' && untilEnd(market, now) === null;

export async function expiringPositions(
  needs: PositionNeeds,
  caller: ActingAgent,
  query: PositionQuery & { readonly hours: number },
): Promise<ExpiringPositions> {
  const held = await heldBy(needs, caller, query);
  const now = needs.clock.now();
  const open = new Set(
    held
      .filter((one) => !isResolved(one) && !tradesOn(one, now))
      .map(({ row }) => `${row.wallet} ${row.tokenId}`),
  );
  const expiring = positionRecords(held)
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

// Narrows, sorts and pages positions, by the names that other public clients send. Pure.

interface PositionFilters {
  readonly market?: string;
  readonly title?: string;
  readonly sizeThreshold?: number;
  readonly redeemable?: boolean;
  readonly mergeable?: boolean;
  readonly sortBy?: string;
  readonly sortDirection?: 'ASC' | 'DESC';
}

type SortField = (typeof POSITION_SORT_FIELDS)[keyof typeof POSITION_SORT_FIELDS];

/** @throws Refusal unknown_sort_field */
function sortFieldOf(name: string | undefined): SortField | null {
  if (name === undefined || name === '') return null;
  const known = Object.entries(POSITION_SORT_FIELDS);
  const found = known.find(([word, field]) => word === name.toUpperCase() || field === name);
  if (found !== undefined) return found[1];
  const names = known.map(([word]) => word).join(', ');
  throw refusal('unknown_sort_field', `There is no sort field "${name}". Use one of ${names}.`, {
    path: 'sortBy',
  });
}

const compare = (a: string | number, b: string | number): number => (a < b ? -1 : a > b ? 1 : 0);

/** Equal ones stay in the order in which they came. @throws Refusal unknown_sort_field */
export function narrowed<T extends Position>(positions: readonly T[], filters: PositionFilters): T[] {
  const { title, sizeThreshold, redeemable, mergeable } = filters;
  const market = filters.market === undefined ? undefined : conditionIdOfBothWidths(filters.market);
  const field = sortFieldOf(filters.sortBy);
  const words = title?.toLowerCase();
  const found = positions.filter(
    (position) =>
      (market === undefined || position.conditionId === market || position.marketId === market) &&
      (words === undefined || position.title.toLowerCase().includes(words)) &&
      (sizeThreshold === undefined || position.size >= sizeThreshold) &&
      (redeemable === undefined || position.redeemable === redeemable) &&
      (mergeable === undefined || position.mergeable === mergeable),
  );
  if (field === null) return found;
  const direction = filters.sortDirection === 'ASC' ? 1 : -1;
  return found.sort((a, b) => direction * compare(a[field], b[field]));
}
