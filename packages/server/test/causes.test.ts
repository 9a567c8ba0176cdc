/**
 * No reader of the log hears of what happened to an order before what it followed from: also where the later transaction has
 * the lower number, as with two replicas.
 */
import { openTransaction, type Transaction, transact } from '@bellwether/durable';
import { type ReceiptEntry, verifyReceipts } from '@bellwether/sdk';
import { describe, expect, test } from 'vitest';
import { NO_EVIDENCE } from '../../../test/one-agent.ts';
import type { Sql, Tx } from '../src/platform/database/connection.ts';
import { nativeSha256 } from '../src/platform/system/secrets.ts';
import { auditReceipts, createReceiptStore } from '../src/receipts/index.ts';
import { receiptPage } from '../src/receipts/read.ts';
import { linkCorrections, linkReceipts } from '../src/receipts/write.ts';
import type { LoggedEvent, LogPosition } from '../src/streams/log.ts';
import { createEventLog } from '../src/streams/log.ts';
import { recordEvidence } from '../src/trading/outcomes.ts';
import { AGENT, addEndpoint, brief, fresh, move, place, queue, queued } from './facts-stage.ts';

/** A transaction that has its number, so that transactions that begin now have higher ones. */
async function numbered(sql: Sql): Promise<Transaction> {
  const open = openTransaction(sql);
  await open.tx`select pg_current_xact_id()`;
  return open;
}

/** Begins another transaction, and waits until readers may read everything from before: tests of other databases write, too. */
async function nextTransaction(sql: Sql): Promise<void> {
  const [next] = await sql<{ readonly id: string }[]>`select pg_current_xact_id()::text as id`;
  const isBehind = async () =>
    (
      await sql<{ readonly done: boolean }[]>`
        select pg_snapshot_xmin(pg_current_snapshot()) > ${next?.id ?? ''}::text::xid8 as done`
    )[0]?.done;
  await expect.poll(isBehind, { timeout: 60_000, interval: 5 }).toBe(true);
}

/** Fills an order wholly, as evidence of a venue does. */
async function fill(tx: Tx, id: string): Promise<void> {
  await tx.unsafe(`update orders set status = 'filled', filled = 2000000, cost = 1000000, updated_at = now(),
    first_answer = '{"success": true, "status": "matched", "filled": "2000000", "cost": "1000000", "fees": "0", "errorCode": null}'
    where order_id = '${id}'`);
  await recordEvidence(tx, {
    ...NO_EVIDENCE,
    fills: [
      {
        ...{
          wallet: '0xw',
          orderId: id,
          tradeId: 1,
          conditionId: 'c1',
          tokenId: 't1',
          outcome: 'YES',
          side: 'BUY',
        },
        ...{
          price: 5000,
          size: 2_000_000n,
          cost: 1_000_000n,
          fee: 0n,
          liquidity: 'taker',
          matchKind: 'NORMAL',
        },
        at: Date.UTC(2026, 0, 1),
      },
    ],
  });
}

const reported = (events: readonly LoggedEvent[]) =>
  events
    .filter(({ type }) => /^(order|fill)/.test(type))
    .map(({ type, data }) => `${JSON.parse(data).orderId} ${type}`);

/** Reads of every kind of reader. Each reads on after what it read before. */
async function allReaders(sql: Sql) {
  const log = createEventLog(sql);
  const receipts = createReceiptStore(sql);
  let head: LogPosition = (await log.fresh(null, 100)).upTo;
  const begun = head;
  let since = (await brief(sql, { at: 0, snapshot: null })).next;
  await addEndpoint(sql);
  const heard = { live: [] as string[], briefing: [] as string[] };
  return {
    heard,
    async look() {
      const { facts, upTo } = await log.fresh(head, 100);
      heard.live.push(...reported(await log.eventsOf(facts.map(({ seq }) => seq))));
      head = upTo;
      await receipts.extend(100, (piece) => linkReceipts(piece, nativeSha256));
      await queue(sql);
      const answer = await brief(sql, since);
      since = answer.next;
      heard.briefing.push(...answer.reported);
    },
    /** A stream that resumes from the beginning, two facts a page: a page begins with the last fact of the one before. */
    async resumed() {
      const found: LoggedEvent[] = [];
      for (let after = begun; ; ) {
        const [page] = (await log.between([{ agentIds: [AGENT], after }], head, 2)).pages;
        const fresh = page?.events.filter(
          ({ position }) => position.seq > after.seq || position.writer > after.writer,
        );
        found.push(...(fresh ?? []));
        if (page === undefined || page.upTo === head) return reported(found);
        after = page.upTo;
      }
    },
    async receipts() {
      const page = await receiptPage({ receipts: createReceiptStore(sql) }, { agentId: AGENT }, {});
      return page.entries;
    },
  };
}

const statesOf = (entries: readonly ReceiptEntry[]) => entries.map(({ body }) => body.state?.status);
const audited = (sql: Sql) => auditReceipts(sql, { sha256: nativeSha256 });

