/** A desk whose receipts are read, audited and altered. */
import { setTimeout as sleep } from 'node:timers/promises';
import { buildMarketOrder, type Market, type ReceiptEntry } from '@bellwether/sdk';
import { openPool, type Sql } from '../../packages/server/src/platform/database/connection.ts';
import { nativeSha256 } from '../../packages/server/src/platform/system/sha256.ts';
import { type AuditFault, auditReceipts } from '../../packages/server/src/receipts/index.ts';
import { createFakeQuoteVenue } from '../fake-quote-venue.ts';
import { aMarket, call, newTrader, startTestService, type TestService, type Trader } from '../harness.ts';
import { afterFile } from '../setup/clean-up.ts';

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
    ...(await buildMarketOrder({
      ...{ signer: trader.signer, market, outcome: 'YES', side: 'BUY', amount, worstPrice: 0.99 },
    })),
    reasoning: 'because',
    source: 'sdk:receipts',
  });

export const get = ({ service }: ReceiptsStage, trader: Pick<Trader, 'apiKey'>, path: string) =>
  call(service, 'GET', path, { key: trader.apiKey });

/** Once nothing of the agent is behind. */
export async function chainOf(
  stage: ReceiptsStage,
  trader: Pick<Trader, 'apiKey' | 'agentId'>,
): Promise<ReceiptEntry[]> {
  for (;;) {
    const [behind] = await stage.sql<object[]>`select 1 from facts f cross join receipt_log l
      where f.agent_id = ${trader.agentId} and (f.writer, f.seq) > (l.writer, l.seq) limit 1`;
    if (behind === undefined) break;
    await sleep(50);
  }
  return (await get(stage, trader, '/agents/receipts')).body.entries;
}

export const audit = async ({ sql }: ReceiptsStage): Promise<readonly AuditFault[]> =>
  (await auditReceipts(sql, { sha256: nativeSha256 })).faults;
