/** Kit's client against the chain's JSON-RPC door. */
import {
  type Address,
  type Base64EncodedWireTransaction,
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  type Instruction,
  isSolanaError,
  type KeyPairSigner,
  type Signature,
  SOLANA_ERROR__JSON_RPC__INVALID_PARAMS,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_TRANSACTION_SIGNATURE_VERIFICATION_FAILURE,
  SOLANA_ERROR__TRANSACTION_ERROR__BLOCKHASH_NOT_FOUND,
} from '@solana/kit';
import { getCreateAccountInstruction } from '@solana-program/system';
import {
  fetchToken,
  findAssociatedTokenPda,
  getApproveCheckedInstruction,
  getCreateAssociatedTokenIdempotentInstruction,
  getInitializeMint2Instruction,
  getMintToCheckedInstruction,
  getTransferCheckedInstruction,
} from '@solana-program/token';
import { describe, expect, test } from 'vitest';
import { SLOT_MS } from '../src/solana/slots.ts';
import { build, MINT_SPACE, randomBlockhash, SOL, TOKEN, TOKEN_2022, transferSol } from './chain-fixtures.ts';
import {
  call,
  chain,
  clock,
  confirmed,
  expectConfirmed,
  payer,
  rejection,
  rpc,
  signed,
  useStage,
} from './rpc-stage.ts';

useStage();

async function sendAndConfirm(
  feePayer: KeyPairSigner,
  instructions: readonly Instruction[],
): Promise<Signature> {
  const transaction = await signed(feePayer, instructions);
  const signature = await rpc
    .sendTransaction(getBase64EncodedWireTransaction(transaction), {
      encoding: 'base64',
      maxRetries: 0n,
      preflightCommitment: 'confirmed',
    })
    .send();
  expect(signature).toBe(getSignatureFromTransaction(transaction));
  await expectConfirmed(signature);
  return signature;
}

describe.each([
  ['spl-token', TOKEN],
  ['spl-token-2022', TOKEN_2022],
])('%s', (program, programAddress) => {
  test('mint, accounts, transfer, approval and a delegated transfer by kit’s client', async () => {
    const [issuer, owner, delegate] = [await payer(), await payer(), await payer()];
    const mint = await generateKeyPairSigner();
    const rent = await rpc.getMinimumBalanceForRentExemption(BigInt(MINT_SPACE)).send();
    await sendAndConfirm(issuer, [
      getCreateAccountInstruction({
        payer: issuer,
        newAccount: mint,
        lamports: rent,
        space: MINT_SPACE,
        programAddress,
      }),
      getInitializeMint2Instruction(
        { mint: mint.address, decimals: 6, mintAuthority: issuer.address },
        { programAddress },
      ),
    ]);
    const ataOf = async (wallet: Address): Promise<Address> => {
      const [ata] = await findAssociatedTokenPda({
        owner: wallet,
        mint: mint.address,
        tokenProgram: programAddress,
      });
      await sendAndConfirm(issuer, [
        getCreateAssociatedTokenIdempotentInstruction({
          payer: issuer,
          ata,
          owner: wallet,
          mint: mint.address,
          tokenProgram: programAddress,
        }),
      ]);
      return ata;
    };
    const [source, destination] = [await ataOf(owner.address), await ataOf(delegate.address)];
    await sendAndConfirm(issuer, [
      getMintToCheckedInstruction(
        { mint: mint.address, token: source, mintAuthority: issuer, amount: 9_500_000n, decimals: 6 },
        { programAddress },
      ),
    ]);
    await sendAndConfirm(owner, [
      getApproveCheckedInstruction(
        {
          source,
          mint: mint.address,
          delegate: delegate.address,
          owner,
          amount: 4_000_000n,
          decimals: 6,
        },
        { programAddress },
      ),
    ]);
    const move = (authority: KeyPairSigner, amount: bigint): Instruction =>
      getTransferCheckedInstruction(
        { source, mint: mint.address, destination, authority, amount, decimals: 6 },
        { programAddress },
      );
    const signature = await sendAndConfirm(delegate, [move(delegate, 1_500_000n)]);

    if (programAddress === TOKEN) {
      const { data } = await fetchToken(rpc, source);
      expect(data).toMatchObject({
        amount: 8_000_000n,
        delegatedAmount: 2_500_000n,
        delegate: { value: delegate.address },
      });
    }
    const parsed = await rpc.getAccountInfo(source, { ...confirmed, encoding: 'jsonParsed' }).send();
    expect(parsed.value).toMatchObject({
      owner: programAddress,
      data: {
        program,
        parsed: {
          type: 'account',
          info: {
            mint: mint.address,
            owner: owner.address,
            state: 'initialized',
            isNative: false,
            tokenAmount: { amount: '8000000', decimals: 6, uiAmountString: '8' },
            delegate: delegate.address,
            delegatedAmount: { amount: '2500000', uiAmountString: '2.5' },
          },
        },
      },
    });
    const balance = await rpc.getTokenAccountBalance(destination).send();
    expect(balance.value).toMatchObject({ amount: '1500000', decimals: 6 });
    for (const filter of [{ mint: mint.address }, { programId: programAddress }]) {
      const owned = await rpc.getTokenAccountsByOwner(owner.address, filter, { encoding: 'base64' }).send();
      expect(owned.value.map(({ pubkey }) => pubkey)).toEqual([source]);
    }
    const landed = await rpc
      .getTransaction(signature, { ...confirmed, encoding: 'json', maxSupportedTransactionVersion: 0 })
      .send();
    expect(landed?.meta).toMatchObject({ err: null, fee: 5_000n });
    expect(landed?.transaction.message.accountKeys[0]).toBe(delegate.address);
    const amounts = (balances: typeof landed extends null ? never : unknown) =>
      (balances as { owner: Address; uiTokenAmount: { amount: string } }[]).map((one) => [
        one.owner,
        one.uiTokenAmount.amount,
      ]);
    expect(amounts(landed?.meta?.preTokenBalances)).toContainEqual([owner.address, '9500000']);
    expect(amounts(landed?.meta?.postTokenBalances)).toContainEqual([owner.address, '8000000']);

    // More than the allowance: Custom 1, in the form that kit unwraps.
    const refused = await rejection(sendAndConfirm(delegate, [move(delegate, 3_000_000n)]));
    if (!isSolanaError(refused, SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE))
      throw refused;
    expect(refused.cause).toMatchObject({ context: { code: 1, index: 0 } });
    expect(refused.context.logs?.length).toBeGreaterThan(0);
  });
});

