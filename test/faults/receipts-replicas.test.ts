/** Several processes on one database, under load: no reader of the log hears of an effect before its cause. */
import { randomBytes } from 'node:crypto';
import type { AgentEvent, BellwetherClient } from '@bellwether/sdk';
import { describe, expect, test } from 'vitest';
import { openPool, type Sql } from '../../packages/server/src/platform/database/connection.ts';
import { nativeSha256 } from '../../packages/server/src/platform/system/secrets.ts';
import { auditReceipts } from '../../packages/server/src/receipts/index.ts';
import { orderOfTurn, place } from '../group-trading.ts';
import { aMarket, newTrader, type Trader } from '../harness.ts';
import { createDeskDatabase } from '../postgres.ts';
import { type ServiceProcess, startProcess } from '../service-process.ts';
import { afterFile } from '../setup/clean-up.ts';

const TRADERS = 12;
const TURNS = 12;

/** How far an order is in its life. */
const RANKS = ['submitting', 'unknown', 'delayed', 'live', 'partially_filled', 'matched'];
const rankOf = (status: string): number => RANKS.indexOf(status) + 1 || RANKS.length + 1;

/** Orders of which an earlier state came behind a later one. */
function disordered(reported: readonly (readonly [orderId: string, status: string])[]): string[] {
  const furthest = new Map<string, number>();
  return reported.flatMap(([orderId, status]) => {
    const [rank, before] = [rankOf(status), furthest.get(orderId) ?? 0];
    furthest.set(orderId, Math.max(rank, before));
    return rank < before ? [orderId] : [];
  });
}

/** Hears the agent's events until it is stopped. */
function hear(client: BellwetherClient) {
  const reported: [string, string][] = [];
  const stop = new AbortController();
  const isOpen = Promise.withResolvers<void>();
  const done = (async () => {
    for await (const event of client.events({ signal: stop.signal })) {
      if (event.type === 'ready') isOpen.resolve();
      if (event.type.startsWith('order.')) reported.push(stateOf(event));
    }
  })().catch(() => {});
  return {
    reported,
    isOpen: isOpen.promise,
    stop: async () => {
      stop.abort();
      await done;
    },
  };
}

const stateOf = (event: AgentEvent): [string, string] => {
  const { orderId, status } = event.data as { readonly orderId: string; readonly status: string };
  return [orderId, status];
};

const isBehind = async (sql: Sql): Promise<boolean> =>
  (
    await sql<object[]>`select 1 from facts f cross join receipt_log l
      where f.kind in ('order', 'fill') and (f.writer, f.seq) > (l.writer, l.seq) limit 1`
  ).length > 0;

describe.each([2, 3])('%i processes', (count) => {
  test('every receipt and every stream tells an order’s changes in the order of causes', async () => {
    const env = {
      DATABASE_URL: await createDeskDatabase(),
      MASTER_KEY: randomBytes(32).toString('hex'),
      RATE_LIMITS: 'off',
      LOG_LEVEL: 'warn',
    };
    const replicas: ServiceProcess[] = [];
    for (let nth = 0; nth < count; nth += 1) replicas.push(await startProcess({ env }));
    const sql = openPool(env.DATABASE_URL);
    afterFile('pools', () => sql.end());
    const at = (nth: number) => replicas[nth % count] as ServiceProcess;
    const traders = await Promise.all(Array.from({ length: TRADERS }, (_, nth) => newTrader(at(nth))));
    const market = await aMarket((traders[0] as Trader).client);
    const streams = traders.map(({ client }) => hear(client));
    await Promise.all(streams.map(({ isOpen }) => isOpen));
    await Promise.all(
      traders.map(async (trader, index) => {
        for (let turn = 0; turn < TURNS; turn += 1) {
          const request = await orderOfTurn(turn, trader, market);
          expect((await place(at(index + turn), { trader, request })).status).toBe(201);
        }
      }),
    );
    await expect.poll(() => isBehind(sql), { timeout: 120_000 }).toBe(false);
    const report = await auditReceipts(sql, { sha256: nativeSha256 });
    expect(report.orders).toBeGreaterThanOrEqual(TRADERS * TURNS);
    expect(report.faults).toEqual([]);
    const inLog = await sql<{ subject: string; status: string }[]>`
      select subject, payload ->> 'status' as status from facts where kind = 'order' order by writer, seq`;
    expect(disordered(inLog.map(({ subject, status }) => [subject, status]))).toEqual([]);
    await expect
      .poll(() => new Set(streams.flatMap(({ reported }) => reported.map(([orderId]) => orderId))).size)
      .toBe(TRADERS * TURNS);
    await Promise.all(streams.map(({ stop }) => stop()));
    expect(streams.flatMap(({ reported }) => disordered(reported))).toEqual([]);
  });
});
