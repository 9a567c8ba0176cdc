/**
 * Lists that stand still: what comes in waits behind a button, what is gone keeps its place, and values change where they stand.
 * So nothing moves under the eye, the pointer or the finger.
 */
import { useRef, useState } from 'preact/hooks';
import { type DeskEvent, type Resource, useResource } from '../desk/live.ts';

interface Held<Row> {
  /** In the order in which they were when they were listed, with their latest values. */
  readonly rows: readonly Row[];
  /** Rows that are not there any more; they are listed until the person asks for the list as it is now. */
  readonly gone: ReadonlySet<string>;
  /** Rows that wait to be listed. */
  readonly further: number;
  /** Lists what is there now. */
  readonly show: () => void;
}

/**
 * @param present what is there now, in its order; `null`: not read yet
 * @param fillsEmpty lists at once what comes into an empty list: only where its place has a fixed height
 */
export function useHeld<Row>(
  present: readonly Row[] | null,
  keyOf: (row: Row) => string,
  fillsEmpty = false,
): Held<Row> {
  const listed = useRef<ReadonlyMap<string, Row> | null>(null);
  const [, draw] = useState(0);
  const now = new Map((present ?? []).map((row) => [keyOf(row), row]));
  if (present !== null) {
    const isFree = listed.current === null || (fillsEmpty && listed.current.size === 0);
    const before: ReadonlyMap<string, Row> = isFree ? now : (listed.current as ReadonlyMap<string, Row>);
    listed.current = new Map([...before].map(([key, row]) => [key, now.get(key) ?? row]));
  }
  const held = listed.current ?? new Map<string, Row>();
  return {
    rows: [...held.values()],
    gone: new Set(present === null ? [] : [...held.keys()].filter((key) => !now.has(key))),
    further: [...now.keys()].filter((key) => !held.has(key)).length,
    show: () => {
      listed.current = now;
      draw((count) => count + 1);
    },
  };
}

interface FurtherProps {
  readonly of: Pick<Held<unknown>, 'further' | 'gone' | 'show'>;
  /** Names the list, for those who hear the button. */
  readonly what: string;
  /** What is gone makes no difference here, as in pages of a history. */
  readonly keepsGone?: boolean;
}

/** Its place is kept, so nothing moves when something comes in. */
export function Further({ of: { further, gone, show }, what, keepsGone = false }: FurtherProps) {
  const over = keepsGone ? 0 : gone.size;
  const words = [...(further > 0 ? [`${further} new`] : []), ...(over > 0 ? [`${over} over`] : [])];
  return (
    <div class="slot">
      {words.length > 0 && (
        <button type="button" class="fresh" onClick={show}>
          {words.join(', ')}
          <span class="hidden"> (list {what} as they are now)</span>
        </button>
      )}
    </div>
  );
}

// Pages of a history, newest first. The first one is live and stands still; older ones are as they were when they were opened.

export const PER_PAGE = 25;

interface HistoryOptions<Answer, Row> {
  /** `limit` and `offset` are added. */
  readonly path: string;
  readonly rowsOf: (answer: Answer) => readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly on: (event: DeskEvent) => boolean;
  /** Rows that are read at once, where a page may show more than its lines because several share one. */
  readonly perRead?: number;
  /** How many of the rows a page shows, from the newest on. */
  readonly shownOf?: (rows: readonly Row[]) => number;
}

interface History<Row> {
  readonly resource: Resource<unknown>;
  readonly held: Held<Row>;
  readonly page: number;
  /** There may be an older page. */
  readonly isFull: boolean;
  readonly turn: (page: number) => void;
}

export function useHistory<Answer, Row>({
  path,
  rowsOf,
  keyOf,
  on,
  perRead = PER_PAGE,
  shownOf = ({ length }) => length,
}: HistoryOptions<Answer, Row>): History<Row> {
  /** Rows before each page up to the present one, beside those that came in since the first one was listed. */
  const [{ before, offset }, setPlace] = useState({ before: [0], offset: 0 });
  const page = before.length - 1;
  const limited = `${path}${path.includes('?') ? '&' : '?'}limit=${perRead}`;
  const newest = useResource<Answer>(limited, { on, everyMs: 30_000 });
  const older = useResource<Answer>(page === 0 ? null : `${limited}&offset=${offset}`);
  const first = useHeld(newest.data === null ? null : rowsOf(newest.data), keyOf);
  const listed =
    page === 0
      ? first
      : {
          rows: older.data === null ? [] : rowsOf(older.data),
          gone: new Set<string>(),
          further: 0,
          show: () => {},
        };
  const count = shownOf(listed.rows);
  return {
    resource: page === 0 ? newest : older,
    held: { ...listed, rows: listed.rows.slice(0, count) },
    page,
    isFull: listed.rows.length > count || listed.rows.length >= perRead,
    turn: (to) => {
      const places = [...before, (before[page] ?? 0) + count].slice(0, to + 1);
      // What has come in since pushes the older ones down by so much.
      setPlace({ before: places, offset: (places.at(-1) ?? 0) + first.further });
    },
  };
}

/** Pages of a list that is here as a whole. */
export function usePages<Row>(
  all: readonly Row[],
): Pick<History<Row>, 'page' | 'isFull' | 'turn'> & { readonly rows: readonly Row[] } {
  const [asked, turn] = useState(0);
  const page = Math.min(asked, Math.max(0, Math.ceil(all.length / PER_PAGE) - 1));
  const end = (page + 1) * PER_PAGE;
  return { rows: all.slice(page * PER_PAGE, end), page, isFull: all.length > end, turn };
}

interface PagerProps {
  readonly of: Pick<History<unknown>, 'page' | 'isFull' | 'turn'>;
  readonly what: string;
}

export function Pager({ of: { page, isFull, turn }, what }: PagerProps) {
  if (page === 0 && !isFull) return null;
  const go = (to: number) => (event: { readonly currentTarget: Element }) => {
    turn(to);
    event.currentTarget.closest('.card, main')?.scrollIntoView();
  };
  return (
    <nav class="pager" aria-label={`Pages of ${what}`}>
      <button type="button" disabled={page === 0} onClick={go(page - 1)}>
        Newer
      </button>
      <span class="note">Page {page + 1}</span>
      <button type="button" disabled={!isFull} onClick={go(page + 1)}>
        Older
      </button>
    </nav>
  );
}
