/** Overreach: more than a Solana transaction's quote allows. */
import { AccountRole, type Address } from '@solana/kit';
import {
  getAdvanceNonceAccountInstruction,
  getCreateAccountInstruction,
  getTransferSolInstruction,
} from '@solana-program/system';
import {
  getApproveInstruction,
  getCloseAccountInstruction,
  getCreateAssociatedTokenInstruction,
  getRecoverNestedAssociatedTokenInstruction,
  getRevokeInstruction,
  getTransferCheckedInstruction,
  getTransferInstruction,
} from '@solana-program/token';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  associatedTokenAddress,
  effectsOf,
  orderEffects,
  paperEscrowAddress,
  SOLANA_PROGRAMS,
  type SolanaAddress,
  USDC_MINT,
} from '../src/index.ts';
import {
  codes,
  computeLimit,
  computePrice,
  createAccount,
  DECIMALS,
  ESCROW,
  MAX_INPUT,
  memo,
  NONCE_ACCOUNT,
  number,
  OUTCOME_MINT,
  other,
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
import { meta, ours, someAddress, theirs } from './solana-kit.ts';

useStage();

describe('overreach', () => {
  test('exactly what the quote says is allowed, to the atom', async () => {
    expect(await codes([pay(MAX_INPUT)])).toEqual([]);
    expect(await codes([pay(MAX_INPUT + 1n)])).toEqual(['input_exceeded']);
    expect(await codes([pay(3_000_000n), pay(2_000_000n)])).toEqual([]);
    expect(await codes([pay(3_000_000n), pay(2_000_001n)])).toEqual(['input_exceeded']);
    expect(await codes([pay(2n ** 64n - 1n), pay(1n)])).toEqual(['input_exceeded']);
  });

  test('any amounts in any number: exactly when their sum is too much', async () => {
    const amounts = fc.array(fc.bigInt({ min: 0n, max: MAX_INPUT }), { minLength: 1, maxLength: 5 });
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
    expect(await codes([pay(1n, OUTCOME_MINT)])).toEqual(['wrong_mint', 'no_order']);
    const unchecked = (source: Address) =>
      getTransferInstruction({ source, destination: ESCROW, authority: wallet, amount: 6_000_000n });
    expect(await codes([unchecked(usdcAccount)])).toEqual(['input_exceeded']);
    expect(await codes([unchecked(outcomeAccount)])).toEqual(['wrong_mint', 'no_order']);
    // An account of the wallet that is not its associated one: its content is unknown.
    expect(await codes([unchecked(STRANGER)])).toEqual(['wrong_mint', 'no_order']);
    const sale = { inputMint: OUTCOME_MINT, outputMint: USDC_MINT };
    expect(await codes([pay(1n)], sale)).toEqual(['wrong_mint', 'no_order']);
    const sell = getTransferCheckedInstruction(
      {
        source: outcomeAccount,
        mint: theirs(OUTCOME_MINT),
        destination: theirs(paperEscrowAddress(OUTCOME_MINT)),
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
    const byCoSigner = getTransferCheckedInstruction({
      source: ESCROW,
      mint: theirs(USDC_MINT),
      destination: usdcAccount,
      authority: other,
      amount: 10n ** 15n,
      ...DECIMALS,
    });
    expect(await codes([byCoSigner, pay(1n)], {}, withWallet)).toEqual([]);
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
    const rent = (amount: bigint, destination = outcomeAccount) =>
      getTransferSolInstruction({ source: wallet, destination, amount });
    expect(await codes([pay(1n), rent(4_148_160n)])).toEqual([]);
    expect(await codes([pay(1n), rent(4_148_161n)])).toEqual(['lamports_exceeded']);
    expect(await codes([pay(1n), rent(2_074_080n), rent(2_074_081n, usdcAccount)])).toEqual([
      'lamports_exceeded',
    ]);
    expect(await codes([pay(1n), rent(1_000_000n)], { maxLamports: 1_004_999n })).toEqual([
      'lamports_exceeded',
    ]);
    const priced = (price: bigint) => codes([pay(1n), computeLimit(1_400_000), computePrice(price)]);
    expect(await priced(7_139_286n)).toEqual(['lamports_exceeded']);
    expect(await priced(7_139_285n)).toEqual([]);
    const account = getCreateAccountInstruction({
      payer: wallet,
      newAccount: other,
      lamports: 10_000_000n,
      space: 1n,
      programAddress: STRANGER,
    });
    expect(await codes([pay(1n), account], {}, [wallet, other])).toEqual([
      'sends_elsewhere',
      'lamports_exceeded',
    ]);
    const opened = [pay(1n), createAccount(wallet.address, outcomeAccount)];
    expect(await codes(opened, { maxLamports: 2_079_079n })).toEqual(['lamports_exceeded']);
    expect(await codes(opened, { maxLamports: 2_079_080n })).toEqual([]);
    // A sponsor pays the fee, so that it is not the wallet's.
    expect(await codes([pay(1n)], { maxLamports: 0n }, [other, wallet])).toEqual([]);
    expect(await codes([pay(1n)], { maxLamports: 0n })).toEqual(['lamports_exceeded']);
  });

  test('an order alone takes tokens, and SOL goes to no other account', async () => {
    const send = (destination: Address, amount = MAX_INPUT) =>
      getTransferCheckedInstruction({
        source: usdcAccount,
        mint: theirs(USDC_MINT),
        destination,
        authority: wallet,
        amount,
        ...DECIMALS,
      });
    const tip = getTransferSolInstruction({ source: wallet, destination: STRANGER, amount: 1n });
    expect(await codes([send(STRANGER)])).toEqual(['sends_elsewhere', 'no_order']);
    expect(await codes([pay(1n), send(STRANGER, 1n)])).toEqual(['sends_elsewhere']);
    expect(await codes([send(usdcAccount)])).toEqual(['no_order']);
    expect(await codes([pay(1n), tip])).toEqual(['sends_elsewhere']);
    expect(await codes([])).toEqual(['no_order']);
    expect(await codes([memo])).toEqual(['no_order']);
    // The escrow of another mint is no part of this order.
    expect(await codes([send(theirs(paperEscrowAddress(OUTCOME_MINT)))])).toEqual([
      'sends_elsewhere',
      'no_order',
    ]);
  });

  test('a limit or a price that is named twice', async () => {
    expect(await codes([computePrice(1n), computePrice(2n), pay(1n)])).toEqual(['named_twice']);
    expect(await codes([computeLimit(1), computeLimit(2), pay(1n)])).toEqual(['named_twice']);
    expect(await codes([computeLimit(1), computePrice(2n), pay(1n)])).toEqual([]);
  });

  test('accounts are created only for the receiver', async () => {
    const of = (owner: Address, mint: SolanaAddress = OUTCOME_MINT) =>
      theirs(associatedTokenAddress(ours(owner), mint, SOLANA_PROGRAMS.token2022));
    const created = (owner: Address, more = {}) => codes([pay(1n), createAccount(owner, of(STRANGER))], more);
    expect(await created(STRANGER)).toEqual(['receives_elsewhere']);
    expect(await created(STRANGER, { destination: ours(STRANGER) })).toEqual([]);
    expect(await created(wallet.address)).toEqual(['receives_elsewhere']);
    const otherMint = getCreateAssociatedTokenInstruction({
      payer: wallet,
      ata: of(wallet.address, ours(STRANGER)),
      owner: wallet.address,
      mint: STRANGER,
      tokenProgram: theirs(SOLANA_PROGRAMS.token2022),
    });
    expect(await codes([pay(1n), otherMint])).toEqual(['receives_elsewhere']);
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
    expect(await codes([memo], {}, [other])).toEqual(['wallet_does_not_sign', 'no_order']);
    const named = raw(SOLANA_PROGRAMS.memo, new Uint8Array(), [meta(wallet.address, AccountRole.WRITABLE)]);
    expect(await codes([named], {}, [other])).toEqual(['wallet_does_not_sign', 'no_order']);
  });

  test('an account from a lookup table is refused where it must be known', async () => {
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
        'no_order',
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
    expect(await codes([open(1n)], { minOutput: 11_000_000n })).toEqual([]);
    expect(await codes([open(1n)], { minOutput: 11_000_001n })).toEqual(['promises_less']);
    expect(orderEffects(await read([open(7n)]), terms)).toMatchObject({ takes: 7n, promises: 11_000_000n });
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
