/** The adapter of DFlow on the sandbox: markets, orders, quotes without a transaction, and the fee. */
import { EXCHANGE_SCHEMA, openExchange } from '@bellwether/exchange';
import {
  associatedTokenAddress,
  readTransaction,
  SOLANA_PROGRAMS,
  type SolanaAddress,
  transactionId,
  USDC_MINT,
  withSignature,
} from '@bellwether/protocol';
import { openSandbox, SANDBOX_PATHS, SANDBOX_SCHEMA, type Sandbox } from '@bellwether/sandbox';
import { createNoopSigner } from '@solana/kit';
import { getApproveCheckedInstruction } from '@solana-program/token';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openDeskDatabase } from '../../../test/postgres.ts';
import { venueSigner } from '../../sandbox/src/dflow/tokens.ts';
import type { HttpSend } from '../src/platform/outbound/http.ts';
import { createDflowVenue } from '../src/venues/dflow/dflow-venue.ts';
import type { OrderProgress, QuoteQuestion, TickerMarket, VenueQuote } from '../src/venues/quotes.ts';
import { createSolanaChain } from '../src/venues/solana/solana-chain.ts';
import { kit, unsigned } from './dflow-venue-stage.ts';

const START = Date.parse('2026-11-21T12:00:00Z');

const CREDIT = 100_000_000_000n;
const LAMPORTS = 1_000_000_000n;

function newWallet(name: string) {
  const { address, sign } = venueSigner('wallets of tests', name);
  return {
    address,
    sign: (wire: Uint8Array) => withSignature(wire, address, sign(readTransaction(wire).message)),
  };
}
const alice = newWallet('alice');
const platform = newWallet('platform');
const stranger = newWallet('stranger');

/** A manual clock; `every` never fires, so the sandbox only works on `tick`. */
const clock = { ms: START, now: () => clock.ms, every: () => ({ stop() {} }) };

let exchange: Awaited<ReturnType<typeof openExchange>>;
let sandbox: Sandbox;
let venue: ReturnType<typeof createDflowVenue>;
const logged: string[] = [];

/** A market with offers on both sides near the middle, which does not end during the test. */
async function liquidMarket(): Promise<TickerMarket> {
  const markets = (await venue.markets.search({ words: '*' })).markets as readonly TickerMarket[];
  const found = markets.find(
    ({ phase, bestBid = 0, asks, endDate }) =>
      phase === 'active' &&
      bestBid > 3_000 &&
      (asks.YES ?? 9_999) < 7_000 &&
      (endDate ?? 0) > clock.ms + 86_400_000,
  );
  if (found === undefined) throw new Error('the world has no market to trade');
  return found;
}

const ask = (ticker: string, changes: Partial<QuoteQuestion> = {}): Promise<VenueQuote> =>
  venue.quotes.quote({
    ...{ ticker, outcome: 'YES', side: 'BUY', amount: 10_000_000n, wallet: alice.address, destination: null },
    ...changes,
  });

async function executable(ticker: string, changes: Partial<QuoteQuestion> = {}) {
  const quote = await ask(ticker, changes);
  if (quote.kind !== 'executable') throw new Error(JSON.stringify(quote, (_key, value) => String(value)));
  return quote;
}

const held = async (mint: SolanaAddress): Promise<bigint> =>
  (await venue.quotes.chain.tokenAccount(alice.address, mint))?.amount ?? 0n;

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
    proofUrl: `http://sandbox${SANDBOX_PATHS.trade}`,
    exchangeStatusUrl: `http://sandbox${SANDBOX_PATHS.metadata}/trade-api/v2/exchange/status`,
    apiKey: null,
    slippageBps: 500,
    priceImpactPercent: 10,
    maintenanceEnd: () => null,
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
  const off = { maintenance: 'off', kyc: 'off', geoblock: 'off', outage: 'off' };
  Object.assign(sandbox.venue.switches, { ...off, fill: 'auto' });
});

