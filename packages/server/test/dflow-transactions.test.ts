/** Transactions of DFlow that are withheld, and the outcome of an order. */
import {
  asSolanaAddress,
  SOLANA_PROGRAMS,
  type SolanaAddress,
  toBase58,
  USDC_MINT,
} from '@bellwether/protocol';
import { createNoopSigner, type Instruction } from '@solana/kit';
import { getApproveInstruction } from '@solana-program/token';
import { describe, expect, test } from 'vitest';
import type { Simulation } from '../src/venues/chain.ts';
import {
  ask,
  capturedMarket,
  change,
  type Draft,
  degraded,
  dflow,
  HEIGHT,
  key,
  kit,
  logged,
  MINTS,
  ok,
  orderOf,
  paid,
  seen,
  stage,
  transactionOf,
  transfer,
  USDC_ACCOUNT,
  useStage,
  venue,
  WALLET,
  YES,
  YES_ACCOUNT,
} from './dflow-venue-stage.ts';

useStage();

const STRANGER = key(66);

describe('a transaction is withheld', () => {
  const hidden = async (words: string) => {
    expect(await ask()).toMatchObject(degraded('route_not_found', expect.stringContaining(words)));
    expect(logged).toHaveLength(1);
    expect(logged[0]).toContain("error DFlow's order was not shown");
  };

  test.each<[string, object]>([
    ['other tokens', { outputMint: MINTS.no }],
    ['another amount', { inAmount: '1000001' }],
    ['no least amount', { minOutAmount: '0', otherAmountThreshold: '0' }],
    ['no least amount', { minOutAmount: '11000001', otherAmountThreshold: '11000001' }],
    ['least amounts differ', { otherAmountThreshold: '9000000' }],
    ['allows no less than 10.78', { minOutAmount: '10779999', otherAmountThreshold: '10779999' }],
    ['execution mode', { executionMode: 'someday' }],
    ['execution mode is "sync"', { executionMode: 'sync' }],
    ['other tokens back', { revertMint: MINTS.no }],
    ['opening the market', { initPredictionMarketCost: 20_000_000 }],
    ['no transaction', { transaction: undefined }],
    ['blockhash', { lastValidBlockHeight: HEIGHT }],
    ['blockhash', { lastValidBlockHeight: HEIGHT + 1_000 }],
    ['canonical base64', { transaction: '!' }],
    ['ends too early', { transaction: 'AQ==' }],
  ])('when the answer has a fault: %s', async (words, changes) => {
    dflow['/order'] = orderOf(changes);
    await hidden(words);
  });

  const memo = (program: SolanaAddress): Instruction => ({
    programAddress: kit(program),
    data: Uint8Array.of(1),
  });
  test.each<[string, Draft]>([
    ['somebody else than the wallet would pay', { payer: STRANGER }],
    ['calls the program', { more: [memo(STRANGER)] }],
    ['it takes 2000000 atoms', { amount: 2_000_000n }],
    ['it takes 1948096 atoms', { more: [transfer(USDC_ACCOUNT, 1_000_000n)] }],
    ['that the quote does not sell', { more: [transfer(YES_ACCOUNT, 1n, YES)] }],
    [
      'gives somebody rights',
      {
        more: [
          getApproveInstruction({
            source: kit(USDC_ACCOUNT),
            delegate: kit(STRANGER),
            owner: createNoopSigner(kit(WALLET)),
            amount: 1n,
          }),
        ],
      },
    ],
    ['is not one that is known', { more: [memo(SOLANA_PROGRAMS.system)] }],
  ])('when its bytes do more than was asked: %s', async (words, draft) => {
    dflow['/order'] = orderOf({ transaction: transactionOf(draft) });
    await hidden(words);
  });

  test('when it needs another signature', async () => {
    const other = getApproveInstruction({
      source: kit(key(51)),
      delegate: kit(WALLET),
      owner: createNoopSigner(kit(STRANGER)),
      amount: 1n,
    });
    dflow['/order'] = orderOf({ transaction: transactionOf({ more: [other] }) });
    await hidden('more signatures');
  });

  test('unless the unreadable instruction is DFlow’s own: then the simulation decides', async () => {
    dflow['/order'] = orderOf({
      transaction: transactionOf({ more: [memo(SOLANA_PROGRAMS.dflowAggregator)] }),
    });
    expect(await ask()).toMatchObject({ kind: 'executable' });
    stage.simulation = ok(paid, change(key(52), asSolanaAddress(MINTS.no), 3n, 2n));
    await hidden('would take 1 of the mint');
  });

  test.each<[string, Simulation]>([
    ['would fail (instruction 1: Custom 16)', { kind: 'would_fail', reason: 'instruction 1: Custom 16' }],
    ['instead of at most', ok(change(USDC_ACCOUNT, USDC_MINT, 5_000_000n, 4_000_000n))],
    ['instead of at most', ok(paid, change(key(53), USDC_MINT, 1n, 0n))],
    ['lamports', ok(paid, change(WALLET, null, 1_000_000_000n, 990_000_000n))],
    ['who rules', ok({ ...paid, authorityChanged: true })],
    ['who rules', ok(paid, { ...change(WALLET, null, 5n, 5n), authorityChanged: true })],
  ])('when its simulation does more than was asked: %s', async (words, simulated) => {
    stage.simulation = simulated;
    await hidden(words);
  });
});

