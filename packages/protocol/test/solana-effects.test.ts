import { AccountRole, type Address, type Instruction, type KeyPairSigner } from '@solana/kit';
import {
  getAdvanceNonceAccountInstruction,
  getAssignInstruction,
  getCreateAccountInstruction,
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
  getCreateAssociatedTokenIdempotentInstruction,
  getCreateAssociatedTokenInstruction,
  getMintToInstruction,
  getRecoverNestedAssociatedTokenInstruction,
  getRevokeInstruction,
  getSetAuthorityInstruction,
  getSyncNativeInstruction,
  getTransferCheckedInstruction,
  getTransferInstruction,
} from '@solana-program/token';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  associatedTokenAddress,
  effectsOf,
  networkFee,
  overreaches,
  parseTransaction,
  type QuoteTerms,
  SOLANA_PROGRAMS,
  type SolanaAddress,
  toBase58,
  USDC_MINT,
} from '../src/index.ts';
import { meta, ours, signedBase64, signerOf, someAddress, theirs } from './solana-kit.ts';

const MAX_INPUT = 5_000_000n;
const DECIMALS = { decimals: 6 };
const OUTCOME_MINT = ours(someAddress(40));
const ESCROW = someAddress(41);
const STRANGER = someAddress(42);
const NONCE_ACCOUNT = someAddress(43);
const TOKEN_2022 = { programAddress: theirs(SOLANA_PROGRAMS.token2022) };

let wallet: KeyPairSigner;
let other: KeyPairSigner;
let usdcAccount: Address;
let outcomeAccount: Address;
let terms: QuoteTerms;
beforeAll(async () => {
  wallet = await signerOf(1);
  other = await signerOf(2);
  usdcAccount = theirs(associatedTokenAddress(ours(wallet.address), USDC_MINT, SOLANA_PROGRAMS.token));
  outcomeAccount = theirs(
    associatedTokenAddress(ours(wallet.address), OUTCOME_MINT, SOLANA_PROGRAMS.token2022),
  );
  terms = {
    wallet: ours(wallet.address),
    inputMint: USDC_MINT,
    outputMint: OUTCOME_MINT,
    maxInput: MAX_INPUT,
    destination: null,
    maxLamports: 10_000_000n,
    collateralMint: USDC_MINT,
  };
});

const read = async (instructions: readonly Instruction[], signers = [wallet]) =>
  parseTransaction(await signedBase64({ version: 0, signers, instructions }));
const codes = async (
  instructions: readonly Instruction[],
  more: Partial<QuoteTerms> = {},
  signers = [wallet],
) => overreaches(await read(instructions, signers), { ...terms, ...more }).map(({ code }) => code);

const pay = (amount: bigint, mint: SolanaAddress = USDC_MINT): Instruction =>
  getTransferCheckedInstruction({
    source: usdcAccount,
    mint: theirs(mint),
    destination: ESCROW,
    authority: wallet,
    amount,
    ...DECIMALS,
  });
const createAccount = (owner: Address, ata: Address): Instruction =>
  getCreateAssociatedTokenIdempotentInstruction({
    payer: wallet,
    ata,
    owner,
    mint: theirs(OUTCOME_MINT),
    tokenProgram: theirs(SOLANA_PROGRAMS.token2022),
  });
const raw = (
  program: SolanaAddress,
  data: Uint8Array,
  accounts: Instruction['accounts'] = [],
): Instruction => ({
  programAddress: theirs(program),
  data,
  accounts: accounts ?? [],
});
const number = (bytes: number, value: bigint): number[] =>
  Array.from({ length: bytes }, (_, i) => Number((value >> BigInt(8 * i)) & 255n));
const computeLimit = (units: number) =>
  raw(SOLANA_PROGRAMS.computeBudget, Uint8Array.of(2, ...number(4, BigInt(units))));
const computePrice = (microLamports: bigint) =>
  raw(SOLANA_PROGRAMS.computeBudget, Uint8Array.of(3, ...number(8, microLamports)));
