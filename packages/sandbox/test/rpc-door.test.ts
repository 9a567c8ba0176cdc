/** The door as @solana/kit's own client meets it over HTTP, and as raw JSON-RPC. */
import {
  type Address,
  appendTransactionMessageInstructions,
  type Base64EncodedWireTransaction,
  createSolanaRpc,
  createTransactionMessage,
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  type Instruction,
  isSolanaError,
  type KeyPairSigner,
  lamports,
  pipe,
  type Rpc,
  type Signature,
  SOLANA_ERROR__JSON_RPC__INVALID_PARAMS,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_NODE_UNHEALTHY,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_TRANSACTION_SIGNATURE_VERIFICATION_FAILURE,
  SOLANA_ERROR__TRANSACTION_ERROR__BLOCKHASH_NOT_FOUND,
  type SolanaRpcApi,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
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
import { type FastifyInstance, fastify } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestDatabase } from '../../../test/postgres.ts';
import { SLOT_MS } from '../src/solana/block-clock.ts';
import { solanaRpcDoor } from '../src/solana/rpc/door.ts';
import type { SandboxChain } from '../src/solana/types.ts';
import {
  build,
  MINT_SPACE,
  migrated,
  openTestChain,
  randomBlockhash,
  SOL,
  SYSTEM,
  TestClock,
  TOKEN,
  TOKEN_2022,
  transferSol,
} from './chain-fixtures.ts';

let clock: TestClock;
let chain: SandboxChain;
let offered: SandboxChain | null;
let app: FastifyInstance;
let rpc: Rpc<SolanaRpcApi>;

beforeAll(async () => {
  clock = new TestClock();
  chain = await openTestChain(await migrated(await openTestDatabase()), clock);
  offered = chain;
  app = fastify();
  await app.register(solanaRpcDoor, { prefix: '/rpc', chain: () => offered, guard: null });
  rpc = createSolanaRpc(await app.listen({ host: '127.0.0.1', port: 0 }).then((url) => `${url}/rpc`));
});

afterAll(async () => {
  await app.close();
  await chain.close();
});

const confirmed = { commitment: 'confirmed' } as const;

async function payer(): Promise<KeyPairSigner> {
  const signer = await generateKeyPairSigner();
  const signature = await rpc.requestAirdrop(signer.address, lamports(SOL)).send();
  await expectConfirmed(signature);
  return signer;
}

async function expectConfirmed(signature: Signature): Promise<void> {
  const { value } = await rpc.getSignatureStatuses([signature]).send();
  expect(value[0]).toMatchObject({ err: null, confirmationStatus: 'confirmed' });
}

async function signed(feePayer: KeyPairSigner, instructions: readonly Instruction[]) {
  const { value: lifetime } = await rpc.getLatestBlockhash(confirmed).send();
  return signTransactionMessageWithSigners(
    pipe(
      createTransactionMessage({ version: 0 }),
      (m) => setTransactionMessageFeePayerSigner(feePayer, m),
      (m) => setTransactionMessageLifetimeUsingBlockhash(lifetime, m),
      (m) => appendTransactionMessageInstructions(instructions, m),
    ),
  );
}

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

async function raw(body: unknown): Promise<{ status: number; answer: never }> {
  const payload = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await app.inject({
    method: 'POST',
    url: '/rpc',
    headers: { 'content-type': 'application/json' },
    payload,
  });
  return { status: response.statusCode, answer: (response.body === '' ? null : response.json()) as never };
}

async function call(method: string, ...params: unknown[]): Promise<Record<string, never>> {
  const { status, answer } = await raw({ jsonrpc: '2.0', id: 7, method, params });
  expect(status).toBe(200);
  expect(answer).toMatchObject({ jsonrpc: '2.0', id: 7 });
  return answer;
}

