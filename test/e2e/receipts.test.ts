/** Receipts: every order has one, chained per agent; whoever alters a row is found, and the first altered row is named. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { openTransaction } from '@bellwether/durable';
import { buildMarketOrder, type Market, type ReceiptEntry, verifyReceipts } from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import { openPool, type Sql } from '../../packages/server/src/adapters/postgres/connection.ts';
import { auditReceipts as inDatabase } from '../../packages/server/src/adapters/postgres/receipt-audit.ts';
import { createReceiptLog } from '../../packages/server/src/adapters/postgres/receipt-log.ts';
import { nativeSha256 } from '../../packages/server/src/adapters/system/sha256.ts';
import { type AuditFault, auditReceipts } from '../../packages/server/src/app/receipts/audit-receipts.ts';
import { linkReceipts } from '../../packages/server/src/app/receipts/write-receipts.ts';
import { createFakeQuoteVenue } from '../fake-quote-venue.ts';
import {
  aMarket,
  call,
  newTrader,
  restingOrder,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import { Visitor } from '../passkey.ts';
import { newQuoteTrader } from '../quote-trader.ts';
import { afterFile } from '../setup/clean-up.ts';

let service: TestService;
let sql: Sql;
let market: Market;

beforeAll(async () => {
  service = await startTestService({ PAPER_WORLD: 'off' }, { venues: () => [createFakeQuoteVenue()] });
  sql = openPool(service.databaseUrl);
  afterFile('pools', () => sql.end());
  market = await aMarket((await newTrader(service)).client);
});

const buy = async (trader: Trader, amount = 10) =>
  trader.client.placeTrade({
    ...(await buildMarketOrder({
      ...{ signer: trader.signer, market, outcome: 'YES', side: 'BUY', amount, worstPrice: 0.99 },
    })),
    reasoning: 'because',
    source: 'sdk:receipts',
  });

const get = (trader: Pick<Trader, 'apiKey'>, path: string) =>
  call(service, 'GET', path, { key: trader.apiKey });

/** Once nothing of the agent is behind. */
async function chainOf(trader: Pick<Trader, 'apiKey' | 'agentId'>): Promise<ReceiptEntry[]> {
  for (;;) {
    const [behind] = await sql<object[]>`select 1 from facts f cross join receipt_log l
      where f.agent_id = ${trader.agentId} and (f.writer, f.seq) > (l.writer, l.seq) limit 1`;
    if (behind === undefined) break;
    await sleep(50);
  }
  return (await get(trader, '/agents/receipts')).body.entries;
}

const audit = async (): Promise<readonly AuditFault[]> =>
  (await inDatabase(sql, (reads) => auditReceipts(reads))).faults;

