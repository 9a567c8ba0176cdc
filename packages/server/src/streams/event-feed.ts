/**
 * Follows the log of facts once for all streams of this process, and hands each agent's events to its streams.
 *
 * A stream is *live* while it has everything up to the head, or *behind*: then it reads its agents' facts from the log, page
 * by page, as fast as its client takes them, and joins the live ones between two turns of the feed, when the head stands
 * still. So nothing is kept in memory for a client that reads slowly: the log is the buffer.
 */

import type { Clock } from '../platform/clock.ts';
import { refusal } from '../platform/refusal.ts';
import type { Job } from '../platform/scheduler.ts';
import type { EventLog, FactLog, LoggedEvent, LogPosition } from './log.ts';
import type { EndReason } from './open-streams.ts';

const TURN_MS = 20;
/** After a turn that had something to send: more is likely. */
const BUSY_TURN_MS = 5;
const RETRY_MS = 500;
/** Facts of one turn. */
const PAGE = 2_000;
/** Facts of one stream that is behind, for each question. */
const BACKLOG_PAGE = 100;
const JOINS_PER_TURN = 200;
/** Questions of streams that are behind, at the same time. */
const READERS = 4;
const IDLE_CURSOR_MS = 60_000;

/** One stream, of one agent or of several. */
export interface FeedClient {
  readonly agentIds: readonly string[];
  readonly isClosed: boolean;
  /** Too much waits to be sent. */
  readonly isCongested: boolean;
  deliver(events: readonly LoggedEvent[]): void;
  /** The head of the log, of which the client has everything. @param isFirst the stream begins here */
  reached(position: LogPosition, isFirst: boolean): void;
  /** Resolves when there is room again; `false` when there is none in time, or the client is gone. */
  drained(): Promise<boolean>;
  end(reason: EndReason): void;
}

interface Member {
  readonly client: FeedClient;
  /** `null`: from the head, wherever it is. */
  position: LogPosition | null;
  toldAt: number;
}