async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => expect.unreachable('it was not refused'),
    (error: unknown) => error,
  );
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
    const supply = await rpc.getTokenSupply(mint.address).send();
    expect(supply.value).toMatchObject({ amount: '9500000', uiAmountString: '9.5' });
    const balance = await rpc.getTokenAccountBalance(destination).send();
    expect(balance.value).toMatchObject({ amount: '1500000', decimals: 6 });
    for (const filter of [{ mint: mint.address }, { programId: programAddress }]) {
      const owned = await rpc.getTokenAccountsByOwner(owner.address, filter, { encoding: 'base64' }).send();
      expect(owned.value.map(({ pubkey }) => pubkey)).toEqual([source]);
    }
    const delegated = await rpc
      .getTokenAccountsByDelegate(delegate.address, { mint: mint.address }, { encoding: 'jsonParsed' })
      .send();
    expect(delegated.value.map(({ pubkey }) => pubkey)).toEqual([source]);

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

  test('without preflight a node takes what never lands, and what fails lands', async () => {
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

  test('a version 0 transaction is told of only to who says that he can read it', async () => {
    const alice = await payer();
    const signature = await sendAndConfirm(alice, [transferSol(alice, alice.address, 1n)]);
    expect((await call('getTransaction', signature)).error).toMatchObject({ code: -32015 });
    const options = { maxSupportedTransactionVersion: 0 };
    expect((await call('getTransaction', signature, options)).result).toMatchObject({ version: 0 });
  });
});

describe('simulating', () => {
  test('tells balances before and after, with the signatures not looked at', async () => {
    const [alice, bob] = [await payer(), await payer()];
    const transaction = await signed(alice, [transferSol(alice, bob.address, SOL / 4n)]);
    const wire = Buffer.from(getBase64EncodedWireTransaction(transaction), 'base64').fill(0, 1, 65);
    const encoded = wire.toString('base64');
    const both = { encoding: 'base64', sigVerify: true, replaceRecentBlockhash: true };
    expect((await call('simulateTransaction', encoded, both)).error).toMatchObject({ code: -32602 });
    const checked = { encoding: 'base64', sigVerify: true };
    expect((await call('simulateTransaction', encoded, checked)).error).toMatchObject({ code: -32003 });
    const { result } = await call('simulateTransaction', encoded, {
      encoding: 'base64',
      replaceRecentBlockhash: true,
      accounts: { encoding: 'base64', addresses: [bob.address] },
    });
    const { value } = result as never as { value: Record<string, unknown> };
    expect(value).toMatchObject({
      err: null,
      fee: 5_000,
      accounts: [{ lamports: Number((5n * SOL) / 4n) }],
      postTokenBalances: [],
      replacementBlockhash: { blockhash: expect.any(String) },
    });
    expect((value.preBalances as number[]).slice(0, 2)).toEqual([Number(SOL), Number(SOL)]);
    expect((value.postBalances as number[]).slice(0, 2)).toEqual([
      Number((SOL * 3n) / 4n - 5_000n),
      Number((SOL * 5n) / 4n),
    ]);
    expect((await chain.account(bob.address))?.lamports).toBe(SOL);
  });
});

test('cluster methods', async () => {
  expect((await call('getHealth')).result).toBe('ok');
  const slot = await rpc.getSlot().send();
  expect(await rpc.getBlockHeight().send()).toBe(slot);
  expect((await rpc.getEpochInfo().send()).absoluteSlot).toBe(slot);
  expect((await rpc.getVersion().send())['solana-core']).toContain('sandbox');
  expect(await rpc.getGenesisHash().send()).toBe(await chain.genesisHash());
  const { value: latest } = await rpc.getLatestBlockhash(confirmed).send();
  expect(latest.lastValidBlockHeight).toBe(slot + 150n);
  expect((await rpc.isBlockhashValid(latest.blockhash).send()).value).toBe(true);
  const alice = await payer();
  const { messageBytes } = await signed(alice, [transferSol(alice, alice.address, 1n)]);
  const message = Buffer.from(messageBytes).toString('base64');
  expect((await call('getFeeForMessage', message)).result).toMatchObject({ value: 5_000 });
  expect((await call('getFeeForMessage', message.slice(0, -4))).error).toMatchObject({ code: -32602 });
});

