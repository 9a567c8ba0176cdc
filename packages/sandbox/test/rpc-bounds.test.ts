/** Bounds of what an external caller can make the Solana door read, compute, answer and store. */

import { addressBuckets, type DoorGuard } from '@bellwether/exchange/doors/limits';
import { generateKeyPairSigner, type KeyPairSigner } from '@solana/kit';
import {
  getAllocateInstruction,
  getCreateAccountInstruction,
  getCreateAccountWithSeedInstruction,
} from '@solana-program/system';
import { type FastifyInstance, fastify } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openDeskDatabase } from '../../../test/postgres.ts';
import type { LocalChain, SandboxChain } from '../src/solana/chain-interface.ts';
import { answerBody } from '../src/solana/rpc/answer.ts';
import { solanaRpcDoor } from '../src/solana/rpc/door.ts';
import { build, migrated, openTestChain, SOL, SYSTEM, TestClock, wallet } from './chain-fixtures.ts';

let clock: TestClock;
let chain: SandboxChain;
let app: FastifyInstance;
let now = 0;
let guard: DoorGuard;

beforeAll(async () => {
  clock = new TestClock();
  chain = await openTestChain(await migrated(await openDeskDatabase()), clock);
  app = fastify();
  await app.register(solanaRpcDoor, {
    prefix: '/rpc',
    chain: () => chain,
    guard: {
      admit: (request) => guard.admit(request),
      charge: (request, tokens) => guard.charge(request, tokens),
      sourceOf: (request) => guard.sourceOf(request),
    },
  });
});
afterAll(async () => {
  await app.close();
  await chain.close();
});
beforeEach(() => {
  guard = addressBuckets({ perSecond: 50, burst: 10_000, now: () => now });
});

const rpc = (method: string, params: unknown[] = [], id: unknown = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});

async function post(body: unknown, remoteAddress = '192.0.2.1') {
  const payload = typeof body === 'string' ? body : JSON.stringify(body);
  const answer = await app.inject({ method: 'POST', url: '/rpc', payload, remoteAddress });
  return {
    status: answer.statusCode,
    headers: answer.headers,
    text: answer.body,
    body: JSON.parse(answer.body),
  };
}

describe('the limits of one request', () => {
  test('a batch has at most ten calls', async () => {
    const calls = (count: number) => Array.from({ length: count }, (_, id) => rpc('getSlot', [], id));
    expect((await post(calls(10))).body).toHaveLength(10);
    expect((await post(calls(11))).body).toMatchObject({ error: { code: -32600 }, id: null });
  });

  test('a body has at most 64 KB, and the refusal is JSON-RPC’s', async () => {
    const { status, body } = await post(rpc('getHealth', ['x'.repeat(66_000)]));
    expect([status, body.error.code]).toEqual([413, -32600]);
  });

  test('all its calls together read one megabyte of accounts', async () => {
    // As large as a program is; programs alone may be.
    const { address } = await generateKeyPairSigner();
    const data = crypto.getRandomValues(new Uint8Array(60_000));
    await chain.put([{ address, account: { lamports: SOL, owner: SYSTEM, data, executable: false } }]);
    const many = Array.from({ length: 100 }, () => address);
    const one = await post(rpc('getMultipleAccounts', [many, { encoding: 'base64' }]));
    expect(one.body.error).toMatchObject({ code: -32602, message: expect.stringContaining('1048576 bytes') });
    const spread = await post(
      Array.from({ length: 10 }, (_, id) =>
        rpc('getMultipleAccounts', [many.slice(0, 10), { encoding: 'base64+zstd' }], id),
      ),
    );
    expect(spread.text.length).toBeLessThan(2 * 1024 * 1024);
    const refused = spread.body.filter(({ error }: { error?: unknown }) => error !== undefined);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.length).toBeLessThan(10);
  });

  test('other requests are served between its calls', async () => {
    let turn = 0;
    let isOver = false;
    const next = () => {
      turn += 1;
      if (!isOver) setImmediate(next);
    };
    setImmediate(next);
    const began: number[] = [];
    // As in the chain's thread, whose turns are what other callers wait for.
    const answer = await answerBody(
      JSON.stringify(Array.from({ length: 10 }, (_, id) => rpc('getHealth', [], id))),
      {
        find: () => {
          began.push(turn);
          return chain as unknown as LocalChain;
        },
        limits: { caller: 'external', calls: 10, airdrops: { perDay: 0n } },
        onFault: (error) => {
          throw error;
        },
      },
    );
    isOver = true;
    expect(JSON.parse(answer ?? '')).toHaveLength(10);
    expect(new Set(began).size).toBeGreaterThan(9);
  });

  test('a NUL in the URL is refused', async () => {
    const answer = await app.inject({ method: 'POST', url: '/rpc?a=%00', payload: '{}' });
    expect([answer.statusCode, answer.json().error.code]).toEqual([400, -32600]);
  });
});

