/** The log of facts: webhooks, briefings and receipts miss and repeat nothing, in any order of commits. */
import { openTransaction, transact } from '@bellwether/durable';
import { describe, expect, test } from 'vitest';
import { createReceiptStore } from '../src/receipts/index.ts';
import { forgetFacts } from '../src/streams/event-feed.ts';
import { createFactLog } from '../src/streams/log.ts';
import { createWebhookStore } from '../src/webhooks/store.ts';
import {
  AGENT,
  addEndpoint,
  brief,
  ENDPOINT,
  fresh,
  move,
  OTHER,
  place,
  queue,
  queued,
} from './facts-stage.ts';

const DAY_MS = 24 * 3_600_000;

describe('readers', () => {
  test('a fact that commits late reaches webhooks and the briefing once', async () => {
    const sql = await fresh();
    await addEndpoint(sql);
    await transact(sql, (tx) => Promise.all([place(tx, 'early'), place(tx, 'late')]));
    let since = (await brief(sql, { at: 0, snapshot: null })).next;
    const reported: string[] = [];
    const look = async () => {
      await queue(sql);
      const answer = await brief(sql, since);
      since = answer.next;
      reported.push(...answer.reported);
    };
    const slow = openTransaction(sql);
    await move(slow.tx, 'early', 'live');
    await transact(sql, (tx) => move(tx, 'late', 'live'));
    await look();
    expect(reported).toEqual(['late live']);
    await slow.commit();
    await look();
    await look();
    expect(reported).toEqual(['late live', 'early live']);
    expect(await queued(sql)).toEqual(['late order.live', 'early order.live']);
  });

  test('many writers and readers: every event is queued once, the events of one order in sequence', async () => {
    const sql = await fresh();
    await addEndpoint(sql);
    const ids = Array.from({ length: 20 }, (_, n) => `o${n}`);
    const statuses = ['live', 'partially_filled', 'canceled'];
    let done = false;
    const reported: string[] = [];
    const readers = [1, 2, 3].map(async () => {
      while (!done) await queue(sql);
    });
    const briefs = (async () => {
      let since: { at: number; snapshot: string | null } = { at: 0, snapshot: null };
      for (let again = true; again; ) {
        again = !done;
        const answer = await brief(sql, since);
        since = answer.next;
        reported.push(...answer.reported);
      }
    })();
    await Promise.all(
      ids.map(async (id) => {
        await place(sql, id);
        for (const status of statuses) {
          const { tx, commit } = openTransaction(sql);
          await move(tx, id, status);
          await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
          await commit();
        }
      }),
    );
    done = true;
    await Promise.all([...readers, briefs]);
    await sql`select queue_webhook_events(true)`;
    const events = await queued(sql);
    expect(events.length).toBe(ids.length * statuses.length);
    for (const id of ids)
      expect(events.filter((event) => event.startsWith(`${id} `))).toEqual(
        statuses.map((status) => `${id} order.${status}`),
      );
    expect(new Set(reported).size).toBe(reported.length);
    expect(reported.filter((line) => line.endsWith('canceled')).length).toBe(ids.length);
  });

  test('an endpoint gets its own agent’s events from its creation or enabling on', async () => {
    const sql = await fresh();
    const webhooks = createWebhookStore(sql);
    await place(sql, 'a');
    await move(sql, 'a', 'live');
    await addEndpoint(sql);
    await place(sql, 'b');
    await move(sql, 'b', 'live');
    await place(sql, 'c', { agent: OTHER });
    await move(sql, 'c', 'live');
    await queue(sql);
    expect(await queued(sql)).toEqual(['b order.live']);
    await sql`update webhook_endpoints set enabled = false`;
    await move(sql, 'b', 'canceled');
    await queue(sql);
    await move(sql, 'a', 'partially_filled');
    // Not queued yet, and written while the endpoint was disabled.
    await webhooks.enable(AGENT, ENDPOINT, Date.now());
    await move(sql, 'a', 'canceled');
    await queue(sql);
    expect(await queued(sql)).toEqual(['b order.live', 'a order.canceled']);
  });

  test('a disabled endpoint keeps the events from before', async () => {
    const sql = await fresh();
    await addEndpoint(sql);
    const webhooks = createWebhookStore(sql);
    const delivery = await webhooks.tellEndpoint(ENDPOINT, OTHER, {
      agentId: AGENT,
      type: 'webhook.test',
      data: {},
      at: Date.now(),
    });
    await place(sql, 'a');
    await move(sql, 'a', 'live');
    await webhooks.failed(delivery, {
      at: Date.now(),
      nextAttemptAt: null,
      holdUntil: null,
      switchOff: true,
      responseStatus: 500,
      error: 'answered 500',
    });
    await queue(sql);
    expect(await queued(sql)).toEqual(['null webhook.test', 'a order.live']);
  });

  test('a change of owner is not reported as a change of an order', async () => {
    const sql = await fresh();
    await place(sql, 'a');
    const { next } = await brief(sql, { at: 0, snapshot: null });
    await sql`update orders set user_id = user_id + 100`;
    expect((await brief(sql, next)).reported).toEqual([]);
  });

  test('a restored dump starts a new life: older cursors are recognised, and events continue', async () => {
    const sql = await fresh();
    await addEndpoint(sql);
    await place(sql, 'a');
    await sql`update facts set writer = '99999999999'`;
    await sql`update webhook_endpoints set listens_since = '99999999990:99999999999:'`;
    await sql`update fact_log set webhooks_seen = '99999999990:99999999999:'`;
    await queue(sql);
    await move(sql, 'a', 'live');
    await queue(sql);
    await queue(sql);
    expect(await queued(sql)).toEqual(['a order.live']);
  });
});

