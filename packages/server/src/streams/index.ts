/** Streams: what happens to agents and books, as server-sent events. */
export { createEventCursors, EventFeed, streamJobs } from './event-feed.ts';
export { createEventLog, createFactLog } from './log.ts';
export { OpenStreams } from './open-streams.ts';
export { bindStreams, type Streams } from './routes.ts';
export { VenueWatch, WatchedBooks } from './watched-books.ts';