type Executable = Awaited<ReturnType<typeof executable>>;

/** Signs and sends. @returns the signature once it has landed */
async function submitted(quote: Executable): Promise<string> {
  const wire = alice.sign(quote.wire);
  const simulation = await venue.quotes.chain.simulate(wire, alice.address, true);
  expect(simulation.kind).toBe('ok');
  expect(await venue.quotes.chain.send(wire)).toEqual({ kind: 'sent' });
  const signature = transactionId(readTransaction(wire));
  expect((await venue.quotes.chain.landings([signature], false)).get(signature)).toEqual({ kind: 'landed' });
  return signature;
}

const placed = (signature: string, { amounts, lastValidBlockHeight }: Executable) => ({
  ...amounts,
  signature,
  lastValidBlockHeight,
});

/** The venue's evidence once the fill is due. */
async function ended(signature: string, quote: Executable): Promise<OrderProgress> {
  clock.ms += 2_000;
  await sandbox.venue.tick();
  return venue.quotes.progress(placed(signature, quote));
}

const yesOf = (market: TickerMarket) => market.tokenIds[0] as SolanaAddress;

describe('markets', () => {
  test('of the world are listed, found by ticker, mint and words, and have the world’s book', async () => {
    const listed = (await venue.markets.search({ words: '*' })).markets;
    const world = [...exchange.markets()];
    expect(world.length).toBeGreaterThan(50);
    expect(listed).toHaveLength(world.length);
    const market = await liquidMarket();
    expect(await venue.quotes.market(market.id)).toMatchObject({ id: market.id, phase: 'active' });
    expect(await venue.markets.byToken(market.tokenIds[1])).toMatchObject({
      market: { id: market.id },
      outcome: 'NO',
    });
    expect(await venue.quotes.market('KXNONE-1-1')).toBeNull();
    const [byWords] = (await venue.markets.search({ words: market.question })).markets;
    expect(byWords?.id).toBe(market.id);
    const source = world.find(({ question }) => market.question.includes(question));
    const book = await venue.markets.book(market.id, 'NO', 3);
    expect(book?.asks).toEqual(exchange.book(source!.conditionId, 'NO', 3)?.asks);
    expect(book?.asks[0]?.[0]).toBe(market.asks.NO);
    expect(venue.status()).toBe('ready');
    expect(logged).toEqual([]);
  });
});

