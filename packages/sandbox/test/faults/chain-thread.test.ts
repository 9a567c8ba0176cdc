/** The chain's thread from outside: the answers when it dies, is stuck, is overloaded, or is closed. */

import type { Sql } from '@bellwether/durable';
import { addressBuckets } from '@bellwether/exchange/doors/limits';
import { generateKeyPairSigner } from '@solana/kit';
import { fastify } from 'fastify';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openTestDatabase } from '../../../../test/postgres.ts';
import { within } from '../../../../test/service-process.ts';
import { CallQueue } from '../../src/solana/call-queue.ts';
import { ChainBusy, type SandboxChain, SandboxChainUnavailable } from '../../src/solana/chain-interface.ts';
import {
  openChain as openPrepared,
  type PreparedThread,
  prepareThread,
} from '../../src/solana/chain-thread.ts';
import { solanaRpcDoor } from '../../src/solana/rpc/door.ts';
import { build, migrated, openTestChain, SOL, TestClock, transferSol, wallet } from '../chain-fixtures.ts';

interface Thread {
  /** Drops all of its messages: from outside, the thread appears stuck. */
  isMute: boolean;
  /** The dropped messages. */
  readonly missed: unknown[];
  /** It receives no message, and cannot be terminated: as if it were in native code. */
  isDeaf: boolean;
  terminate(): Promise<number>;
}

const threads = vi.hoisted((): Thread[] => []);

vi.mock('node:worker_threads', async (original) => {
  const real = await original<typeof import('node:worker_threads')>();
  return {
    ...real,
    Worker: class extends real.Worker {
      isMute = false;
      readonly missed: unknown[] = [];
      isDeaf = false;
      constructor(...args: ConstructorParameters<typeof real.Worker>) {
        super(...args);
        threads.push(this);
      }
      override postMessage(...args: Parameters<typeof real.Worker.prototype.postMessage>): void {
        if (!this.isDeaf) super.postMessage(...args);
      }
      override terminate(): Promise<number> {
        return this.isDeaf ? new Promise(() => {}) : super.terminate();
      }
      override emit(event: string | symbol, ...args: unknown[]): boolean {
        if (event === 'message' && this.isMute) {
          this.missed.push(args[0]);
          return true;
        }
        return super.emit(event as never, ...(args as never[]));
      }
    },
  };
});

const TICK_MS = 1_000;
const TICKS_UNTIL_STUCK = 11;
const EXTERNAL_CALLS = 200;
const FIRST_STEPS_MS = 20_000;

let sql: Sql;
let chain: SandboxChain;
const logged: string[] = [];

const openChain = (): Promise<SandboxChain> =>
  openTestChain(sql, new TestClock(), { log: (message) => logged.push(message) });

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  sql = await migrated(await openTestDatabase());
  logged.length = 0;
  chain = await openChain();
});
afterEach(async () => {
  await chain.close();
  vi.useRealTimers();
});

const current = (): Thread => threads.at(-1)!;

async function transfer() {
  const [alice, bob] = [await wallet(chain), await generateKeyPairSigner()];
  const { blockhash } = await chain.latestBlockhash();
  const wire = await build(alice, [transferSol(alice, bob.address, SOL / 2n)], { blockhash });
  return { wire, lamportsOf: async () => (await chain.account(bob.address))?.lamports ?? 0n };
}

const isBack = () => vi.waitFor(() => expect(chain.isOpen()).toBe(true), { timeout: FIRST_STEPS_MS });

/** Ticks pass one by one, with time for the thread's messages in between. */
async function tick(times: number): Promise<void> {
  for (let nth = 0; nth < times; nth += 1) {
    vi.advanceTimersByTime(TICK_MS);
    await new Promise((turn) => setTimeout(turn, 5));
  }
}

/** Ticks of a thread that answers: each once the thread has answered the one before, however slow it is. */
async function answeredTick(times: number): Promise<void> {
  for (let nth = 0; nth < times; nth += 1) {
    vi.advanceTimersByTime(TICK_MS);
    await chain.slot();
  }
}

