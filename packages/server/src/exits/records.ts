/** Guarded exits as answers show them, with the distance to their triggers in the book of this moment. */
import { type GuardedExit, LIMITS, type OwnerExit } from '@bellwether/contract';
import { microToNumber, pipsToNumber } from '@bellwether/contract/decimals';
import { believedBid, exitQuote, triggerMicro, triggerPrice } from '../domain/exits.ts';
import type { Book } from '../domain/market.ts';
import { READ_PATIENCE_MS, within } from '../domain/unavailable.ts';
import { plainText } from '../domain/untrusted-text.ts';
import { TITLE_CHARS } from '../markets/index.ts';
import { type HasVenues, venueOf } from '../venues/asking.ts';
import type { Venue } from '../venues/venue.ts';
import type { ExitRow } from './store.ts';

/** Depth at which no exit ends. */
const DEPTH = 1_000;

const iso = (at: number): string => new Date(at).toISOString();

/** When an exit ends that nothing has sent. */
export function endOf({ expiresAt, orderEndsAt }: Pick<ExitRow, 'expiresAt' | 'orderEndsAt'>): number | null {
  const ends = [expiresAt, orderEndsAt].filter((end) => end !== null);
  return ends.length === 0 ? null : Math.min(...ends);
}

function triggerRecord({ trigger }: ExitRow): GuardedExit['trigger'] {
  if ('price' in trigger) return { kind: trigger.kind, price: pipsToNumber(trigger.price) };
  if ('at' in trigger) return { kind: trigger.kind, at: iso(trigger.at) };
  return trigger;
}

/** Who arms it again; `null`: it is not suspended. */
const resumableBy = ({ status, claimed = true }: ExitRow): 'agent' | 'owner' | null =>
  status === 'suspended' ? (claimed ? 'owner' : 'agent') : null;

const exitRecord = (row: ExitRow, watch: GuardedExit['watch']): GuardedExit => {
  const ends = endOf(row);
  return {
    exitId: row.exitId,
    agentId: row.caller.agentId,
    status: row.status,
    because: row.because,
    resumableBy: resumableBy(row),
    trouble: row.trouble,
    venue: row.venue,
    marketId: row.marketId,
    marketConditionId: row.conditionId,
    tokenId: row.tokenId,
    outcome: row.outcome,
    outcomeName: row.outcomeName,
    walletAddress: row.walletAddress,
    orderId: row.orderId,
    orderType: row.timeInForce,
    size: microToNumber(row.shares),
    worstPrice: pipsToNumber(row.limit),
    trigger: triggerRecord(row),
    group: row.group,
    endsAt: ends === null ? null : iso(ends),
    firesOnPause: row.firesOnPause,
    watch,
    fired: row.fired === null ? null : firedRecord(row.fired),
    createdAt: iso(row.createdAt),
    updatedAt: iso(row.updatedAt),
  };
};

const firedRecord = (fired: NonNullable<ExitRow['fired']>): GuardedExit['fired'] => ({
  cause: fired.cause,
  at: iso(Date.parse(fired.at)),
  heldSince: fired.heldSince ?? null,
  bid: fired.bid ?? null,
  price: fired.price ?? null,
  sequence: fired.sequence ?? null,
  bids: [...(fired.bids ?? [])],
});

/** The book that the desk believes now; `null`: none. `undefined`: the venue does not answer. */
export async function bookOf(
  venue: Venue,
  { conditionId, outcome }: Pick<ExitRow, 'conditionId' | 'outcome'>,
): Promise<Book | null | undefined> {
  if (venue.status() !== 'ready') return undefined;
  const answer = venue.markets.book(conditionId, outcome, DEPTH).then(
    (book) => ({ book }),
    () => null,
  );
  return (await within(READ_PATIENCE_MS, answer))?.book;
}

/** An exit as it stands in this book. @param book as `bookOf` answers it */
export const recordIn = (row: ExitRow, book: Book | null | undefined): GuardedExit =>
  exitRecord(row, watchOf(row, book));

function watchOf(row: ExitRow, book: Book | null | undefined): GuardedExit['watch'] {
  if (book === undefined) return null;
  const quote = exitQuote(book, row.shares);
  const trigger = triggerPrice(row.trigger);
  const distance = quote === null || trigger === null ? null : quote.price - triggerMicro(trigger);
  return {
    bid: quote === null ? null : pipsToNumber(quote.bid),
    price: quote === null ? null : microToNumber(quote.price),
    distance: distance === null ? null : microToNumber(distance),
    note: noteOf(row, book),
  };
}

/** How a suspended exit is resumed. */
const suspendedText = (row: ExitRow): string =>
  resumableBy(row) === 'agent'
    ? `It is suspended: resume it with POST /markets/exits/${row.exitId}/resume.`
    : 'It is suspended: only the owner resumes it, on the console.';

function noteOf(row: ExitRow, book: Book | null): string | null {
  if (row.status === 'suspended') return suspendedText(row);
  if (book === null) return 'The market has no book now: nothing triggers it.';
  if (believedBid(book) === null)
    return book.bids.length === 0
      ? 'There is no bid now: nothing is sold, and no price triggers it.'
      : 'The book is crossed, so it is not believed: nothing triggers it.';
  const isThin = exitQuote(book, row.shares)?.isComplete === false;
  return isThin ? 'The book is too thin for the whole size.' : null;
}

/** One look at each book. */
export async function exitRecords(needs: HasVenues, rows: readonly ExitRow[]): Promise<GuardedExit[]> {
  const books = new Map<string, Promise<Book | null | undefined>>();
  return Promise.all(
    rows.map(async (row) => {
      if (row.sealed === null) return exitRecord(row, null);
      const key = `${row.venue} ${row.conditionId} ${row.outcome}`;
      const asked = books.get(key) ?? bookOf(venueOf(needs, row.venue, row.funder), row);
      books.set(key, asked);
      return recordIn(row, await asked);
    }),
  );
}

/** As the owner reads them. */
export async function ownerExitRecords(needs: HasVenues, rows: readonly ExitRow[]): Promise<OwnerExit[]> {
  const records = await exitRecords(needs, rows);
  return records.map((record, i) => {
    const { agentName = '', marketTitle = null } = rows[i] ?? {};
    return {
      ...record,
      agentName: plainText(agentName, LIMITS.agentNameChars),
      marketTitle: marketTitle === null ? null : plainText(marketTitle, TITLE_CHARS),
    };
  });
}
