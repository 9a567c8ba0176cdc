/** Rows of the error registry: streams of events and of books. */
import type { ErrorRow } from './error-row.ts';

export const STREAM_ERRORS = {
  event_cursor_invalid: {
    status: 400,
    title: 'Event cursor not accepted',
    fix: 'Send the id of an event that this service sent to this agent, unchanged; without a cursor the stream begins now.',
  },
  event_cursor_gone: {
    status: 410,
    title: 'Event cursor too old',
    fix: 'Open the stream without a cursor; after its "ready" event read GET /markets/orders, GET /markets/current-positions and GET /agents/settings, then apply the events that follow.',
  },
  stream_limit_reached: {
    status: 409,
    title: 'Too many open streams',
    fix: 'Close a stream of this agent first; one stream of each kind is enough for all that its key may see.',
  },
} as const satisfies Record<string, ErrorRow>;