describe('an order', () => {
  test('to buy is filled later and found on the chain; then the position is sold', async () => {
    const market = await liquidMarket();
    const before = await held(USDC_MINT);
    const quote = await executable(market.id);
    expect(quote.amounts).toMatchObject({ inAmount: 10_000_000n, isRedemption: false });
    expect(quote.amounts.outAmount % 1_000_000n).toBe(0n);
    expect(quote.expectedEnd - clock.ms).toBe(120_000);
    const signature = await submitted(quote);
    expect(await venue.quotes.progress(placed(signature, quote))).toEqual({
      kind: 'open',
      fills: [],
      reverts: [],
    });
    expect(await held(USDC_MINT)).toBe(before - 10_000_000n);

    const progress = await ended(signature, quote);
    expect(progress).toMatchObject({ kind: 'closed', fills: [{ outAmount: quote.amounts.outAmount }] });
    if (progress.kind !== 'closed') return;
    const [fill] = progress.fills;
    expect(fill!.fee).toBeGreaterThan(0n);
    expect(await held(USDC_MINT)).toBe(before - fill!.inAmount);
    expect(await held(yesOf(market))).toBe(quote.amounts.outAmount);
    const outcomes = await venue.quotes.chain.outcomeAccounts(alice.address);
    expect(outcomes.map(({ mint, amount }) => [mint, amount])).toEqual([
      [yesOf(market), quote.amounts.outAmount],
    ]);
    const byMint = await venue.quotes.marketsByMint(outcomes.map(({ mint }) => mint));
    expect(byMint.get(yesOf(market))?.id).toBe(market.id);

    // The same bytes again change nothing.
    expect(await venue.quotes.chain.send(alice.sign(quote.wire))).toEqual({ kind: 'sent' });

    const sale = await executable(market.id, { side: 'SELL', amount: 1_000_000n });
    expect(sale.amounts.inAmount).toBe(1_000_000n);
    const sold = await ended(await submitted(sale), sale);
    expect(sold).toMatchObject({ kind: 'closed', fills: [{ inAmount: 1_000_000n }], reverts: [] });
    expect(await held(yesOf(market))).toBe(quote.amounts.outAmount - 1_000_000n);
    expect(logged).toEqual([]);
  });

  test('is partially filled, and the rest is returned', async () => {
    sandbox.venue.switches.fill = 'partial';
    const market = await liquidMarket();
    const quote = await executable(market.id);
    const progress = await ended(await submitted(quote), quote);
    expect(progress).toMatchObject({ kind: 'closed', reverts: [{ mint: USDC_MINT }] });
    if (progress.kind !== 'closed') return;
    expect(progress.fills[0]!.outAmount).toBeLessThan(quote.amounts.outAmount);
    expect(progress.fills[0]!.inAmount + progress.reverts[0]!.amount).toBe(10_000_000n);
  });

  test('is returned completely', async () => {
    sandbox.venue.switches.fill = 'revert';
    const market = await liquidMarket();
    const before = await held(USDC_MINT);
    const quote = await executable(market.id);
    const progress = await ended(await submitted(quote), quote);
    expect(progress).toMatchObject({
      kind: 'closed',
      fills: [],
      reverts: [{ mint: USDC_MINT, amount: 10_000_000n }],
    });
    expect(await held(USDC_MINT)).toBe(before);
  });

  test('stays open until the venue fills it', async () => {
    sandbox.venue.switches.fill = 'never';
    const quote = await executable((await liquidMarket()).id);
    const signature = await submitted(quote);
    expect(await ended(signature, quote)).toMatchObject({ kind: 'open', fills: [], reverts: [] });
    sandbox.venue.switches.fill = 'revert';
    expect(await ended(signature, quote)).toMatchObject({ kind: 'closed' });
  });

  test('that was never sent is unknown to the venue', async () => {
    const quote = await executable((await liquidMarket()).id);
    const signature = transactionId(readTransaction(alice.sign(quote.wire)));
    expect((await venue.quotes.chain.landings([signature], true)).get(signature)).toEqual({ kind: 'unseen' });
    expect(await venue.quotes.progress(placed(signature, quote))).toEqual({ kind: 'unknown' });
    clock.ms += 122_000;
    expect(await venue.quotes.chain.blockHeight()).toBeGreaterThan(quote.lastValidBlockHeight);
    // Expired: the node may lag, so it proves nothing, and neither does the simulation.
    expect(await venue.quotes.chain.send(alice.sign(quote.wire))).toEqual({ kind: 'unknown' });
    expect(await venue.quotes.chain.simulate(alice.sign(quote.wire), alice.address, true)).toEqual({
      kind: 'unknown',
    });
    expect(await venue.quotes.progress(placed(signature, quote))).toEqual({ kind: 'unknown' });
  });

  test('with a wrong signature is refused permanently', async () => {
    const quote = await executable((await liquidMarket()).id);
    const wrong = withSignature(quote.wire, alice.address, new Uint8Array(64).fill(5));
    expect(await venue.quotes.chain.send(wrong)).toEqual({ kind: 'refused', reason: 'SignatureFailure' });
    expect((await venue.quotes.chain.simulate(wrong, alice.address, true)).kind).not.toBe('ok');
  });

  test('in a market that ended redeems the winning outcome; the losing one pays nothing', async () => {
    const blitz = ((await venue.markets.search({ words: '*' })).markets as readonly TickerMarket[]).find(
      ({ status, endDate, asks }) =>
        status === 'open' && (endDate ?? 0) - clock.ms < 120_000 && asks.YES !== null && asks.NO !== null,
    )!;
    for (const outcome of ['YES', 'NO'] as const) {
      const quote = await executable(blitz.id, { outcome, amount: 3_000_000n });
      expect(await ended(await submitted(quote), quote)).toMatchObject({ kind: 'closed', reverts: [] });
    }
    for (let i = 0; i < 80 && exchange.market(conditionIdOf(blitz))?.status !== 'resolved'; i++) {
      clock.ms += 10_000;
      await exchange.step();
    }
    await sandbox.venue.tick();
    const settled = await venue.quotes.market(blitz.id);
    expect(settled).toMatchObject({ phase: 'settled', status: 'resolved' });
    const winner = settled!.payout as 'YES' | 'NO';
    const loser = winner === 'YES' ? 'NO' : 'YES';
    expect(await ask(blitz.id, { outcome: loser, side: 'SELL', amount: 1_000_000n })).toMatchObject({
      kind: 'degraded',
      code: 'market_closed',
      message: 'This outcome has lost: its tokens pay nothing.',
    });
    expect(await ask(blitz.id)).toMatchObject({ kind: 'degraded', code: 'market_closed' });
    const mint = blitz.tokenIds[winner === 'YES' ? 0 : 1] as SolanaAddress;
    const tokens = await held(mint);
    const before = await held(USDC_MINT);
    const quote = await executable(blitz.id, { outcome: winner, side: 'SELL', amount: tokens });
    expect(quote.amounts).toMatchObject({ isRedemption: true, inAmount: tokens, outAmount: tokens });
    expect(await ended(await submitted(quote), quote)).toMatchObject({
      kind: 'closed',
      fills: [{ inAmount: tokens, outAmount: tokens, fee: 0n }],
    });
    expect(await held(USDC_MINT)).toBe(before + tokens);
  });

  const conditionIdOf = (market: TickerMarket): string =>
    [...exchange.markets()].find(
      ({ question, status }) => status === 'open' && market.question.includes(question),
    )?.conditionId ?? '';
});