describe('an order has a receipt', () => {
  test('with what was asked, what was checked with which figures, what the venue answered, and the fills', async () => {
    const trader = await newTrader(service);
    const placed = await buy(trader);
    const [entry, ...others] = await chainOf(trader);
    expect(others).toEqual([]);
    const fills = (await trader.client.getOrder(placed.orderId)).fills;
    expect(entry).toMatchObject({
      version: 1,
      agentId: trader.agentId,
      sequence: 1,
      previousHash: '0'.repeat(64),
      kind: 'order',
      body: {
        orderId: placed.orderId,
        asked: {
          venue: 'polymarket',
          side: 'BUY',
          amount: '10',
          funder: trader.funder,
          source: 'sdk:receipts',
        },
        checked: {
          maxTradesPerDay: ['5000', '0', '1'],
          maxTradeAmount: ['100000', '0', '10'],
          dailyTradeAmountLimit: ['1000000', '0', '10'],
        },
        answered: { success: true, status: 'matched' },
        state: { status: 'filled' },
      },
    });
    expect(entry?.body.fills).toHaveLength(fills.length);
    expect(JSON.stringify(entry)).not.toContain('because');
    const receipt = (await get(trader, `/markets/orders/${placed.orderId}/receipt`)).body;
    expect(receipt).toEqual({
      agentId: trader.agentId,
      orderId: placed.orderId,
      entries: [entry],
      head: { sequence: 1, hash: entry?.hash },
    });
    // The figures are in the order's own journal, too.
    const [recorded] = (await trader.client.getOrder(placed.orderId)).journal;
    expect(recorded?.checked).toEqual(entry?.body.checked);
  });

  test('what happens later is a further entry; the chain holds, also from a kept head on', async () => {
    const trader = await newTrader(service);
    const resting = await trader.client.placeTrade(await restingOrder(trader, market));
    const [first] = await chainOf(trader);
    await trader.client.cancelOrder(resting.orderId);
    await buy(trader);
    const chain = await chainOf(trader);
    expect(chain.map(({ sequence, body }) => [sequence, body.state?.status])).toEqual([
      [1, 'live'],
      [2, 'canceled'],
      [3, 'filled'],
    ]);
    expect(chain[1]?.body.asked).toBeUndefined();
    expect(verifyReceipts({ entries: chain })).toEqual({
      ok: true,
      entries: 3,
      head: { sequence: 3, hash: chain[2]?.hash },
    });
    const kept = { sequence: 1, hash: first?.hash as string };
    expect(verifyReceipts({ entries: chain.slice(1), from: kept }).ok).toBe(true);
    expect(verifyReceipts({ entries: chain, head: kept }).ok).toBe(true);
    const pages = [
      ...(await get(trader, '/agents/receipts?limit=2')).body.entries,
      ...(await get(trader, '/agents/receipts?limit=2&after=2')).body.entries,
    ];
    expect(pages).toEqual(chain);
  });

  test('the head is told with the first receipts of a further day', async () => {
    const trader = await newTrader(service);
    await buy(trader);
    await chainOf(trader);
    const told = () => sql<{ readonly payload: unknown }[]>`
      select payload from facts where agent_id = ${trader.agentId} and kind = 'receipts'`;
    expect(await told()).toEqual([]);
    await sql`update receipt_heads set told_on = told_on - 1 where agent_id = ${trader.agentId}`;
    await buy(trader);
    await buy(trader);
    const chain = await chainOf(trader);
    const [head, ...more] = (await told()).map(
      ({ payload }) => payload as { sequence: number; hash: string },
    );
    expect(more).toEqual([]);
    expect(chain.find(({ sequence }) => sequence === head?.sequence)?.hash).toBe(head?.hash);
  });

  test('an order by quote has the id of its transaction; a refused one has none', async () => {
    const trader = await newQuoteTrader(service);
    const submitted = await trader.trade();
    const [entry] = await chainOf(trader);
    expect(entry?.body).toMatchObject({
      orderId: submitted.orderId,
      asked: { kind: 'quoted', venue: 'kalshi', transactionId: submitted.txSignature },
    });
    expect((await trader.get(`/markets/orders/${submitted.orderId}/receipt`)).body.entries).toHaveLength(1);
  });

  test('only for its agent and its owner', async () => {
    const [trader, other] = [await newTrader(service), await newTrader(service)];
    const { orderId } = await buy(trader);
    const [entry] = await chainOf(trader);
    const path = `/markets/orders/${orderId}/receipt`;
    expect((await get(other, path)).body.code).toBe('order_not_found');
    expect((await get(other, '/agents/receipts')).body).toMatchObject({
      entries: [],
      head: { sequence: 0 },
      next: null,
    });
    const [owner, stranger] = [new Visitor(service), new Visitor(service)];
    await owner.register('Ada');
    await stranger.register('Eve');
    await owner.send('POST', '/owner/claim', { claimCode: (await trader.client.getMe()).claimCode });
    const owned = `/owner/agents/${trader.agentId}`;
    expect((await owner.send('GET', `${owned}/orders/${orderId}/receipt`)).body.entries).toEqual([entry]);
    expect((await owner.send('GET', `${owned}/receipts`)).body.entries).toEqual([entry]);
    expect((await stranger.send('GET', `${owned}/receipts`)).body.code).toBe('agent_not_found');
    expect((await stranger.send('GET', `${owned}/orders/${orderId}/receipt`)).body.code).toBe(
      'agent_not_found',
    );
    expect((await get(trader, '/agents/receipts?aftr=1')).body.code).toBe('invalid_request');
  });
});

describe('who writes', () => {
  test('two writers at once add nothing twice, and one that dies before it writes leaves nothing', async () => {
    const trader = await newTrader(service);
    const logs = [createReceiptLog(sql), createReceiptLog(sql), createReceiptLog(sql)];
    const dying = createReceiptLog(sql)
      .extend(5, () => {
        throw new Error('killed');
      })
      .catch(() => {});
    const orders = await Promise.all(Array.from({ length: 6 }, () => buy(trader)));
    await Promise.all([
      dying,
      ...logs.map((log) => log.extend(3, (piece) => linkReceipts(piece, nativeSha256))),
    ]);
    const chain = await chainOf(trader);
    // A piece may end between an order and its fill: then that has an entry of its own.
    const asked = chain.filter(({ body }) => body.asked !== undefined).map(({ body }) => body.orderId);
    expect(asked.toSorted()).toEqual(orders.map(({ orderId }) => orderId).toSorted());
    expect(verifyReceipts({ entries: chain }).ok).toBe(true);
    expect(await audit()).toEqual([]);
  });

  test('facts of which no receipt is made yet are not forgotten', async () => {
    const trader = await newTrader(service);
    await buy(trader);
    await chainOf(trader);
    /** How many facts of orders are left. */
    const forget = async (before: string): Promise<number> => {
      const { tx, rollback } = openTransaction(sql);
      await tx.unsafe(before);
      await tx`select forget_facts(now() + interval '1 hour', 1000000)`;
      const [row] = await tx<{ readonly count: number }[]>`select count(*)::int as count from facts
        where kind = 'order' and agent_id = ${trader.agentId}`;
      await rollback();
      return row?.count ?? -1;
    };
    expect(await forget("update receipt_log set writer = '0', seq = 0")).toBe(1);
    expect(await forget('select 1')).toBe(0);
  });
});

