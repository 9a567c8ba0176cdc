/** The operations that this version serves, in the order in which the documentation lists them. */

import type { Operation } from '@bellwether/contract';
import * as contract from '@bellwether/contract';

const TAGS = ['agents', 'wallet', 'markets', 'trading', 'positions', 'paper'];
/** A tag that is not listed comes last. */
const placeOf = ({ tag }: Operation): number => (TAGS.includes(tag) ? TAGS.indexOf(tag) : TAGS.length);
const METHODS: readonly Operation['method'][] = ['GET', 'POST', 'DELETE'];

const isOperation = (value: unknown): value is Operation =>
  typeof value === 'object' && value !== null && 'rateClass' in value && 'path' in value;

/** The operations of this version, by tag and path. */
export const OPERATIONS: readonly Operation[] = (Object.values(contract) as unknown[])
  .filter(isOperation)
  .sort(
    (a, b) =>
      placeOf(a) - placeOf(b) ||
      Number(a.path > b.path) - Number(a.path < b.path) ||
      METHODS.indexOf(a.method) - METHODS.indexOf(b.method),
  );

export const routeOf = ({ method, path }: Operation): string => `${method} ${path}`;
