/** The official libraries of Solana, unmodified, on the sockets of the chain's door: Kit and web3.js 1.x. */
import { once } from 'node:events';
import {
  type Address,
  createSolanaRpc,
  createSolanaRpcSubscriptions,
  generateKeyPairSigner,
  getSignatureFromTransaction,
  type KeyPairSigner,
  lamports,
  sendAndConfirmTransactionFactory,
} from '@solana/kit';
import { Connection, Keypair, SystemProgram, sendAndConfirmTransaction, Transaction } from '@solana/web3.js';
import { type FastifyInstance, fastify } from 'fastify';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { openDeskDatabase } from '../../../test/postgres.ts';
import { addressBuckets } from '../../exchange/src/doors/limits.ts';
import type { SandboxChain } from '../src/solana/chain-interface.ts';
import { solanaRpcDoor } from '../src/solana/rpc/door.ts';
import { SLOT_MS } from '../src/solana/slots.ts';
import {
  build,
  migrated,
  openTestChain,
  randomBlockhash,
  SOL,
  TestClock,
  transferSol,
} from './chain-fixtures.ts';

/** Runs with the world's time, as the libraries do. */
class RunningClock extends TestClock {
  readonly #from = performance.now();
  override now(): number {
    return this.ms + Math.floor(performance.now() - this.#from);
  }
}

let chain: SandboxChain;
let clock: RunningClock;
let app: FastifyInstance;
let http: string;
let offered: SandboxChain | null;

beforeAll(async () => {
  // Slots come by themselves, and sooner when a test says so.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'], shouldAdvanceTime: true });
  clock = new RunningClock();
  chain = await openTestChain(await migrated(await openDeskDatabase()), clock);
  offered = chain;
  app = fastify();
  const bounds = { perAddress: 60, total: 60 };
  await app.register(solanaRpcDoor, { prefix: '/paper/solana', chain: () => offered, guard: null, bounds });
  http = `${await app.listen({ host: '127.0.0.1', port: 0 })}/paper/solana`;
});
afterAll(async () => {
  vi.useRealTimers();
  await app.close();
  await chain.close();
});

const socketOf = (path = '/ws'): string => http.replace('http', 'ws') + path;

interface Peer {
  readonly socket: WebSocket;
  ask(
    method: string,
    ...params: unknown[]
  ): Promise<{ readonly result?: number; readonly error?: { code: number } }>;
  /** The next notification. */
  next(): Promise<{ readonly method: string; readonly params: { subscription: number; result: never } }>;
  /** Drops what has come so far. */
  forget(): void;
  /** Whether none has come, nor comes with the next two slots. */
  isSilent(): Promise<boolean>;
}

const ANYBODY = '11111111111111111111111111111111' as Address;

async function connect(url = socketOf()): Promise<Peer> {
  const socket = new WebSocket(url);
  const arrived: never[] = [];
  const waiting: ((message: never) => void)[] = [];
  const answers = new Map<number, (message: never) => void>();
  let id = 0;
  socket.on('message', (data) => {
    const message = JSON.parse(String(data));
    if ('id' in message) return answers.get(message.id)?.(message as never);
    const taker = waiting.shift();
    if (taker === undefined) arrived.push(message as never);
    else taker(message as never);
  });
  await new Promise((opened, failed) => socket.once('open', opened).once('error', failed));
  return {
    socket,
    ask: (method, ...params) => {
      id += 1;
      const own = id;
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: own, method, params }));
      return new Promise((resolve) => answers.set(own, resolve as never));
    },
    next: () => {
      const first = arrived.shift();
      return first === undefined
        ? new Promise((resolve) => waiting.push(resolve as never))
        : Promise.resolve(first);
    },
    forget: () => void arrived.splice(0),
    isSilent: async () => {
      for (let nth = 0; nth < 2; nth += 1) {
        clock.ms += SLOT_MS;
        vi.advanceTimersByTime(SLOT_MS);
        // The door answers one question after another: those of its look are in front.
        await createSolanaRpc(http).getBalance(ANYBODY).send();
      }
      return arrived.length === 0;
    },
  };
}

async function funded(): Promise<KeyPairSigner> {
  const signer = await generateKeyPairSigner();
  await chain.airdrop(signer.address, SOL);
  return signer;
}

