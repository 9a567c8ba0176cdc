/** Effects of the instructions of a Solana transaction. */
import type { Address, Instruction } from '@solana/kit';
import {
  getAdvanceNonceAccountInstruction,
  getAssignInstruction,
  getTransferSolInstruction,
} from '@solana-program/system';
import {
  AuthorityType,
  findAssociatedTokenPda,
  getApproveCheckedInstruction,
  getApproveInstruction,
  getBatchInstruction,
  getBurnCheckedInstruction,
  getBurnInstruction,
  getCloseAccountInstruction,
  getMintToInstruction,
  getRevokeInstruction,
  getSetAuthorityInstruction,
  getSyncNativeInstruction,
  getTransferCheckedInstruction,
  getTransferInstruction,
} from '@solana-program/token';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  associatedTokenAddress,
  effectsOf,
  networkFee,
  overreaches,
  SOLANA_PROGRAMS,
  toBase58,
  USDC_MINT,
} from '../src/index.ts';
import {
  codes,
  computeLimit,
  computePrice,
  createAccount,
  DECIMALS,
  ESCROW,
  memo,
  NONCE_ACCOUNT,
  OUTCOME_MINT,
  outcomeAccount,
  pay,
  raw,
  read,
  STRANGER,
  TOKEN_2022,
  terms,
  usdcAccount,
  useStage,
  wallet,
} from './solana-effects-stage.ts';
import { ours, theirs } from './solana-kit.ts';

useStage();

test('token addresses are those of kit', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ minLength: 32, maxLength: 32 }),
      fc.uint8Array({ minLength: 32, maxLength: 32 }),
      fc.constantFrom(SOLANA_PROGRAMS.token, SOLANA_PROGRAMS.token2022),
      async (owner, mint, tokenProgram) => {
        const [ownerAddress, mintAddress] = [toBase58(owner) as Address, toBase58(mint) as Address];
        const [expected] = await findAssociatedTokenPda({
          owner: ownerAddress,
          mint: mintAddress,
          tokenProgram: theirs(tokenProgram),
        });
        expect(associatedTokenAddress(ours(ownerAddress), ours(mintAddress), tokenProgram)).toBe(expected);
      },
    ),
    { numRuns: 150 },
  );
});