interface Options {
  readonly log: EventLog;
  /** Resolves when what is read may be sent. */
  readonly verified: () => Promise<void>;
  readonly now: () => number;
  readonly warn: (error: unknown) => void;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export class EventFeed {
  readonly #options: Options;
  readonly #live = new Map<string, Set<Member>>();
  readonly #members = new Set<Member>();
  /** Whose streams were here since somebody asked. */
  #listeners = new Set<string>();
  #joining: Member[] = [];
  #waiting: (() => void)[] = [];
  #readers = 0;
  #head: LogPosition | null = null;
  #turns: { readonly done: Promise<void> } | null = null;
  #isStopped = false;
  #nextCursors = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Whether everything after a position can still be sent. */
  async reaches(position: LogPosition): Promise<boolean> {
    const { forgotten, horizon } = await this.#options.log.fresh(null, 1);
    return comparePositions(position, forgotten) >= 0 && comparePositions(position, horizon) <= 0;
  }

  /** @param after `null`: from now on. @returns what ends it */
  subscribe(client: FeedClient, after: LogPosition | null): () => void {
    const member: Member = { client, position: after, toldAt: this.#options.now() };
    this.#members.add(member);
    for (const agentId of client.agentIds) this.#listeners.add(agentId);
    this.#joining.push(member);
    this.#turns ??= { done: this.#run() };
    return () => this.#leave(member);
  }

  /** The agents whose streams are open, or were since the last call. */
  takeListeners(): readonly string[] {
    const open = [...this.#members].flatMap(({ client }) => [...client.agentIds]);
    const heard = new Set([...this.#listeners, ...open]);
    this.#listeners = new Set();
    return [...heard];
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#turns?.done;
  }

  #leave(member: Member): void {
    this.#members.delete(member);
    this.#detach(member);
  }

  async #run(): Promise<void> {
    let failures = 0;
    while (this.#members.size > 0 && !this.#isStopped) {
      try {
        const pauseMs = await this.#turn();
        failures = 0;
        await pause(pauseMs);
      } catch (error) {
        if (failures === 0) this.#options.warn(error);
        failures += 1;
        await pause(RETRY_MS);
      }
    }
    // The next one begins at the head of that moment.
    this.#head = null;
    this.#turns = null;
  }

  /** @returns how long to wait for the next one */
  async #turn(): Promise<number> {
    const { log, verified } = this.#options;
    const from = this.#head;
    const fresh = await log.fresh(from, PAGE);
    const wanted = fresh.facts.filter(({ agentId }) => this.#live.has(agentId)).map(({ seq }) => seq);
    const events = wanted.length === 0 ? [] : await log.eventsOf(wanted);
    await verified();
    this.#head = fresh.upTo;
    this.#distribute(events);
    await this.#admit(fresh.upTo);
    this.#tellCursors(fresh.upTo);
    if (comparePositions(fresh.upTo, fresh.horizon) < 0) return 0;
    return events.length > 0 ? BUSY_TURN_MS : TURN_MS;
  }

  #distribute(events: readonly LoggedEvent[]): void {
    const byMember = new Map<Member, LoggedEvent[]>();
    for (const event of events) {
      for (const member of this.#live.get(event.agentId) ?? []) {
        const list = byMember.get(member);
        if (list === undefined) byMember.set(member, [event]);
        else list.push(event);
      }
    }
    for (const [member, list] of byMember) {
      if (!member.client.isCongested) this.#deliver(member, list);
      if (member.client.isCongested) this.#fallBehind(member);
    }
  }

  #deliver(member: Member, events: readonly LoggedEvent[]): void {
    const { position } = member;
    const fresh =
      position === null ? events : events.filter((event) => comparePositions(event.position, position) > 0);
    const last = fresh.at(-1);
    if (last === undefined || member.client.isClosed) return;
    member.client.deliver(fresh);
    member.position = last.position;
    member.toldAt = this.#options.now();
  }

  #fallBehind(member: Member): void {
    this.#detach(member);
    this.#catchUp(member).catch((error: unknown) => {
      this.#options.warn(error);
      // Asked again with the others.
      if (this.#members.has(member)) this.#joining.push(member);
    });
  }

  /** Between two turns, so that the head stands still. */
  async #admit(head: LogPosition): Promise<void> {
    const joining = this.#joining.splice(0, JOINS_PER_TURN).filter((member) => this.#members.has(member));
    try {
      const resumed = joining.filter(({ position }) => position !== null);
      const questions = resumed.map(({ client, position }) => ({
        agentIds: client.agentIds,
        after: position ?? head,
      }));
      const backlog =
        questions.length === 0 ? null : await this.#options.log.between(questions, head, BACKLOG_PAGE);
      await this.#options.verified();
      for (const member of joining) {
        if (member.position === null) this.#attach(member, head, true);
      }
      for (const [index, member] of resumed.entries()) {
        const page = backlog?.pages[index];
        if (page === undefined || !this.#isWhole(member, backlog?.forgotten)) continue;
        this.#deliver(member, page.events);
        if (comparePositions(page.upTo, head) < 0 || member.client.isCongested) this.#fallBehind(member);
        else this.#attach(member, head, false);
      }
    } catch (error) {
      this.#joining.unshift(...joining);
      throw error;
    }
  }

  #attach(member: Member, head: LogPosition, isFirst: boolean): void {
    if (!this.#members.has(member)) return;
    for (const agentId of member.client.agentIds)
      this.#live.set(agentId, (this.#live.get(agentId) ?? new Set()).add(member));
    if (member.position === null || comparePositions(member.position, head) < 0) member.position = head;
    if (isFirst) member.client.reached(head, true);
  }

  #detach(member: Member): void {
    for (const agentId of member.client.agentIds) {
      const live = this.#live.get(agentId);
      live?.delete(member);
      if (live?.size === 0) this.#live.delete(agentId);
    }
  }

  /** Ends a stream that was overtaken by the end of the log. */
  #isWhole(member: Member, forgotten: LogPosition | undefined): boolean {
    const { position, client } = member;
    if (position === null || forgotten === undefined || comparePositions(position, forgotten) >= 0)
      return true;
    client.end('cursor_gone');
    return false;
  }

  async #catchUp(member: Member): Promise<void> {
    const { client } = member;
    while (this.#members.has(member) && !this.#isStopped) {
      if (!(await client.drained())) {
        client.end('slow_consumer');
        return;
      }
      const head = this.#head;
      const { position } = member;
      if (head === null || position === null) break;
      const { pages, forgotten } = await this.#read(client.agentIds, position, head);
      await this.#options.verified();
      const [page] = pages;
      if (page === undefined || !this.#isWhole(member, forgotten)) return;
      this.#deliver(member, page.events);
      if (comparePositions(page.upTo, head) >= 0 && !client.isCongested) break;
      if (member.position !== null && comparePositions(member.position, page.upTo) < 0)
        member.position = page.upTo;
    }
    if (this.#members.has(member)) this.#joining.push(member);
  }

  async #read(agentIds: readonly string[], after: LogPosition, upTo: LogPosition) {
    while (this.#readers >= READERS) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#readers += 1;
    try {
      return await this.#options.log.between([{ agentIds, after }], upTo, BACKLOG_PAGE);
    } finally {
      this.#readers -= 1;
      this.#waiting.shift()?.();
    }
  }

  /** An idle agent's cursor would grow old while others fill the log. */
  #tellCursors(head: LogPosition): void {
    const now = this.#options.now();
    if (now < this.#nextCursors) return;
    this.#nextCursors = now + IDLE_CURSOR_MS / 10;
    for (const live of this.#live.values()) {
      for (const member of live) {
        if (now - member.toldAt < IDLE_CURSOR_MS || member.client.isCongested) continue;
        member.toldAt = now;
        member.position = head;
        member.client.reached(head, false);
      }
    }
  }
}

