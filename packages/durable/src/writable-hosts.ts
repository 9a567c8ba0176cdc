/**
 * Finds the server that accepts writes among several hosts: at the start, after every loss, and when the present one is silent. All hosts are asked
 * within a moment, so that one that is cut off costs no time-out.
 *
 * A promotion begins a new timeline. Once a server of a later timeline was seen, those of earlier ones are used no more: a primary that was cut
 * off, and comes back, takes no statement.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from './connection.ts';
import type { Endpoint } from './database-url.ts';
import { ConnectionRefused } from './errors.ts';

/** Before the next host is asked, too, where the one before has not answered. */
const NEXT_AFTER_MS = 250;
/** The first connection waits so long for a server with a later timeline than the one that was found. */
const FIRST_WAITS_MS = 1_000;

const STATE = `select current_setting('transaction_read_only') = 'on' as is_read_only,
  case when pg_is_in_recovery() then 0 else ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int end
    as timeline`;

export class WritableHosts {
  readonly #hosts: readonly Endpoint[];
  /** Index of the one that was found last. */
  #last = 0;
  #timeline = 0;
  #isProbing = false;
  /** Called when a server of a later timeline was found. */
  onPromotion: (timeline: number) => void = () => {};

  constructor(hosts: readonly Endpoint[]) {
    this.#hosts = hosts;
  }

  /** @throws ConnectionRefused that names what was wrong with each host */
  async connect(open: (endpoint: Endpoint) => Promise<Connection>): Promise<Connection> {
    const stop = new AbortController();
    const attempts = this.#order().map((at, nth) => this.#attempt(at, { open, nth, stop: stop.signal }));
    try {
      const first = await Promise.any(attempts);
      const found = this.#timeline === 0 && attempts.length > 1 ? await latestOf(first, attempts) : first;
      this.#found(found);
      return found.connection;
    } catch (fault) {
      if (!(fault instanceof AggregateError)) throw fault;
      const words = fault.errors.map((one: unknown) => (one instanceof Error ? one.message : String(one)));
      throw new ConnectionRefused(
        'CONNECT_TIMEOUT',
        `no host of the database accepts writes: ${words.join('; ')}`,
      );
    } finally {
      stop.abort();
    }
  }

  /** Looks for a server of a later timeline beside the present one, which does not answer. */
  async probe(open: (endpoint: Endpoint) => Promise<Connection>): Promise<void> {
    if (this.#isProbing || this.#hosts.length === 1) return;
    this.#isProbing = true;
    const stop = new AbortController();
    const others = this.#order().slice(1);
    try {
      const found = await Promise.any(
        others.map((at, nth) => this.#attempt(at, { open, nth, stop: stop.signal, after: this.#timeline })),
      );
      found.connection.destroy(new Error('it was only asked'));
      this.#found(found);
    } catch {
      // There is none yet.
    } finally {
      stop.abort();
      this.#isProbing = false;
    }
  }

  /** The one that was found last first. */
  #order(): number[] {
    const all = this.#hosts.map((_, at) => at);
    return [...all.slice(this.#last), ...all.slice(0, this.#last)];
  }

  #found({ at, connection }: Found): void {
    this.#last = at;
    if (connection.timeline <= this.#timeline) return;
    const isPromotion = this.#timeline > 0;
    this.#timeline = connection.timeline;
    if (isPromotion) this.onPromotion(this.#timeline);
  }

  async #attempt(
    at: number,
    {
      open,
      nth,
      stop,
      after = -1,
    }: {
      readonly open: (endpoint: Endpoint) => Promise<Connection>;
      readonly nth: number;
      readonly stop: AbortSignal;
      /** Only a later timeline is good. */
      readonly after?: number;
    },
  ): Promise<Found> {
    const endpoint = this.#hosts[at] as Endpoint;
    if (nth > 0) await sleep(nth * NEXT_AFTER_MS, undefined, { signal: stop, ref: false });
    const connection = await open(endpoint).catch((fault: unknown) => {
      throw new Error(`${nameOf(endpoint)}: ${fault instanceof Error ? fault.message : String(fault)}`);
    });
    try {
      if (stop.aborted) throw new Error('another host was found');
      const [row] = await connection.issue({ text: STATE, name: null, values: [] });
      connection.timeline = Number(row?.timeline);
      if (row?.is_read_only === true || connection.timeline === 0)
        throw new Error(`${nameOf(endpoint)}: it accepts no writes`);
      if (connection.timeline < this.#timeline || connection.timeline <= after)
        throw new Error(`${nameOf(endpoint)}: another server was promoted since it was the primary`);
      if (stop.aborted) throw new Error('another host was found');
      return { at, connection };
    } catch (fault) {
      connection.destroy(fault);
      throw fault;
    }
  }
}

interface Found {
  readonly at: number;
  readonly connection: Connection;
}

const nameOf = ({ host, port }: Endpoint): string => `${host}:${port}`;

/** Of two that both accept writes the one that was promoted later; the other is closed. */
async function latestOf(first: Found, attempts: readonly Promise<Found>[]): Promise<Found> {
  const settled = Promise.allSettled(attempts);
  const all = await Promise.race([settled, sleep(FIRST_WAITS_MS, null, { ref: false })]);
  let latest = first;
  for (const one of all ?? []) {
    if (one.status === 'rejected' || one.value === first) continue;
    const [kept, closed] =
      one.value.connection.timeline > latest.connection.timeline ? [one.value, latest] : [latest, one.value];
    closed.connection.destroy(new Error('another server was promoted later'));
    latest = kept;
  }
  return latest;
}
