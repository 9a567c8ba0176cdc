/** The adapter of DFlow on the sandbox: markets and orders. */
import {
  readTransaction,
  type SolanaAddress,
  transactionId,
  USDC_MINT,
  withSignature,
} from '@bellwether/protocol';
import { describe, expect, test } from 'vitest';
import type { OrderProgress, TickerMarket } from '../src/venues/quotes.ts';
import {
  alice,
  ask,
  clock,
  exchange,
  executable,
  held,
  liquidMarket,
  logged,
  sandbox,
  useStage,
  venue,
} from './dflow-sandbox-stage.ts';

useStage();

type Executable = Awaited<ReturnType<typeof executable>>;

/** Signs and sends. @returns the signature once it has landed */
async function submitted(quote: Executable, wallet = alice): Promise<string> {
  const wire = wallet.sign(quote.wire);
  const simulation = await venue.quotes.chain.simulate(wire, wallet.address, true);
  expect(simulation.kind).toBe('ok');
  expect(await venue.quotes.chain.send(wire)).toEqual({ kind: 'sent' });
  const signature = transactionId(readTransaction(wire));
  expect((await venue.quotes.chain.landings([signature], false)).get(signature)).toEqual({ kind: 'landed' });
  return signature;
}

/** The venue's evidence once the fill is due. */
async function ended(signature: string, quote: Executable): Promise<OrderProgress> {
  clock.ms += 2_000;
  await sandbox.venue.tick();
  return venue.quotes.progress(signature, quote.lastValidBlockHeight);
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
    expect(await venue.quotes.progress(signature, quote.lastValidBlockHeight)).toEqual({
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
    expect(await venue.quotes.progress(signature, quote.lastValidBlockHeight)).toEqual({ kind: 'unknown' });
    clock.ms += 122_000;
    expect(await venue.quotes.chain.blockHeight()).toBeGreaterThan(quote.lastValidBlockHeight);
    // Expired: the node may lag, so it proves nothing, and neither does the simulation.
    expect(await venue.quotes.chain.send(alice.sign(quote.wire))).toEqual({ kind: 'unknown' });
    expect(await venue.quotes.chain.simulate(alice.sign(quote.wire), alice.address, true)).toEqual({
      kind: 'unknown',
    });
    expect(await venue.quotes.progress(signature, quote.lastValidBlockHeight)).toEqual({ kind: 'unknown' });
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
        status === 'open' && endDate - clock.ms < 120_000 && asks.YES !== null && asks.NO !== null,
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
