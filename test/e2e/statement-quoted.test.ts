/** Statements of wallets that trade by quotes: the platform's fees, purchases for another wallet, and money that moved past the desk. */
import { associatedTokenAddress, SOLANA_PROGRAMS, type SolanaAddress, USDC_MINT } from '@bellwether/protocol';
import { linkSolanaWallet } from '@bellwether/sdk';
import {
  address,
  appendTransactionMessageInstructions,
  blockhash,
  compileTransaction,
  createTransactionMessage,
  getTransactionEncoder,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit';
import { getTransferCheckedInstruction } from '@solana-program/token';
import { beforeAll, expect, test } from 'vitest';
import { claim } from '../approving.ts';
import { call, startTestService, type TestService, withTurns } from '../harness.ts';
import { Visitor } from '../passkey.ts';
import { aSandboxMarket, newSandboxTrader, type SandboxTrader } from '../sandbox.ts';
import { micro } from '../world.ts';
import { expectToAddUp, statementOf } from './statement-stage.ts';

const DEPOSIT = 10_000;
let service: TestService;

beforeAll(async () => {
  service = await startTestService({ PAPER_WORLD: 'off' });
});

/** Its wallet is linked and has paper money. */
async function linked(): Promise<SandboxTrader> {
  const trader = await newSandboxTrader(service);
  await linkSolanaWallet(trader.client, trader.signer);
  return trader;
}

const chainCall = async (method: string, params: readonly unknown[]) => {
  const { body } = await call(service, 'POST', '/paper/solana', {
    body: { jsonrpc: '2.0', id: 1, method, params },
  });
  return body.result;
};
const accountOf = (wallet: SolanaAddress) => associatedTokenAddress(wallet, USDC_MINT, SOLANA_PROGRAMS.token);
const usdc = async ({ wallet }: SandboxTrader): Promise<bigint> =>
  BigInt((await chainCall('getTokenAccountBalance', [accountOf(wallet)])).value.amount);

/** A transfer as any wallet makes it: the desk is not asked. */
async function send(from: SandboxTrader, to: SandboxTrader, amount: bigint): Promise<void> {
  const { value } = await chainCall('getLatestBlockhash', []);
  const move = getTransferCheckedInstruction(
    {
      ...{ source: address(accountOf(from.wallet)), destination: address(accountOf(to.wallet)) },
      ...{ mint: address(USDC_MINT), authority: address(from.wallet), amount, decimals: 6 },
    },
    { programAddress: address(SOLANA_PROGRAMS.token) },
  );
  const lifetime = {
    blockhash: blockhash(value.blockhash),
    lastValidBlockHeight: BigInt(value.lastValidBlockHeight),
  };
  const compiled = compileTransaction(
    pipe(
      createTransactionMessage({ version: 0 }),
      (message) => setTransactionMessageFeePayer(address(from.wallet), message),
      (message) => setTransactionMessageLifetimeUsingBlockhash(lifetime, message),
      (message) => appendTransactionMessageInstructions([move], message),
    ),
  );
  const signed = from.signer.signTransaction(new Uint8Array(getTransactionEncoder().encode(compiled)));
  const before = await usdc(to);
  await chainCall('sendTransaction', [Buffer.from(signed).toString('base64'), { encoding: 'base64' }]);
  await expect.poll(() => usdc(to)).toBe(before + amount);
}

test('purchases, sales and fees of the platform leave nothing unexplained; a transfer past the desk is that line', async () => {
  const [trader, friend] = [await linked(), await linked()];
  const market = await aSandboxMarket(trader.client);
  await trader.trade({ ticker: market.id, side: 'YES', action: 'BUY', amount: 40 });
  await trader.trade({ ticker: market.id, side: 'YES', action: 'SELL', shares: 10 });
  await trader.client.venueB.approveDelegate({ signer: trader.signer, amount: 1 });
  const fee = { amount: '0.25', fromAddress: trader.wallet };
  const charged = await call(service, 'POST', '/venueb/agent/charge-fee', { key: trader.apiKey, body: fee });
  expect(charged.status).toBe(200);
  const fees = async () => (await statementOf(trader)).totals.platformFees;
  await withTurns(service, ['follow fees'], expect.poll(fees).toBe(0.25));

  const before = await statementOf(trader);
  expectToAddUp(before);
  expect(before).toMatchObject({
    isCurrent: true,
    totals: { deposits: DEPOSIT, notExplained: 0, platformFees: 0.25 },
  });
  expect(micro(before.closing.cash)).toBe(await usdc(trader));
  expect(before.events.map(({ kind }) => kind)).toEqual(['deposit', 'buy', 'sell', 'platform_fee']);

  await send(trader, friend, 1_234_567n);
  const after = await statementOf(trader);
  expectToAddUp(after);
  expect(after.totals.notExplained).toBe(-1.234567);
  expect(micro(after.closing.cash)).toBe(await usdc(trader));
  expect((await statementOf(friend)).totals.notExplained).toBe(1.234567);

  // Of an owner of both it never left.
  const owner = new Visitor(service);
  await owner.register('Ada');
  await claim(owner, trader);
  await claim(owner, friend);
  const { body } = await owner.send('GET', '/owner/statement');
  expectToAddUp(body);
  expect(body.totals).toMatchObject({ notExplained: 0, deposits: 2 * DEPOSIT });
});

test('shares bought for another wallet are a transfer from the one that paid to the one that has them', async () => {
  const [payer, receiver] = [await linked(), await linked()];
  const market = await aSandboxMarket(payer.client);
  await payer.trade({
    ...{ ticker: market.id, side: 'YES', action: 'BUY', amount: 25 },
    destination: receiver.wallet,
  });
  const [paid, got] = [await statementOf(payer), await statementOf(receiver)];
  for (const one of [paid, got]) {
    expectToAddUp(one);
    expect(one.totals.notExplained).toBe(0);
  }
  expect(micro(paid.closing.cash)).toBe(await usdc(payer));
  expect(micro(got.closing.cash)).toBe(await usdc(receiver));
  const [out] = paid.events.filter(({ kind }) => kind === 'transfer');
  const [into] = got.events.filter(({ kind }) => kind === 'transfer');
  expect(out?.cash).toBeLessThan(0);
  expect(micro(into?.cash as number)).toBe(-micro(out?.cash as number));
  expect(got.closing.costBasis).toBeGreaterThan(0);
});
