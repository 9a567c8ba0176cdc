/** Parts of lists, and the places where they begin as opaque texts: a place stays, however many items come in front of it. */
import { LAST_MS } from '@bellwether/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { refusal } from '../refusal.ts';

/** Of an item among all of its kind, newest first. */
export interface Place {
  readonly at: number;
  /** Sorts items of one moment: a digest, an id, or a number. */
  readonly id: string;
}

const PLACE = /^(\d{1,15})\.([0-9a-z-]+)$/;
const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

/** What the items of a list have as their ids: a cursor with any other is of another list. */
export const PLACES = {
  byUuid: new RegExp(`^${UUID}$`),
  /** Ids of signed orders are digests, those of quoted orders the quotes' ids. */
  byOrderId: new RegExp(`^(0x[0-9a-f]{64}|${UUID})$`),
  byNumber: /^\d{1,18}$/,
  /** Refused attempts have numbers. */
  byOrderIdOrNumber: new RegExp(`^(0x[0-9a-f]{64}|${UUID}|\\d{1,9})$`),
} as const;

export const cursorOf = ({ at, id }: Place): string => Buffer.from(`${at}.${id}`).toString('base64url');

/** @throws Refusal invalid_request */
export function placeOf(ids: RegExp, cursor: string): Place {
  const [, time, id = ''] = PLACE.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? [];
  const at = Number(time);
  if (!ids.test(id) || at > LAST_MS)
    throw refusal('invalid_request', 'cursor: take it from the Link header of the page before.', {
      path: 'cursor',
    });
  return { at, id };
}

/** What a list is asked for. */
export interface PageQuery {
  readonly limit?: number;
  readonly offset?: number;
  readonly cursor?: string;
}

const DEFAULT_PAGE = 50;

/** What to read of a list: one more than the page shows. */
interface Window<P> {
  readonly limit: number;
  readonly offset: number;
  readonly after?: P;
}

/**
 * @param ids what the list's items have as their ids, one of PLACES
 * @throws Refusal contradictory_filter, invalid_request for a cursor that is none
 */
export const windowOf = (query: PageQuery, ids: RegExp): Window<Place> =>
  windowBy(query, (cursor) => placeOf(ids, cursor));

/** @param read the place that a cursor of this list names */
export function windowBy<P>(
  { limit = DEFAULT_PAGE, offset = 0, cursor }: PageQuery,
  read: (cursor: string) => P,
): Window<P> {
  if (cursor !== undefined && offset > 0)
    throw refusal('contradictory_filter', 'cursor and offset both say where the page begins.', {
      path: 'offset',
    });
  return { limit: limit + 1, offset, ...(cursor === undefined ? {} : { after: read(cursor) }) };
}

/** A part of a list, newest first. */
export interface Page<T> {
  readonly items: readonly T[];
  /** Number on all pages. */
  readonly total: number;
  /** Where the next page begins, with any new rows before it; `null` on the last. */
  readonly cursor: string | null;
}

/**
 * @param found one more than `limit` when there is a next page
 * @param record what the page shows of a row
 * @param cursor of the place of a row in the list
 */
export function pageOf<Row, T>(
  found: readonly Row[],
  { limit = DEFAULT_PAGE }: PageQuery,
  record: (row: Row) => T,
  cursor: (row: Row) => string,
): Pick<Page<T>, 'items' | 'cursor'> {
  const shown = found.slice(0, limit);
  const last = shown.at(-1);
  const hasMore = found.length > limit && last !== undefined;
  return { items: shown.map(record), cursor: hasMore ? cursor(last) : null };
}

// Totals and neighbours of a page: `X-Total-Count` and RFC 8288 `Link`.

interface Neighbours {
  /** The query parameter that turns the page. */
  readonly name: string;
  readonly previous: number | null;
  readonly next: number | null;
  /** Takes the place of `next`: where the next page begins, with any new rows before it. */
  readonly cursor?: string | null;
}

/** The neighbours of a page that an offset begins. @param limit all in one page when left out */
export const offsetPages = (offset: number, limit: number | undefined, total: number): Neighbours => ({
  name: 'offset',
  previous: offset > 0 ? Math.max(0, offset - (limit ?? offset)) : null,
  next: limit !== undefined && offset + limit < total ? offset + limit : null,
});

export const TOTAL_HEADER = 'x-total-count';

/** @param total of all pages */
export function paginate(
  request: FastifyRequest,
  reply: FastifyReply,
  total: number,
  pages?: Neighbours,
): void {
  reply.header(TOTAL_HEADER, total);
  if (pages === undefined) return;
  const [path, search] = request.url.split('?');
  const link = (value: number | null, rel: string): string[] => {
    if (value === null) return [];
    const query = new URLSearchParams(search);
    query.set(pages.name, String(value));
    return [`<${path}?${query}>; rel="${rel}"`];
  };
  const links = [...link(pages.previous, 'prev'), ...link(pages.next, 'next')];
  if (typeof pages.cursor === 'string') {
    const query = new URLSearchParams(search);
    query.delete(pages.name);
    query.set('cursor', pages.cursor);
    links.push(`<${path}?${query}>; rel="next"`);
  }
  if (links.length > 0) reply.header('link', links.join(', '));
}

/** One page of a list that goes on by cursor. @returns its items */
export function sendPage<T>(
  request: FastifyRequest,
  reply: FastifyReply,
  { limit = 0, offset = 0, cursor }: PageQuery,
  page: Page<T>,
): T[] {
  paginate(request, reply, page.total, {
    name: 'offset',
    previous: cursor === undefined && offset > 0 ? Math.max(0, offset - limit) : null,
    // By cursor, because what comes in meanwhile would shift an offset.
    next: null,
    cursor: page.cursor,
  });
  return [...page.items];
}
