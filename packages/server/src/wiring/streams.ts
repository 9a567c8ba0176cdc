/** The streams of this process, with the one reader of the log that feeds them. */
import { createHmac } from 'node:crypto';
import type { Logger } from 'pino';
import type { Sql } from '../adapters/postgres/connection.ts';
import { createEventLog } from '../adapters/postgres/event-log.ts';
import { createEventCursors } from '../app/streams/event-cursor.ts';
import { EventFeed } from '../app/streams/event-feed.ts';
import { OpenStreams } from '../app/streams/open-streams.ts';
import { VenueWatch } from '../app/streams/venue-watch.ts';
import { WatchedBooks } from '../app/streams/watched-books.ts';
import type { HasVenues } from '../app/venues.ts';
import type { Streams } from '../http/streams.ts';
import type { Clock } from '../ports/clock.ts';

const TAG_BYTES = 9;

interface Parts {
  readonly sql: Sql;
  readonly needs: HasVenues & { readonly clock: Clock };
  readonly secret: Uint8Array;
  /** Half of them may be streams: requests need connections, too. */
  readonly maxConnections: number;
  readonly log: Logger;
}

export function createStreams({ sql, needs, secret, maxConnections, log }: Parts): Streams {
  const events = createEventLog(sql);
  const now = () => performance.now();
  const open = new OpenStreams({ log: events, maxStreams: Math.floor(maxConnections / 2), now });
  const feed = new EventFeed({
    log: events,
    verified: () => open.verified(),
    now,
    warn: (error) => log.warn({ err: error }, 'the log of facts could not be read for streams'),
  });
  const tag = (text: string) =>
    createHmac('sha256', secret).update(text).digest().subarray(0, TAG_BYTES).toString('base64url');
  return {
    open,
    feed,
    cursors: createEventCursors(tag),
    venues: new VenueWatch(needs),
    books: new WatchedBooks({ needs, isVerified: () => open.isVerified, clock: needs.clock }),
  };
}