describe('Kit', () => {
  test('sends and confirms with its factory, at both commitments that a wallet uses', async () => {
    const rpc = createSolanaRpc(http);
    const rpcSubscriptions = createSolanaRpcSubscriptions(socketOf());
    const sendAndConfirm = sendAndConfirmTransactionFactory({ rpc, rpcSubscriptions } as never);
    const payer = await funded();
    for (const commitment of ['processed', 'confirmed'] as const) {
      const { value: lifetime } = await rpc.getLatestBlockhash({ commitment: 'confirmed' }).send();
      const { address } = await generateKeyPairSigner();
      const wire = await signedFor(payer, address, lifetime);
      await sendAndConfirm(wire as never, { commitment });
      const { value } = await rpc.getSignatureStatuses([getSignatureFromTransaction(wire)]).send();
      expect(value[0]).toMatchObject({ err: null });
      expect((await rpc.getBalance(address).send()).value).toBe(lamports(5_000_000n));
    }
  });

  test('streams slots and an account', async () => {
    const rpcSubscriptions = createSolanaRpcSubscriptions(socketOf(''));
    const ending = new AbortController();
    const slots = await rpcSubscriptions.slotNotifications().subscribe({ abortSignal: ending.signal });
    const seen: bigint[] = [];
    for await (const { slot, parent, root } of slots) {
      expect([parent, root <= parent]).toEqual([slot - 1n, true]);
      seen.push(slot);
      if (seen.length === 3) break;
    }
    expect(seen).toEqual([seen[0], seen[0]! + 1n, seen[0]! + 2n]);
    const payer = await funded();
    const accounts = await rpcSubscriptions
      .accountNotifications(payer.address, { commitment: 'confirmed', encoding: 'base64' })
      .subscribe({ abortSignal: ending.signal });
    const states = accounts[Symbol.asyncIterator]();
    const first = states.next();
    await chain.airdrop(payer.address, SOL);
    expect((await first).value).toMatchObject({ value: { lamports: lamports(2n * SOL) } });
    ending.abort();
  });
});

async function signedFor(
  payer: KeyPairSigner,
  to: string,
  lifetime: { blockhash: string; lastValidBlockHeight: bigint },
) {
  const kit = await import('@solana/kit');
  return kit.signTransactionMessageWithSigners(
    kit.pipe(
      kit.createTransactionMessage({ version: 0 }),
      (m) => kit.setTransactionMessageFeePayerSigner(payer, m),
      (m) => kit.setTransactionMessageLifetimeUsingBlockhash(lifetime as never, m),
      (m) => kit.appendTransactionMessageInstructions([transferSol(payer, to as never, 5_000_000n)], m),
    ),
  );
}

describe('web3.js 1.x', () => {
  test('confirms a landed transaction, and says so of one that failed', async () => {
    const connection = new Connection(http, { wsEndpoint: socketOf(), commitment: 'confirmed' });
    const payer = Keypair.generate();
    await connection.confirmTransaction(
      await connection.requestAirdrop(payer.publicKey, Number(SOL)),
      'confirmed',
    );
    const to = Keypair.generate().publicKey;
    const transfer = (amount: number) =>
      new Transaction().add(
        SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports: amount }),
      );
    const signature = await sendAndConfirmTransaction(connection, transfer(2_000_000), [payer]);
    expect((await connection.getParsedTransaction(signature))?.meta?.err).toBeNull();
    const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash();
    const failing = transfer(5 * Number(SOL));
    failing.recentBlockhash = blockhash;
    failing.feePayer = payer.publicKey;
    failing.sign(payer);
    const failed = await connection.sendRawTransaction(failing.serialize(), { skipPreflight: true });
    // The library answers with the fault, or throws it where its own look at the status comes first.
    const fault = await connection
      .confirmTransaction({ signature: failed, blockhash, lastValidBlockHeight })
      .then(({ value }) => value.err)
      .catch((thrown: unknown) => thrown);
    expect(fault).toMatchObject({ InstructionError: [0, { Custom: 1 }] });
    const info = await connection.getEpochInfo();
    expect(info.transactionCount).toBeGreaterThan(1);
  });

  test('listens to an account and to slots until it is asked to stop', async () => {
    const connection = new Connection(http, { wsEndpoint: socketOf('/ws') });
    const owner = Keypair.generate();
    await chain.airdrop(owner.publicKey.toBase58(), SOL);
    const slot = await new Promise<number>((seen) => {
      const id = connection.onSlotChange(({ slot: passed }) => {
        seen(passed);
        connection.removeSlotChangeListener(id);
      });
    });
    expect(slot).toBeGreaterThan(0);
    const balances: number[] = [];
    const isSeen = Promise.withResolvers<void>();
    const id = connection.onAccountChange(
      owner.publicKey,
      (account) => {
        balances.push(account.lamports);
        isSeen.resolve();
      },
      { commitment: 'confirmed' },
    );
    // The library does not say when it has subscribed.
    const { _subscriptionsByHash: byHash } = connection as unknown as Record<
      string,
      Record<string, { state: string }>
    >;
    const subscriptions = () => Object.values(byHash ?? {}).map(({ state }) => state);
    await expect.poll(subscriptions).toContain('subscribed');
    await chain.airdrop(owner.publicKey.toBase58(), SOL);
    await isSeen.promise;
    expect(balances).toEqual([2 * Number(SOL)]);
    await connection.removeAccountChangeListener(id);
  });
});

