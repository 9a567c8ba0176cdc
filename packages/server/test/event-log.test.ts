/** The log of facts as streams read it: one order, final as soon as it is read, for any order of commits. */
import { openTransaction } from '@bellwether/durable';
import { describe, expect, test } from 'vitest';
import { openDeskDatabase } from '../../../test/postgres.ts';
import type { Sql } from '../src/platform/database/connection.ts';
import { comparePositions, EventFeed, type FeedClient } from '../src/streams/event-feed.ts';
import type { LoggedEvent, LogPosition } from '../src/streams/log.ts';
import { createEventLog } from '../src/streams/log.ts';
import { OpenStreams } from '../src/streams/open-streams.ts';

const AGENT = '00000000-0000-4000-8000-000000000001';
const OTHER = '00000000-0000-4000-8000-000000000002';

const note = (sql: Pick<Sql, 'unsafe'>, code: string, agent = AGENT) =>
  sql.unsafe(`insert into facts (agent_id, kind, subject, at, payload)
    values ('${agent}', 'risk', '${code}', now(), '{"code": "${code}"}')`);

async function openLog() {
  const sql = await openDeskDatabase();
  return { sql, log: createEventLog(sql) };
}

const codes = (events: readonly LoggedEvent[]) =>
  events.map(({ data }) => (JSON.parse(data) as { code: string }).code);

/** @param waitsMs how long it waits for room */
function newClient(waitsMs = 30_000, agentIds = [AGENT]) {
  const events: LoggedEvent[] = [];
  const state = { isCongested: false, ended: '', begun: null as LogPosition | null, drains: 0 };
  const client: FeedClient = {
    agentIds,
    get isClosed() {
      return state.ended !== '';
    },
    get isCongested() {
      return state.isCongested;
    },
    deliver: (fresh) => events.push(...fresh),
    reached(position, isFirst) {
      if (isFirst) state.begun = position;
    },
    async drained() {
      state.drains += 1;
      const until = performance.now() + waitsMs;
      while (state.isCongested && performance.now() < until)
        await new Promise((resolve) => setTimeout(resolve, 1));
      return !state.isCongested;
    },
    end(reason) {
      state.ended = reason;
    },
  };
  return { client, events, state };
}

const newFeed = (log: ReturnType<typeof createEventLog>) =>
  new EventFeed({ log, verified: async () => {}, now: () => performance.now(), warn: () => {} });

describe('the order of the log', () => {
  test('a fact of a transaction that began earlier and ends later is neither passed over nor put before', async () => {
    const { sql, log } = await openLog();
    const start = (await log.fresh(null, 10)).upTo;
    const slow = openTransaction(sql);
    await note(slow.tx, 'slow');
    await note(sql, 'quick');
    const early = await log.fresh(start, 10);
    expect(early.facts).toEqual([]);
    await slow.commit();
    await expect.poll(async () => (await log.fresh(early.upTo, 10)).facts.length).toBe(2);
    const { facts } = await log.fresh(early.upTo, 10);
    expect(codes(await log.eventsOf(facts.map(({ seq }) => seq)))).toEqual(['slow', 'quick']);
  });

  test('a page that is cut goes on after its last fact, within a transaction too', async () => {
    const { sql, log } = await openLog();
    let at = (await log.fresh(null, 10)).upTo;
    const { tx, commit } = openTransaction(sql);
    for (const code of ['a', 'b', 'c', 'd', 'e']) await note(tx, code);
    await commit();
    const seen: string[] = [];
    await expect
      .poll(async () => {
        const page = await log.fresh(at, 2);
        at = page.upTo;
        seen.push(...codes(await log.eventsOf(page.facts.map(({ seq }) => seq))));
        return seen.length;
      })
      .toBe(5);
    expect(seen).toEqual(['a', 'b', 'c', 'd', 'e']);
    const backlog = await log.between([{ agentIds: [AGENT], after: { writer: 0n, seq: 0n, nth: 0 } }], at, 2);
    expect(codes(backlog.pages[0]?.events ?? [])).toEqual(['a', 'b']);
  });

  test('what was forgotten moves the beginning of the log, in its order', async () => {
    const { sql, log } = await openLog();
    const start = (await log.fresh(null, 10)).upTo;
    await note(sql, 'old');
    await expect.poll(async () => (await log.fresh(start, 10)).facts.length).toBe(1);
    expect(comparePositions(start, (await log.fresh(null, 1)).forgotten)).toBeGreaterThan(0);
    await sql`select forget_facts(now() + interval '1 minute', 10)`;
    expect(comparePositions(start, (await log.fresh(null, 1)).forgotten)).toBeLessThan(0);
  });
});