describe('sending', () => {
  test('a dead blockhash and a wrong signature are kit’s typed errors', async () => {
    const [alice, bob] = [await payer(), await payer()];
    const stale = await build(alice, [transferSol(alice, bob.address, 1n)], {
      blockhash: randomBlockhash(),
    });
    const { blockhash } = await chain.latestBlockhash();
    const good = await build(alice, [transferSol(alice, bob.address, 1n)], { blockhash });
    const send = (wire: Uint8Array) =>
      rejection(
        rpc
          .sendTransaction(Buffer.from(wire).toString('base64') as Base64EncodedWireTransaction, {
            encoding: 'base64',
          })
          .send(),
      );
    const dead = await send(stale);
    if (!isSolanaError(dead, SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE))
      throw dead;
    expect(isSolanaError(dead.cause, SOLANA_ERROR__TRANSACTION_ERROR__BLOCKHASH_NOT_FOUND)).toBe(true);
    const forged = await send(good.with(5, good[5]! ^ 1));
    expect(
      isSolanaError(forged, SOLANA_ERROR__JSON_RPC__SERVER_ERROR_TRANSACTION_SIGNATURE_VERIFICATION_FAILURE),
    ).toBe(true);
    const cut = await send(good.slice(0, -1));
    expect(isSolanaError(cut, SOLANA_ERROR__JSON_RPC__INVALID_PARAMS)).toBe(true);
  });

  test('base58 is the default encoding; a legacy transaction needs no version', async () => {
    const [alice, bob] = [await payer(), await payer()];
    const { blockhash } = await chain.latestBlockhash();
    const wire = await build(alice, [transferSol(alice, bob.address, SOL / 4n)], {
      blockhash,
      version: 'legacy',
    });
    const { toBase58 } = await import('@bellwether/protocol');
    const { result: signature } = await call('sendTransaction', toBase58(wire));
    const { result } = await call('getTransaction', signature, { encoding: 'base64' });
    expect(result).toMatchObject({
      transaction: [Buffer.from(wire).toString('base64'), 'base64'],
      meta: { err: null, status: { Ok: null }, fee: 5_000 },
    });
    expect(result).not.toHaveProperty('version');
    const odd = await call('sendTransaction', `${Buffer.from(wire).toString('base64')}\n`, {
      encoding: 'base64',
    });
    expect(odd.error).toMatchObject({ code: -32602 });
  });

  test('without preflight a node accepts a transaction that never lands, and a failing transaction lands', async () => {
    const [alice, bob] = [await payer(), await payer()];
    const { blockhash } = await chain.latestBlockhash();
    const send = async (amount: bigint, hash: string) => {
      const wire = await build(alice, [transferSol(alice, bob.address, amount)], { blockhash: hash });
      const options = { encoding: 'base64', skipPreflight: true };
      const { result } = await call('sendTransaction', Buffer.from(wire).toString('base64'), options);
      return (await call('getSignatureStatuses', [result])).result as never as { value: unknown[] };
    };
    expect((await send(1n, randomBlockhash())).value).toEqual([null]);
    expect((await send(5n * SOL, blockhash)).value).toMatchObject([
      {
        err: { InstructionError: [0, { Custom: 1 }] },
        status: { Err: { InstructionError: [0, { Custom: 1 }] } },
      },
    ]);
  });

  test('confirmations count up, and a transaction is final after 32 slots', async () => {
    const alice = await generateKeyPairSigner();
    const { result: signature } = await call('requestAirdrop', alice.address, Number(SOL));
    const status = async () => {
      const { value } = (await call('getSignatureStatuses', [signature])).result as never as {
        value: unknown[];
      };
      return value[0];
    };
    expect(await status()).toMatchObject({ confirmations: 0, confirmationStatus: 'confirmed' });
    clock.ms += 31 * SLOT_MS;
    expect(await status()).toMatchObject({ confirmations: 31, confirmationStatus: 'confirmed' });
    clock.ms += SLOT_MS;
    expect(await status()).toMatchObject({ confirmations: null, confirmationStatus: 'finalized' });
  });

  test('a version 0 transaction is returned only to clients that declare support for it', async () => {
    const alice = await payer();
    const signature = await sendAndConfirm(alice, [transferSol(alice, alice.address, 1n)]);
    expect((await call('getTransaction', signature)).error).toMatchObject({ code: -32015 });
    const options = { maxSupportedTransactionVersion: 0 };
    expect((await call('getTransaction', signature, options)).result).toMatchObject({ version: 0 });
  });
});
