/** Narrows, sorts and pages positions, by the names that other public clients send. Pure. */

import { POSITION_SORT_FIELDS, type Position } from '@bellwether/contract';
import { conditionIdOfBothWidths } from '@bellwether/protocol';
import { refusal } from '../platform/refusal.ts';

export interface PositionFilters {
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
export function sortFieldOf(name: string | undefined): SortField | null {
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

export const pageOf = <T>(items: readonly T[], offset: number, limit: number | undefined): T[] =>
  items.slice(offset, limit === undefined ? undefined : offset + limit);
