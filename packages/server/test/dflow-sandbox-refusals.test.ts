/** The adapter of DFlow on the sandbox: quotes without a transaction, and the fee. */
import { associatedTokenAddress, SOLANA_PROGRAMS, type SolanaAddress, USDC_MINT } from '@bellwether/protocol';
import {
  type Address,
  appendTransactionMessageInstructions,
  type Blockhash,
  compileTransaction,
  createNoopSigner,
  createTransactionMessage,
  getTransactionEncoder,
  type Instruction,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit';
import { getApproveCheckedInstruction } from '@solana-program/token';
import { describe, expect, test } from 'vitest';
import type { QuoteQuestion, TickerMarket } from '../src/venues/quotes.ts';
import {
  alice,
  ask,
  CREDIT,
  clock,
  held,
  LAMPORTS,
  liquidMarket,
  platform,
  sandbox,
  useStage,
  venue,
  walletOf,
} from './dflow-sandbox-stage.ts';

useStage();

const stranger = walletOf(3);

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
  const at = (address: SolanaAddress) => address as string as Address;
  const SOURCE = associatedTokenAddress(alice.address, USDC_MINT, SOLANA_PROGRAMS.token);

  async function approval(amount: bigint): Promise<Uint8Array> {
    const { blockhash, lastValidBlockHeight } = await sandbox.chain.latestBlockhash();
    const approve: Instruction = getApproveCheckedInstruction({
      source: at(SOURCE),
      mint: at(USDC_MINT),
      delegate: at(platform.address),
      owner: createNoopSigner(at(alice.address)),
      amount,
      decimals: 6,
    });
    const message = pipe(
      createTransactionMessage({ version: 0 }),
      (empty) => setTransactionMessageFeePayer(at(alice.address), empty),
      (paid) =>
        setTransactionMessageLifetimeUsingBlockhash(
          { blockhash: blockhash as Blockhash, lastValidBlockHeight: BigInt(lastValidBlockHeight) },
          paid,
        ),
      (dated) => appendTransactionMessageInstructions([approve], dated),
    );
    return new Uint8Array(getTransactionEncoder().encode(compileTransaction(message)));
  }

  test('is taken by delegation, into an account that is created for it', async () => {
    const transfer = {
      mint: USDC_MINT,
      owner: alice.address,
      delegate: platform.address,
      destination: stranger.address,
      amount: 250_000n,
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
