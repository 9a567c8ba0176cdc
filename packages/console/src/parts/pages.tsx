/** Pages of a history, newest first. The first one is live and stands still; older ones are as they were when they were opened. */
import { useState } from 'preact/hooks';
import type { DeskEvent } from '../desk/live.ts';
import { type Resource, useResource } from '../desk/resource.ts';
import { type Held, useHeld } from './held.tsx';

const PER_PAGE = 25;

interface HistoryOptions<Answer, Row> {
  /** With a query; `limit` and `offset` are added. */
  readonly path: string;
  readonly rowsOf: (answer: Answer) => readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly on: (event: DeskEvent) => boolean;
}

export interface History<Row> {
  readonly resource: Resource<unknown>;
  readonly held: Held<Row>;
  readonly page: number;
  /** The page is full, so there may be an older one. */
  readonly isFull: boolean;
  readonly turn: (page: number) => void;
}

export function useHistory<Answer, Row>({
  path,
  rowsOf,
  keyOf,
  on,
}: HistoryOptions<Answer, Row>): History<Row> {
  const [{ page, offset }, setPlace] = useState({ page: 0, offset: 0 });
  const newest = useResource<Answer>(`${path}&limit=${PER_PAGE}`, { on, everyMs: 30_000 });
  const older = useResource<Answer>(page === 0 ? null : `${path}&limit=${PER_PAGE}&offset=${offset}`);
  const first = useHeld(newest.data === null ? null : rowsOf(newest.data), keyOf);
  const rows = older.data === null ? [] : rowsOf(older.data);
  const held = page === 0 ? first : { rows, gone: new Set<string>(), further: 0, show: () => {} };
  return {
    resource: page === 0 ? newest : older,
    held,
    page,
    isFull: held.rows.length >= PER_PAGE,
    // What has come in since pushes the older ones down by so much.
    turn: (to) => setPlace({ page: to, offset: to * PER_PAGE + first.further }),
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
