/**
 * The token program's batch serves as the opaque instruction: the reader does not unpack it, so only the chain
 * knows its content.
 */
import { associatedTokenAddress, SOLANA_PROGRAMS, type SolanaAddress, USDC_MINT } from '@bellwether/protocol';
import { BellwetherClient, SolanaSigner, UnsafeTransaction } from '@bellwether/sdk';
import { AccountRole, createNoopSigner, type Instruction, lamports } from '@solana/kit';
import { getBatchInstruction, getTransferInstruction } from '@solana-program/token';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  buyQuote,
  ESCROW,
  handovers,
  kitAddress,
  STRANGER,
  transfer,
  unsigned,
  YES_MINT,
} from './dishonest-desk.ts';
import { type LitesvmNode, startLitesvmNode } from './litesvm-node.ts';

const ASK = { ticker: 'KXTEST-1-1', side: 'YES', action: 'BUY', amount: 5 } as const;
const OPAQUE = [SOLANA_PROGRAMS.token];
const { venueB } = new BellwetherClient({ baseUrl: 'http://127.0.0.1:9' });

let node: LitesvmNode;
let receiver: SolanaAddress;
let wallet: SolanaAddress;
beforeAll(async () => {
  node = await startLitesvmNode({ sigVerify: false });
  const owner = SolanaSigner.generate().address;
  await node.fund(owner, 0n);
  receiver = associatedTokenAddress(owner, USDC_MINT, SOLANA_PROGRAMS.token);
  // The escrow of a paper chain is no associated account.
  const account = node.svm.getAccount(kitAddress(receiver));
  if (account.exists) node.svm.setAccount({ ...account, address: kitAddress(ESCROW) });
});
beforeEach(async () => {
  wallet = SolanaSigner.generate().address;
  await node.fund(wallet, 100_000_000n);
});

const pay = (amount: bigint) => transfer(wallet, amount);
const send = (amount: bigint) => transfer(wallet, amount, { to: receiver });
const batch = (...instructions: readonly Instruction[]): Instruction =>
  getBatchInstruction(instructions as never);

const outcome = (from: SolanaAddress, to: SolanaAddress, amount: bigint): Instruction =>
  getTransferInstruction({
    source: kitAddress(associatedTokenAddress(from, YES_MINT, SOLANA_PROGRAMS.token)),
    destination: kitAddress(associatedTokenAddress(to, YES_MINT, SOLANA_PROGRAMS.token)),
    authority: createNoopSigner(kitAddress(from)),
    amount,
  });

async function reasonsOf(
  instructions: readonly Instruction[],
  opaque: readonly string[] = OPAQUE,
): Promise<string[]> {
  const blockhash = node.svm.latestBlockhash();
  const unsignedTransaction = unsigned(wallet, instructions, blockhash);
  try {
    await venueB.verifyOnChain(buyQuote(wallet, { unsignedTransaction }), ASK, {
      wallet,
      mint: YES_MINT,
      rpcUrl: node.url,
      opaque,
    });
    return [];
  } catch (error) {
    if (!(error instanceof UnsafeTransaction)) throw error;
    return error.reasons.map(({ code }) => code);
  }
}

describe('an opaque instruction', () => {
  test('that takes nothing beyond what can be read passes', async () => {
    expect(await reasonsOf([pay(5_000_000n), batch(send(0n))])).toEqual([]);
    expect(await reasonsOf([pay(3_000_000n), batch(send(2_000_001n))])).toEqual([
      'input_exceeded',
      'nothing_received',
    ]);
    expect(node.token(wallet).amount).toBe(100_000_000n);
  });

  test('that takes the input and brings nothing is refused, also beside an opening that can be read', async () => {
    expect(await reasonsOf([batch(send(3_000_000n), send(2_000_000n))])).toEqual(['nothing_received']);
    expect(await reasonsOf([pay(1n), batch(send(4_999_999n))])).toEqual(['nothing_received']);
  });

  test('that brings the least return at once passes', async () => {
    const seller = SolanaSigner.generate().address;
    for (const [holder, amount] of [
      [seller, 50_000_000n],
      [wallet, 7n],
    ] as const)
      node.hold(holder, YES_MINT, amount);
    const bring = (amount: bigint) => batch(send(5_000_000n), outcome(seller, wallet, amount));
    expect(await reasonsOf([bring(8_000_000n)])).toEqual([]);
    expect(await reasonsOf([bring(7_999_999n)])).toEqual(['nothing_received']);
    const elsewhere = batch(send(5_000_000n), outcome(seller, seller, 8_000_000n));
    expect(await reasonsOf([elsewhere])).toEqual(['nothing_received']);
  });

  test.each(['approve', 'newOwner', 'newCloser'] as const)('that hides %s is detected', async (hidden) => {
    const opaque = batch(send(0n), handovers(wallet)[hidden]);
    expect(await reasonsOf([pay(1n), opaque])).toEqual(['gives_rights_away']);
  });

  test('that empties and closes the account is detected', async () => {
    const emptied = batch(send(100_000_000n), handovers(wallet).close);
    expect(await reasonsOf([emptied])).toEqual(['gives_rights_away']);
  });

  test('that would fail is not signed', async () => {
    expect(await reasonsOf([batch(send(100_000_001n))])).toEqual(['would_fail']);
  });

  test('of a program that is not allowed is refused without a call to a node', async () => {
    node.calls.length = 0;
    expect(await reasonsOf([batch(pay(1n))], [])).toEqual(['instruction_not_known']);
    expect(node.calls).toEqual([]);
  });

  test('does not make other, readable faults pass', async () => {
    expect(await reasonsOf([batch(pay(1n)), handovers(wallet).approve])).toEqual([
      'instruction_not_known',
      'gives_rights_away',
    ]);
  });

  test('must not call other programs or use a nonce account', async () => {
    const handed = (address: SolanaAddress): Instruction => ({
      ...batch(pay(1n)),
      accounts: [
        ...(batch(pay(1n)).accounts ?? []),
        { address: kitAddress(address), role: AccountRole.READONLY },
      ],
    });
    // A program that every chain has and no order needs.
    const loader = 'BPFLoaderUpgradeab1e11111111111111111111111' as SolanaAddress;
    const account = node.svm.getAccount(kitAddress(loader));
    expect(account.exists && account.executable).toBe(true);
    expect(await reasonsOf([handed(loader)])).toContain('instruction_not_known');
    node.svm.setAccount({
      address: kitAddress(STRANGER),
      lamports: lamports(1_000_000_000n),
      data: new Uint8Array(80),
      programAddress: kitAddress(SOLANA_PROGRAMS.system),
      executable: false,
      space: 80n,
    });
    expect(await reasonsOf([handed(STRANGER)])).toContain('changes_account');
  });
});

test('a transaction without opaque instructions is checked without a node', async () => {
  node.calls.length = 0;
  expect(await reasonsOf([pay(5_000_000n)])).toEqual([]);
  expect(await reasonsOf([pay(5_000_001n)])).toEqual(['input_exceeded']);
  expect(node.calls).toEqual([]);
});