describe('receipts', () => {
  test('what was begun earlier and is committed later is not passed by', async () => {
    const sql = await fresh();
    const receipts = createReceiptStore(sql);
    const seen: string[] = [];
    const extend = async () => {
      await receipts.extend(100, ({ matters }) => {
        for (const { order, facts } of matters) seen.push(...facts.map(() => order.orderId));
        return [];
      });
      return seen.toSorted();
    };
    const early = openTransaction(sql);
    await place(early.tx, 'early');
    await place(sql, 'late');
    await extend();
    await early.commit();
    await place(sql, 'last');
    await expect.poll(extend).toEqual(['early', 'last', 'late']);
    expect(await extend()).toEqual(['early', 'last', 'late']);
  });

  test('of two who read the same piece one moves on, and the other adds nothing', async () => {
    const sql = await fresh();
    const [at] = await sql`select writer::text as writer, seq from receipt_log`;
    const add = async () => {
      const [row] =
        await sql`select add_receipts(${at?.writer}::xid8, ${at?.seq}::bigint, ${at?.writer}::xid8,
        ${at?.seq + 1n}::bigint, '{}', '{}', '{}', '{}', '{}', '{}', '{}') as is_mine`;
      return row?.is_mine;
    };
    expect([await add(), await add()]).toEqual([true, false]);
  });
});

describe('retention', () => {
  test('old facts are deleted in batches; a cursor before them is read as a time, a later one stays exact', async () => {
    const sql = await fresh();
    const now = Date.now();
    await place(sql, 'old', { at: now - 8 * DAY_MS });
    await place(sql, 'older', { at: now - 9 * DAY_MS });
    const { next } = await brief(sql, { at: 0, snapshot: null });
    await place(sql, 'young', { at: now });
    await sql`insert into facts (agent_id, kind, subject, at, payload)
      select ${AGENT}, 'position', 't', ${new Date(now - 8 * DAY_MS)}, '{}' from generate_series(1, 12000)`;
    // Their receipts are made.
    await sql`update receipt_log set writer = pg_current_xact_id()`;
    const factLog = createFactLog(sql);
    const parts = { factLog, clock: { now: () => now }, retentionMs: 7 * DAY_MS };
    // The recent one keeps its place among the old ones.
    expect(await forgetFacts(parts)).toBe(12_002);
    expect(await forgetFacts(parts)).toBe(0);
    expect((await sql`select subject from facts`).map(({ subject }) => subject)).toEqual(['young']);
    expect((await brief(sql, next)).reported).toEqual(['young submitting']);
    // Half a minute before its change: repeated rather than missed.
    const ancient = { at: now - 8 * DAY_MS + 30_000, snapshot: next.snapshot };
    expect((await brief(sql, ancient)).reported).toEqual(['young submitting', 'old submitting']);
  });
});
