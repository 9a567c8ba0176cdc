/** Streams: what happens to agents and books, as server-sent events. */
export { createEventCursors } from './event-cursor.ts';
export { EventFeed } from './event-feed.ts';
export { createFactLog } from './fact-log.ts';
export { streamJobs } from './jobs.ts';
export { createEventLog } from './log.ts';
export { OpenStreams } from './open-streams.ts';
export { bindStreams, type Streams } from './routes.ts';
export { VenueWatch } from './venue-watch.ts';
export { WatchedBooks } from './watched-books.ts';
