/** Every altered, deleted, added or moved row of receipts, orders or fills is found, and the first such row is named. */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { verifyReceipts } from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Sql } from '../../packages/server/src/platform/database/connection.ts';
import { nativeSha256 } from '../../packages/server/src/platform/system/secrets.ts';
import { type AuditFault, auditReceipts } from '../../packages/server/src/receipts/index.ts';
import { newTrader, startTestService, type Trader } from '../harness.ts';
import { runScript } from '../service-process.ts';
import { temporaryFolder } from '../setup/clean-up.ts';
import { audit, buy, chainOf, openReceiptsStage, type ReceiptsStage } from './receipts-stage.ts';

let stage: ReceiptsStage;
let { service, sql } = {} as ReceiptsStage;

beforeAll(async () => {
  stage = await openReceiptsStage();
  ({ service, sql } = stage);
});

describe('an altered row is found, and the first one is named', () => {
  let trader: Trader;
  let ids: readonly string[];

  beforeAll(async () => {
    trader = await newTrader(service);
    ids = [];
    for (let count = 0; count < 3; count += 1) ids = [...ids, (await buy(stage, trader)).orderId];
    await chainOf(stage, trader);
    expect(await audit(stage)).toEqual([]);
  });

  /** The audit's findings while something is altered, which is then put back. */
  async function whileAltered(
    alter: (tx: Sql) => PromiseLike<unknown>,
    restore: (tx: Sql) => PromiseLike<unknown>,
  ): Promise<readonly AuditFault[]> {
    await alter(sql);
    const found = await audit(stage);
    await restore(sql);
    expect(await audit(stage)).toEqual([]);
    return found;
  }

  const bend = async (tx: Sql, statement: string): Promise<void> => {
    await tx.unsafe(statement);
  };
  const order = () => `order_id = '${ids[1]}'`;
  const second = () => `agent_id = '${trader.agentId}' and sequence = 2`;

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
      'its journal',
      () => [
        `update orders set journal_lines = replace(journal_lines, 'recorded', 'Recorded') where ${order()}`,
        `update orders set journal_lines = replace(journal_lines, 'Recorded', 'recorded') where ${order()}`,
      ],
      () => `order ${ids[1]}`,
      'journal',
    ],
    [
      'its journal as earlier releases wrote it',
      () => [
        `update orders set journal = '[{"at": "2026-01-01T00:00:00Z", "event": "x", "status": "live"}]' where ${order()}`,
        `update orders set journal = '[]' where ${order()}`,
      ],
      () => `order ${ids[1]}`,
      'journal',
    ],
    [
      'what was added to its journal',
      () => [
        `update orders set journal_lines = journal_lines || E'[1,"canceled","canceled"]\\n' where ${order()}`,
        `update orders set journal_lines = replace(journal_lines, E'[1,"canceled","canceled"]\\n', '') where ${order()}`,
      ],
      () => `order ${ids[1]}`,
      'more entries',
    ],
    [
      'its journal into what is no JSON',
      () => [
        `create table kept_lines as select journal_lines from orders where ${order()}; update orders set journal_lines = E'{\\n' where ${order()}`,
        `update orders set journal_lines = (select journal_lines from kept_lines) where ${order()}; drop table kept_lines`,
      ],
      () => `order ${ids[1]}`,
      'never writes',
    ],
    [
      'its fee',
      () => [
        `update orders set fee_amount = fee_amount + 1 where ${order()}`,
        `update orders set fee_amount = fee_amount - 1 where ${order()}`,
      ],
      () => `order ${ids[1]}`,
      'feeAmount is',
    ],
    [
      'what a fill realized',
      () => [
        `update fills set realized = realized + 1 where ${order()}`,
        `update fills set realized = realized - 1 where ${order()}`,
      ],
      () => `of order ${ids[1]}`,
      'realized is',
    ],
    [
      'a receipt into what is no JSON',
      () => [
        `create table kept_body as select body from receipts where ${second()}; update receipts set body = 'x' where ${second()}`,
        `update receipts set body = (select body from kept_body) where ${second()}; drop table kept_body`,
      ],
      () => 'receipt 2',
      'no JSON',
    ],
    [
      'a new order into the time before receipts',
      () => [
        `create table kept_order as select * from orders where ${order()}; update kept_order set order_id = 'added', created_at = '2001-01-01'; insert into orders select * from kept_order`,
        `delete from orders where order_id = 'added'; drop table kept_order`,
      ],
      () => 'order added',
      'has no receipt',
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
    const chain = await chainOf(stage, trader);
    const kept = { sequence: 2, hash: chain[1]?.hash as string };
    expect(verifyReceipts({ entries: chain, head: kept }).ok).toBe(true);
    const rewritten = { sequence: 2, hash: 'f'.repeat(64) };
    expect(verifyReceipts({ entries: chain, head: rewritten })).toMatchObject({
      ok: false,
      fault: { sequence: 2, problem: expect.stringContaining('rewritten') },
    });
    const heads = new Map([[trader.agentId, rewritten]]);
    const { faults } = await auditReceipts(sql, { sha256: nativeSha256, kept: heads });
    expect(faults).toEqual([
      expect.objectContaining({ row: 'receipt 2', problem: expect.stringContaining('rewritten') }),
    ]);
  });

  test('the command checks an export and the database, and ends with 1 when something is altered', async () => {
    const chain = await chainOf(stage, trader);
    const run = (...options: string[]) => runScript('scripts/verify-receipts.ts', options);
    const file = join(temporaryFolder(), 'export.json');
    writeFileSync(file, JSON.stringify({ entries: chain }));
    expect(await run(file)).toMatchObject({ code: 0, stdout: expect.stringContaining('3 entries') });
    const bent = structuredClone(chain);
    Object.assign(bent[1]?.body.state ?? {}, { cost: '1' });
    writeFileSync(file, JSON.stringify(bent));
    expect(await run(file)).toMatchObject({ code: 1, stdout: expect.stringContaining('receipt 2') });
    const sound = { code: 0, stdout: expect.stringContaining('0 altered') };
    expect(await run('--database', service.databaseUrl)).toMatchObject(sound);

    // An agent that was erased is known only from a head that was kept.
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
    const nothing = { code: 3, stdout: expect.stringContaining('nothing was verified') };
    expect(await run(file)).toMatchObject(nothing);
    expect(await run(file, ...head)).toMatchObject(named);
    const fresh = await startTestService({ PAPER_WORLD: 'off' });
    expect(await run('--database', fresh.databaseUrl)).toMatchObject(nothing);
  });
});
