/**
 * Lists that stand still: what comes in waits behind a button, what is gone keeps its place, and values change where they stand.
 * So nothing moves under the eye, the pointer or the finger.
 */
import { useRef, useState } from 'preact/hooks';

export interface Held<Row> {
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
