/** Orders from quote to payout, on a real chain and a real book; nothing is filled or paid twice. */
import { MICRO } from '@bellwether/contract/decimals';
import type { NewOrder } from '@bellwether/exchange';
import { overreaches, paperEscrowAddress, parseTransaction, USDC_MINT } from '@bellwether/protocol';
import { describe, expect, test } from 'vitest';
import { LP_ACCOUNT } from '../src/dflow/settlement.ts';
import { tokenAccountOf } from '../src/dflow/tokens.ts';
import { accountsOf, booksOf, ok, openStage, type Stage, signWith, USDC } from './stage.ts';

const ALL_USDC = 10_000_000_000n * USDC;

async function inTrade(switches: Parameters<typeof openStage>[0] = {}) {
  const stage = await openStage(switches);
  const market = await stage.market();
  const { yesMint, noMint } = accountsOf(market);
  const buy = (amount: bigint, mint = yesMint) => ({ inputMint: USDC_MINT, outputMint: mint, amount });
  const sell = (amount: bigint, mint = yesMint) => ({ inputMint: mint, outputMint: USDC_MINT, amount });
  return { stage, market, yesMint, noMint, buy, sell };
}

const filled = (answer: { fills: { inAmount: string; outAmount: string }[] }) =>
  answer.fills.map(({ inAmount, outAmount }) => [BigInt(inAmount), BigInt(outAmount)]);

/** Takes the offers of an outcome in the exchange, as a trader of the other venue would. */
async function anotherTraderBuys(stage: Stage, mint: string, spend: bigint): Promise<void> {
  const { market, outcome } = (await stage.sandbox.catalog.byMint(mint))!;
  const account = '0x00000000000000000000000000000000000a11ce';
  await stage.exchange.execute({ kind: 'deposit', account, amount: 2n * spend });
  const order: NewOrder = {
    ...{ orderId: `0x${'1'.repeat(64)}`, account, conditionId: market.conditionId, outcome: outcome!, spend },
    ...({ side: 'BUY', limit: 9_900, size: MICRO, timeInForce: 'FAK', postOnly: false } as const),
  };
  await stage.exchange.execute({ kind: 'place', order });
}

/** Lets the world run until the market is resolved. */
async function untilResolved(stage: Stage, ticker: string): Promise<'yes' | 'no'> {
  for (let i = 0; i < 400; i += 1) {
    stage.clock.time += 1_000;
    await stage.exchange.step();
    const market = ok(await stage.metadata(`/api/v1/market/${ticker}`));
    if (market.status === 'finalized') return market.result;
  }
  throw new Error('the market did not end');
}

describe('a wallet', () => {
  test('receives its balance only once, by a transfer from a fixed supply', async () => {
    const stage = await openStage();
    const ann = await stage.wallet('ann', 500n * USDC);
    await Promise.all([
      stage.sandbox.credit(ann.address, 500n * USDC, 1n),
      stage.sandbox.credit(ann.address, 1n, 1n),
    ]);
    await stage.restart();
    await stage.sandbox.credit(ann.address, 500n * USDC, 1n);
    expect(await stage.balance(ann.address, USDC_MINT)).toBe(500n * USDC);
    expect((await stage.chain.account(ann.address))?.lamports).toBe(1_000_000_000n);
    expect((await booksOf(stage)).usdc).toBe(ALL_USDC);
    await expect(stage.sandbox.credit('nobody', 1n, 1n)).rejects.toThrow(RangeError);
  });
});

