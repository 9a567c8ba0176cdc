/**
 * Finds the server that accepts writes among several hosts: at the start, after every loss, every few seconds, and when the present one is silent.
 * All hosts are asked within a moment, so that one that is cut off costs no time-out.
 *
 * A promotion begins a new timeline. Once a server of a later timeline was seen, here or by another process, those of earlier ones are used no
 * more: a primary that was cut off, and comes back, takes no statement.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from './connection.ts';
import type { Endpoint } from './database-url.ts';
import { ConnectionLost, ConnectionRefused } from './errors.ts';

/** Before the next host is asked, too, where the one before has not answered. */
const NEXT_AFTER_MS = 250;
/** So long a host that keeps silent is waited for, where another one has a timeline that may not be, or is not, the latest. */
const SILENT_FOR_MS = 1_000;
/** A host that let us in says so soon whether it accepts writes. */
const STATE_WITHIN_MS = 5_000;
/** A primary beside which another was promoted may answer as before. */
const LOOK_EVERY_MS = 5_000;

const STATE = `select (select system_identifier from pg_control_system())::text as system,
  current_setting('transaction_read_only') = 'on' as is_read_only,
  case when pg_is_in_recovery() then 0 else ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int end
    as timeline`;

/** A system's identifier and a timeline of it. */
const TOLD = /^(\d{1,20}) (\d{1,10})$/;

export class WritableHosts {
  readonly #hosts: readonly Endpoint[];
  /** Index of the one that was found last. */
  #last = 0;
  /** Of the server that was found first; a cluster that was made anew counts its timelines from the beginning. */
  #system = '';
  /** The latest that was seen; 0: none yet. */
  #timeline = 0;
  #isProbing = false;
  #probedAt = performance.now();
  /** Called when a later timeline has begun. */
  readonly onPromotion = new Set<(timeline: number) => void>();

  /** @param timeline servers of earlier ones are not used */
  constructor(hosts: readonly Endpoint[], timeline = '') {
    this.#hosts = hosts;
    const [, system = '', number = '0'] = TOLD.exec(timeline) ?? [];
    this.#use(system, Number(number));
  }

  /** What another process may hear; empty: none was seen yet. */
  get timeline(): string {
    return this.#timeline === 0 ? '' : `${this.#system} ${this.#timeline}`;
  }

  /** @returns whether it is of the system that was found, and later than any that was seen */
  hear(told: string): boolean {
    const [, system = '', number = '0'] = TOLD.exec(told) ?? [];
    return this.#timeline > 0 && system === this.#system && this.#use(system, Number(number));
  }

  /** @throws ConnectionRefused that names what was wrong with each host */
  async connect(open: Open): Promise<Connection> {
    try {
      const { connection } = await this.#find(this.#order(), open);
      return connection;
    } catch (fault) {
      if (!(fault instanceof AggregateError)) throw fault;
      const words = fault.errors.map((one: unknown) => (one instanceof Error ? one.message : String(one)));
      throw new ConnectionRefused(
        fault.errors.some((one: unknown) => one instanceof EarlierTimeline)
          ? 'EARLIER_TIMELINE'
          : 'CONNECT_TIMEOUT',
        `no host of the database accepts writes: ${words.join('; ')}`,
      );
    }
  }

