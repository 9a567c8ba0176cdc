/**
 * Reads the venue's lists, page by page, within bounds: a cursor must be one that this listing has not had, an id counts
 * once, and the pages of a listing and of a minute are limited. A listing that did not come to its end is an error: what
 * it did not show may exist all the same.
 */
import { BoundedCache } from '../../domain/bounded-cache.ts';
import { ListingUnfinished } from '../../domain/unavailable.ts';
import type { OutboundLog } from '../../platform/outbound/http.ts';

export interface Page<T> {
  readonly rows: readonly T[];
  /** As the venue says it; see {@link nextOf}. `null`: this is the last page. */
  readonly next: string | null;
}

export interface Listing<T> {
  /** In errors and logs, such as the path. */
  readonly name: string;
  /** Whose list it is: the pages of a minute are counted for each. Never a secret. */
  readonly whose: string;
  readonly mostPages: number;
  readonly ask: (cursor: string | undefined) => Promise<Page<T>>;
  /** `null`: a row without an id, which counts each time. Of two rows with one id the first is kept. */
  readonly idOf: (row: T) => string | null;
}

export interface Paging {
  /** Every row. @throws ListingUnfinished, and what `ask` throws */
  all<T>(listing: Listing<T>): Promise<readonly T[]>;
  /** The first rows, as many as are wanted or could be read: for what is shown, never for what money depends on. */
  first<T>(listing: Listing<T>, most: number): Promise<readonly T[]>;
  /** Listings that did not come to their end, since the start. */
  unfinished(): number;
}

const LAST_CURSOR = 'LTE=';
/** The venue's other name for the first page. */
const FIRST_CURSOR = 'MA==';
/** After the first ones. The venue answers five hundred pages of a list in ten seconds. */
const MAX_PAGES_PER_MINUTE = 600;
const MINUTE_MS = 60_000;
const LISTS_COUNTED = 20_000;
const ALL = Number.POSITIVE_INFINITY;

/** The cursor of the next page; `null` for each way in which the venue says that there is none. */
export const nextOf = (cursor: string | null | undefined): string | null =>
  cursor == null || cursor === '' || cursor === LAST_CURSOR ? null : cursor;

export function createPaging({ log }: { readonly log: OutboundLog }): Paging {
  const minutes = new BoundedCache<{ readonly from: number; pages: number }>({
    entries: LISTS_COUNTED,
    weight: LISTS_COUNTED,
    weightOf: () => 1,
  });
  let unfinished = 0;

  const mayAskOnce = (name: string): boolean => {
    const now = performance.now();
    const known = minutes.get(name);
    const minute = known === undefined || now - known.from >= MINUTE_MS ? { from: now, pages: 0 } : known;
    minutes.set(name, minute);
    minute.pages += 1;
    return minute.pages <= MAX_PAGES_PER_MINUTE;
  };

  /** @returns what was wrong; `null`: the listing ended, or enough was read */
  const walk = async <T>(
    { name, whose, mostPages, ask }: Listing<T>,
    take: (rows: readonly T[]) => boolean,
    wantsAll: boolean,
  ): Promise<string | null> => {
    const seen = new Set<string>([FIRST_CURSOR]);
    let cursor: string | undefined;
    for (let pages = 1; ; pages += 1) {
      const { rows, next } = await ask(cursor);
      const hasEnough = take(rows);
      if (next === null || hasEnough) return null;
      if (seen.has(next)) return `its page ${pages} leads back to one that was read`;
      if (pages >= mostPages) return wantsAll ? `it has more than ${mostPages} pages` : null;
      if (!mayAskOnce(`${name} ${whose}`)) return `more than ${MAX_PAGES_PER_MINUTE} pages in a minute`;
      seen.add(next);
      cursor = next;
    }
  };

  const read = async <T>(listing: Listing<T>, most: number) => {
    const rows: T[] = [];
    const ids = new Set<string>();
    const take = (page: readonly T[]): boolean => {
      for (const row of page) {
        const id = listing.idOf(row);
        if (id !== null && ids.has(id)) continue;
        if (id !== null) ids.add(id);
        rows.push(row);
      }
      return rows.length >= most;
    };
    const fault = await walk(listing, take, most === ALL);
    if (fault !== null) {
      unfinished += 1;
      log.warn({ list: listing.name, rows: rows.length, fault }, 'a list of the venue does not end');
    }
    return { rows, fault };
  };

  return {
    async all(listing) {
      const { rows, fault } = await read(listing, ALL);
      if (fault !== null) throw new ListingUnfinished(listing.name, fault);
      return rows;
    },
    first: async (listing, most) => (await read(listing, most)).rows,
    unfinished: () => unfinished,
  };
}