describe('a BUY', () => {
  test('takes the exchange’s own depth, delivers whole contracts and returns the change', async () => {
    const { stage, market, yesMint, buy } = await inTrade();
    const ann = await stage.wallet('ann');
    const before = await stage.metadata(`/api/v1/orderbook/${market.ticker}`);
    const quote = ok(await stage.trade('/order', { ...buy(10n * USDC), userPublicKey: ann.address }));
    const signature = await stage.open(ann, buy(10n * USDC));
    expect(await stage.status(signature)).toMatchObject({ status: 'open', fills: [], reverts: [] });
    expect(await stage.balance(ann.address, USDC_MINT)).toBe(990n * USDC);
    expect(await stage.balance(ann.address, yesMint)).toBe(0n);

    await stage.settle();
    const end = await stage.status(signature);
    const [[paid, got]] = filled(end) as [[bigint, bigint]];
    expect(end).toMatchObject({ status: 'closed', reverts: [] });
    expect(String(got)).toBe(quote.outAmount);
    expect(got % MICRO).toBe(0n);
    expect(paid <= 10n * USDC && paid > 9n * USDC).toBe(true);
    expect(await stage.balance(ann.address, yesMint)).toBe(got);
    expect(await stage.balance(ann.address, USDC_MINT)).toBe(1_000n * USDC - paid);
    expect(await stage.supply(yesMint)).toBe(got);
    expect(await booksOf(stage)).toEqual({ usdc: ALL_USDC, vault: got, escrow: 0n });

    // The other side of the same trade: the LP holds the contracts in the exchange, and the offers there are fewer.
    expect(stage.exchange.account(LP_ACCOUNT).tokens.values().next().value).toMatchObject({
      yes: got,
      no: 0n,
    });
    const after = await stage.metadata(`/api/v1/orderbook/${market.ticker}`);
    const offered = (book: { no_bids: object }) =>
      Object.values(book.no_bids).reduce((sum, one) => sum + one, 0);
    expect(offered(before.body) - offered(after.body)).toBe(Number(got / MICRO));
  });

  test('pays per level, with a fee that the on-chain trades report', async () => {
    const { stage, market, yesMint, buy } = await inTrade();
    const ann = await stage.wallet('ann', 5_000n * USDC);
    const signature = await stage.open(ann, { ...buy(400n * USDC) });
    await stage.settle();
    const end = await stage.status(signature);
    const { trades } = ok(await stage.metadata(`/api/v1/onchain-trades/by-market/${market.ticker}`));
    expect(trades).toEqual([
      expect.objectContaining({
        wallet: ann.address,
        inputMint: USDC_MINT,
        outputMint: yesMint,
        inputAmount: end.fills[0].inAmount,
        outputAmount: end.fills[0].outAmount,
        side: 'yes',
        marketTicker: market.ticker,
        transactionSignature: end.fills[0].signature,
      }),
    ]);
    const [cost, size] = [
      BigInt(trades[0].inputAmount) - BigInt(trades[0].feeAmount),
      BigInt(trades[0].outputAmount),
    ];
    const record = await stage.exchange.orderRecord(`dflow:${trades[0].id}`);
    const taken = record!.events.flatMap((event) => (event.kind === 'fill' ? [event] : []));
    expect(taken.reduce((sum, fill) => sum + fill.size, 0n)).toBe(size);
    expect(taken.reduce((sum, fill) => sum + fill.size - fill.cost, 0n)).toBe(cost);
    expect(new Set(taken.map(({ price }) => price)).size).toBeGreaterThan(1);
    expect((await stage.metadata(`/api/v1/onchain-trades?wallet=${ann.address}`)).body.trades).toEqual(
      trades,
    );
  });

  test('opens by a transaction that the SDK and the server accept, for this wallet only', async () => {
    const { stage, yesMint, buy } = await inTrade();
    const ann = await stage.wallet('ann');
    const quote = ok(await stage.trade('/order', { ...buy(2n * USDC), userPublicKey: ann.address }));
    const tx = parseTransaction(quote.transaction);
    expect(tx.version).toBe(0);
    expect(tx.accountKeys[0]).toBe(ann.address);
    expect(tx.requiredSignatures).toBe(1);
    const terms = {
      wallet: ann.address,
      inputMint: USDC_MINT,
      outputMint: yesMint,
      collateralMint: USDC_MINT,
    };
    const limits = {
      maxInput: BigInt(quote.inAmount),
      minOutput: BigInt(quote.minOutAmount),
      destination: null,
      maxLamports: 3_000_000n,
    };
    expect(overreaches(tx, { ...terms, ...limits })).toEqual([]);
    const again = ok(await stage.trade('/order', { ...buy(2n * USDC), userPublicKey: ann.address }));
    expect(again.transaction).not.toBe(quote.transaction);
    expect(quote).toMatchObject({ executionMode: 'async', revertMint: USDC_MINT, inAmount: '2000000' });
    expect(quote.lastValidBlockHeight).toBe((await stage.chain.blockHeight()) + 150);
  });

  test('reverts when the price has moved too far, and when the venue is configured to revert', async () => {
    const { stage, yesMint, buy } = await inTrade({ fill: 'revert' });
    const ann = await stage.wallet('ann');
    const signature = await stage.open(ann, buy(10n * USDC));
    await stage.settle();
    const end = await stage.status(signature);
    expect(end).toMatchObject({
      status: 'closed',
      fills: [],
      reverts: [{ mint: USDC_MINT, amount: '10000000' }],
    });
    expect(await stage.balance(ann.address, USDC_MINT)).toBe(1_000n * USDC);

    stage.sandbox.switches.fill = 'auto';
    const second = await stage.open(ann, { ...buy(200n * USDC), slippageBps: 0 });
    await anotherTraderBuys(stage, yesMint, 2_000n * USDC);
    await stage.settle();
    expect(await stage.status(second)).toMatchObject({ fills: [], reverts: [{ amount: '200000000' }] });
    expect(await booksOf(stage)).toMatchObject({ usdc: ALL_USDC, escrow: 0n });
  });

  test('partial: half of it fills, the rest is returned, in one transaction', async () => {
    const { stage, yesMint, buy } = await inTrade({ fill: 'partial' });
    const ann = await stage.wallet('ann');
    const quote = ok(await stage.trade('/order', { ...buy(50n * USDC), userPublicKey: ann.address }));
    const signature = await stage.open(ann, buy(50n * USDC));
    await stage.settle();
    const end = await stage.status(signature);
    const [[paid, got]] = filled(end) as [[bigint, bigint]];
    expect(got).toBe((BigInt(quote.outAmount) / MICRO / 2n) * MICRO);
    expect(end.reverts).toEqual([
      { signature: end.fills[0].signature, mint: USDC_MINT, amount: String(50n * USDC - paid) },
    ]);
    expect(await stage.balance(ann.address, yesMint)).toBe(got);
  });

  test('for another wallet is delivered there, and paid for by a sponsor', async () => {
    const { stage, yesMint, buy } = await inTrade();
    const [ann, bob, sue] = [await stage.wallet('ann'), await stage.wallet('bob'), await stage.wallet('sue')];
    const lamports = async () => (await stage.chain.account(ann.address))!.lamports;
    const before = await lamports();
    const quote = ok(
      await stage.trade('/order', {
        ...{ ...buy(5n * USDC), userPublicKey: ann.address },
        ...{ destinationWallet: bob.address, sponsor: sue.address },
      }),
    );
    const half = signWith(ann, quote.transaction);
    const { outcome } = await stage.send(sue, Buffer.from(half).toString('base64'));
    expect(outcome.kind).toBe('executed');
    await stage.settle();
    expect(await stage.balance(bob.address, yesMint)).toBe(BigInt(quote.outAmount));
    expect(await stage.balance(ann.address, yesMint)).toBe(0n);
    expect(await lamports()).toBe(before);
  });
});

