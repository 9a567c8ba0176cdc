/** The venue adapter on the sandbox. */
import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { EXCHANGE_SCHEMA, openExchange } from '@bellwether/exchange';
import { readTransaction, type SolanaAddress, toBase58, withSignature } from '@bellwether/protocol';
import { openSandbox, SANDBOX_PATHS, SANDBOX_SCHEMA, type Sandbox } from '@bellwether/sandbox';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { openDeskDatabase } from '../../../test/postgres.ts';
import type { HttpSend } from '../src/platform/outbound/outbound.ts';
import { createDflowVenue } from '../src/venues/dflow/dflow-venue.ts';
import type { QuoteQuestion, TickerMarket, VenueQuote } from '../src/venues/quotes.ts';
import { createSolanaChain } from '../src/venues/solana/solana-chain.ts';

const START = Date.parse('2026-11-21T12:00:00Z');

export const CREDIT = 100_000_000_000n;

export const LAMPORTS = 1_000_000_000n;

const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

export function walletOf(fill: number) {
  const privateKey = createPrivateKey({
    key: Buffer.concat([PKCS8, Buffer.alloc(32, fill)]),
    format: 'der',
    type: 'pkcs8',
  });
  const { x } = createPublicKey(privateKey).export({ format: 'jwk' });
  const address = toBase58(Buffer.from(x!, 'base64url')) as SolanaAddress;
  return {
    address,
    sign: (wire: Uint8Array): Uint8Array =>
      withSignature(wire, address, new Uint8Array(sign(null, readTransaction(wire).message, privateKey))),
  };
}

export const alice = walletOf(1);

export const platform = walletOf(2);

/** A manual clock; `every` never fires, so the sandbox only works on `tick`. */
export const clock = { ms: START, now: () => clock.ms, every: () => ({ stop() {} }) };

export let exchange: Awaited<ReturnType<typeof openExchange>>;

export let sandbox: Sandbox;

export let venue: ReturnType<typeof createDflowVenue>;

export const logged: string[] = [];

/** A market with offers on both sides near the middle, which does not end during the test. */
export async function liquidMarket(): Promise<TickerMarket> {
  const markets = (await venue.markets.search({ words: '*' })).markets as readonly TickerMarket[];
  const found = markets.find(
    ({ phase, bestBid = 0, asks, endDate }) =>
      phase === 'active' && bestBid > 3_000 && (asks.YES ?? 9_999) < 7_000 && endDate > clock.ms + 86_400_000,
  );
  if (found === undefined) throw new Error('the world has no market to trade');
  return found;
}

export const ask = (ticker: string, changes: Partial<QuoteQuestion> = {}): Promise<VenueQuote> =>
  venue.quotes.quote({
    ticker,
    outcome: 'YES',
    side: 'BUY',
    amount: 10_000_000n,
    wallet: alice.address,
    destination: null,
    ...changes,
  });

export async function executable(ticker: string, changes: Partial<QuoteQuestion> = {}) {
  const quote = await ask(ticker, changes);
  if (quote.kind !== 'executable') throw new Error(JSON.stringify(quote, (_key, value) => String(value)));
  return quote;
}

export const held = async (mint: SolanaAddress): Promise<bigint> =>
  (await venue.quotes.chain.tokenAccount(alice.address, mint))?.amount ?? 0n;

/** For the top of a test file. */
export function useStage(): void {
  beforeAll(async () => {
    const sql = await openDeskDatabase();
    await sql.unsafe(EXCHANGE_SCHEMA);
    await sql.unsafe(SANDBOX_SCHEMA);
    const log = (message: string, details?: unknown) => void logged.push(`${message} ${String(details)}`);
    exchange = await openExchange({ sql, seed: 'adapter', clock, autoStep: false });
    sandbox = await openSandbox({ sql, exchange, seed: 'adapter', clock, switches: {}, log });
    const send: HttpSend = (request) => sandbox.request(request);
    const write = (_context: object, message: string) => void logged.push(message);
    const said = { error: write, warn: write, info: write };
    venue = createDflowVenue({
      id: 'kalshi',
      backend: 'paper',
      metadataUrl: `http://sandbox${SANDBOX_PATHS.metadata}`,
      tradeUrl: `http://sandbox${SANDBOX_PATHS.trade}`,
      exchangeStatusUrl: `http://sandbox${SANDBOX_PATHS.metadata}/trade-api/v2/exchange/status`,
      apiKey: null,
      slippageBps: 500,
      paper: { credit: (wallet) => sandbox.venue.credit(wallet, CREDIT, LAMPORTS) },
      send,
      clock,
      log: said,
      chain: createSolanaChain({ url: `http://sandbox${SANDBOX_PATHS.rpc}`, send, clock, log: said }),
    });
    for (const { address } of [alice, platform]) await venue.paper?.credit(address);
  });
  afterAll(async () => {
    await sandbox.close();
    await exchange.close();
  });
  beforeEach(() => {
    logged.length = 0;
    Object.assign(sandbox.venue.switches, {
      maintenance: 'off',
      kyc: 'off',
      geoblock: 'off',
      fill: 'auto',
      outage: 'off',
    });
  });
}
