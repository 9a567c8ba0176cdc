/** A thousand random actions of several wallets: no USDC is made or lost, and every claim is covered at every step. */
import { MICRO } from '@bellwether/contract/decimals';
import { type SolanaAddress, USDC_MINT } from '@bellwether/protocol';
import { expect, test } from 'vitest';
import type { VenueSigner } from './keys.ts';
import { payoutOf } from './quotes.ts';
import { LP_ACCOUNT } from './settlement.ts';
import { accountsOf, booksOf, openStage, type Stage, USDC } from './testing/stage.ts';
import { vaultsOf } from './vaults.ts';
import type { WireMarket } from './wire.ts';

const ALL_USDC = 10_000_000_000n * USDC;
const STEPS = Number(process.env.STEPS ?? 1_000);
const TIME_LIMIT_MS = 110_000;

/** The same numbers every time. */
function chance(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

/** Every mint that exists against its holders, and the vault against what it owes. */
async function check(
  stage: Stage,
  wallets: readonly VenueSigner[],
  mints: readonly SolanaAddress[],
): Promise<void> {
  const { usdc, vault } = await booksOf(stage);
  expect(usdc).toBe(ALL_USDC);
  const { escrowOf, settlement } = vaultsOf('test');
  let owed = 0n;
  for (const mint of mints) {
    const supply = stage.supply(mint);
    const held = wallets.reduce((sum, { address }) => sum + stage.balance(address, mint), 0n);
    expect(held + stage.balance(settlement.address, mint), escrowOf(mint)).toBe(supply);
    const { market, outcome } = (await stage.sandbox.catalog.byMint(mint))!;
    owed += market.payout === null ? supply : (supply * payoutOf(market, outcome!)) / MICRO;
  }
  expect(vault >= owed, `the vault holds ${vault} and owes ${owed}`).toBe(true);
}

test(
  'money and claims are conserved through a thousand random actions',
  async () => {
    const stage = await openStage();
    const roll = chance(7);
    const wallets = await Promise.all(
      ['ann', 'bob', 'cyd', 'dan'].map((name) => stage.wallet(name, 20_000n * USDC)),
    );
    const { body } = await stage.metadata('/api/v1/markets?limit=255&status=active');
    const soonest = (body.markets as WireMarket[]).sort((a, b) => a.closeTime - b.closeTime).slice(0, 12);
    const mints = new Set<SolanaAddress>();
    const counts = { BUY: 0, SELL: 0, REDEEM: 0, revert: 0, refused: 0 };
    const fills = ['auto', 'auto', 'auto', 'partial', 'revert'] as const;

    for (let step = 1; step <= STEPS; step += 1) {
      stage.sandbox.switches.fill = fills[roll(fills.length)]!;
      const wallet = wallets[roll(wallets.length)]!;
      const held = [...mints].filter((mint) => stage.balance(wallet.address, mint) > 0n);
      if (roll(40) === 0) wallets.push(await stage.wallet(`wallet ${step}`, 1_000n * USDC));
      const sells = held.length > 0 && roll(5) < 2;
      const { yesMint, noMint } = accountsOf(soonest[roll(soonest.length)]!);
      const outcomeMint = sells ? held[roll(held.length)]! : roll(2) === 0 ? yesMint : noMint;
      const amount = sells
        ? (stage.balance(wallet.address, outcomeMint) * BigInt(1 + roll(4))) / 4n
        : BigInt(500_000 + roll(60_000_000));
      const [inputMint, outputMint] = sells ? [outcomeMint, USDC_MINT] : [USDC_MINT, outcomeMint];
      const quote = await stage.trade('/order', {
        inputMint,
        outputMint,
        amount,
        userPublicKey: wallet.address,
      });
      if (quote.status === 200) {
        mints.add(outcomeMint);
        await stage.send(wallet, quote.body.transaction);
      } else counts.refused += 1;
      if (roll(3) === 0) await stage.settle();
      if (step % 2 === 0) {
        stage.clock.time += 4_000;
        await stage.exchange.step();
      }
      if (step % 20 === 0) await check(stage, wallets, [...mints]);
    }
    stage.sandbox.switches.fill = 'auto';
    await stage.settle();
    await check(stage, wallets, [...mints]);
    expect((await booksOf(stage)).escrow).toBe(0n);
    for (const row of await stage.sql`select kind, filled_out from sandbox_orders where status = 'closed'`) {
      if (BigInt(row.filled_out as string) === 0n) counts.revert += 1;
      else counts[row.kind as 'BUY' | 'SELL' | 'REDEEM'] += 1;
    }
    for (const [kind, count] of Object.entries(counts)) expect(count, kind).toBeGreaterThan(10);

    // What wallets hold of a market that still trades, the LP holds in the exchange.
    const tokens = stage.exchange.account(LP_ACCOUNT).tokens;
    for (const mint of mints) {
      const { market, outcome } = (await stage.sandbox.catalog.byMint(mint))!;
      if (market.status === 'resolved') continue;
      const position = tokens.get(market.conditionId);
      const owned = outcome === 'YES' ? position?.yes : position?.no;
      expect((owned ?? 0n) >= stage.supply(mint), market.ticker).toBe(true);
    }
    // Recovery adds the engine's ledger up from scratch and throws when it does not.
    const hash = stage.exchange.stateHash();
    await stage.restart();
    expect(stage.exchange.stateHash()).toBe(hash);
    await check(stage, wallets, [...mints]);
  },
  TIME_LIMIT_MS,
);