describe('a SELL', () => {
  test('burns the contracts and pays what the bids gave, less the fee', async () => {
    const { stage, noMint, buy, sell } = await inTrade();
    const ann = await stage.wallet('ann');
    await stage.open(ann, buy(20n * USDC, noMint));
    await stage.settle();
    const held = await stage.balance(ann.address, noMint);
    const cash = await stage.balance(ann.address, USDC_MINT);
    // A fraction of a contract is not sold.
    const quote = ok(await stage.trade('/order', { ...sell(held - 1n, noMint), userPublicKey: ann.address }));
    expect(quote.inAmount).toBe(String(held - MICRO));
    const signature = await stage.open(ann, sell(held - 1n, noMint));
    expect(await stage.balance(ann.address, noMint)).toBe(MICRO);
    await stage.settle();
    const end = await stage.status(signature);
    expect(end).toMatchObject({ status: 'closed', reverts: [], fills: [{ outAmount: quote.outAmount }] });
    expect(await stage.balance(ann.address, USDC_MINT)).toBe(cash + BigInt(quote.outAmount));
    expect(await stage.supply(noMint)).toBe(MICRO);
    expect(await booksOf(stage)).toEqual({ usdc: ALL_USDC, vault: MICRO, escrow: 0n });
  });

  test('partial: half is sold, the other half is returned', async () => {
    const { stage, yesMint, buy, sell } = await inTrade();
    const ann = await stage.wallet('ann');
    await stage.open(ann, buy(20n * USDC));
    await stage.settle();
    stage.sandbox.switches.fill = 'partial';
    const held = await stage.balance(ann.address, yesMint);
    const signature = await stage.open(ann, sell(held));
    await stage.settle();
    const sold = (held / MICRO / 2n) * MICRO;
    expect(await stage.status(signature)).toMatchObject({
      fills: [{ inAmount: String(sold) }],
      reverts: [{ mint: yesMint, amount: String(held - sold) }],
    });
    expect(await stage.balance(ann.address, yesMint)).toBe(held - sold);
  });
});

