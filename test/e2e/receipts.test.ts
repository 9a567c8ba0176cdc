import { openTransaction } from '@bellwether/durable';
import { verifyReceipts } from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import { nativeSha256 } from '../../packages/server/src/platform/system/secrets.ts';
import { createReceiptStore } from '../../packages/server/src/receipts/index.ts';
import { linkReceipts } from '../../packages/server/src/receipts/write.ts';
import { newTrader, restingOrder } from '../harness.ts';
import { Visitor } from '../passkey.ts';
import { newQuoteTrader } from '../quote-trader.ts';
import { audit, buy, chainOf, openReceiptsStage, type ReceiptsStage } from './receipts-stage.ts';

let stage: ReceiptsStage;
let { service, sql, market } = {} as ReceiptsStage;

beforeAll(async () => {
  stage = await openReceiptsStage();
  ({ service, sql, market } = stage);
});

describe('an order has a receipt', () => {
  test('with what was asked, what was checked with which figures, what the venue answered, and the fills', async () => {
    const trader = await newTrader(service);
    const placed = await buy(stage, trader);
    const [entry, ...others] = await chainOf(stage, trader);
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
    const receipt = (await trader.get(`/markets/orders/${placed.orderId}/receipt`)).body;
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
    const [first] = await chainOf(stage, trader);
    await trader.client.cancelOrder(resting.orderId);
    await buy(stage, trader);
    const chain = await chainOf(stage, trader);
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
      ...(await trader.get('/agents/receipts?limit=2')).body.entries,
      ...(await trader.get('/agents/receipts?limit=2&after=2')).body.entries,
    ];
    expect(pages).toEqual(chain);
  });

  test('the head is sent with the first receipts of a further day', async () => {
    const trader = await newTrader(service);
    await buy(stage, trader);
    await chainOf(stage, trader);
    const reported = () => sql<{ readonly payload: unknown }[]>`
      select payload from facts where agent_id = ${trader.agentId} and kind = 'receipts'`;
    expect(await reported()).toEqual([]);
    await sql`update receipt_heads set told_on = told_on - 1 where agent_id = ${trader.agentId}`;
    await buy(stage, trader);
    await buy(stage, trader);
    const chain = await chainOf(stage, trader);
    const [head, ...more] = (await reported()).map(
      ({ payload }) => payload as { sequence: number; hash: string },
    );
    expect(more).toEqual([]);
    expect(chain.find(({ sequence }) => sequence === head?.sequence)?.hash).toBe(head?.hash);
  });

  test('an order by quote has the id of its transaction; a refused one has none', async () => {
    const trader = await newQuoteTrader(service);
    const submitted = await trader.trade();
    const [entry] = await chainOf(stage, trader);
    expect(entry?.body).toMatchObject({
      orderId: submitted.orderId,
      asked: { kind: 'quoted', venue: 'kalshi', transactionId: submitted.txSignature },
    });
    expect((await trader.get(`/markets/orders/${submitted.orderId}/receipt`)).body.entries).toHaveLength(1);
  });

  test('only for its agent and its owner', async () => {
    const [trader, other] = [await newTrader(service), await newTrader(service)];
    const { orderId } = await buy(stage, trader);
    const [entry] = await chainOf(stage, trader);
    const path = `/markets/orders/${orderId}/receipt`;
    expect((await other.get(path)).body.code).toBe('order_not_found');
    expect((await other.get('/agents/receipts')).body).toMatchObject({
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
    expect((await trader.get('/agents/receipts?aftr=1')).body.code).toBe('invalid_request');
  });
});

describe('who writes', () => {
  test('two writers at once add nothing twice, and one that dies before it writes leaves nothing', async () => {
    const trader = await newTrader(service);
    const logs = [createReceiptStore(sql), createReceiptStore(sql), createReceiptStore(sql)];
    const dying = createReceiptStore(sql)
      .extend(5, () => {
        throw new Error('killed');
      })
      .catch(() => {});
    const orders = await Promise.all(Array.from({ length: 6 }, () => buy(stage, trader)));
    await Promise.all([
      dying,
      ...logs.map((log) => log.extend(3, (piece) => linkReceipts(piece, nativeSha256))),
    ]);
    const chain = await chainOf(stage, trader);
    // A piece may end between an order and its fill: then that has an entry of its own.
    const asked = chain.filter(({ body }) => body.asked !== undefined).map(({ body }) => body.orderId);
    expect(asked.toSorted()).toEqual(orders.map(({ orderId }) => orderId).toSorted());
    expect(verifyReceipts({ entries: chain }).ok).toBe(true);
    expect(await audit(stage)).toEqual([]);
  });

  test('facts of which no receipt is made yet are not forgotten', async () => {
    const trader = await newTrader(service);
    await buy(stage, trader);
    await chainOf(stage, trader);
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
