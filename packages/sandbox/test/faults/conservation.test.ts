/** Hundreds of random actions of several wallets: no USDC is created or lost, and every claim is covered at every step. */

import { MICRO } from '@bellwether/contract/decimals';
import { paperEscrowAddress, type SolanaAddress, USDC_MINT } from '@bellwether/protocol';
import { expect, test } from 'vitest';
import { payoutOf } from '../../src/dflow/pricing.ts';
import { LP_ACCOUNT } from '../../src/dflow/settlement.ts';
import { amountOf, type VenueSigner } from '../../src/dflow/tokens.ts';
import type { WireMarket } from '../../src/dflow/wire.ts';
import { accountsOf, booksOf, openStage, type Stage, USDC } from '../stage.ts';

const ALL_USDC = 10_000_000_000n * USDC;
const STEPS = 1_000;
/** Concurrent trades of different wallets. */
const AT_ONCE = 4;
const FILLS = ['auto', 'auto', 'auto', 'partial', 'revert'] as const;
const TIME_LIMIT_MS = 600_000;

interface Play {
  markets: readonly WireMarket[];
  /** Tokens of every outcome that was ever bought. */
  readonly mints: Set<SolanaAddress>;
  refused: number;
}

/** The same numbers every time. */
function chance(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

/** Compares every existing mint with its holders, and the vault with its liabilities. */
async function check(
  stage: Stage,
  wallets: readonly VenueSigner[],
  mints: readonly SolanaAddress[],
): Promise<void> {
  const { usdc, vault } = await booksOf(stage);
  expect(usdc).toBe(ALL_USDC);
  let owed = 0n;
  for (const mint of mints) {
    const supply = await stage.supply(mint);
    const holders = wallets.map(({ address }) => address);
    const held = await Promise.all(holders.map((holder) => stage.balance(holder, mint)));
    const escrow = paperEscrowAddress(mint);
    const waiting = amountOf((await stage.chain.account(escrow))!.data);
    expect(
      held.reduce((sum, amount) => sum + amount, waiting),
      escrow,
    ).toBe(supply);
    const { market, outcome } = (await stage.sandbox.catalog.byMint(mint))!;
    owed += market.payout === null ? supply : (supply * payoutOf(market, outcome!)) / MICRO;
  }
  expect(vault >= owed, `the vault holds ${vault} and owes ${owed}`).toBe(true);
}

/** One trade of a wallet: mostly buys at first, then sales and redemptions of what it holds. */
async function act(
  stage: Stage,
  roll: (bound: number) => number,
  by: VenueSigner,
  play: Play,
): Promise<void> {
  const mints = [...play.mints];
  const balances = await Promise.all(mints.map((mint) => stage.balance(by.address, mint)));
  const held = mints.filter((_, nth) => balances[nth]! > 0n);
  const sells = held.length > 0 && roll(5) < 2;
  const { yesMint, noMint } = accountsOf(play.markets[roll(play.markets.length)]!);
  const mint = sells ? held[roll(held.length)]! : roll(2) === 0 ? yesMint : noMint;
  const amount = sells
    ? ((await stage.balance(by.address, mint)) * BigInt(1 + roll(4))) / 4n
    : BigInt(500_000 + roll(60_000_000));
  const [inputMint, outputMint] = sells ? [mint, USDC_MINT] : [USDC_MINT, mint];
  const quote = await stage.trade('/order', { inputMint, outputMint, amount, userPublicKey: by.address });
  if (quote.status !== 200) {
    play.refused += 1;
    return;
  }
  play.mints.add(mint);
  await stage.send(by, quote.body.transaction);
}

async function play(stage: Stage, roll: (bound: number) => number, wallets: VenueSigner[]): Promise<Play> {
  const playing: Play = { markets: [], mints: new Set(), refused: 0 };
  for (let round = 0; round < STEPS / AT_ONCE; round += 1) {
    if (round % 10 === 0) {
      const { body } = await stage.metadata('/api/v1/markets?limit=255&status=active');
      const markets = body.markets as WireMarket[];
      playing.markets = markets.sort((a, b) => a.closeTime - b.closeTime).slice(0, 8);
    }
    stage.sandbox.switches.fill = FILLS[roll(FILLS.length)]!;
    if (roll(10) === 0) wallets.push(await stage.wallet(`wallet ${round}`, 1_000n * USDC));
    const actors = Array.from({ length: AT_ONCE }, (_, index) => wallets[(round + index) % wallets.length]!);
    await Promise.all(actors.map((wallet) => act(stage, roll, wallet, playing)));
    if (roll(3) > 0) await stage.settle();
    stage.clock.time += 6_000;
    await stage.exchange.step();
    if (round % 10 === 0) await check(stage, wallets, [...playing.mints]);
  }
  return playing;
}

test(
  'money and claims are conserved through hundreds of random actions',
  async () => {
    const stage = await openStage();
    const wallets = await Promise.all(
      ['ann', 'bob', 'cyd', 'dan'].map((name) => stage.wallet(name, 20_000n * USDC)),
    );
    const { mints, refused } = await play(stage, chance(7), wallets);
    const counts = { BUY: 0, SELL: 0, REDEEM: 0, revert: 0, refused };
    stage.sandbox.switches.fill = 'auto';
    await stage.settle();
    await check(stage, wallets, [...mints]);
    expect((await booksOf(stage)).escrow).toBe(0n);
    for (const row of await stage.sql`select kind, filled_out from sandbox_orders where status = 'closed'`) {
      if (BigInt(row.filled_out as string) === 0n) counts.revert += 1;
      else counts[row.kind as 'BUY' | 'SELL' | 'REDEEM'] += 1;
    }
    for (const [kind, count] of Object.entries(counts)) expect(count, kind).toBeGreaterThan(10);

    // In an open market the LP's tokens in the exchange equal the tokens of the wallets.
    const tokens = stage.exchange.account(LP_ACCOUNT).tokens;
    for (const mint of mints) {
      const { market, outcome } = (await stage.sandbox.catalog.byMint(mint))!;
      if (market.status === 'resolved') continue;
      const position = tokens.get(market.conditionId);
      const owned = outcome === 'YES' ? position?.yes : position?.no;
      expect((owned ?? 0n) >= (await stage.supply(mint)), market.ticker).toBe(true);
    }
    // Recovery recomputes the engine's ledger and throws when the sums differ.
    const hash = stage.exchange.stateHash();
    await stage.restart();
    expect(stage.exchange.stateHash()).toBe(hash);
    await check(stage, wallets, [...mints]);
  },
  TIME_LIMIT_MS,
);