describe('the feed', () => {
  test('streams that begin, resume and fall behind get every event once, in order, while facts are written', async () => {
    const { sql, log } = await openLog();
    const feed = newFeed(log);
    const first = newClient();
    const leave = feed.subscribe(first.client, null);
    await expect.poll(() => first.state.begun).not.toBeNull();
    const begun = first.state.begun as LogPosition;
    const want: string[] = [];
    const others = [newClient(), newClient(), newClient()];
    const leaves: (() => void)[] = [];
    for (let round = 0; round < 60; round += 1) {
      const { tx, commit } = openTransaction(sql);
      for (let nth = 0; nth < 5; nth += 1) {
        want.push(`${round}-${nth}`);
        await note(tx, `${round}-${nth}`);
        await note(tx, 'not for this agent', OTHER);
      }
      await commit();
      const other = others[round / 20];
      if (other !== undefined) leaves.push(feed.subscribe(other.client, begun));
      first.state.isCongested = round % 7 < 3;
    }
    first.state.isCongested = false;
    for (const { events } of [first, ...others]) await expect.poll(() => events.length).toBe(want.length);
    for (const { events } of [first, ...others]) expect(codes(events)).toEqual(want);
    for (const end of [leave, ...leaves]) end();
    await feed.stop();
  });

  test('a stream of several agents has the events of all in the order of the log, wherever it resumes', async () => {
    const { sql, log } = await openLog();
    const feed = newFeed(log);
    const live = newClient(30_000, [AGENT, OTHER]);
    const leave = feed.subscribe(live.client, null);
    await expect.poll(() => live.state.begun).not.toBeNull();
    const want: string[] = [];
    // More than a page of a stream that is behind, unevenly among the agents and some that no reader asked for.
    for (let nth = 0; nth < 260; nth += 1) {
      want.push(String(nth));
      await note(sql, String(nth), nth % 7 === 0 ? OTHER : AGENT);
      if (nth % 50 === 0) await note(sql, 'not asked for', '00000000-0000-4000-8000-000000000003');
    }
    await expect.poll(() => live.events.length).toBe(want.length);
    expect(codes(live.events)).toEqual(want);
    for (const from of [0, 77, 230]) {
      const resumed = newClient(30_000, [OTHER, AGENT]);
      const end = feed.subscribe(resumed.client, live.events[from]?.position ?? null);
      await expect.poll(() => resumed.events.length).toBe(want.length - from - 1);
      expect(codes(resumed.events)).toEqual(want.slice(from + 1));
      end();
    }
    leave();
    await feed.stop();
  });

  test('a client that takes nothing in time is ended, and nothing is kept for it', async () => {
    const { sql, log } = await openLog();
    const feed = newFeed(log);
    const { client, events, state } = newClient(0);
    feed.subscribe(client, null);
    await expect.poll(() => state.begun).not.toBeNull();
    state.isCongested = true;
    await note(sql, 'one');
    await expect.poll(() => state.ended).toBe('slow_consumer');
    expect(events).toEqual([]);
    await feed.stop();
  });

  test('a stream that the end of the log overtakes is ended', async () => {
    const { sql, log } = await openLog();
    const { upTo } = await log.fresh(null, 1);
    await note(sql, 'lost');
    await expect.poll(async () => (await log.fresh(upTo, 10)).facts.length).toBe(1);
    await sql`select forget_facts(now() + interval '1 minute', 10)`;
    const feed = newFeed(log);
    const { client, state } = newClient();
    feed.subscribe(client, upTo);
    await expect.poll(() => state.ended).toBe('cursor_gone');
    await feed.stop();
  });
});

interface Held {
  readonly keys?: () => ReadonlySet<bigint>;
  readonly sessions?: () => ReadonlyMap<string, string>;
  readonly maxStreams: number;
  readonly now?: () => number;
}

const newStreams = ({
  keys = () => new Set(),
  sessions = () => new Map(),
  maxStreams,
  now = () => 0,
}: Held) =>
  new OpenStreams({
    log: { activeKeys: async () => keys() },
    owners: { sessionsAgents: async () => sessions() },
    clock: { now: () => 0 },
    maxStreams,
    now,
  });

describe('keys and sessions of open streams', () => {
  test('a session that ended and one whose owner claimed an agent end their streams; others stay', async () => {
    let now = 1_000_000;
    let sessions = new Map([
      ['aa', '1 monday'],
      ['bb', '1 monday'],
      ['cc', '1 monday'],
    ]);
    const open = newStreams({ sessions: () => sessions, maxStreams: 10, now: () => now });
    const ended: string[] = [];
    const add = (token: string, agents: string | null) =>
      open.add({
        reader: { kind: 'owner', userId: 1n, tokenHash: Buffer.from(token, 'hex'), agents },
        beat() {},
        end: (reason) => ended.push(`${token} ${reason}`),
      });
    const leaves = [add('aa', '1 monday'), add('bb', '1 monday'), add('cc', '1 monday'), add('bb', null)];
    sessions = new Map([
      ['bb', '2 tuesday'],
      ['cc', '1 monday'],
    ]);
    now += 60_000;
    await open.verified();
    expect(ended).toEqual(['aa session_ended', 'bb agents_changed']);
    for (const leave of leaves) leave();
  });

  test('nothing may be sent once the last look is older than the lease, until the keys were looked at again', async () => {
    let now = 1_000_000;
    let active = new Set([1n, 2n]);
    const open = newStreams({ keys: () => active, maxStreams: 10, now: () => now });
    const ended: bigint[] = [];
    const leaves = [1n, 2n].map((keyId) =>
      open.add({ reader: { kind: 'agent', agentId: AGENT, keyId }, beat() {}, end: () => ended.push(keyId) }),
    );
    expect(open.isVerified).toBe(true);
    // The process was frozen, and a key was revoked meanwhile.
    now += 60_000;
    active = new Set([1n]);
    expect(open.isVerified).toBe(false);
    await open.verified();
    expect(ended).toEqual([2n]);
    for (const leave of leaves) leave();
  });

  test('all streams together are bounded', () => {
    const open = newStreams({ maxStreams: 2 });
    const add = (agentId: string) =>
      open.add({ reader: { kind: 'agent', agentId, keyId: 1n }, beat() {}, end() {} });
    const leave = add('a');
    add('b');
    expect(() => add('c')).toThrow('as many streams as it can serve');
    leave();
    add('c');
    open.stop();
  });
});