describe('an altered row is found, and the first one is named', () => {
  let trader: Trader;
  let ids: readonly string[];

  beforeAll(async () => {
    trader = await newTrader(service);
    ids = [];
    for (let count = 0; count < 3; count += 1) ids = [...ids, (await buy(trader)).orderId];
    await chainOf(trader);
    expect(await audit()).toEqual([]);
  });

  /** What the audit says while something is altered, which is then put back. */
  async function whileAltered(
    alter: (tx: Sql) => PromiseLike<unknown>,
    restore: (tx: Sql) => PromiseLike<unknown>,
  ): Promise<readonly AuditFault[]> {
    await alter(sql);
    const found = await audit();
    await restore(sql);
    expect(await audit()).toEqual([]);
    return found;
  }

  const bend = async (tx: Sql, statement: string): Promise<void> => {
    await tx.unsafe(statement);
  };
  const order = () => `order_id = '${ids[1]}'`;

  const ALTERATIONS: readonly (readonly [string, () => readonly string[], () => string, string])[] = [
    [
      'an order',
      () => [
        `update orders set shares = shares + 1 where ${order()}`,
        `update orders set shares = shares - 1 where ${order()}`,
      ],
      () => `order ${ids[1]}`,
      'shares is',
    ],
    [
      'its labels',
      () => [
        `update orders set source = 'sdk:other' where ${order()}`,
        `update orders set source = 'sdk:receipts' where ${order()}`,
      ],
      () => `order ${ids[1]}`,
      'source is',
    ],
    [
      'its reasoning',
      () => [
        `update orders set reasoning = 'x' where ${order()}`,
        `update orders set reasoning = 'because' where ${order()}`,
      ],
      () => `order ${ids[1]}`,
      'reasoningDigest is',
    ],
    [
      'a fill',
      () => [
        `update fills set fee = fee + 1 where ${order()}`,
        `update fills set fee = fee - 1 where ${order()}`,
      ],
      () => `of order ${ids[1]}`,
      'fee is',
    ],
    [
      'a receipt',
      () => [
        `update receipts set body = replace(body, '"BUY"', '"SELL"') where ${order()}`,
        `update receipts set body = replace(body, '"SELL"', '"BUY"') where ${order()}`,
      ],
      () => 'receipt 2',
      'altered',
    ],
    [
      'a receipt and its hash',
      () => [
        `update receipts set hash = sha256(hash) where agent_id = '${trader.agentId}' and sequence = 2; create table kept_hash as select decode('00', 'hex') as h`,
        'drop table kept_hash',
      ],
      () => 'receipt 2',
      'altered',
    ],
  ];

  test.each(ALTERATIONS)('%s', async (_name, statements, row, problem) => {
    const [alter = '', back = ''] = statements();
    const [hash] = await sql<
      { readonly hash: Buffer }[]
    >`select hash from receipts where agent_id = ${trader.agentId} and sequence = 2`;
    const found = await whileAltered(
      (tx) => bend(tx, alter),
      async (tx) => {
        await bend(tx, back);
        await tx`update receipts set hash = ${hash?.hash as Buffer} where agent_id = ${trader.agentId} and sequence = 2`;
      },
    );
    expect(found).toEqual([
      {
        agentId: trader.agentId,
        row: expect.stringContaining(row()),
        problem: expect.stringContaining(problem),
      },
    ]);
  });

  test('a deleted receipt, in the middle and at the end; two that are swapped; a deleted order and fill', async () => {
    const agent = trader.agentId;
    await sql.unsafe(`create table kept as select * from receipts where agent_id = '${agent}'`);
    const putBack = async (tx: Sql) => {
      await tx.unsafe(`delete from receipts where agent_id = '${agent}'`);
      await tx.unsafe('insert into receipts select * from kept');
    };
    const rowOf = async (statement: string): Promise<readonly string[]> =>
      (await whileAltered((tx) => bend(tx, statement), putBack)).map(({ row }) => row);
    expect(await rowOf(`delete from receipts where agent_id = '${agent}' and sequence = 2`)).toEqual([
      'receipt 3',
    ]);
    expect(await rowOf(`delete from receipts where agent_id = '${agent}' and sequence = 3`)).toEqual([
      'receipt 3',
    ]);
    expect(
      await rowOf(
        `update receipts set sequence = case sequence when 1 then -2 else -1 end where agent_id = '${agent}' and sequence < 3;
         update receipts set sequence = -sequence where agent_id = '${agent}' and sequence < 0`,
      ),
    ).toEqual(['receipt 1']);
    // The whole chain of an agent.
    await sql.unsafe(`create table kept_head as select * from receipt_heads where agent_id = '${agent}'`);
    const none = await whileAltered(
      (tx) =>
        bend(
          tx,
          `delete from receipts where agent_id = '${agent}'; delete from receipt_heads where agent_id = '${agent}'`,
        ),
      async (tx) => {
        await tx.unsafe('insert into receipt_heads select * from kept_head');
        await putBack(tx);
      },
    );
    expect(none).toEqual([expect.objectContaining({ problem: expect.stringContaining('has no receipt') })]);
    await sql.unsafe(`create table kept_orders as select * from orders where ${order()}`);
    const lost = await whileAltered(
      (tx) => bend(tx, `delete from orders where ${order()}`),
      (tx) => bend(tx, 'insert into orders select * from kept_orders'),
    );
    expect(lost).toEqual([
      expect.objectContaining({ row: `order ${ids[1]}`, problem: expect.stringContaining('deleted') }),
    ]);
    await sql.unsafe(`create table kept_fills as select * from fills where ${order()}`);
    const gone = await whileAltered(
      (tx) => bend(tx, `delete from fills where ${order()}`),
      (tx) => bend(tx, 'insert into fills select * from kept_fills'),
    );
    expect(gone).toEqual([
      expect.objectContaining({
        row: expect.stringContaining(ids[1] as string),
        problem: expect.stringContaining('deleted'),
      }),
    ]);
  });

  test('a chain that was rewritten as a whole is found by a head that was kept, and by nothing else', async () => {
    const chain = await chainOf(trader);
    const kept = { sequence: 2, hash: chain[1]?.hash as string };
    expect(verifyReceipts({ entries: chain, head: kept }).ok).toBe(true);
    const rewritten = { sequence: 2, hash: 'f'.repeat(64) };
    expect(verifyReceipts({ entries: chain, head: rewritten })).toMatchObject({
      ok: false,
      fault: { sequence: 2, problem: expect.stringContaining('rewritten') },
    });
    const heads = new Map([[trader.agentId, rewritten]]);
    const { faults } = await inDatabase(sql, (reads) => auditReceipts(reads, heads));
    expect(faults).toEqual([
      expect.objectContaining({ row: 'receipt 2', problem: expect.stringContaining('rewritten') }),
    ]);
  });

  test('the command checks an export and the database, and ends with 1 when something is altered', async () => {
    const chain = await chainOf(trader);
    const run = (...options: string[]) =>
      promisify(execFile)('node', ['scripts/verify-receipts.ts', ...options]).then(
        ({ stdout }) => ({ code: 0, stdout }),
        (error: { code: number; stdout: string; stderr: string }) => error,
      );
    const file = join(mkdtempSync(join(tmpdir(), 'receipts-')), 'export.json');
    writeFileSync(file, JSON.stringify({ entries: chain }));
    expect(await run(file)).toMatchObject({ code: 0, stdout: expect.stringContaining('3 entries') });
    const bent = structuredClone(chain);
    Object.assign(bent[1]?.body.state ?? {}, { cost: '1' });
    writeFileSync(file, JSON.stringify(bent));
    expect(await run(file)).toMatchObject({ code: 1, stdout: expect.stringContaining('receipt 2') });
    const sound = { code: 0, stdout: expect.stringContaining('0 altered') };
    expect(await run('--database', service.databaseUrl)).toMatchObject(sound);

    // Of an agent that was erased only a head that was kept tells.
    const erased = randomUUID();
    const head = ['--head', `${erased}:7:${'a'.repeat(64)}`];
    const named = { code: 1, stdout: expect.stringMatching(new RegExp(`ALTERED agent ${erased}.*entry 7`)) };
    expect(await run('--database', service.databaseUrl, ...head)).toMatchObject(named);
    writeFileSync(file, JSON.stringify({ entries: chain }));
    expect(await run(file, ...head)).toMatchObject(named);
    // Another file than an export is not called altered.
    for (const content of ['null', '{"foo":1}', '{"entries":[null]}']) {
      writeFileSync(file, content);
      const stderr = expect.stringMatching(/is no export of receipts: [^\n]*\n$/);
      expect(await run(file), content).toMatchObject({ code: 2, stderr });
    }
    writeFileSync(file, '{"entries":[]}');
    expect(await run(file)).toMatchObject({ code: 0, stdout: expect.stringContaining('has no receipts') });
  });
});