test('accounts in their encodings, integers exact', async () => {
  const { address } = await generateKeyPairSigner();
  const lamportsHeld = 2n ** 60n + 1n;
  const account = {
    lamports: lamportsHeld,
    owner: SYSTEM,
    data: Uint8Array.of(1, 2, 3, 4),
    executable: false,
  };
  await chain.put([{ address, account }]);
  expect((await rpc.getBalance(address).send()).value).toBe(lamportsHeld);
  const dataIn = async (options?: object) =>
    ((await call('getAccountInfo', address, options)).result as never as { value: { data: unknown } }).value
      .data;
  expect(await dataIn()).toBe('2VfUX');
  expect(await dataIn({ encoding: 'base58' })).toEqual(['2VfUX', 'base58']);
  expect(await dataIn({ encoding: 'base64', dataSlice: { offset: 1, length: 2 } })).toEqual([
    'AgM=',
    'base64',
  ]);
  expect(await dataIn({ encoding: 'jsonParsed' })).toEqual(['AQIDBA==', 'base64']);
  const { zstdDecompressSync } = await import('node:zlib');
  const [compressed] = (await dataIn({ encoding: 'base64+zstd' })) as [string];
  expect([...zstdDecompressSync(Buffer.from(compressed, 'base64'))]).toEqual([1, 2, 3, 4]);
  const nobody = (await generateKeyPairSigner()).address;
  const { value } = await rpc.getMultipleAccounts([address, nobody], { encoding: 'base64' }).send();
  expect(value.map((one) => one?.lamports ?? null)).toEqual([lamportsHeld, null]);
  const large = { ...account, data: new Uint8Array(129) };
  await chain.put([{ address, account: large }]);
  expect((await call('getAccountInfo', address)).error).toMatchObject({ code: -32600 });
});

test.each([
  ['an address that is none', 'getBalance', ['0'], -32602],
  ['an option of the wrong kind', 'sendTransaction', ['1', { skipPreflight: 'yes' }], -32602],
  ['a commitment that is none', 'getSlot', [{ commitment: 'soon' }], -32602],
  ['a slot that is not reached', 'getSlot', [{ minContextSlot: 1e9 }], -32016],
  ['a method that is none', 'getBlock', [1], -32601],
  ['parameters by name', 'getSlot', { slot: 1 }, -32602],
  ['a signature that is none', 'getSignatureStatuses', [['1']], -32602],
  ['too many signatures', 'getSignatureStatuses', [new Array(257).fill('1')], -32602],
  ['a token balance of no token account', 'getTokenAccountBalance', [SYSTEM], -32602],
  ['two filters', 'getTokenAccountsByOwner', [SYSTEM, { mint: SYSTEM, programId: TOKEN }], -32602],
  ['a program that is no token program', 'getTokenAccountsByOwner', [SYSTEM, { programId: SYSTEM }], -32602],
  ['a large airdrop', 'requestAirdrop', [SYSTEM, 5_000_000_001], -32602],
])('%s is refused by its code', async (_name, method, params, code) => {
  const { answer } = await raw({ jsonrpc: '2.0', id: 1, method, params });
  expect(answer).toMatchObject({ error: { code, message: expect.any(String) }, id: 1 });
});

test('the faucet has a daily allowance', async () => {
  const { address } = await generateKeyPairSigner();
  for (const amount of [5e9, 5e9]) await call('requestAirdrop', address, amount);
  const refused = await call('requestAirdrop', address, 1e6);
  expect(refused.error).toMatchObject({ code: -32603, message: expect.stringContaining('a day') });
});

describe('JSON-RPC itself', () => {
  test('broken JSON, no request, an empty and an overlong batch', async () => {
    expect((await raw('{')).answer).toMatchObject({ error: { code: -32700 }, id: null });
    for (const none of [null, 1, '"x"', {}, { jsonrpc: '1.0', id: 1, method: 'getSlot' }, [], { id: {} }])
      expect((await raw(none)).answer).toMatchObject({ error: { code: -32600 } });
    const one = { jsonrpc: '2.0', id: 1, method: 'getHealth' };
    expect((await raw(new Array(101).fill(one))).answer).toMatchObject({ error: { code: -32600 } });
  });

  test('a batch is answered in order, notifications not at all', async () => {
    const one = (id: unknown, method = 'getHealth') => ({ jsonrpc: '2.0', id, method });
    const { answer } = await raw([one('a'), one(undefined), one(2, 'nope'), one(null)]);
    expect(answer).toMatchObject([
      { id: 'a', result: 'ok' },
      { id: 2, error: { code: -32601 } },
      { id: null },
    ]);
    expect(await raw(one(undefined))).toEqual({ status: 204, answer: null });
  });

  test('without a chain the node is unhealthy', async () => {
    offered = null;
    const error = await rejection(rpc.getSlot().send());
    offered = chain;
    expect(isSolanaError(error, SOLANA_ERROR__JSON_RPC__SERVER_ERROR_NODE_UNHEALTHY)).toBe(true);
  });
});
