/** The streams of this process, with the one reader of the log that feeds them. */
import { createHmac } from 'node:crypto';
import type { Logger } from 'pino';
import { hashToken, type OwnerNeeds } from '../owners/index.ts';
import type { Sql } from '../platform/database/connection.ts';
import type { Streams } from '../streams/index.ts';
import {
  createEventCursors,
  createEventLog,
  EventFeed,
  OpenStreams,
  VenueWatch,
  WatchedBooks,
} from '../streams/index.ts';
import type { HasVenues } from '../venues/asking.ts';

const TAG_BYTES = 9;

interface Parts {
  readonly sql: Sql;
  readonly needs: HasVenues &
    Pick<OwnerNeeds, 'owners' | 'secrets' | 'clock'> & { readonly publicUrl: string };
  readonly secret: Uint8Array;
  /** Half of them may be streams: requests need connections, too. */
  readonly maxConnections: number;
  readonly log: Logger;
}

export function createStreams({ sql, needs, secret, maxConnections, log }: Parts): Streams {
  const events = createEventLog(sql);
  const now = () => performance.now();
  const { owners, clock } = needs;
  const open = new OpenStreams({
    ...{ log: events, owners, clock, now },
    maxStreams: Math.floor(maxConnections / 2),
  });
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
    books: new WatchedBooks({ needs, isVerified: () => open.isVerified, clock }),
    publicUrl: () => needs.publicUrl,
    async ownerReads({ userId }, token) {
      const tokenHash = hashToken(needs, token);
      // First what the check compares with: an agent that is claimed meanwhile ends the stream, and is in the next one.
      const [agents] = [...(await owners.sessionsAgents([tokenHash], clock.now())).values()];
      if (agents === undefined) return null;
      return {
        reader: { kind: 'owner', userId, tokenHash, agents },
        agentIds: await owners.agentIds(userId),
      };
    },
  };
}
