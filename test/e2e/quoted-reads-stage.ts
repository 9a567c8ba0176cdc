/** Agents with orders on both venues, one of them a fake quote venue, for the tests of reads. */
import { transact } from '@bellwether/durable';
import { asSolanaAddress, type SolanaAddress, USDC_MINT } from '@bellwether/protocol';
import { buildMarketOrder, linkSolanaWallet, type Market, SolanaSigner } from '@bellwether/sdk';
import { afterAll, beforeAll } from 'vitest';
import { openPool, type Sql } from '../../packages/server/src/platform/database/connection.ts';
import { recordEvidence } from '../../packages/server/src/trading/evidence.ts';
import type { TickerMarket } from '../../packages/server/src/venues/quotes.ts';
import { createFakeQuoteVenue, type FakeQuoteVenue, fakeMarket } from '../fake-quote-venue.ts';
import {
  call,
  newAgent,
  newTrader,
  openMarkets,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';

export const M = 1_000_000n;

export const VENUES = ['polymarket', 'kalshi'];

export let service: TestService;

export let sql: Sql;

export let fake: FakeQuoteVenue;

let key: string;

export const tokenCalls: string[] = [];

export const get = (path: string, as = key) => call(service, 'GET', path, { key: as });

const listed = (ticker: string): TickerMarket => {
  const market = fake.listed.get(ticker);
  if (market === undefined) throw new Error(`no market ${ticker}`);
  return market;
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

/** Answers much later than any read waits. */
export const late = () =>
  new Promise<never>((_, reject) => setTimeout(reject, 100_000, new Error('the fake venue is late')).unref());

interface Placed {
  readonly agentId: string;
  readonly wallet: string;
  readonly ticker: string;
  readonly outcome?: 'YES' | 'NO';
  readonly shares?: bigint;
  readonly money?: bigint;
  readonly fee?: bigint;
  readonly status?: 'submitting' | 'delayed' | 'filled';
  readonly ageMs?: number;
}

let orders = 0;

/** Writes the row of a quoted order, and its fill as evidence. */
export async function placed(order: Placed): Promise<string> {
  const { agentId, wallet, ticker, outcome = 'YES', shares = 10n * M, money = 6n * M, fee = 0n } = order;
  const { status = 'filled', ageMs = 0 } = order;
  orders += 1;
  const orderId = `0190d000-0000-7000-8000-${String(orders).padStart(12, '0')}`;
  const market = listed(ticker);
  const mint = market.tokenIds[outcome === 'YES' ? 0 : 1];
  const at = new Date(Date.now() - ageMs);
  await sql`insert into orders (agent_id, order_id, user_id, venue, market_id, condition_id, question, token_id, outcome,
      kind, side, is_limit, time_in_force, post_only, defer_exec, price, limit_price, shares, money, funder, wallet_address,
      fee_amount, request_id, created_at, status, journal, reserved_day, reserved_amount, updated_at)
    select agent_id, ${orderId}, user_id, 'kalshi', ${ticker}, ${ticker}, ${market.question}, ${mint}, ${outcome}, 'quoted', 'BUY',
      false, 'FAK', false, false, 6000, 6100, ${shares.toString()}, ${money.toString()}, ${wallet}, ${wallet}, 0, 'test',
      ${at}, 'submitting', '[]', current_date, ${money.toString()}, ${at}
    from agents where agent_id = ${agentId}`;
  if (status !== 'submitting') await sql`update orders set status = 'delayed' where order_id = ${orderId}`;
  await sql`select note_agent_wallets(${agentId}::uuid, array[${wallet}::text], ${wallet}, now())`;
  if (status === 'filled') {
    await transact(sql, (tx) =>
      recordEvidence(tx, {
        outcomes: [
          {
            orderId,
            status: 'filled',
            filled: shares,
            cost: money,
            fees: fee,
            errorCode: null,
            first: { success: true, status: 'submitted', filled: 0n, cost: 0n, fees: 0n, errorCode: null },
            journal: [],
            at: Date.now(),
          },
        ],
        fills: [
          {
            wallet,
            orderId,
            tradeId: 0,
            conditionId: ticker,
            tokenId: mint,
            outcome,
            side: 'BUY',
            price: 6000,
            size: shares,
            cost: money,
            fee,
            liquidity: 'taker',
            matchKind: 'DFLOW',
            at: Date.now(),
          },
        ],
        markets: [
          {
            conditionId: ticker,
            marketId: ticker,
            slug: ticker,
            question: market.question,
            endDate: market.endDate,
            venue: 'kalshi',
          },
        ],
        resolutions: [],
        deposits: [],
      }),
    );
  }
  return orderId;
}

interface OnBoth extends Trader {
  readonly wallet: string;
  readonly solana: SolanaSigner;
}

/** Trades on both venues; the Solana wallet is linked and has 500 on its chain. */
export async function onBoth(): Promise<OnBoth> {
  const trader = await newTrader(service);
  const solana = SolanaSigner.generate();
  await linkSolanaWallet(trader.client, solana);
  token(solana.address, USDC_MINT, 500n * M);
  return { ...trader, solana, wallet: solana.address };
}

export const buyBySignedOrder = async (trader: Trader, amount = 20): Promise<Market> => {
  const [market] = (await openMarkets(trader.client)) as [Market];
  await trader.client.placeTrade(
    await buildMarketOrder({
      signer: trader.signer,
      market,
      outcome: 'YES',
      side: 'BUY',
      amount,
      worstPrice: 0.95,
    }),
  );
  return market;
};

/** For the top of a test file. */
export function useStage(): void {
  beforeAll(async () => {
    fake = createFakeQuoteVenue();
    const { chain } = fake.quotes;
    const { tokenAccount } = chain;
    chain.tokenAccount = (owner, mint) => {
      tokenCalls.push(owner);
      return tokenAccount(owner, mint);
    };
    service = await startTestService({ PAPER_WORLD: 'off' }, { venues: () => [fake] });
    sql = openPool(service.databaseUrl, { max: 2 });
    key = (await newAgent(service)).apiKey;
  });
  afterAll(() => sql.end());
}
