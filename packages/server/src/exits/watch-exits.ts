/**
 * Watches the triggers of armed exits in the books that the desk believes, and sends what holds. Every replica watches live venues, and
 * the one that keeps the paper exchange watches that: which of several sends an exit, its row decides.
 */
import { type ExitTrigger, exitQuote, HeldTriggers, triggerHolds } from '../domain/exits.ts';
import type { Book } from '../domain/market.ts';
import { venueOf, venuesWith } from '../venues/asking.ts';
import type { VenueWith } from '../venues/venue.ts';
import { endFault } from './leave-exit.ts';
import { bookOf, endOf } from './records.ts';
import { attemptExit, evidenceOf, hasEnded, SENT_WITHIN_MS, type SendExitNeeds } from './send-exit.ts';
import type { ExitStore, WatchedExit } from './store.ts';

export interface WatchExitsNeeds extends SendExitNeeds {
  readonly exits: SendExitNeeds['exits'] &
    Pick<ExitStore, 'watched' | 'byId' | 'fire' | 'note' | 'letGo' | 'reviewed'>;
}

const HELD_MEANWHILE = {
  code: 'trigger_held_meanwhile',
  message:
    'Its trigger has held since before it was resumed: it is sent once the trigger has let go and holds anew, or by its owner.',
} as const;

/** @returns one turn of the job */
export function createExitWatch(needs: WatchExitsNeeds): () => Promise<void> {
  const held = new HeldTriggers();
  return async () => {
    const venues = venuesWith(needs, 'signedOrders').filter(isKeptHere);
    const rows = await needs.exits.watched(
      needs.clock.now(),
      venues.map(({ id }) => id),
    );
    held.keep(new Set(rows.map(({ exitId }) => exitId)));
    if (rows.length === 0) return;
    const books = new Map<string, Promise<Book | null>>();
    const bookFor = (row: WatchedExit): Promise<Book | null> => {
      const key = `${row.venue} ${row.conditionId} ${row.outcome}`;
      const asked =
        books.get(key) ?? bookOf(venueOf(needs, row.venue, row.funder), row).then((book) => book ?? null);
      books.set(key, asked);
      return asked;
    };
    const turns = await Promise.allSettled(rows.map((row) => look(needs, { row, held, bookFor })));
    const failed = turns.find((turn) => turn.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  };
}

/** Where the venue's orders are kept by one process, that one watches: what it sends is recorded with its answer. */
const isKeptHere = ({ signedOrders, status }: VenueWith<'signedOrders'>): boolean =>
  status() === 'ready' && (signedOrders.keptSince === undefined || signedOrders.keptSince() !== null);

interface Look {
  readonly row: WatchedExit;
  readonly held: HeldTriggers;
  readonly bookFor: (row: WatchedExit) => Promise<Book | null>;
}

async function look(needs: WatchExitsNeeds, { row, held, bookFor }: Look): Promise<void> {
  const { exitId } = row;
  const now = needs.clock.now();
  const end = endOf(row);
  if (row.status === 'armed' && end !== null && end <= now) {
    await needs.exits.end(exitId, { from: ['armed'], to: 'expired', because: null, at: now });
    return;
  }
  if (row.status === 'firing') return goOn(needs, row, await bookFor(row));
  const asksBook = !isByTime(row.trigger);
  const book = asksBook ? await bookFor(row) : null;
  const holds = triggerHolds(row.trigger, {
    now,
    quote: exitQuote(book, row.shares),
    endsAt: await endsAt(needs, row),
    isSilent: row.isSilent,
  });
  if (row.mustLetGo) {
    if (!holds) await needs.exits.letGo(exitId);
    else if (row.trouble?.code !== HELD_MEANWHILE.code) await needs.exits.reviewed(exitId, HELD_MEANWHILE);
    return;
  }
  const heldSince = asksBook ? held.look(exitId, holds, now) : holds ? now : null;
  if (heldSince === null) return;
  const seen = book ?? (await bookFor(row));
  const evidence = evidenceOf('trigger', { now, book: seen, row, ...(asksBook ? { heldSince } : {}) });
  const fired = await needs.exits.fire(exitId, evidence, now, now + SENT_WITHIN_MS);
  if (fired !== null) await attemptExit(needs, fired);
}

const isByTime = ({ kind }: ExitTrigger): boolean => !kind.startsWith('price');

/** An end that is unknown, or was moved into the past, sells nothing: the review of exits says so. */
async function endsAt(needs: WatchExitsNeeds, row: WatchedExit): Promise<number> {
  if (row.trigger.kind !== 'before_end') return Number.POSITIVE_INFINITY;
  const market = await venueOf(needs, row.venue, row.funder).markets.find(row.conditionId);
  const isAhead = market !== null && endFault(market, needs.clock.now()) === null;
  return (isAhead ? market.endDate : null) ?? Number.POSITIVE_INFINITY;
}

/** One whose sender is late, or that was refused and is to be sent all the same. */
async function goOn(needs: WatchExitsNeeds, row: WatchedExit, book: Book | null): Promise<void> {
  const now = needs.clock.now();
  const { exitId } = row;
  const [sent, [order]] = await Promise.all([
    needs.exits.byId(exitId, row.caller.agentId),
    needs.orders.byIds([row.orderId]),
  ]);
  if (sent?.status !== 'firing') return;
  const { fired } = sent;
  if (order === undefined) {
    const end = endOf(row);
    const isOver = (end !== null && end <= now) || (await hasEnded(needs, row));
    if (isOver) {
      await needs.exits.end(exitId, { from: ['firing'], to: 'expired', because: null, at: now });
      return;
    }
    if (fired?.cause === 'pause' && !row.ownerPaused) {
      const trouble = { code: 'pause_over', message: 'The pause that should have sent it is over.' };
      await needs.exits.notSent(exitId, {
        status: 'suspended',
        because: 'pause',
        trouble,
        at: now,
        againAt: now,
      });
      return;
    }
  }
  // The venue is being asked for proof (resolve-doubt.ts).
  if (order !== undefined && order.first === null) return;
  if (!(await needs.exits.takeOver(sent, now + SENT_WITHIN_MS))) return;
  const evidence =
    fired?.bid === undefined ? evidenceOf(fired?.cause ?? 'trigger', { now, book, row }) : fired;
  if (order === undefined && evidence !== fired) await needs.exits.note(exitId, evidence);
  await attemptExit(needs, { ...sent, fired: evidence });
}
