/**
 * Pages of rows from several sources of the history, merged by time. A cursor holds the place in each source and how many
 * rows of the next record were shown: one trade may have many rows. A page costs its caller a payment for each read behind
 * the first of a source. Filters may skip most of what is read: where the caller cannot pay, or after many reads, a page
 * ends early, and its cursor goes on from there.
 */
import { invalid } from './data-error.ts';
import type { HistoryRow } from './history-rows.ts';

/** The numbers of a place in the order of its source. */
export type Place = readonly number[];

export interface SourceRecord {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly place: Place;
  readonly rows: readonly HistoryRow[];
}

export interface Source {
  /** In the order of the answer, behind a place. */
  read(after: Place | undefined, limit: number): Promise<readonly SourceRecord[]>;
  /** Numbers of its places. */
  readonly placeLength: number;
}

interface State {
  readonly source: Source;
  after: Place | undefined;
  /** Rows of the next record that were shown. */
  skip: number;
  waiting: readonly SourceRecord[];
  isAtEnd: boolean;
}

export interface PageRequest {
  readonly sources: readonly Source[];
  readonly limit: number;
  readonly cursor: string | undefined;
  readonly oldestFirst: boolean;
  /** @returns whether one more read may be done */
  readonly pay: () => Promise<boolean>;
  readonly mostReads?: number;
}

export interface HistoryPage {
  readonly rows: readonly HistoryRow[];
  /** Absent on the last page. A page may be shorter than its limit and still have a next one. */
  readonly next?: string;
}

const READ_ROWS = 1_000;
const MOST_READS = 20;

export async function readPage(request: PageRequest): Promise<HistoryPage> {
  const { sources, limit, cursor, oldestFirst, pay, mostReads = MOST_READS } = request;
  const states = statesOf(sources, cursor);
  const rows: HistoryRow[] = [];
  let reads = 0;
  for (;;) {
    for (const state of states) {
      if (state.waiting.length > 0 || state.isAtEnd) continue;
      reads += 1;
      const isFree = reads <= sources.length;
      if (!isFree && (reads > mostReads + sources.length || !(await pay())))
        return { rows, next: cursorOf(states) };
      const wanted = Math.min(READ_ROWS, limit + 1);
      state.waiting = await state.source.read(state.after, wanted);
      state.isAtEnd = state.waiting.length < wanted;
    }
    const next = earliest(states, oldestFirst);
    const [record] = next?.waiting ?? [];
    if (next === undefined || record === undefined) return { rows };
    for (const row of record.rows.slice(next.skip)) {
      if (rows.length === limit) return { rows, next: cursorOf(states) };
      rows.push(row);
      next.skip += 1;
    }
    next.waiting = next.waiting.slice(1);
    next.after = record.place;
    next.skip = 0;
  }
}

function earliest(states: readonly State[], oldestFirst: boolean): State | undefined {
  let best: State | undefined;
  for (const state of states) {
    const [head] = state.waiting;
    const [other] = best?.waiting ?? [];
    if (head === undefined) continue;
    if (other === undefined || (oldestFirst ? head.at < other.at : head.at > other.at)) best = state;
  }
  return best;
}

const cursorOf = (states: readonly State[]): string =>
  Buffer.from(JSON.stringify(states.map(({ after, skip }) => [skip, ...(after ?? [])]))).toString(
    'base64url',
  );

function statesOf(sources: readonly Source[], cursor: string | undefined): State[] {
  const places = cursor === undefined ? sources.map(() => [0]) : decoded(cursor);
  const isOurs =
    places.length === sources.length &&
    places.every((place, nth) => place.length === 1 || place.length === (sources[nth]?.placeLength ?? 0) + 1);
  if (!isOurs) throw invalid('cursor is not valid for these parameters', 'cursor');
  return sources.map((source, nth) => {
    const [skip = 0, ...after] = places[nth] ?? [];
    return { source, skip, after: after.length === 0 ? undefined : after, waiting: [], isAtEnd: false };
  });
}

function decoded(cursor: string): readonly (readonly number[])[] {
  try {
    const places: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    const isPlace = (place: unknown): boolean =>
      Array.isArray(place) && place.every((one) => Number.isSafeInteger(one) && (one as number) >= 0);
    if (Array.isArray(places) && places.every(isPlace)) return places as number[][];
  } catch {
    // Not ours.
  }
  throw invalid('cursor is not valid', 'cursor');
}
