/**
 * Watches the triggers of armed exits in the books that the desk believes, and hands over what is to be sent: a look never waits for a
 * venue's answer to an order. Every replica watches live venues, and the one that keeps the paper exchange watches that: which of
 * several sends an exit, its row decides. The exits are kept in memory, by what their rows said last, and those of a book that has not
 * changed are not looked at: they are many, and a look is twice a second.
 */
import type { TimeInForce } from '../domain/draft.ts';
import {
  type ExitTrigger,
  exitPriceDenial,
  exitQuote,
  HeldTriggers,
  triggerHolds,
  triggerPrice,
} from '../domain/exits.ts';
import type { Book, Level } from '../domain/market.ts';
import { VenueUnavailable } from '../domain/unavailable.ts';
import { Refusal } from '../platform/refusal.ts';
import { createFairLine, type FairLine, type Job, type JobLog } from '../platform/scheduler.ts';
import { checkExit } from '../trading/index.ts';
import { venueOf, venuesWith } from '../venues/asking.ts';
import type { VenueWith } from '../venues/venue.ts';
import { type ExitNeeds, earliestOf, endFault } from './leave-exit.ts';
import { bookOf, endOf } from './records.ts';
import { attemptExit, evidenceOf, hasEnded, orderOf, pursueExit, SENT_WITHIN_MS } from './send-exit.ts';
import type { ExitRow, ExitStore, WatchedExit } from './store.ts';

const HELD_MEANWHILE = {
  code: 'trigger_held_meanwhile',
  message:
    'Its trigger has held since before it was resumed: it is sent once the trigger has let go and holds anew, or by its owner.',
} as const;

/** So many are read, or looked at, without a pause. */
const A_PIECE = 1_000;
const otherWork = (): Promise<void> => new Promise((turn) => setImmediate(turn));

