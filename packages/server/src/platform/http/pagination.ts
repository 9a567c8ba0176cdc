/** Totals and neighbours of a page: `X-Total-Count` and RFC 8288 `Link`. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Page, PageQuery } from './page.ts';

export interface Neighbours {
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
