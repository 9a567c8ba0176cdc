/** Agents with orders on both venues, one of them a fake quote venue, for the tests of reads. */
import { transact } from '@bellwether/durable';
import { asSolanaAddress, type SolanaAddress, USDC_MINT } from '@bellwether/protocol';
import { buildMarketOrder, linkSolanaWallet, type Market, SolanaSigner } from '@bellwether/sdk';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { openPool, type Sql } from '../../packages/server/src/platform/database/connection.ts';
import { recordEvidence } from '../../packages/server/src/trading/outcomes.ts';
import type { TickerMarket } from '../../packages/server/src/venues/quotes.ts';
import { CALM, type FakeQuoteVenue, fakeMarket } from '../fake-quote-venue.ts';
import { aMarket, call, newAgent, newTrader, type TestService, type Trader } from '../harness.ts';
import { startQuotingDesk } from '../quote-trader.ts';

export const M = 1_000_000n;

export const VENUES = ['polymarket', 'kalshi'];

export let service: TestService;

export let sql: Sql;

export let fake: FakeQuoteVenue;

let key: string;

export const get = (path: string, as = key) => call(service, 'GET', path, { key: as });

/** Of a read that is refused. */
export const refusedRead = async (path: string, as = key) => {
  const { status, body } = await get(path, as);
  return [status, body.code];
};

let tickers = 0;

/** A market of its own, so that tests do not affect each other. */
export function newTicker(given: Partial<TickerMarket> = {}): TickerMarket {
  tickers += 1;
  const market = fakeMarket(`KXREAD-${tickers}`, given);
  fake.listed.set(market.id, market);
  return market;
}

export const token = (owner: string, mint: string, amount: bigint) =>
  fake.tokens.push({
    address: asSolanaAddress(SolanaSigner.generate().address),
    mint: asSolanaAddress(mint),
    owner: owner as SolanaAddress,
    amount,
    delegate: null,
    delegatedAmount: 0n,
    frozen: false,
  });

interface Placed {
  readonly outcome?: 'YES' | 'NO';
  readonly shares?: bigint;
  readonly money?: bigint;
  readonly fee?: bigint;
  readonly status?: 'submitting' | 'delayed' | 'filled';
  readonly ageMs?: number;
}

let orders = 0;

/** Writes the row of a quoted order, and its fill as evidence. */
export async function placed(
  { agentId, wallet }: { readonly agentId: string; readonly wallet: string },
  { id, tokenIds, question, endDate }: TickerMarket,
  { outcome = 'YES', shares = 10n * M, money = 6n * M, fee = 0n, status = 'filled', ageMs = 0 }: Placed = {},
): Promise<string> {
  orders += 1;
  const orderId = `0190d000-0000-7000-8000-${String(orders).padStart(12, '0')}`;
  const tokenId = tokenIds[outcome === 'YES' ? 0 : 1];
  const created = new Date(Date.now() - ageMs);
  await sql`insert into orders (agent_id, order_id, user_id, venue, market_id, condition_id, question, token_id, outcome,
      kind, side, is_limit, time_in_force, post_only, defer_exec, price, limit_price, shares, money, funder, wallet_address,
      fee_amount, request_id, created_at, status, journal, reserved_day, reserved_amount, updated_at)
    select agent_id, ${orderId}, user_id, 'kalshi', ${id}, ${id}, ${question}, ${tokenId}, ${outcome}, 'quoted', 'BUY',
      false, 'FAK', false, false, 6000, 6100, ${shares.toString()}, ${money.toString()}, ${wallet}, ${wallet}, 0, 'test',
      ${created}, 'submitting', '[]', current_date, ${money.toString()}, ${created}
    from agents where agent_id = ${agentId}`;
  if (status !== 'submitting') await sql`update orders set status = 'delayed' where order_id = ${orderId}`;
  await sql`select note_agent_wallets(${agentId}::uuid, array[${wallet}::text], ${wallet}, now())`;
  if (status !== 'filled') return orderId;
  const at = Date.now();
  const first = {
    success: true,
    status: 'submitted',
    filled: 0n,
    cost: 0n,
    fees: 0n,
    errorCode: null,
  } as const;
  await transact(sql, (tx) =>
    recordEvidence(tx, {
      outcomes: [
        { orderId, status, filled: shares, cost: money, fees: fee, errorCode: null, first, journal: [], at },
      ],
      fills: [
        {
          ...{ wallet, orderId, tradeId: 0, conditionId: id, tokenId, outcome, side: 'BUY', price: 6000 },
          ...{ size: shares, cost: money, fee, liquidity: 'taker', matchKind: 'DFLOW', at },
        },
      ],
      markets: [
        { conditionId: id, marketId: id, slug: id, question, outcomes: null, endDate, venue: 'kalshi' },
      ],
      resolutions: [],
      deposits: [],
    }),
  );
  return orderId;
}

/** Trades on both venues; the Solana wallet is linked and has 500 on its chain. */
export async function onBoth(): Promise<Trader & { readonly wallet: string }> {
  const trader = await newTrader(service);
  const solana = SolanaSigner.generate();
  await linkSolanaWallet(trader.client, solana);
  token(solana.address, USDC_MINT, 500n * M);
  return { ...trader, wallet: solana.address };
}

export const signedBuy = ({ signer }: Trader, market: Market, amount: number) =>
  buildMarketOrder({ signer, market, outcome: 'YES', side: 'BUY', amount, worstPrice: 0.95 });

export async function buyBySignedOrder(trader: Trader): Promise<Market> {
  const market = await aMarket(trader.client);
  await trader.client.placeTrade(await signedBuy(trader, market, 20));
  return market;
}

/** For the top of a test file. */
export function useStage(): void {
  beforeAll(async () => {
    ({ service, venue: fake } = await startQuotingDesk());
    sql = openPool(service.databaseUrl, { max: 2 });
    key = (await newAgent(service)).apiKey;
  });
  afterEach(() => Object.assign(fake.controls, CALM));
  afterAll(() => sql.end());
}