describe('the end of a market', () => {
  test('winners redeem at one, losers have no route, and both venues’ books close', async () => {
    const { stage } = await inTrade();
    const { markets } = ok(await stage.metadata('/api/v1/markets?status=active&limit=255'));
    const blitz = markets.sort(
      (a: { closeTime: number }, b: { closeTime: number }) => a.closeTime - b.closeTime,
    )[0];
    const mints = { yes: accountsOf(blitz).yesMint, no: accountsOf(blitz).noMint };
    const ann = await stage.wallet('ann');
    for (const mint of Object.values(mints)) {
      await stage.open(ann, { inputMint: USDC_MINT, outputMint: mint, amount: 10n * USDC });
      await stage.settle();
    }
    const late = await stage.open(ann, { inputMint: USDC_MINT, outputMint: mints.yes, amount: 5n * USDC });
    const won = await untilResolved(stage, blitz.ticker);
    const [winner, loser] = won === 'yes' ? [mints.yes, mints.no] : [mints.no, mints.yes];
    const [winning, losing] = [
      await stage.balance(ann.address, winner),
      await stage.balance(ann.address, loser),
    ];
    expect((await booksOf(stage)).vault).toBe(winning + losing);

    // Orders that were open when trading ended are returned; then the losers' backing goes to the LP.
    await stage.settle();
    expect(await stage.status(late)).toMatchObject({ fills: [], reverts: [{ amount: '5000000' }] });
    expect((await booksOf(stage)).vault).toBe(winning);
    expect(stage.exchange.account(LP_ACCOUNT).tokens.size).toBe(0);

    const market = ok(await stage.metadata(`/api/v1/market/${blitz.ticker}`));
    expect(market).toMatchObject({ status: 'finalized', result: won, yesAsk: null });
    expect(market.accounts[USDC_MINT].redemptionStatus).toBe('open');
    const refused = await stage.trade('/order', { inputMint: loser, outputMint: USDC_MINT, amount: losing });
    expect(refused).toMatchObject({ status: 400, body: { code: 'route_not_found' } });

    const cash = await stage.balance(ann.address, USDC_MINT);
    const signature = await stage.open(ann, { inputMint: winner, outputMint: USDC_MINT, amount: winning });
    await stage.settle();
    expect(await stage.status(signature)).toMatchObject({
      status: 'closed',
      fills: [{ outAmount: String(winning) }],
    });
    expect(await stage.balance(ann.address, USDC_MINT)).toBe(cash + winning);
    expect(await booksOf(stage)).toEqual({ usdc: ALL_USDC, vault: 0n, escrow: 0n });

    // Dropped by the exchange, still listed here: a wallet holds its tokens.
    for (let i = 0; i < 50; i += 1) {
      stage.clock.time += 122_000;
      await stage.exchange.step();
    }
    expect(ok(await stage.metadata('/api/v1/markets?limit=255')).markets).not.toContainEqual(
      expect.objectContaining({ ticker: blitz.ticker }),
    );
    await stage.reopenVenue();
    expect(ok(await stage.metadata(`/api/v1/market/by-mint/${loser}`))).toMatchObject({
      ticker: blitz.ticker,
      status: 'finalized',
      result: won,
    });
    expect(
      ok(await stage.metadata('/api/v1/filter_outcome_mints', { addresses: [loser, USDC_MINT] })),
    ).toEqual({
      outcomeMints: [loser],
    });
  });
});