describe('a thread that dies', () => {
  test('is replaced, and its pending calls are rejected with the known state', async () => {
    const { wire, lamportsOf } = await transfer();
    current().isMute = true;
    const sending = chain.send(wire);
    const reading = chain.slot();
    const answers = Promise.allSettled([sending, reading]);
    await vi.waitFor(
      () => expect(current().missed).toContainEqual(expect.objectContaining({ kind: 'landed' })),
      { timeout: 30_000 },
    );
    await current().terminate();
    expect(await answers).toMatchObject([
      { reason: { name: 'SandboxChainUnavailable', landed: 'unknown' } },
      { reason: { name: 'SandboxChainUnavailable', landed: 'no' } },
    ]);
    expect(chain.isOpen()).toBe(false);
    await expect(chain.slot()).rejects.toMatchObject({ landed: 'no' });
    await isBack();
    // It had landed, and does not land a second time.
    expect(await lamportsOf()).toBe(SOL / 2n);
    expect(await chain.send(wire)).toMatchObject({ data: { err: 'AlreadyProcessed' } });
    expect(logged.join()).toContain('another one takes its place');
  });

  test('and was replaced by another process is not restarted', async () => {
    const successor = await openChain();
    onTestFinished(() => successor.close());
    await threads.at(-2)!.terminate();
    await vi.waitFor(() => expect(logged.join()).toContain('another process has opened'), {
      timeout: FIRST_STEPS_MS,
    });
    expect(chain.isOpen()).toBe(false);
    await expect(chain.slot()).rejects.toThrow(SandboxChainUnavailable);
    expect(await successor.slot()).toBeGreaterThan(0);
  });

  test('during the first opening makes the opening fail', async () => {
    const opening = openChain();
    await current().terminate();
    await expect(opening).rejects.toThrow('the thread of the sandbox chain died');
  });
});

describe('a thread that was prepared', () => {
  const open = (prepared: PreparedThread) =>
    openPrepared({ sql, seed: 'test seed', clock: new TestClock() }, prepared);

  test('leaves the chain to its process until it is taken, then opens it in the same thread', async () => {
    const prepared = prepareThread(sql);
    onTestFinished(() => prepared.end());
    await prepared.ready;
    const { wire, lamportsOf } = await transfer();
    expect(await chain.send(wire)).toMatchObject({ kind: 'executed' });
    const started = threads.length;
    await chain.close();
    chain = await open(prepared);
    expect(threads.length).toBe(started);
    expect(await lamportsOf()).toBe(SOL / 2n);
    // It is taken once.
    expect(prepared.take()).toBeNull();
    prepared.end();
    expect(await chain.slot()).toBeGreaterThan(0);
  });

  test('and died or was ended meanwhile is not used', async () => {
    for (const over of ['died', 'ended']) {
      const prepared = prepareThread(sql);
      const thread = current();
      if (over === 'ended') prepared.end();
      else await thread.terminate();
      await expect(prepared.ready).rejects.toThrow('before it was ready');
      await chain.close();
      chain = await open(prepared);
      expect(current()).not.toBe(thread);
      expect(await chain.slot()).toBeGreaterThan(0);
    }
  });
});

describe('a thread that is stuck', () => {
  test('is replaced after ten seconds, and cannot write afterwards', async () => {
    const { wire, lamportsOf } = await transfer();
    const stuck = current();
    await answeredTick(TICKS_UNTIL_STUCK);
    expect(current()).toBe(stuck);
    // Its connection to the database still works: only the fence protects the chain.
    stuck.isMute = true;
    stuck.isDeaf = true;
    onTestFinished(async () => {
      stuck.isDeaf = false;
      await stuck.terminate();
    });
    const answers = Promise.allSettled([chain.put([])]);
    await tick(TICKS_UNTIL_STUCK);
    expect(await answers).toMatchObject([{ reason: { landed: 'unknown' } }]);
    await isBack();
    expect(current()).not.toBe(stuck);
    expect(await chain.send(wire)).toMatchObject({ kind: 'executed' });
    expect(await lamportsOf()).toBe(SOL / 2n);
    const [row] = await sql`select holder from durable_terms where name = 'sandbox chain'`;
    expect(row?.holder).toMatch(/:2:\d+$/);
  });

  test('delays a close by at most five seconds', async () => {
    const stuck = current();
    stuck.isDeaf = true;
    await within(7_000, chain.close());
    await expect(chain.slot()).rejects.toThrow('closed');
    stuck.isDeaf = false;
    await stuck.terminate();
  });

  test('for less than ten seconds is not replaced', async () => {
    const slow = current();
    slow.isMute = true;
    await tick(TICKS_UNTIL_STUCK - 2);
    slow.isMute = false;
    await answeredTick(TICKS_UNTIL_STUCK);
    expect(current()).toBe(slow);
    expect(await chain.slot()).toBeGreaterThan(0);
  });
});