describe('a quote without a transaction has a reason', () => {
  const code = async (ticker: string, changes: Partial<QuoteQuestion> = {}) => {
    const quote = await ask(ticker, changes);
    return quote.kind === 'degraded' ? quote.code : quote.kind;
  };

  test('market_not_found, amount_too_small, insufficient_balance, route_not_found', async () => {
    const { id } = await liquidMarket();
    expect(await code('KXNONE-1-1')).toBe('market_not_found');
    expect(await code(id, { amount: 10_000n })).toBe('amount_too_small');
    const { asks } = (await venue.quotes.market(id))!;
    // The price without the fee: DFlow finds no route, and the adapter determines the reason.
    expect(await code(id, { amount: BigInt(asks.YES!) * 100n })).toBe('amount_too_small');
    expect(await code(id, { amount: CREDIT * 2n })).toBe('insufficient_balance');
    expect(await code(id, { wallet: stranger.address })).toBe('insufficient_balance');
    expect(await code(id, { side: 'SELL', amount: CREDIT * 1_000n, wallet: null })).toBe('route_not_found');
    expect(await code(id, { wallet: null })).toBe('preview');
  });

  test('price_impact_too_high, when the order is large for the book', async () => {
    const cheapest = ((await venue.markets.search({ words: '*' })).markets as readonly TickerMarket[])
      .filter(({ phase, asks }) => phase === 'active' && asks.YES !== null)
      .sort((a, b) => a.asks.YES! - b.asks.YES!)
      .slice(0, 10);
    const codes = new Set<string>();
    for (const { id } of cheapest) codes.add(await code(id, { amount: CREDIT * 1_000n, wallet: null }));
    expect(codes).toContain('price_impact_too_high');
  });

  test('kyc_required, with the link, and only for a BUY', async () => {
    const { id } = await liquidMarket();
    sandbox.venue.switches.kyc = 'required';
    const quote = await ask(id);
    expect(quote).toMatchObject({
      code: 'kyc_required',
      message: expect.stringContaining(`https://dflow.net/proof?wallet=${alice.address}`),
    });
    sandbox.venue.switches.verifiedWallets = new Set([alice.address]);
    expect(await code(id)).toBe('executable');
  });

  test('geoblocked and venue_maintenance', async () => {
    const { id } = await liquidMarket();
    sandbox.venue.switches.geoblock = 'on';
    expect(await code(id)).toBe('geoblocked');
    sandbox.venue.switches.geoblock = 'off';
    sandbox.venue.switches.maintenance = 'on';
    expect(await code(id)).toBe('venue_maintenance');
  });

  test('venue_unavailable, until the venue answers again', async () => {
    const { id } = await liquidMarket();
    sandbox.venue.switches.outage = 'on';
    expect(await code(id)).toBe('venue_unavailable');
    expect(await code(id)).toBe('venue_unavailable');
    expect(venue.status()).not.toBe('ready');
    sandbox.venue.switches.outage = 'off';
    expect(await code(id)).toBe('venue_unavailable');
    clock.ms += 5_001;
    expect(await code(id)).toBe('executable');
    expect(venue.status()).toBe('ready');
  });
});