describe('an order that a transaction with a lower number fills', () => {
  test('is filled after it was recorded, for every reader', async () => {
    const sql = await fresh();
    const readers = await allReaders(sql);
    const leader = await numbered(sql);
    await transact(sql, (tx) => place(tx, 'o1'));
    await fill(leader.tx, 'o1');
    await readers.look();
    await leader.commit();
    await nextTransaction(sql);
    await readers.look();
    const [entry, ...more] = await readers.receipts();
    expect({ states: statesOf([entry as ReceiptEntry]), more, faults: (await audited(sql)).faults }).toEqual({
      states: ['filled'],
      more: [],
      faults: [],
    });
    expect(readers.heard).toEqual({
      live: ['o1 order.filled', 'o1 fill'],
      briefing: ['o1 submitting', 'o1 filled'],
    });
    expect(await readers.resumed()).toEqual(readers.heard.live);
    expect(await queued(sql)).toEqual(['o1 order.filled', 'o1 fill']);
  });

  test('in a chain of three, and where a reader looks while another transaction lies between them', async () => {
    const sql = await fresh();
    const readers = await allReaders(sql);
    const [first, second] = [await numbered(sql), await numbered(sql)];
    const between = await numbered(sql);
    await transact(sql, (tx) => place(tx, 'o1'));
    await transact(sql, (tx) => move(tx, 'o1', 'live'));
    await move(second.tx, 'o1', 'partially_filled');
    await second.commit();
    await fill(first.tx, 'o1');
    await first.commit();
    // Everything before this one has ended.
    await readers.look();
    await between.commit();
    await nextTransaction(sql);
    await readers.look();
    const inOrder = ['o1 order.live', 'o1 order.partially_filled', 'o1 order.filled', 'o1 fill'];
    expect({
      streams: readers.heard.live,
      resumed: await readers.resumed(),
      webhooks: await queued(sql),
      briefing: readers.heard.briefing,
    }).toEqual({ streams: inOrder, resumed: inOrder, webhooks: inOrder, briefing: ['o1 filled'] });
    const entries = await readers.receipts();
    expect(statesOf(entries).at(-1)).toBe('filled');
    expect(verifyReceipts({ entries }).ok).toBe(true);
    expect((await audited(sql)).faults).toEqual([]);
  });

  test('what waited for the lock of its cause is put after it', async () => {
    const sql = await fresh();
    const readers = await allReaders(sql);
    await transact(sql, (tx) => place(tx, 'o1'));
    const waiting = await numbered(sql);
    const holder = await numbered(sql);
    await move(holder.tx, 'o1', 'partially_filled');
    const filled = fill(waiting.tx, 'o1');
    await expect
      .poll(async () => (await sql`select 1 from pg_locks where not granted`).length)
      .toBeGreaterThan(0);
    await holder.commit();
    await filled;
    await waiting.commit();
    await nextTransaction(sql);
    await readers.look();
    expect(readers.heard.live).toEqual(['o1 order.partially_filled', 'o1 order.filled', 'o1 fill']);
    expect((await audited(sql)).faults).toEqual([]);
  });
});

describe('receipts that were made in the wrong order', () => {
  /** As the release before wrote facts: their place was their transaction's number. */
  const asBefore = (sql: Sql) =>
    sql`alter table facts alter column writer set default pg_current_xact_id(), alter column recorded_by drop default`;

  async function wrong(sql: Sql, id: string): Promise<void> {
    const leader = await numbered(sql);
    await transact(sql, (tx) => place(tx, id));
    await fill(leader.tx, id);
    await leader.commit();
    await nextTransaction(sql);
    await createReceiptStore(sql).extend(100, (piece) => linkReceipts(piece, nativeSha256));
  }

  const correct = async (sql: Sql) => {
    const { correct: next } = createReceiptStore(sql);
    while (await next(2, (piece) => linkCorrections(piece, nativeSha256)));
  };

  test('get a further entry with the state that holds; none is overwritten, and none is corrected twice', async () => {
    const sql = await fresh();
    const readers = await allReaders(sql);
    await asBefore(sql);
    for (const id of ['o1', 'o2', 'o3']) await wrong(sql, id);
    const before = await readers.receipts();
    expect(statesOf(before)).toEqual(['submitting', 'submitting', 'submitting']);
    // The log has forgotten them: the receipts themselves prove what the venue answered.
    await sql`delete from facts where subject = 'o2'`;
    await sql`update receipt_log set uncorrected_after = ''`;
    await Promise.all([correct(sql), correct(sql)]);
    await correct(sql);
    const after = await readers.receipts();
    expect(after.slice(0, 3)).toEqual(before);
    expect(after.slice(3).map(({ body }) => [body.orderId, body.state?.status, body.corrects])).toEqual([
      ['o1', 'filled', 1],
      ['o2', 'filled', 2],
      ['o3', 'filled', 3],
    ]);
    expect(verifyReceipts({ entries: after }).ok).toBe(true);
    expect((await audited(sql)).faults).toEqual([]);
  });

  test('what somebody altered is not corrected: it stays named', async () => {
    const sql = await fresh();
    await allReaders(sql);
    await place(sql, 'o1');
    await move(sql, 'o1', 'live');
    await nextTransaction(sql);
    await createReceiptStore(sql).extend(100, (piece) => linkReceipts(piece, nativeSha256));
    await sql`alter table orders disable trigger user`;
    await move(sql, 'o1', 'canceled');
    await sql`update receipt_log set uncorrected_after = ''`;
    await correct(sql);
    expect((await audited(sql)).faults).toMatchObject([{ row: 'order o1' }]);
  });
});
