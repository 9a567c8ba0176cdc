/** The chain's JSON-RPC: simulation, cluster methods, encodings, faults. */
import {
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  isSolanaError,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_NODE_UNHEALTHY,
} from '@solana/kit';
import { describe, expect, test } from 'vitest';
import { SOL, SYSTEM, TOKEN, transferSol } from './chain-fixtures.ts';
import { call, chain, confirmed, payer, raw, rejection, rpc, signed, stage, useStage } from './rpc-stage.ts';

useStage();

describe('simulating', () => {
  test('reports balances before and after, without checking signatures', async () => {
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
  const unknown = (await generateKeyPairSigner()).address;
  const { value } = await rpc.getMultipleAccounts([address, unknown], { encoding: 'base64' }).send();
  expect(value.map((one) => one?.lamports ?? null)).toEqual([lamportsHeld, null]);
  const large = { ...account, data: new Uint8Array(129) };
  await chain.put([{ address, account: large }]);
  expect((await call('getAccountInfo', address)).error).toMatchObject({ code: -32600 });
});

test.each([
  ['an invalid address', 'getBalance', ['0'], -32602],
  ['an option of the wrong kind', 'sendTransaction', ['1', { skipPreflight: 'yes' }], -32602],
  ['an invalid commitment', 'getSlot', [{ commitment: 'soon' }], -32602],
  ['a slot that is not reached', 'getSlot', [{ minContextSlot: 1e9 }], -32016],
  ['an unknown method', 'getClusterNodes', [1], -32601],
  ['parameters by name', 'getSlot', { slot: 1 }, -32602],
  ['an invalid signature', 'getSignatureStatuses', [['1']], -32602],
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
    stage.offered = null;
    const error = await rejection(rpc.getSlot().send());
    stage.offered = chain;
    expect(isSolanaError(error, SOLANA_ERROR__JSON_RPC__SERVER_ERROR_NODE_UNHEALTHY)).toBe(true);
  });
});