const memo = raw(SOLANA_PROGRAMS.memo, new TextEncoder().encode('order 1'));

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
  ])('%s is told', async (kind, make) => {
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

describe('overreach', () => {
  test('what a quote says is allowed, to the atom', async () => {
    expect(await codes([pay(MAX_INPUT)])).toEqual([]);
    expect(await codes([pay(MAX_INPUT + 1n)])).toEqual(['input_exceeded']);
    expect(await codes([pay(3_000_000n), pay(2_000_000n)])).toEqual([]);
    expect(await codes([pay(3_000_000n), pay(2_000_001n)])).toEqual(['input_exceeded']);
    expect(await codes([pay(2n ** 64n - 1n), pay(1n)])).toEqual(['input_exceeded']);
  });

  test('any amounts in any number: exactly when their sum is too much', async () => {
    const amounts = fc.array(fc.bigInt({ min: 0n, max: MAX_INPUT }), { maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(amounts, async (random) => {
        const sum = random.reduce((total, each) => total + each, 0n);
        expect(await codes(random.map((amount) => pay(amount)))).toEqual(
          sum > MAX_INPUT ? ['input_exceeded'] : [],
        );
      }),
      { numRuns: 40 },
    );
  });

  test('other tokens of the wallet', async () => {
    expect(await codes([pay(1n, OUTCOME_MINT)])).toEqual(['wrong_mint']);
    const unchecked = (source: Address) =>
      getTransferInstruction({ source, destination: ESCROW, authority: wallet, amount: 6_000_000n });
    expect(await codes([unchecked(usdcAccount)])).toEqual(['input_exceeded']);
    expect(await codes([unchecked(outcomeAccount)])).toEqual(['wrong_mint']);
    // An account of the wallet that is not its associated one: nobody knows what is in it.
    expect(await codes([unchecked(STRANGER)])).toEqual(['wrong_mint']);
    const sale = { inputMint: OUTCOME_MINT, outputMint: USDC_MINT };
    expect(await codes([pay(1n)], sale)).toEqual(['wrong_mint']);
    const sell = getTransferCheckedInstruction(
      {
        source: outcomeAccount,
        mint: theirs(OUTCOME_MINT),
        destination: ESCROW,
        authority: wallet,
        amount: MAX_INPUT,
        ...DECIMALS,
      },
      TOKEN_2022,
    );
    expect(await codes([sell], sale)).toEqual([]);
  });

  test('a co-signer that is a delegate of the wallet takes from the wallet', async () => {
    const byDelegate = getTransferCheckedInstruction({
      source: usdcAccount,
      mint: theirs(USDC_MINT),
      destination: ESCROW,
      authority: other,
      amount: MAX_INPUT + 1n,
      ...DECIMALS,
    });
    const withWallet = [wallet, other];
    expect(await codes([byDelegate], {}, withWallet)).toEqual(['input_exceeded']);
    const fromElsewhere = getTransferCheckedInstruction({
      source: ESCROW,
      mint: theirs(USDC_MINT),
      destination: usdcAccount,
      authority: other,
      amount: 10n ** 15n,
      ...DECIMALS,
    });
    expect(await codes([fromElsewhere], {}, withWallet)).toEqual([]);
  });

  test('rights and accounts', async () => {
    const approve = getApproveInstruction({
      source: usdcAccount,
      delegate: STRANGER,
      owner: wallet,
      amount: 1n,
    });
    const close = getCloseAccountInstruction({ account: usdcAccount, destination: STRANGER, owner: wallet });
    expect(await codes([pay(1n), approve])).toEqual(['gives_rights_away']);
    expect(await codes([pay(1n), close])).toEqual(['changes_account']);
    expect(await codes([pay(1n), getRevokeInstruction({ source: usdcAccount, owner: wallet })])).toEqual([
      'changes_account',
    ]);
    const nonce = getAdvanceNonceAccountInstruction({ nonceAccount: NONCE_ACCOUNT, nonceAuthority: wallet });
    expect(await codes([nonce, pay(1n)])).toEqual(['instruction_not_known']);
    expect(await codes([pay(1n), raw(ours(STRANGER), new Uint8Array())])).toEqual(['instruction_not_known']);
  });

  test('lamports: transfers, accounts, fee and priority together', async () => {
    const tip = (amount: bigint) =>
      getTransferSolInstruction({ source: wallet, destination: STRANGER, amount });
    expect(await codes([pay(1n), tip(9_995_000n)])).toEqual([]);
    expect(await codes([pay(1n), tip(9_995_001n)])).toEqual(['lamports_exceeded']);
    expect(await codes([pay(1n), tip(5_000_000n), tip(5_000_000n)])).toEqual(['lamports_exceeded']);
    expect(await codes([computeLimit(1_400_000), computePrice(7_139_286n)])).toEqual(['lamports_exceeded']);
    expect(await codes([computeLimit(1_400_000), computePrice(7_139_285n)])).toEqual([]);
    const account = getCreateAccountInstruction({
      payer: wallet,
      newAccount: other,
      lamports: 10_000_000n,
      space: 1n,
      programAddress: STRANGER,
    });
    expect(await codes([account], {}, [wallet, other])).toEqual(['lamports_exceeded']);
    expect(await codes([createAccount(wallet.address, outcomeAccount)], { maxLamports: 2_079_079n })).toEqual(
      ['lamports_exceeded'],
    );
    expect(await codes([createAccount(wallet.address, outcomeAccount)], { maxLamports: 2_079_080n })).toEqual(
      [],
    );
    // A sponsor pays the fee, so that it is not the wallet's.
    expect(await codes([pay(1n)], { maxLamports: 0n }, [other, wallet])).toEqual([]);
    expect(await codes([pay(1n)], { maxLamports: 0n })).toEqual(['lamports_exceeded']);
  });

  test('accounts are made for those who receive, and nobody else', async () => {
    const of = (owner: Address, mint: SolanaAddress = OUTCOME_MINT) =>
      theirs(associatedTokenAddress(ours(owner), mint, SOLANA_PROGRAMS.token2022));
    expect(await codes([createAccount(STRANGER, of(STRANGER))])).toEqual(['receives_elsewhere']);
    expect(await codes([createAccount(STRANGER, of(STRANGER))], { destination: ours(STRANGER) })).toEqual([]);
    expect(await codes([createAccount(wallet.address, of(STRANGER))])).toEqual(['receives_elsewhere']);
    const otherMint = getCreateAssociatedTokenInstruction({
      payer: wallet,
      ata: of(wallet.address, ours(STRANGER)),
      owner: wallet.address,
      mint: STRANGER,
      tokenProgram: theirs(SOLANA_PROGRAMS.token2022),
    });
    expect(await codes([otherMint])).toEqual(['receives_elsewhere']);
    const nested = getRecoverNestedAssociatedTokenInstruction({
      nestedAssociatedAccountAddress: usdcAccount,
      nestedTokenMintAddress: theirs(USDC_MINT),
      destinationAssociatedAccountAddress: ESCROW,
      ownerAssociatedAccountAddress: outcomeAccount,
      ownerTokenMintAddress: theirs(OUTCOME_MINT),
      walletAddress: wallet,
    });
    expect(await codes([nested])).toEqual(['instruction_not_known']);
  });

  test('a wallet that does not sign', async () => {
    expect(await codes([memo], {}, [other])).toEqual(['wallet_does_not_sign']);
    const named = raw(SOLANA_PROGRAMS.memo, new Uint8Array(), [meta(wallet.address, AccountRole.WRITABLE)]);
    expect(await codes([named], {}, [other])).toEqual(['wallet_does_not_sign']);
  });

  test('an account out of a table is not decided where it matters', async () => {
    const looked = (role: AccountRole.READONLY | AccountRole.WRITABLE, index: number) => ({
      address: someAddress(100 + index),
      addressIndex: index,
      lookupTableAddress: someAddress(90),
      role,
    });
    const transfer = pay(1n);
    const accounts = transfer.accounts!;
    for (const position of [0, 1, 2]) {
      const hidden = accounts.map((account, at) =>
        at === position ? looked(position === 1 ? AccountRole.READONLY : AccountRole.WRITABLE, at) : account,
      );
      expect(await codes([{ ...transfer, accounts: hidden }]), String(position)).toEqual([
        'account_not_decidable',
      ]);
    }
    const memoOfHidden = { ...memo, accounts: [looked(AccountRole.READONLY, 1)] };
    expect(await codes([memoOfHidden, pay(1n)])).toEqual([]);
  });
});

describe("the opening of an order in DFlow's own program", () => {
  const open = (amount: bigint, changed: Readonly<Record<number, Address>> = {}) => {
    const data = new Uint8Array(80);
    data[0] = 0x40;
    data.set(number(8, amount), 24);
    data.set(number(8, 11_000_000n), 32);
    const accounts = [
      someAddress(50),
      someAddress(51),
      someAddress(52),
      someAddress(53),
      theirs(USDC_MINT),
      usdcAccount,
      wallet.address,
      outcomeAccount,
      usdcAccount,
      theirs(SOLANA_PROGRAMS.token),
      theirs(SOLANA_PROGRAMS.system),
    ].map((address, at) =>
      meta(
        changed[at] ?? address,
        at === 6 ? AccountRole.WRITABLE_SIGNER : at > 8 ? AccountRole.READONLY : AccountRole.WRITABLE,
      ),
    );
    return raw(SOLANA_PROGRAMS.dflowMarkets, data, accounts);
  };

  test('is decoded and bounded', async () => {
    expect(effectsOf(await read([open(948_096n)]))[0]).toMatchObject({
      kind: 'open_order',
      amount: 948_096n,
      quotedOut: 11_000_000n,
      user: wallet.address,
      source: usdcAccount,
    });
    expect(await codes([open(MAX_INPUT)])).toEqual([]);
    expect(await codes([open(MAX_INPUT + 1n)])).toEqual(['input_exceeded']);
    expect(await codes([open(MAX_INPUT), pay(1n)])).toEqual(['input_exceeded']);
    expect(await codes([open(1n)], { maxLamports: 3_000_000n })).toEqual(['lamports_exceeded']);
  });

  test("other accounts than the wallet's own", async () => {
    expect(await codes([open(1n, { 4: STRANGER })])).toEqual(['wrong_mint']);
    expect(await codes([open(1n, { 5: STRANGER })])).toEqual(['wrong_mint']);
    expect(await codes([open(1n, { 7: STRANGER })])).toEqual(['receives_elsewhere']);
    expect(await codes([open(1n, { 8: STRANGER })])).toEqual(['receives_elsewhere']);
    // By wallet instead of by token account, and to the destination that was asked for.
    expect(await codes([open(1n, { 7: wallet.address, 8: wallet.address })])).toEqual([]);
    expect(await codes([open(1n, { 7: STRANGER })], { destination: ours(STRANGER) })).toEqual([]);
    expect(await codes([open(1n)], { destination: ours(STRANGER) })).toEqual(['receives_elsewhere']);
  });

  test('anything else in it is not known', async () => {
    const opening = open(1n);
    const fill = { ...opening, data: (opening.data as Uint8Array).with(0, 0x41) };
    expect(await codes([fill])).toEqual(['instruction_not_known']);
    expect(await codes([{ ...opening, data: new Uint8Array(81).fill(0x40, 0, 1) }])).toEqual([
      'instruction_not_known',
    ]);
    expect(await codes([{ ...opening, accounts: opening.accounts!.slice(0, 10) }])).toEqual([
      'instruction_not_known',
    ]);
  });
});