describe('the platform’s fee', () => {
  const SOURCE = associatedTokenAddress(alice.address, USDC_MINT, SOLANA_PROGRAMS.token);

  async function approval(amount: bigint): Promise<Uint8Array> {
    const { blockhash } = await sandbox.chain.latestBlockhash();
    const approve = getApproveCheckedInstruction({
      ...{ source: kit(SOURCE), mint: kit(USDC_MINT), delegate: kit(platform.address) },
      ...{ owner: createNoopSigner(kit(alice.address)), amount, decimals: 6 },
    });
    return new Uint8Array(Buffer.from(unsigned(alice.address, [approve], blockhash), 'base64'));
  }

  test('is taken by delegation, into an account that is created for it', async () => {
    const transfer = {
      ...{ mint: USDC_MINT, owner: alice.address, delegate: platform.address },
      ...{ destination: stranger.address, amount: 250_000n },
    };
    const early = await venue.quotes.chain.buildDelegatedTransfer({ ...transfer, memo: 'before' });
    expect(await venue.quotes.chain.send(platform.sign(early.wire))).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining('Custom 4'),
    });

    const approve = await approval(300_000n);
    // An order's simulation must not contain a delegation.
    expect(await venue.quotes.chain.simulate(approve, alice.address, false)).toMatchObject({
      kind: 'ok',
      changes: expect.arrayContaining([expect.objectContaining({ account: SOURCE, authorityChanged: true })]),
    });
    expect(await venue.quotes.chain.send(alice.sign(approve))).toEqual({ kind: 'sent' });
    expect(await venue.quotes.chain.tokenAccount(alice.address, USDC_MINT)).toMatchObject({
      delegate: platform.address,
      delegatedAmount: 300_000n,
      frozen: false,
    });

    const before = await held(USDC_MINT);
    const built = await venue.quotes.chain.buildDelegatedTransfer({ ...transfer, memo: 'fee' });
    expect(await venue.quotes.chain.send(platform.sign(built.wire))).toEqual({ kind: 'sent' });
    expect(await held(USDC_MINT)).toBe(before - 250_000n);
    expect(await venue.quotes.chain.tokenAccount(stranger.address, USDC_MINT)).toMatchObject({
      amount: 250_000n,
    });
    expect(await venue.quotes.chain.tokenAddress(alice.address, USDC_MINT)).toBe(SOURCE);
    expect(await venue.quotes.chain.lamports(platform.address)).toBeLessThan(LAMPORTS);
  });
});