describe('a subscription', () => {
  test('to a signature answers once: also for a transaction that landed before, and once it is final', async () => {
    const payer = await funded();
    const { blockhash } = await chain.latestBlockhash();
    const outcome = await chain.send(
      await build(payer, [transferSol(payer, payer.address, 1n)], { blockhash }),
    );
    if (outcome.kind !== 'executed') throw new Error(outcome.message);
    const { signature } = outcome.executed;
    const peer = await connect();
    const asked = { commitment: 'confirmed', enableReceivedNotification: true };
    const { result: id } = await peer.ask('signatureSubscribe', signature, asked);
    expect(await peer.next()).toMatchObject({
      method: 'signatureNotification',
      params: { subscription: id, result: { value: 'receivedSignature' } },
    });
    expect(await peer.next()).toMatchObject({
      params: { subscription: id, result: { context: { slot: expect.any(Number) }, value: { err: null } } },
    });
    // It has ended: there is nothing to unsubscribe from.
    expect((await peer.ask('signatureUnsubscribe', id)).error).toMatchObject({ code: -32602 });
    const { result: final } = await peer.ask('signatureSubscribe', signature);
    expect(await peer.isSilent()).toBe(true);
    clock.ms += 32 * SLOT_MS;
    expect(await peer.next()).toMatchObject({
      params: { subscription: final, result: { value: { err: null } } },
    });
    peer.socket.close();
  });

  test('ends with its unsubscribe, and belongs to its socket', async () => {
    const [one, other] = [await connect(), await connect()];
    const { result: id } = await one.ask('slotSubscribe');
    await one.next();
    expect((await other.ask('slotUnsubscribe', id)).error).toMatchObject({ code: -32602 });
    expect(await one.ask('slotUnsubscribe', id)).toMatchObject({ result: true });
    one.forget();
    expect(await one.isSilent()).toBe(true);
    one.socket.close();
    other.socket.close();
  });

  test('to an account that is final reports a state when it is old enough, and its end', async () => {
    const payer = await funded();
    const peer = await connect();
    const { result: id } = await peer.ask('accountSubscribe', payer.address, { encoding: 'base64' });
    expect(await peer.isSilent()).toBe(true);
    await chain.airdrop(payer.address, SOL);
    expect(await peer.isSilent()).toBe(true);
    clock.ms += 32 * SLOT_MS;
    expect(await peer.next()).toMatchObject({
      method: 'accountNotification',
      params: { subscription: id, result: { value: { lamports: Number(2n * SOL), data: ['', 'base64'] } } },
    });
    peer.socket.close();
  });

  test('to an account misses no change after its answer, also on a busy node', async () => {
    const peer = await connect();
    const { address } = await generateKeyPairSigner();
    const many = await Promise.all(Array.from({ length: 100 }, () => randomBlockhash()));
    const asking = Array.from({ length: 20 }, () =>
      createSolanaRpc(http)
        .getMultipleAccounts(many as never)
        .send(),
    );
    await peer.ask('accountSubscribe', address, { commitment: 'processed' });
    await chain.airdrop(address, SOL);
    await Promise.all(asking);
    expect(await peer.next()).toMatchObject({ params: { result: { value: { lamports: Number(SOL) } } } });
    peer.socket.close();
  });

  test('is refused with a code when it cannot be read; notifications and pings are ignored', async () => {
    const peer = await connect();
    const bad: readonly [string, readonly unknown[], number][] = [
      ['signatureSubscribe', ['x'], -32602],
      ['signatureSubscribe', [await randomBlockhash()], -32602],
      ['accountSubscribe', [], -32602],
      ['accountSubscribe', ['11111111111111111111111111111111', { commitment: 'soon' }], -32602],
      ['slotUnsubscribe', ['1'], -32602],
      ['logsSubscribe', ['all'], -32601],
      ['getSlot', [], -32601],
      ['constructor', [], -32601],
    ];
    for (const [method, params, code] of bad)
      expect((await peer.ask(method, ...params)).error, method).toMatchObject({ code });
    peer.socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'ping', params: null }));
    expect((await peer.ask('slotSubscribe')).result).toBeGreaterThan(0);
    peer.socket.close();
  });

  test('is bounded in number, and a chain that another process leads ends the sockets', async () => {
    const peer = await connect();
    // As fast as frames may come.
    for (let nth = 0; nth < 100; nth += 1) {
      if (nth >= 50) await new Promise((later) => setTimeout(later, 55));
      expect((await peer.ask('slotSubscribe')).error).toBeUndefined();
    }
    expect((await peer.ask('slotSubscribe')).error).toMatchObject({ code: -32602 });
    const ended = new Promise<number>((closed) => peer.socket.once('close', closed));
    offered = null;
    expect(await ended).toBe(1012);
    const late = await connect();
    expect((await late.ask('slotSubscribe')).error).toMatchObject({ code: -32005 });
    offered = chain;
    late.socket.close();
  });
});

