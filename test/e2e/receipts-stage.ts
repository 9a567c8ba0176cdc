/** A desk whose receipts are read, audited and altered. */
import type { Market, ReceiptEntry } from '@bellwether/sdk';
import { expect, vi } from 'vitest';
import { openPool, type Sql } from '../../packages/server/src/platform/database/connection.ts';
import { nativeSha256 } from '../../packages/server/src/platform/system/secrets.ts';
import { type AuditFault, auditReceipts } from '../../packages/server/src/receipts/index.ts';
import { createFakeQuoteVenue } from '../fake-quote-venue.ts';
import {
  aMarket,
  marketBuy,
  newTrader,
  type RawAnswer,
  startTestService,
  type TestService,
  type Trader,
  withTurns,
} from '../harness.ts';
import { afterFile } from '../setup/clean-up.ts';

/** What never comes fails with its test. */
export const WAITING = { interval: 20, timeout: 60_000 };

export interface ReceiptsStage {
  readonly service: TestService;
  readonly sql: Sql;
  readonly market: Market;
}

export async function openReceiptsStage(): Promise<ReceiptsStage> {
  const service = await startTestService({ PAPER_WORLD: 'off' }, { venues: () => [createFakeQuoteVenue()] });
  const sql = openPool(service.databaseUrl);
  afterFile('pools', () => sql.end());
  return { service, sql, market: await aMarket((await newTrader(service)).client) };
}

export const buy = async ({ market }: ReceiptsStage, trader: Trader, amount = 10) =>
  trader.client.placeTrade({
    ...(await marketBuy(trader, market, amount)),
    reasoning: 'because',
    source: 'sdk:receipts',
  });

/** Once nothing of the agent is behind. */
export async function chainOf(
  stage: ReceiptsStage,
  trader: Pick<Trader, 'get' | 'agentId'>,
): Promise<ReceiptEntry[]> {
  const isDone = vi.waitFor(async () => {
    const behind = await stage.sql`select 1 from facts f cross join receipt_log l
      where f.agent_id = ${trader.agentId} and (f.writer, f.seq) > (l.writer, l.seq) limit 1`;
    expect(behind).toEqual([]);
  }, WAITING);
  await withTurns(stage.service, ['write receipts'], isDone);
  return (await trader.get('/agents/receipts')).body.entries;
}

export const audit = async ({ sql }: ReceiptsStage): Promise<readonly AuditFault[]> =>
  (await auditReceipts(sql, { sha256: nativeSha256 })).faults;

/** The answer to who asks for the receipt of an order, once it is written. */
export async function receiptOf(
  service: TestService,
  trader: Pick<Trader, 'get'>,
  orderId: string,
): Promise<RawAnswer['body']> {
  const isThere = vi.waitFor(async () => {
    const answer = await trader.get(`/markets/orders/${orderId}/receipt`);
    expect(answer.status).toBe(200);
    return answer.body;
  }, WAITING);
  return withTurns(service, ['write receipts'], isThere);
}