describe('an order ends exactly once', () => {
  test('after a restart while it was open', async () => {
    const { stage, yesMint, buy } = await inTrade({ fill: 'never' });
    const ann = await stage.wallet('ann');
    const signature = await stage.open(ann, buy(10n * USDC));
    await stage.settle();
    expect(await stage.status(signature)).toMatchObject({ status: 'open' });
    await stage.restart();
    stage.sandbox.switches.fill = 'auto';
    await stage.settle();
    const [[, got]] = filled(await stage.status(signature)) as [[bigint, bigint]];
    await stage.restart();
    await stage.settle();
    expect(await stage.balance(ann.address, yesMint)).toBe(got);
    expect(await booksOf(stage)).toEqual({ usdc: ALL_USDC, vault: got, escrow: 0n });
  });

  test('when the venue dies between the trade in the exchange and the settlement on the chain', async () => {
    const { stage, yesMint, buy } = await inTrade();
    const ann = await stage.wallet('ann');
    const signature = await stage.open(ann, buy(10n * USDC));
    const { send } = stage.chain;
    stage.chain.send = () => Promise.reject(new Error('died'));
    await stage.settle();
    expect(stage.logged.join()).toContain('could not be settled yet');
    const held = () => stage.exchange.account(LP_ACCOUNT).tokens.values().next().value?.yes;
    const traded = held();
    expect(traded).toBeGreaterThan(0n);
    stage.chain.send = send;

    await stage.restart();
    stage.clock.time += 5_000;
    await stage.settle();
    expect(held()).toBe(traded);
    expect(await stage.balance(ann.address, yesMint)).toBe(traded);
    expect(await stage.status(signature)).toMatchObject({
      status: 'closed',
      fills: [{ outAmount: String(traded) }],
    });
  });

  test('by the next process at once, while one that has lost the lead goes on trying', async () => {
    const { stage, buy } = await inTrade();
    const ann = await stage.wallet('ann');
    const signature = await stage.open(ann, buy(10n * USDC));
    const former = stage.sandbox;
    const dueAt = async () =>
      (await stage.sql`select due_ms from sandbox_orders where status = 'open'`)[0]?.due_ms;
    const before = await dueAt();
    await stage.chain.close();
    for (let turn = 0; turn < 5; turn += 1) {
      stage.clock.time += 1_000;
      await former.tick().catch(() => {});
    }
    expect(stage.logged.join()).toContain('could not be settled yet');
    expect(await dueAt()).toBe(before);
    await stage.restart();
    stage.clock.time += 200;
    await stage.sandbox.tick();
    expect(await stage.status(signature)).toMatchObject({ status: 'closed' });
  });

  test('when two settlements run at once, the second commit fails completely', async () => {
    const { stage, yesMint, buy } = await inTrade();
    const ann = await stage.wallet('ann');
    const signature = await stage.open(ann, buy(10n * USDC));
    stage.clock.time += 600;
    await Promise.all([stage.sandbox.tick(), stage.sandbox.tick()]);
    const order = (await stage.sandbox.orders.bySignature(signature))!;
    const money = await booksOf(stage);
    const { vaults, build } = stage.sandbox.quoting;
    const again = build.compile({
      feePayer: vaults.settlement.address,
      lifetime: await stage.chain.latestBlockhash(),
      instructions: [
        build.mintTo({
          mint: yesMint,
          account: paperEscrowAddress(yesMint),
          authority: vaults.settlement.address,
          amount: MICRO,
        }),
      ],
    });
    const nothing = { filledIn: 0n, filledOut: 0n, fee: 0n, reverted: 0n, at: 0 };
    await expect(
      stage.chain.send(build.signed(again, [vaults.settlement]), {
        also: [stage.sandbox.orders.close(order.messageHash, { ...nothing, signature })],
      }),
    ).rejects.toThrow();
    await stage.restart();
    expect(await booksOf(stage)).toEqual(money);
    expect(await stage.supply(yesMint)).toBe(BigInt((await stage.status(signature)).fills[0].outAmount));
  });

  test('a transfer into escrow without a quote is not an order', async () => {
    const { stage, buy } = await inTrade();
    const ann = await stage.wallet('ann');
    const { build } = stage.sandbox.quoting;
    const compiled = build.compile({
      feePayer: ann.address,
      lifetime: await stage.chain.latestBlockhash(),
      instructions: [
        build.transfer({
          mint: USDC_MINT,
          from: tokenAccountOf(ann.address, USDC_MINT),
          to: paperEscrowAddress(USDC_MINT),
          authority: ann.address,
          amount: USDC,
        }),
      ],
    });
    expect(await stage.chain.send(build.signed(compiled, [ann]))).toMatchObject({ kind: 'executed' });
    await stage.settle();
    expect((await booksOf(stage)).escrow).toBe(USDC);
    // An unsigned quote is deleted once its blockhash is dead.
    await stage.trade('/order', { ...buy(USDC), userPublicKey: ann.address });
    stage.clock.time += 122_000;
    await stage.sandbox.tick();
    expect(await stage.sql`select 1 from sandbox_orders`).toHaveLength(0);
  });
});
