/** A fake Solana node. */
import { type SolanaAddress, toBase58 } from '@bellwether/protocol';
import { type Address, address } from '@solana/kit';
import { AccountState, getMintEncoder, getTokenEncoder } from '@solana-program/token';
import { type FastifyInstance, fastify } from 'fastify';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { fetchSend } from '../src/platform/outbound/http.ts';
import type { Chain } from '../src/venues/chain.ts';
import { createSolanaChain } from '../src/venues/solana/solana-chain.ts';

export type Reply = { readonly result: string } | { readonly error: object } | { readonly status: number };

/** JSON as text, so that numbers can have any size. */
export const result = (text: string): Reply => ({ result: text });

export const valued = (value: unknown): Reply =>
  result(JSON.stringify({ context: { slot: 1, apiVersion: '3.0.0' }, value }));

export const asked: { method: string; params: unknown[] }[] = [];

export let answers: Record<string, Reply | ((params: unknown[]) => Reply)> = {};

function createNode(): FastifyInstance {
  const node = fastify();

  node.post('/', async (request, reply) => {
    const { id, method, params } = request.body as { id: number; method: string; params: unknown[] };
    asked.push({ method, params });
    const answer = answers[method];
    const said = typeof answer === 'function' ? answer(params) : answer;
    if (said === undefined)
      return { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } };
    if ('status' in said) return reply.status(said.status).send('upstream is unwell');
    if ('error' in said) return { jsonrpc: '2.0', id, error: said.error };
    return reply.type('application/json').send(`{"jsonrpc":"2.0","id":${id},"result":${said.result}}`);
  });
  return node;
}

export let url: string;

export let chain: Chain;

export const key = (fill: number) => toBase58(new Uint8Array(32).fill(fill)) as SolanaAddress;

export const WALLET = key(7);

export const encoded = (owner: string, data: Iterable<number>, lamports = 2_039_280) => ({
  lamports,
  owner,
  data: [Buffer.from(Uint8Array.from(data)).toString('base64'), 'base64'],
  executable: false,
  rentEpoch: 18_446_744_073_709_552_000,
});

export const kit = (text: string): Address => address(text);

export function tokens(owner: SolanaAddress, mint: SolanaAddress, amount: bigint, more: object = {}) {
  return getTokenEncoder().encode({
    mint: kit(mint),
    owner: kit(owner),
    amount,
    delegate: null,
    state: AccountState.Initialized,
    isNative: null,
    delegatedAmount: 0n,
    closeAuthority: null,
    ...more,
  });
}

export const mint = (decimals: number) =>
  getMintEncoder().encode({
    mintAuthority: null,
    supply: 1n,
    decimals,
    isInitialized: true,
    freezeAuthority: null,
  });

export const accounts = (known: Record<string, object>) => (params: unknown[]) =>
  valued(known[params[0] as string] ?? null);

/** For the top of a test file. */
export function useStage(): void {
  const node = createNode();
  beforeAll(async () => {
    url = await node.listen({ port: 0, host: '127.0.0.1' });
  });
  afterAll(() => node.close());
  beforeEach(() => {
    asked.length = 0;
    answers = {};
    const log = { warn() {}, info() {} };
    chain = createSolanaChain({ url, send: fetchSend, clock: { now: Date.now }, log });
  });
}
