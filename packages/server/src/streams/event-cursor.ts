/**
 * The id of an event as its reader's cursor: a place in the log, with a tag that binds it to the reader and to this service's
 * master key, so that a cursor of somebody else or of another service is recognised. A reader is an agent, by its id, or
 * an owner.
 */

import { refusal } from '../platform/refusal.ts';
import type { LogPosition } from './log.ts';

/** A short keyed digest, of characters that a header and a query may hold. */
export type Tag = (text: string) => string;

export interface EventCursors {
  encode(reader: string, position: LogPosition): string;
  /** @throws Refusal event_cursor_invalid */
  decode(reader: string, cursor: string): LogPosition;
}

const CURSOR = /^(e1\.(\d{1,19})\.(\d{1,19})\.(\d{1,2}))\.([\w-]{1,44})$/;

export const createEventCursors = (tag: Tag): EventCursors => ({
  encode(reader, { writer, seq, nth }) {
    const place = `e1.${writer}.${seq}.${nth}`;
    return `${place}.${tag(`${reader} ${place}`)}`;
  },
  decode(reader, cursor) {
    const found = CURSOR.exec(cursor);
    if (found === null || found[5] !== tag(`${reader} ${found[1]}`)) throw refusal('event_cursor_invalid');
    return { writer: BigInt(found[2] as string), seq: BigInt(found[3] as string), nth: Number(found[4]) };
  },
});

/** Negative: `a` is before `b`. */
export function comparePositions(a: LogPosition, b: LogPosition): number {
  if (a.writer !== b.writer) return a.writer < b.writer ? -1 : 1;
  if (a.seq !== b.seq) return a.seq < b.seq ? -1 : 1;
  return a.nth - b.nth;
}