describe('effects', () => {
  test('the instructions of an order', async () => {
    const tx = await read([
      computeLimit(200_000),
      computePrice(135n),
      createAccount(wallet.address, outcomeAccount),
      pay(948_096n),
      memo,
    ]);
    expect(effectsOf(tx).map(({ index, program, ...effect }) => effect)).toEqual([
      { kind: 'compute_limit', units: 200_000n },
      { kind: 'compute_price', microLamports: 135n },
      {
        kind: 'create_account',
        payer: wallet.address,
        account: outcomeAccount,
        owner: wallet.address,
        mint: OUTCOME_MINT,
        tokenProgram: SOLANA_PROGRAMS.token2022,
      },
      {
        kind: 'transfer',
        source: usdcAccount,
        mint: USDC_MINT,
        destination: ESCROW,
        authority: wallet.address,
        amount: 948_096n,
      },
      { kind: 'harmless' },
    ]);
    expect(networkFee(tx)).toBe(5_000n + 27n);
    expect(overreaches(tx, terms)).toEqual([]);
  });

  test('the fee without a limit is that of the default', async () => {
    expect(networkFee(await read([memo, memo]))).toBe(5_000n);
    expect(networkFee(await read([computePrice(1_000_000n), memo]))).toBe(5_000n + 400_000n);
    expect(networkFee(await read([computePrice(1n), computeLimit(1)]))).toBe(5_001n);
    const many = Array.from({ length: 9 }, () => memo);
    expect(networkFee(await read([computePrice(1_000_000n), ...many]))).toBe(5_000n + 1_400_000n);
  });

  test.each<[string, () => Instruction]>([
    [
      'approve',
      () => getApproveInstruction({ source: usdcAccount, delegate: STRANGER, owner: wallet, amount: 1n }),
    ],
    [
      'approve',
      () =>
        getApproveCheckedInstruction({
          source: usdcAccount,
          mint: theirs(USDC_MINT),
          delegate: STRANGER,
          owner: wallet,
          amount: 1n,
          ...DECIMALS,
        }),
    ],
    ['revoke', () => getRevokeInstruction({ source: usdcAccount, owner: wallet })],
    [
      'set_authority',
      () =>
        getSetAuthorityInstruction({
          owned: usdcAccount,
          owner: wallet,
          authorityType: AuthorityType.AccountOwner,
          newAuthority: STRANGER,
        }),
    ],
    [
      'set_authority',
      () =>
        getSetAuthorityInstruction(
          {
            owned: usdcAccount,
            owner: wallet,
            authorityType: AuthorityType.CloseAccount,
            newAuthority: null,
          },
          TOKEN_2022,
        ),
    ],
    [
      'close_account',
      () => getCloseAccountInstruction({ account: usdcAccount, destination: STRANGER, owner: wallet }),
    ],
    [
      'burn',
      () =>
        getBurnInstruction({ account: usdcAccount, mint: theirs(USDC_MINT), authority: wallet, amount: 1n }),
    ],
    [
      'burn',
      () =>
        getBurnCheckedInstruction(
          { account: outcomeAccount, mint: theirs(OUTCOME_MINT), authority: wallet, amount: 1n, ...DECIMALS },
          TOKEN_2022,
        ),
    ],
    [
      'mint',
      () =>
        getMintToInstruction({
          mint: theirs(OUTCOME_MINT),
          token: ESCROW,
          mintAuthority: wallet,
          amount: 1n,
        }),
    ],
    ['harmless', () => getSyncNativeInstruction({ account: usdcAccount })],
    [
      'transfer',
      () =>
        getTransferInstruction({ source: usdcAccount, destination: ESCROW, authority: wallet, amount: 1n }),
    ],
    [
      'system_transfer',
      () => getTransferSolInstruction({ source: wallet, destination: STRANGER, amount: 7n }),
    ],
    [
      'unknown',
      () =>
        getAdvanceNonceAccountInstruction({
          nonceAccount: NONCE_ACCOUNT,
          nonceAuthority: wallet,
        }),
    ],
    ['unknown', () => getAssignInstruction({ account: wallet, programAddress: STRANGER })],
    ['unknown', () => raw(SOLANA_PROGRAMS.dflowAggregator, Uint8Array.of(1))],
    ['unknown', () => raw(SOLANA_PROGRAMS.token, new Uint8Array())],
    ['unknown', () => raw(SOLANA_PROGRAMS.token, Uint8Array.of(12, 1))],
    ['unknown', () => raw(SOLANA_PROGRAMS.token2022, Uint8Array.of(26, 1))],
    ['unknown', () => raw(SOLANA_PROGRAMS.system, Uint8Array.of(2))],
    ['unknown', () => raw(SOLANA_PROGRAMS.computeBudget, Uint8Array.of(0, 1, 2, 3, 4, 5, 6, 7, 8))],
  ])('%s is decoded', async (kind, make) => {
    expect(effectsOf(await read([make()])).map((effect) => effect.kind)).toEqual([kind]);
  });

  test('a batch hides nothing', async () => {
    const batch = getBatchInstruction([
      getTransferInstruction({ source: usdcAccount, destination: STRANGER, authority: wallet, amount: 1n }),
    ] as never);
    expect(batch.data[0]).toBe(0xff);
    expect(await codes([pay(1n), batch as Instruction])).toEqual(['instruction_not_known']);
  });

  test('a transfer with several owners is not read', async () => {
    const multisig = getTransferCheckedInstruction({
      source: usdcAccount,
      mint: theirs(USDC_MINT),
      destination: ESCROW,
      authority: STRANGER,
      multiSigners: [wallet],
      amount: 1n,
      ...DECIMALS,
    });
    expect(await codes([multisig])).toEqual(['instruction_not_known']);
  });
});