describe('the rate', () => {
  test('an address draws tokens from its bucket, more for expensive calls and batches', async () => {
    guard = addressBuckets({ perSecond: 1, burst: 12, now: () => now });
    expect((await post([rpc('getSlot'), rpc('getSlot')])).status).toBe(200);
    const dear = await post(rpc('requestAirdrop', [SYSTEM, 1]));
    expect(dear.body.error.code).not.toBe(429);
    const refused = await post(rpc('getSlot'));
    expect([refused.status, refused.headers['retry-after'], refused.body.error.code]).toEqual([
      429,
      '1',
      429,
    ]);
    expect((await post(rpc('getSlot'), '192.0.2.2')).status).toBe(200);
    now += 1_000;
    expect((await post(rpc('getSlot'))).status).toBe(200);
  });

  test('the faucet limits one caller per day, over all addresses', async () => {
    const ask = async (lamports: bigint, from: string) => {
      const { address } = await generateKeyPairSigner();
      return (await post(rpc('requestAirdrop', [address, Number(lamports)]), from)).body;
    };
    for (let nth = 0; nth < 10; nth += 1) expect((await ask(5n * SOL, '192.0.2.9')).error).toBeUndefined();
    expect((await ask(SOL, '192.0.2.9')).error.message).toContain('a caller 50000000000 lamports a day');
    expect((await ask(SOL, '192.0.2.10')).error).toBeUndefined();
    clock.ms += 24 * 3_600_000;
    expect((await ask(SOL, '192.0.2.9')).error).toBeUndefined();
  });
});

describe('accounts of external callers', () => {
  const send = async (payer: KeyPairSigner, instruction: Parameters<typeof build>[1][number]) => {
    const { blockhash } = await chain.latestBlockhash();
    const encoded = Buffer.from(await build(payer, [instruction], { blockhash })).toString('base64');
    const sent = (await post(rpc('sendTransaction', [encoded, { encoding: 'base64', skipPreflight: true }])))
      .body;
    const options = { encoding: 'base64', sigVerify: false, replaceRecentBlockhash: true };
    const simulated = (await post(rpc('simulateTransaction', [encoded, options]))).body;
    return { sent, simulated };
  };

  test.each([
    [
      'created',
      (payer: KeyPairSigner, account: KeyPairSigner, space: bigint) =>
        getCreateAccountInstruction({
          payer,
          newAccount: account,
          lamports: SOL,
          space,
          programAddress: SYSTEM,
        }),
    ],
    [
      'allocated',
      (_: KeyPairSigner, account: KeyPairSigner, space: bigint) =>
        getAllocateInstruction({ newAccount: account, space }),
    ],
  ] as const)('%s with more than 10 KB are refused, and leave nothing behind', async (_name, make) => {
    const [payer, account] = [await wallet(chain, 5n * SOL), await generateKeyPairSigner()];
    const { sent, simulated } = await send(payer, make(payer, account, 10_241n));
    for (const { error } of [sent, simulated])
      expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('at most 10240 bytes') });
    expect(await chain.account(account.address)).toBeNull();
    expect((await chain.account(payer.address))?.lamports).toBe(5n * SOL);
  });

  test('created with 10 KB exactly are taken', async () => {
    const [payer, account] = [await wallet(chain, 5n * SOL), await generateKeyPairSigner()];
    await send(
      payer,
      getCreateAccountInstruction({
        payer,
        newAccount: account,
        lamports: SOL,
        space: 10_240n,
        programAddress: SYSTEM,
      }),
    );
    expect((await chain.account(account.address))?.data.length).toBe(10_240);
  });

  test('created with a seed are measured, too', async () => {
    const { createAddressWithSeed } = await import('@solana/kit');
    const payer = await wallet(chain, 5n * SOL);
    const seed = 'a seed';
    const address = await createAddressWithSeed({ baseAddress: payer.address, programAddress: SYSTEM, seed });
    const { sent } = await send(
      payer,
      getCreateAccountWithSeedInstruction({
        payer,
        newAccount: address,
        baseAccount: payer,
        base: payer.address,
        seed,
        amount: SOL,
        space: 1_000_000n,
        programAddress: SYSTEM,
      }),
    );
    expect(sent.error.message).toContain('asks for 1000000');
    expect(await chain.account(address)).toBeNull();
  });
});

test('the counters of the node are numbers', async () => {
  const landed = async () => (await post(rpc('getEpochInfo'))).body.result.transactionCount;
  const before = await landed();
  await wallet(chain);
  expect(await landed()).toBe(before + 1);
  clock.ms += 61_000;
  const [sample] = (await post(rpc('getRecentPerformanceSamples', [1]))).body.result;
  expect(sample).toMatchObject({ numSlots: 75, samplePeriodSecs: 60, numTransactions: expect.any(Number) });
  expect((await post(rpc('getRecentPerformanceSamples', [721]))).body.error.code).toBe(-32602);
});