// The id of an event as its reader's cursor: a place in the log, with a tag that binds it to the reader and to this service's
// master key, so that a cursor of somebody else or of another service is recognised. A reader is an agent, by its id, or
// an owner.

/** A short keyed digest, of characters that a header and a query may hold. */
type Tag = (text: string) => string;

export interface EventCursors {
  encode(reader: string, position: LogPosition): string;
  /** @throws Refusal event_cursor_invalid */
  decode(reader: string, cursor: string): LogPosition;
}

const CURSOR = /^(e1\.(\d{1,19})\.(\d{1,19})\.(\d{1,2}))\.([\w-]{1,44})$/;

export const createEventCursors = (tag: Tag): EventCursors => ({
  encode(reader, { writer, seq, nth }) {
    const place = `e1.${writer}.${seq}.${nth}`;
    return `${place}.${tag(`${reader} ${place}`)}`;
  },
  decode(reader, cursor) {
    const found = CURSOR.exec(cursor);
    if (found === null || found[5] !== tag(`${reader} ${found[1]}`)) throw refusal('event_cursor_invalid');
    return { writer: BigInt(found[2] as string), seq: BigInt(found[3] as string), nth: Number(found[4]) };
  },
});

/** Negative: `a` is before `b`. */
export function comparePositions(a: LogPosition, b: LogPosition): number {
  if (a.writer !== b.writer) return a.writer < b.writer ? -1 : 1;
  if (a.seq !== b.seq) return a.seq < b.seq ? -1 : 1;
  return a.nth - b.nth;
}

const BATCH = 5_000;
/** A stop waits for a turn, so it ends; the next one goes on. Many times what a busy service logs between two turns. */
const BATCHES_PER_TURN = 200;

interface StreamJobsNeeds {
  readonly factLog: FactLog;
  readonly clock: Clock;
  readonly retentionMs: number;
}

/**
 * Keeps the log of facts as long as it is configured, and no longer: in batches that hold up nothing else.
 *
 * @returns how many were deleted
 */
export async function forgetFacts({ factLog, clock, retentionMs }: StreamJobsNeeds): Promise<number> {
  const horizon = clock.now() - retentionMs;
  let total = 0;
  for (let batch = 0; batch < BATCHES_PER_TURN; batch += 1) {
    const count = await factLog.forget(horizon, BATCH);
    total += count;
    if (count === 0) break;
  }
  return total;
}

export const streamJobs = (needs: StreamJobsNeeds): readonly Job[] => [
  { name: 'forget facts', everyMs: 300_000, run: () => forgetFacts(needs) },
];
