/** Cursors of the venue's lists: an offset in base64. Wire reference 2.8. */
import { WireError } from './wire-error.ts';

/** Base64 of "-1": nothing follows. Sent back, it is refused. */
export const END_CURSOR = 'LTE=';
const OFFSET = /^[0-9]{1,9}$/;

/** @throws WireError */
export function offsetOf(cursor: string): number {
  if (cursor === '') return 0;
  const text = Buffer.from(cursor, 'base64').toString('utf8');
  if (OFFSET.test(text)) return Number(text);
  throw new WireError(
    400,
    text === '-1' ? 'next item should be greater than or equal to 0' : 'Invalid next_cursor',
  );
}

const cursorOf = (offset: number): string => Buffer.from(String(offset)).toString('base64');

export interface Page<Row> {
  readonly limit: number;
  readonly count: number;
  readonly next_cursor: string;
  readonly data: readonly Row[];
}

/** @param rows of the page that begins at `offset`, out of `total` */
export function pageOf<Row>(
  rows: readonly Row[],
  { offset, total, limit }: { readonly offset: number; readonly total: number; readonly limit: number },
): Page<Row> {
  const next = offset + rows.length;
  const isLast = rows.length === 0 || next >= total;
  return { limit, count: rows.length, next_cursor: isLast ? END_CURSOR : cursorOf(next), data: rows };
}
