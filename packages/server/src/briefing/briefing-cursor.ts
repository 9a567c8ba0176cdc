/**
 * `since`: a time, or the cursor of the last briefing. A cursor says what the last answer has seen: until when markets
 * were listed, on each venue, and the database's snapshot for everything that is written.
 */
import { LAST_MS } from '@bellwether/contract';
import { refusal } from '../platform/refusal.ts';
import { parseTime } from '../platform/times.ts';

export interface Since {
  /** Epoch milliseconds. */
  readonly at: number;
  /** Markets listed later are new. Each venue has its own clock, and may not have answered: by its place in the registry. */
  listedAfter(nthVenue: number): number;
  /** `null` for a plain time. */
  readonly snapshot: string | null;
}

/** A cursor of an earlier configuration may name fewer venues than there are; those that it leaves out follow the first. */
const CURSOR = /^b1\.(\d{1,13})((?:\.\d{1,13}){1,16})\.(\d{1,18}:\d{1,18}:(?:\d{1,18}(?:,\d{1,18})*)?)$/;
const LOW_32_BITS = 0xffffffffn;

export const encodeCursor = (seen: {
  readonly at: number;
  readonly listedAfter: readonly number[];
  readonly snapshot: string;
}): string => ['b1', seen.at, ...seen.listedAfter, seen.snapshot].join('.');

/** @throws Refusal invalid_request */
export function parseSince(text: string): Since {
  const cursor = CURSOR.exec(text);
  if (cursor !== null && isSnapshot(cursor[3] as string)) {
    const times = (cursor[2] as string).slice(1).split('.').map(Number);
    return {
      at: Number(cursor[1]),
      listedAfter: (nth) => times[nth] ?? (times[0] as number),
      snapshot: cursor[3] as string,
    };
  }
  const at = parseTime(text);
  if (Number.isNaN(at) || at > LAST_MS) {
    throw refusal(
      'invalid_request',
      'since takes the last nextCursor unchanged, an ISO 8601 time with zone, or epoch seconds or milliseconds.',
      { path: 'since' },
    );
  }
  // Before 1970 there is nothing, and no date of the database's in the year 0.
  const from = Math.max(0, at);
  return { at: from, listedAfter: () => from, snapshot: null };
}

/** Whether the database takes the text as a snapshot: it must never get one that it fails on. */
function isSnapshot(text: string): boolean {
  const [from = '', to = '', running = ''] = text.split(':');
  const oldest = BigInt(from);
  const next = BigInt(to);
  const isId = (id: bigint) => (id & LOW_32_BITS) !== 0n;
  if (!isId(oldest) || !isId(next) || next < oldest) return false;
  let before = 0n;
  for (const part of running === '' ? [] : running.split(',')) {
    const id = BigInt(part);
    if (!isId(id) || id < oldest || id >= next || id <= before) return false;
    before = id;
  }
  return true;
}