describe('the outcome of an order', () => {
  const SIGNATURE = toBase58(new Uint8Array(64).fill(3));
  const fill = {
    signature: 'fill-1',
    inputMint: USDC_MINT,
    inAmount: '948096',
    outputMint: MINTS.yes,
    outAmount: '11000000',
  };
  const revert = { signature: 'revert-1', mint: USDC_MINT, amount: '51904' };
  const { signature: transactionSignature, inAmount: inputAmount, outAmount: outputAmount, ...mints } = fill;
  const trade = { transactionSignature, ...mints, inputAmount, outputAmount, feeAmount: '68096' };
  const ORDER = {
    ...{ signature: SIGNATURE, lastValidBlockHeight: HEIGHT },
    ...{ inputMint: asSolanaAddress(USDC_MINT), outputMint: YES, inAmount: 1_000_000n },
  };
  const status = (text: string, more: object = {}) => {
    dflow['/order-status'] = { status: text, inAmount: '0', outAmount: '0', ...more };
    return venue.quotes.progress(ORDER);
  };

  test.each(['pending', 'expired', 'failed', 'an unknown state'])('%s: no evidence', async (text) => {
    expect(await status(text, { fills: [fill] })).toEqual({ kind: 'unknown' });
  });

  test('a signature that DFlow does not know, or no answer: no evidence', async () => {
    dflow['/order-status'] = null;
    expect(await venue.quotes.progress(ORDER)).toEqual({ kind: 'unknown' });
    dflow['/order-status'] = (reply) => reply.code(500).send('');
    expect(await venue.quotes.progress(ORDER)).toEqual({ kind: 'unknown' });
    expect(seen[0]!.url).toBe(`/order-status?signature=${SIGNATURE}&lastValidBlockHeight=${HEIGHT}`);
  });

  test('unknown states are logged once', async () => {
    for (let i = 0; i < 3; i++) await status('an unknown state');
    expect(logged).toHaveLength(1);
  });

  test('open, then closed with fills and reverts, fees from the list of trades', async () => {
    expect(await status('open')).toEqual({ kind: 'open', fills: [], reverts: [] });
    for (const state of ['pendingClose', 'PENDINGCLOSE', 'Open'])
      expect(await status(state), state).toMatchObject({ kind: 'open' });
    dflow['/api/v1/markets/batch'] = { markets: [capturedMarket()], cursor: null };
    dflow['/api/v1/onchain-trades/by-market/'] = {
      trades: [
        { ...trade, transactionSignature: 'other' },
        5,
        // Of another wallet in the same transaction.
        { ...trade, outputAmount: '10000000000', feeAmount: '175000000' },
        trade,
      ],
    };
    const closed = {
      kind: 'closed',
      fills: [{ signature: 'fill-1', inAmount: 948_096n, outAmount: 11_000_000n, fee: 68_096n }],
      reverts: [{ signature: 'revert-1', mint: USDC_MINT, amount: 51_904n }],
    };
    expect(await status('closed', { fills: [fill], reverts: [revert] })).toEqual(closed);
    // A result that was found is not requested again.
    delete dflow['/api/v1/onchain-trades/by-market/'];
    expect(await status('closed', { fills: [fill], reverts: [revert] })).toEqual(closed);
  });

  test('an unreported fee counts as zero and does not delay the fill', async () => {
    const fills = [{ fee: 0n, outAmount: 11_000_000n }];
    expect(await status('closed', { fills: [fill] })).toMatchObject({ kind: 'closed', fills });
    dflow['/api/v1/markets/batch'] = { markets: [capturedMarket()] };
    dflow['/api/v1/onchain-trades/by-market/'] = { trades: [] };
    expect(await status('closed', { fills: [fill] })).toMatchObject({ kind: 'closed', fills });
  });

  test.each<[string, object]>([
    ['other tokens', { outputMint: MINTS.no }],
    ['other tokens', { inputMint: MINTS.no }],
    ['more than the order gave', { inAmount: '1000001' }],
  ])('fills of %s prove nothing, and are logged', async (words, changes) => {
    expect(await status('closed', { fills: [fill, { ...fill, ...changes }] })).toEqual({ kind: 'unknown' });
    expect(logged).toHaveLength(1);
    expect(logged[0]).toContain(words);
  });

  test('a fill of nothing is none', async () => {
    const nothing = { ...fill, inAmount: '0', outAmount: '0' };
    expect(await status('closed', { fills: [nothing], reverts: [revert] })).toMatchObject({
      ...{ kind: 'closed', fills: [], reverts: [{ amount: 51_904n }] },
    });
  });

  test('closed without fills or reverts is not final', async () => {
    expect(await status('closed', { fills: [], reverts: [] })).toEqual({ kind: 'unknown' });
    expect(await status('closed', { fills: [{ ...fill, inAmount: '-1' }] })).toEqual({ kind: 'unknown' });
  });
});