  /** Looks for a server of a later timeline beside the present one: now and then, and at once where that one does not answer. */
  async probe(open: Open, isSilent: boolean): Promise<void> {
    const isDue = isSilent || performance.now() - this.#probedAt >= LOOK_EVERY_MS;
    if (!isDue || this.#isProbing || this.#hosts.length === 1) return;
    this.#isProbing = true;
    // There may be none yet.
    const found = await this.#find(this.#order().slice(1), open, this.#timeline).catch(() => null);
    found?.connection.destroy(new Error('it was only asked'));
    this.#isProbing = false;
    this.#probedAt = performance.now();
  }

  #use(system: string, timeline: number): boolean {
    this.#system ||= system;
    if (timeline <= this.#timeline) return false;
    const isPromotion = this.#timeline > 0;
    this.#timeline = timeline;
    if (isPromotion) for (const tell of this.onPromotion) tell(timeline);
    return true;
  }

  /** The one that was found last first. */
  #order(): number[] {
    const all = this.#hosts.map((_, at) => at);
    return [...all.slice(this.#last), ...all.slice(0, this.#last)];
  }

  /**
   * @param after only a server of a later timeline is good
   * @throws AggregateError of what was wrong with each host
   */
  async #find(hosts: readonly number[], open: Open, after = -1): Promise<Found> {
    const stop = new AbortController();
    const attempts = hosts.map((at, nth) => this.#attempt(at, { open, nth, after, stop: stop.signal }));
    try {
      const first = await firstOf(attempts);
      const found = this.#timeline === 0 ? await latestOf(first, attempts) : first;
      // Meanwhile another search may have found a promotion.
      const isCurrent = found.connection.timeline >= this.#timeline;
      for (const attempt of attempts)
        attempt.then(
          (one) =>
            (one !== found || !isCurrent) && one.connection.destroy(new Error('another host was found')),
          () => {},
        );
      if (!isCurrent) return await this.#find(hosts, open, after);
      this.#last = found.at;
      this.#use(found.system, found.connection.timeline);
      return found;
    } finally {
      stop.abort(new Error('another host was found'));
    }
  }

  async #attempt(
    at: number,
    { open, nth, after, stop }: { open: Open; nth: number; after: number; stop: AbortSignal },
  ): Promise<Found> {
    const endpoint = this.#hosts[at] as Endpoint;
    // It holds the process, which at a start has nothing else to live for.
    if (nth > 0) await sleep(nth * NEXT_AFTER_MS, undefined, { signal: stop });
    let connection: Connection | undefined;
    try {
      connection = await open(endpoint, stop);
      const { system, isReadOnly, timeline } = await stateOf(connection, stop);
      if (isReadOnly || timeline === 0) throw new Error('it accepts no writes');
      if (timeline < this.#timeline || timeline <= after) throw new EarlierTimeline(EARLIER);
      connection.timeline = timeline;
      return { at, system, connection };
    } catch (fault) {
      connection?.destroy(fault);
      const { host, port } = endpoint;
      const why = `${host}:${port}: ${fault instanceof Error ? fault.message : String(fault)}`;
      throw fault instanceof EarlierTimeline ? new EarlierTimeline(why) : new Error(why);
    }
  }
}

/** It accepts writes, and what it takes would be lost. */
class EarlierTimeline extends Error {}
const EARLIER = 'another server was promoted since it was the primary';

/** Opens a connection, or gives it up when it is needed no more. */
type Open = (endpoint: Endpoint, stop: AbortSignal) => Promise<Connection>;

interface Found {
  readonly at: number;
  readonly system: string;
  readonly connection: Connection;
}

async function stateOf(connection: Connection, stop: AbortSignal) {
  const over = AbortSignal.any([stop, AbortSignal.timeout(STATE_WITHIN_MS)]);
  const end = (): void => connection.destroy(new ConnectionLost('it does not answer'));
  over.addEventListener('abort', end);
  try {
    const [row] = await connection.issue({ text: STATE, name: null, values: [] });
    return {
      system: String(row?.system),
      isReadOnly: row?.is_read_only === true,
      timeline: Number(row?.timeline),
    };
  } finally {
    over.removeEventListener('abort', end);
  }
}

/** @throws AggregateError of what was wrong with each host, or with one of an earlier timeline beside which the others keep silent */
async function firstOf(attempts: readonly Promise<Found>[]): Promise<Found> {
  let timer: NodeJS.Timeout | undefined;
  const isAlone = new Promise<never>((_, reject) => {
    for (const attempt of attempts)
      attempt.catch((fault: unknown) => {
        if (fault instanceof EarlierTimeline)
          timer ??= setTimeout(() => reject(new AggregateError([fault])), SILENT_FOR_MS);
      });
  });
  try {
    return await Promise.race([Promise.any(attempts), isAlone]);
  } finally {
    clearTimeout(timer);
  }
}

/** Of those that accept writes the one that was promoted last; a silent host is not waited for. */
async function latestOf(first: Found, attempts: readonly Promise<Found>[]): Promise<Found> {
  let latest = first;
  const compared = attempts.map(async (attempt) => {
    const found = await attempt.catch(() => first);
    if (found.connection.timeline > latest.connection.timeline) latest = found;
  });
  const over = new AbortController();
  await Promise.race([Promise.all(compared), sleep(SILENT_FOR_MS, undefined, { signal: over.signal })]);
  over.abort();
  return latest;
}
