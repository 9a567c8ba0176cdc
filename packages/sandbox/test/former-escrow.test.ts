/** A chain of an earlier release, which kept the input of open orders in an account of the venue's key. */
import { paperEscrowAddress, SOLANA_PROGRAMS, USDC_MINT } from '@bellwether/protocol';
import { expect, test } from 'vitest';
import { amountOf, tokenAccountBytes } from '../src/dflow/token-state.ts';
import { vaultsOf } from '../src/dflow/vaults.ts';
import { accountsOf, booksOf, openStage, type Stage, USDC } from './stage.ts';

const { settlement, formerEscrowOf } = vaultsOf('test');
const FORMER = formerEscrowOf(USDC_MINT);

/** Places this much in the former escrow, and nothing in the present one. */
async function asBefore(stage: Stage, amount: bigint): Promise<void> {
  const placed = async (address: string, held: bigint) => {
    const data = tokenAccountBytes(USDC_MINT, settlement.address, held);
    const lamports = await stage.chain.minimumBalanceForRentExemption(data.length);
    return { address, account: { lamports, owner: SOLANA_PROGRAMS.token, data, executable: false } };
  };
  await stage.chain.put([
    await placed(FORMER, amount),
    await placed(paperEscrowAddress(USDC_MINT), 0n),
  ] as Parameters<Stage['chain']['put']>[0]);
}

test('orders that are open on it are settled, several at once, and nothing stays behind', async () => {
  const stage = await openStage();
  const { yesMint } = accountsOf(await stage.market());
  const wallets = [await stage.wallet('ann'), await stage.wallet('ben')];
  const order = { inputMint: USDC_MINT, outputMint: yesMint, amount: 3n * USDC };
  const signatures = [];
  for (const wallet of wallets) signatures.push(await stage.open(wallet, order));
  const money = (await booksOf(stage)).usdc;
  await asBefore(stage, 6n * USDC);
  await stage.settle();
  for (const signature of signatures)
    expect(await stage.status(signature)).toMatchObject({ status: 'closed', reverts: [] });
  expect(await booksOf(stage)).toMatchObject({ usdc: money, escrow: 0n });
  expect(amountOf((await stage.chain.account(FORMER))!.data)).toBe(0n);
});