/** @returns one turn of the job: a look at all of them */
function createExitWatch(needs: ExitNeeds, line: FairLine): () => Promise<void> {
  const held = new HeldTriggers();
  const list = new Watchlist((exitId) => held.forget(exitId));
  return async () => {
    await list.read(needs.exits, needs.clock.now());
    const kept = new Set(
      venuesWith(needs, 'signedOrders')
        .filter(isKeptHere)
        .map(({ id }) => id),
    );
    const silent = list.asksForSilence ? await needs.exits.silent(needs.clock.now()) : new Set<string>();
    const looks = list.shelves
      .filter(({ venue }) => kept.has(venue))
      .map((shelf) => lookAt(needs, shelf, { held, line, silent }));
    const failed = (await Promise.allSettled(looks)).find((one) => one.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  };
}

/** Where the venue's orders are kept by one process, that one watches: what it sends is recorded with its answer. */
const isKeptHere = ({ signedOrders, status }: VenueWith<'signedOrders'>): boolean =>
  status() === 'ready' && (signedOrders.keptSince === undefined || signedOrders.keptSince() !== null);

/** The exits of one outcome of a market. */
interface Shelf {
  readonly venue: string;
  readonly rows: Map<string, WatchedExit>;
  /** That they were looked at in last; `null`: there was none. */
  book: Book | null;
  /** Written since, or their prices hold: they are looked at in any book. */
  readonly hot: Set<string>;
}

/** All are read so often in any case. */
const WHOLE_EVERY_MS = 30_000;

/** The exits that are armed or being sent, as their rows were at the last look. */
class Watchlist {
  readonly #shelves = new Map<string, Shelf>();
  readonly #places = new Map<string, Shelf>();
  readonly #onGone: (exitId: string) => void;
  #since: string | null = null;
  #wholeAt = Number.NEGATIVE_INFINITY;
  #silences = 0;

  constructor(onGone: (exitId: string) => void) {
    this.#onGone = onGone;
  }

  get shelves(): readonly Shelf[] {
    return [...this.#shelves.values()];
  }

  get asksForSilence(): boolean {
    return this.#silences > 0;
  }

  async read(exits: Pick<ExitStore, 'written'>, now: number): Promise<void> {
    const isWhole = this.#since === null || now - this.#wholeAt >= WHOLE_EVERY_MS;
    this.#since = isWhole
      ? await this.#readAll(exits, now)
      : await this.#readSince(exits, this.#since ?? '', now);
    if (isWhole) this.#wholeAt = now;
  }

  /** @returns `null` where all are to be read anew */
  async #readSince(exits: Pick<ExitStore, 'written'>, before: string, now: number): Promise<string | null> {
    const written = await exits.written({ since: before }, now);
    // Another database, or an earlier state of it, counts its transactions anew.
    if (written === null || BigInt(written.since) < BigInt(before)) return null;
    for (const row of written.rows) this.#put(row);
    return written.since;
  }

  /** In pages, each of which is read in a moment. @returns what the first one knew: what was written since is read again */
  async #readAll(exits: Pick<ExitStore, 'written'>, now: number): Promise<string | null> {
    const present = new Set<string>();
    let known: string | null = null;
    for (let after: string | null = ''; after !== null; ) {
      const page: Awaited<ReturnType<typeof exits.written>> = await exits.written(
        { after, most: A_PIECE },
        now,
      );
      if (page === null) return null;
      known ??= page.since;
      for (const row of page.rows) {
        present.add(row.exitId);
        this.#put(row);
      }
      after = page.rows.length < A_PIECE ? null : (page.rows.at(-1)?.exitId ?? null);
    }
    for (const exitId of [...this.#places.keys()]) if (!present.has(exitId)) this.#remove(exitId);
    return known;
  }

  #put(row: WatchedExit): void {
    const { exitId, venue, conditionId, outcome, status, trigger, writer } = row;
    const known = this.#places.get(exitId)?.rows.get(exitId);
    if (known?.writer === writer) return;
    const isWatched = status === 'armed' || status === 'firing';
    if (known !== undefined) this.#remove(exitId, isWatched);
    if (!isWatched) return;
    const key = `${venue} ${conditionId} ${outcome}`;
    const shelf = this.#shelves.get(key) ?? { venue, rows: new Map(), book: null, hot: new Set() };
    shelf.rows.set(exitId, row);
    shelf.hot.add(exitId);
    this.#shelves.set(key, shelf);
    this.#places.set(exitId, shelf);
    if (trigger.kind === 'silence') this.#silences += 1;
  }

  #remove(exitId: string, comesBack = false): void {
    const shelf = this.#places.get(exitId);
    if (shelf?.rows.get(exitId)?.trigger.kind === 'silence') this.#silences -= 1;
    shelf?.rows.delete(exitId);
    shelf?.hot.delete(exitId);
    this.#places.delete(exitId);
    if (!comesBack) this.#onGone(exitId);
    if (shelf?.rows.size === 0 && !comesBack)
      for (const [key, one] of this.#shelves) if (one === shelf) this.#shelves.delete(key);
  }
}

interface Looking {
  readonly held: HeldTriggers;
  readonly line: FairLine;
  readonly silent: ReadonlySet<string>;
}

async function lookAt(needs: ExitNeeds, shelf: Shelf, looking: Looking): Promise<void> {
  const [first] = shelf.rows.values();
  if (first === undefined) return;
  const book = (await bookOf(venueOf(needs, first.venue, first.funder), first)) ?? null;
  const isStill = isSameBook(book, shelf.book);
  const endsAt = await endOfMarket(needs, [...shelf.rows.values()]);
  shelf.book = book;
  const writes: Promise<unknown>[] = [];
  let looked = 0;
  for (const row of [...shelf.rows.values()]) {
    const { exitId, status, trigger } = row;
    if (isStill && status === 'armed' && !isByTime(trigger) && !shelf.hot.has(exitId)) continue;
    const now = needs.clock.now();
    const sight = {
      now,
      quote: exitQuote(book, row.shares),
      endsAt,
      isSilent: looking.silent.has(exitId),
    };
    const holds = status === 'armed' && triggerHolds(trigger, sight);
    if (holds) shelf.hot.add(exitId);
    else shelf.hot.delete(exitId);
    const write = look(needs, row, { ...looking, now, book, holds });
    if (write !== null) writes.push(write);
    looked += 1;
    if (looked % A_PIECE === 0) await otherWork();
  }
  await Promise.all(writes);
}

/** Level by level: events of one moment have one number. */
const isSameBook = (a: Book | null, b: Book | null): boolean =>
  a === null || b === null ? a === b : areSameLevels(a.bids, b.bids) && areSameLevels(a.asks, b.asks);

const areSameLevels = (a: readonly Level[], b: readonly Level[]): boolean =>
  a.length === b.length && a.every(([price, size], at) => price === b[at]?.[0] && size === b[at]?.[1]);

interface Sight extends Looking {
  readonly now: number;
  readonly book: Book | null;
  readonly holds: boolean;
}

/** @returns what its row is told */
function look(
  needs: ExitNeeds,
  row: WatchedExit,
  { held, line, now, book, holds }: Sight,
): Promise<unknown> | null {
  const { exitId, venue, caller, attempts, trouble } = row;
  const end = endOf(row);
  const handOver = (run: () => Promise<unknown>): null => {
    line.add({ key: exitId, lane: `${venue} ${caller.userId}`, isRepeat: attempts > 0, run });
    return null;
  };
  if (row.status === 'firing') return row.nextAttemptAt > now ? null : handOver(() => pursueExit(needs, row));
  if (end !== null && end <= now)
    return needs.exits.end(exitId, { from: ['armed'], to: 'expired', because: null, at: now });
  if (row.mustLetGo) {
    if (!holds) return needs.exits.letGo(exitId);
    return trouble?.code === HELD_MEANWHILE.code ? null : needs.exits.reviewed(exitId, HELD_MEANWHILE);
  }
  const isPrice = !isByTime(row.trigger);
  const heldSince = isPrice ? held.look(exitId, holds, now) : holds ? now : null;
  if (heldSince === null || row.nextAttemptAt > now) return null;
  const cheap = priceTrouble(row, book);
  if (cheap === null) return handOver(() => fireExit(needs, row, isPrice ? heldSince : null));
  return trouble?.code === cheap.code ? null : needs.exits.reviewed(exitId, cheap);
}

/** Nothing is sent that the book of this moment would not take at its price. */
function priceTrouble(
  row: WatchedExit,
  book: Book | null,
): { readonly code: string; readonly message: string } | null {
  const { limit, shares, distancePercent: distance, trigger } = row;
  const timeInForce = row.timeInForce as TimeInForce;
  const terms = { moment: 'sent', trigger: triggerPrice(trigger), places: 0, hasOwnersWord: false } as const;
  const denial = exitPriceDenial({ limit, shares, timeInForce, distance, book }, terms);
  return denial === null ? null : { code: denial.code, message: denial.detail };
}

/** Its turn has come: it is marked, and sent, if its price still holds. */
async function fireExit(needs: ExitNeeds, row: WatchedExit, heldSince: number | null): Promise<void> {
  const now = needs.clock.now();
  const book = (await bookOf(venueOf(needs, row.venue, row.funder), row)) ?? null;
  const isSilent = row.trigger.kind === 'silence' && (await needs.exits.silent(now)).has(row.exitId);
  const sight = { now, quote: exitQuote(book, row.shares), endsAt: now, isSilent };
  if (!triggerHolds(row.trigger, sight) || priceTrouble(row, book) !== null) return;
  const evidence = evidenceOf('trigger', { now, book, row, ...(heldSince === null ? {} : { heldSince }) });
  const fired = await needs.exits.fire(row, evidence, now, now + SENT_WITHIN_MS);
  if (fired !== null) await attemptExit(needs, fired);
}

const isByTime = ({ kind }: ExitTrigger): boolean => !kind.startsWith('price');

/** An end that is unknown, or was moved into the past, sells nothing: the review of exits says so. */
async function endOfMarket(needs: ExitNeeds, rows: readonly WatchedExit[]): Promise<number> {
  const row = rows.find(({ trigger }) => trigger.kind === 'before_end');
  if (row === undefined) return Number.POSITIVE_INFINITY;
  const market = await venueOf(needs, row.venue, row.funder).markets.find(row.conditionId);
  const isAhead = market !== null && endFault(market, needs.clock.now()) === null;
  return (isAhead ? market.endDate : null) ?? Number.POSITIVE_INFINITY;
}

// Looks over exits that wait: what would stop one now is named long before its trigger holds, and those of a closed position end.

const EVERY_MS = 30_000;
const A_TURN = 100;
/** A market that answers late makes those of others wait no longer than itself. */
const AT_ONCE = 10;
/** Between two beginnings: a whole turn at once would hold up requests. */
const APART_MS = 15;

async function reviewExits(needs: ExitNeeds): Promise<void> {
  const now = needs.clock.now();
  await needs.exits.settle(now);
  await needs.exits.expire(now);
  const failures: unknown[] = [];
  await needs.exits.tellTroubles(now).catch((error: unknown) => failures.push(error));
  const rows = (await needs.exits.takeForReview(now - EVERY_MS, now, A_TURN)).values();
  let nextAt = performance.now();
  const reviewer = async (): Promise<void> => {
    for (const row of rows) {
      const early = nextAt - performance.now();
      nextAt += APART_MS;
      if (early > 0) await new Promise((turn) => setTimeout(turn, early));
      await review(needs, row).catch((error: unknown) => failures.push(error));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, reviewer));
  if (failures.length > 0) throw failures[0];
}

async function review(needs: ExitNeeds, row: ExitRow): Promise<void> {
  const at = needs.clock.now();
  const open = ['armed', 'suspended'] as const;
  try {
    if ((await needs.exits.holding(row.exitId)) === 'closed') {
      // What a result has paid, or burnt, is held no more.
      const ending = (await hasEnded(needs, row))
        ? ({ to: 'expired', because: 'market_ended' } as const)
        : ({ to: 'canceled', because: 'position_closed' } as const);
      await needs.exits.end(row.exitId, { from: open, ...ending, at });
      return;
    }
    const trouble = await troubleOf(needs, row);
    if (trouble?.code === 'market_not_active' && (await hasEnded(needs, row)))
      await needs.exits.end(row.exitId, { from: open, to: 'expired', because: 'market_ended', at });
    else if (trouble?.code === 'order_already_placed')
      await needs.exits.end(row.exitId, { from: open, to: 'canceled', because: 'order_placed', at });
    // A trigger that holds since before the exit was resumed is named by the watch.
    else if ((!row.mustLetGo || trouble !== null) && !isSameTrouble(trouble, row.trouble))
      await needs.exits.reviewed(row.exitId, trouble);
  } catch (error) {
    // What a venue that does not answer would say is not known.
    if (!(error instanceof VenueUnavailable)) throw error;
  }
}

const isSameTrouble = (a: ExitRow['trouble'], b: ExitRow['trouble']): boolean =>
  a?.code === b?.code && a?.message === b?.message;

/** What would refuse it if it were sent now, its price and the pause apart. */
async function troubleOf(needs: ExitNeeds, row: ExitRow): Promise<ExitRow['trouble']> {
  const { caller, exitId, sealed, trigger } = row;
  if (sealed === null) return null;
  const request = orderOf(needs, row);
  const exit = {
    moment: 'left',
    trigger: triggerPrice(trigger),
    places: Number.POSITIVE_INFINITY,
    hasOwnersWord: true,
  } as const;
  try {
    const order = await checkExit(needs, { caller, request, exit, requestId: `exit-${exitId}` });
    if (order === null) return { code: 'order_already_placed', message: 'Its order was placed.' };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const [{ code, detail }] = error.denials;
    return code === 'service_unavailable' ? row.trouble : { code, message: detail };
  }
  return neverSent(needs, row);
}

/** The end of its market may have moved since it was left. */
async function neverSent(needs: ExitNeeds, row: ExitRow): Promise<ExitRow['trouble']> {
  if (row.trigger.kind !== 'before_end') return null;
  const market = await venueOf(needs, row.venue, row.funder).markets.find(row.conditionId);
  if (market === null) return null;
  const fault = endFault(market, needs.clock.now());
  if (fault !== null)
    return { code: 'exit_trigger_out_of_range', message: `${fault} It sells nothing: leave another exit.` };
  const end = endOf(row);
  const earliest = earliestOf(row.trigger, market, 0);
  if (end === null || earliest === null || earliest < end) return null;
  return {
    code: 'exit_trigger_out_of_range',
    message: `It ends at ${new Date(end).toISOString()}, before its trigger can hold at ${new Date(earliest).toISOString()}.`,
  };
}

/** More at once would fill the desk's line of trades. A slow venue keeps one owner's exits in their lane. */
const SENT_AT_ONCE = { atOnce: 192, ofLane: 48, mostWaiting: 1_000, apartMs: 15 };

export function exitJobs(needs: ExitNeeds, log: JobLog): readonly Job[] {
  const onFailed = (error: unknown): void => log.error({ err: error }, 'an exit could not be sent');
  const line = createFairLine({ ...SENT_AT_ONCE, onFailed });
  return [
    { name: 'watch exits', everyMs: 500, run: createExitWatch(needs, line), line },
    { name: 'review exits', everyMs: 2_000, run: () => reviewExits(needs) },
  ];
}
