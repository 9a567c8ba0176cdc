/** A chain behind its JSON-RPC door, called by Kit's client. */
import {
  appendTransactionMessageInstructions,
  createSolanaRpc,
  createTransactionMessage,
  generateKeyPairSigner,
  type Instruction,
  type KeyPairSigner,
  lamports,
  pipe,
  type Rpc,
  type Signature,
  type SolanaRpcApi,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit';
import { type FastifyInstance, fastify } from 'fastify';
import { afterAll, beforeAll, expect } from 'vitest';
import { openDeskDatabase } from '../../../test/postgres.ts';
import type { SandboxChain } from '../src/solana/chain-interface.ts';
import { solanaRpcDoor } from '../src/solana/rpc/door.ts';
import { migrated, openTestChain, SOL, TestClock } from './chain-fixtures.ts';

export let clock: TestClock;

export let chain: SandboxChain;

/** Set by tests, and reset before each test. */
export const stage = {} as {
  offered: SandboxChain | null;
};

let app: FastifyInstance;

export let rpc: Rpc<SolanaRpcApi>;

export const confirmed = { commitment: 'confirmed' } as const;

export async function payer(): Promise<KeyPairSigner> {
  const signer = await generateKeyPairSigner();
  const signature = await rpc.requestAirdrop(signer.address, lamports(SOL)).send();
  await expectConfirmed(signature);
  return signer;
}

export async function expectConfirmed(signature: Signature): Promise<void> {
  const { value } = await rpc.getSignatureStatuses([signature]).send();
  expect(value[0]).toMatchObject({ err: null, confirmationStatus: 'confirmed' });
}

export async function signed(feePayer: KeyPairSigner, instructions: readonly Instruction[]) {
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

export async function raw(body: unknown): Promise<{ status: number; answer: never }> {
  const payload = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await app.inject({
    method: 'POST',
    url: '/rpc',
    headers: { 'content-type': 'application/json' },
    payload,
  });
  return { status: response.statusCode, answer: (response.body === '' ? null : response.json()) as never };
}

export async function call(method: string, ...params: unknown[]): Promise<Record<string, never>> {
  const { status, answer } = await raw({ jsonrpc: '2.0', id: 7, method, params });
  expect(status).toBe(200);
  expect(answer).toMatchObject({ jsonrpc: '2.0', id: 7 });
  return answer;
}

export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => expect.unreachable('it was not refused'),
    (error: unknown) => error,
  );
}

/** Call it at the top of a test file. */
export function useStage(): void {
  beforeAll(async () => {
    clock = new TestClock();
    chain = await openTestChain(await migrated(await openDeskDatabase()), clock);
    stage.offered = chain;
    app = fastify();
    await app.register(solanaRpcDoor, { prefix: '/rpc', chain: () => stage.offered, guard: null });
    rpc = createSolanaRpc(await app.listen({ host: '127.0.0.1', port: 0 }).then((url) => `${url}/rpc`));
  });
  afterAll(async () => {
    await app.close();
    await chain.close();
  });
}