test('a subscription whose client leaves before its answer is none', async () => {
  const { address } = await generateKeyPairSigner();
  const question = { jsonrpc: '2.0', id: 0, method: 'getAccountInfo', params: [address] };
  const limits = { caller: 'external', calls: 1, airdrops: { perDay: 1n } } as const;
  const answer = await chain.rpc(JSON.stringify([question]), limits);
  const held = Promise.withResolvers<typeof answer>();
  const asked = vi.spyOn(chain, 'rpc').mockReturnValue(held.promise);
  // As many as all clients together may have.
  for (let nth = 0; nth < 45; nth += 1) {
    const { socket } = await connect();
    for (let id = 0; id < 45; id += 1)
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'accountSubscribe', params: [address] }));
    const isClosed = once(socket, 'close');
    socket.close();
    await isClosed;
  }
  const peer = await connect();
  const { length } = asked.mock.calls;
  held.resolve(answer);
  asked.mockRestore();
  expect(length).toBeGreaterThanOrEqual(2_000);
  expect((await peer.ask('accountSubscribe', address)).error).toBeUndefined();
  peer.socket.close();
});

test('a subscription draws tokens of its address, and one that has none learns when to come back', async () => {
  const limited = fastify();
  await limited.register(solanaRpcDoor, {
    prefix: '/rpc',
    chain: () => chain,
    guard: addressBuckets({ perSecond: 1, burst: 4, now: () => 0 }),
  });
  const url = await limited.listen({ host: '127.0.0.1', port: 0 });
  const peer = await connect(`${url.replace('http', 'ws')}/rpc`);
  const { address } = await generateKeyPairSigner();
  expect((await peer.ask('accountSubscribe', address)).error).toBeUndefined();
  const ended = new Promise<[number, string]>((closed) =>
    peer.socket.once('close', (code, reason) => closed([code, String(reason)])),
  );
  peer.ask('accountSubscribe', address).catch(() => {});
  expect(await ended).toEqual([1008, expect.stringContaining('wait')]);
  const plain = await limited.inject({ url: '/rpc/ws' });
  expect([plain.statusCode, plain.headers.upgrade]).toEqual([426, 'websocket']);
  await limited.close();
});
