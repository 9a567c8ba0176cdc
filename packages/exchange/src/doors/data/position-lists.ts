/** Which positions a list shows, in which order, and the cursor of version 2. */
import type { Micro } from '@bellwether/contract/decimals';
import { invalid } from './data-error.ts';
import { isLost, isRedeemable, type Position, totalOf, unrealizedOf } from './positions.ts';

export const STATUSES = ['OPEN', 'REDEEMABLE', 'REDEEMABLE_LOST', 'MERGEABLE', 'CLOSED'] as const;
export type PositionStatus = (typeof STATUSES)[number];

/** OPEN is everything that is held, redeemable tokens included. */
const FITS: Readonly<Record<PositionStatus, (position: Position) => boolean>> = {
  OPEN: ({ size }) => size > 0n,
  REDEEMABLE: isRedeemable,
  REDEEMABLE_LOST: isLost,
  MERGEABLE: ({ isMergeable }) => isMergeable,
  CLOSED: ({ size }) => size === 0n,
};

export const hasStatus = (position: Position, status: PositionStatus): boolean => FITS[status](position);

export const SORTS = [
  'CURRENT_VALUE',
  'TOKENS',
  'UNREALIZED_PNL',
  'REALIZED_PNL',
  'TOTAL_PNL',
  'TIMESTAMP',
] as const;
export type PositionSort = (typeof SORTS)[number];

const KEYS: Readonly<Record<PositionSort, (position: Position) => Micro>> = {
  CURRENT_VALUE: ({ value }) => value,
  TOKENS: ({ size }) => size,
  UNREALIZED_PNL: unrealizedOf,
  REALIZED_PNL: ({ realized }) => realized,
  TOTAL_PNL: totalOf,
  TIMESTAMP: ({ lastAt }) => BigInt(lastAt),
};

const tokenOf = ({ facts, outcome }: Position): string => facts.tokenIds[outcome === 'YES' ? 0 : 1];
/** Name that orders equal positions, so that pages fit together. */
const nameOf = (position: Position): string => `${tokenOf(position)} ${position.account}`;

export interface PositionOrder {
  readonly status: PositionStatus;
  readonly sort: PositionSort;
  readonly ascending: boolean;
}

interface Mark extends PositionOrder {
  readonly key: Micro;
  readonly name: string;
}

export function positionPage(
  positions: readonly Position[],
  order: PositionOrder,
  { limit, after }: { readonly limit: number; readonly after: Mark | undefined },
): { readonly page: readonly Position[]; readonly next?: string } {
  const keyOf = KEYS[order.sort];
  const direction = order.ascending ? 1 : -1;
  const compare = (a: Pick<Mark, 'key' | 'name'>, b: Pick<Mark, 'key' | 'name'>): number =>
    a.key === b.key
      ? a.name < b.name
        ? -1
        : Number(a.name > b.name)
      : a.key < b.key
        ? -direction
        : direction;
  const sorted = positions
    .map((position) => ({ position, key: keyOf(position), name: nameOf(position) }))
    .sort(compare);
  const first = after === undefined ? 0 : sorted.findIndex((one) => compare(one, after) > 0);
  const shown = first < 0 ? [] : sorted.slice(first, first + limit);
  const last = shown.at(-1);
  const page = shown.map(({ position }) => position);
  if (last === undefined || first + shown.length >= sorted.length) return { page };
  return { page, next: encode({ ...order, key: last.key, name: last.name }) };
}

const encode = ({ status, sort, ascending, key, name }: Mark): string =>
  Buffer.from(JSON.stringify([status, sort, ascending, String(key), name])).toString('base64url');

/** A cursor pins status and order. @throws DataError */
export function readCursor(cursor: string): Mark {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    const [status, sort, ascending, key, name] = Array.isArray(parts) ? parts : [];
    const isOurs =
      STATUSES.includes(status) &&
      SORTS.includes(sort) &&
      typeof ascending === 'boolean' &&
      /^-?\d{1,40}$/.test(key);
    if (isOurs && typeof name === 'string') return { status, sort, ascending, key: BigInt(key), name };
  } catch {
    // Not ours.
  }
  throw invalid('cursor is not valid', 'cursor');
}
