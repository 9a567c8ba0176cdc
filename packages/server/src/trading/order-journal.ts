/**
 * The journal of an order as `orders.journal_lines` holds it: one line of JSON for each entry, `[milliseconds, event, status]`,
 * then the detail or `null`, then what the order was judged by. Evidence appends lines, and the database has nothing to parse.
 */

import type { OutcomeEvidence } from '../domain/evidence.ts';
import type { Checked, OrderRow } from '../domain/records.ts';

type JournalEntryInput = OutcomeEvidence['journal'][number] & { readonly checked?: Checked };
type Status = JournalEntryInput['status'];
type JournalLine = [at: number, event: string, status: Status, detail?: string | null, checked?: Checked];

function lineOf({ at, event, status, detail, checked }: JournalEntryInput): JournalLine {
  if (checked !== undefined) return [at, event, status, detail ?? null, checked];
  return detail === undefined ? [at, event, status] : [at, event, status, detail];
}

export const journalText = (entries: readonly JournalEntryInput[]): string =>
  entries.map((entry) => `${JSON.stringify(lineOf(entry))}\n`).join('');

const entryOf = (line: string): OrderRow['journal'][number] => {
  const [at, event, status, detail, checked] = JSON.parse(line) as JournalLine;
  return {
    at: new Date(at).toISOString(),
    event,
    status,
    ...(detail == null ? {} : { detail }),
    ...(checked === undefined ? {} : { checked }),
  };
};

/** @param earlier entries from before the lines */
export function journalEntries(earlier: OrderRow['journal'], lines: string): OrderRow['journal'] {
  const entries = lines.split('\n').slice(0, -1).map(entryOf);
  if (earlier.length === 0) return entries;
  return [...earlier, ...entries].sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
}