describe('an overloaded chain', () => {
  const external = (calls: number) => ({ caller: 'external' as const, calls, airdrops: { perDay: SOL } });
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getSlot' });

  test('external calls beyond two hundred are refused, the desk’s calls are not', async () => {
    current().isMute = true;
    const waiting = [external(EXTERNAL_CALLS - 1), external(1)].map((limits) => chain.rpc(body, limits));
    await expect(chain.rpc(body, external(1))).rejects.toThrow(ChainBusy);
    const desk = chain.slot();
    const answers = Promise.allSettled([...waiting, desk]);
    await current().terminate();
    expect((await answers).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    await isBack();
    // Answered and abandoned calls do not count as waiting.
    expect(await chain.rpc(body, external(EXTERNAL_CALLS))).toBeInstanceOf(Uint8Array);
  });

  test('the door answers with a rate limit', async () => {
    const app = fastify();
    onTestFinished(() => app.close());
    const guard = addressBuckets({ perSecond: 1_000, burst: 10_000, now: () => 0 });
    await app.register(solanaRpcDoor, { chain: () => chain, guard });
    current().isMute = true;
    const waiting = chain.rpc(body, external(EXTERNAL_CALLS));
    waiting.catch(() => {});
    const answer = await app.inject({ method: 'POST', url: '/', payload: body });
    expect([answer.statusCode, answer.headers['retry-after'], answer.json().error.code]).toEqual([
      429,
      '1',
      429,
    ]);
  });

  test('a batch whose thread dies is answered call by call', async () => {
    const app = fastify();
    onTestFinished(() => app.close());
    await app.register(solanaRpcDoor, { chain: () => chain, guard: null });
    const { wire } = await transfer();
    current().isMute = true;
    const call = (id: number, method: string, params: unknown[] = []) => ({
      jsonrpc: '2.0',
      id,
      method,
      params,
    });
    const encoded = Buffer.from(wire).toString('base64');
    const payload = JSON.stringify([
      call(1, 'getSlot'),
      call(2, 'sendTransaction', [encoded, { encoding: 'base64' }]),
      call(3, 'getNothing'),
      { jsonrpc: '2.0', method: 'getSlot' },
    ]);
    const asked = app.inject({ method: 'POST', url: '/', payload });
    await vi.waitFor(
      () => expect(current().missed).toContainEqual(expect.objectContaining({ kind: 'answer' })),
      { timeout: 30_000 },
    );
    await current().terminate();
    const answers = (await asked).json() as readonly { id: number; error: { code: number } }[];
    expect(answers.map(({ id, error }) => [id, error.code])).toEqual([
      [1, -32005],
      [2, -32603],
      [3, -32601],
    ]);
  });

  test('the desk’s calls start before external calls that arrived earlier', async () => {
    const begun: string[] = [];
    let pauseMs = 0;
    const queue = new CallQueue<string>(
      (call) => begun.push(call),
      () => pauseMs,
    );
    queue.add('external 1', true);
    queue.add('external 2', true);
    queue.add('desk 1', false);
    queue.add('desk 2', false);
    await vi.waitFor(() => expect(begun).toHaveLength(4), { timeout: 30_000 });
    expect(begun).toEqual(['desk 1', 'desk 2', 'external 1', 'external 2']);
    queue.add('external 3', true);
    await vi.waitFor(() => expect(begun.at(-1)).toBe('external 3'), { timeout: 30_000 });

    // External calls have used up their share of the thread.
    pauseMs = 60_000;
    queue.add('external 4', true);
    await new Promise((turn) => setTimeout(turn, 20));
    queue.add('desk 3', false);
    await vi.waitFor(() => expect(begun.at(-1)).toBe('desk 3'), { timeout: 30_000 });
    expect(begun).not.toContain('external 4');
    pauseMs = 0;
    queue.add('desk 4', false);
    await vi.waitFor(() => expect(begun.at(-1)).toBe('external 4'), { timeout: 30_000 });
  });
});
