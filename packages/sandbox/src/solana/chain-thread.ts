/**
 * Controls the chain's thread: starts it, sends it calls, watches it, and starts another one from the database when it
 * dies or is stuck. Pending calls are then rejected as not landed or, where a commit may have run, as unknown.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Sql } from '@bellwether/durable';
import {
  ChainBusy,
  type ChainCalls,
  type ChainOptions,
  type LatestBlock,
  type RpcLimits,
  type SandboxChain,
  SandboxChainUnavailable,
} from './chain-interface.ts';
import { type BlockClock, blockClock, latestBlockhash } from './slots.ts';
import {
  addressOf,
  type CallMessage,
  type CallName,
  type ChainState,
  errorFrom,
  type FromChain,
  type ThreadData,
  type ToChain,
} from './thread-messages.ts';

/** Every call, and whether it may have taken effect although no answer arrived. */
const MAY_LAND: Readonly<Record<CallName, boolean>> = {
  slot: false,
  blockHeight: false,
  latestBlockhash: false,
  isBlockhashValid: false,
  genesisHash: false,
  transactionCount: false,
  landedSince: false,
  minimumBalanceForRentExemption: false,
  send: true,
  simulate: false,
  account: false,
  tokenSupplies: false,
  status: false,
  statuses: false,
  transaction: false,
  airdrop: true,
  put: true,
  tokenAccountsOf: false,
  // The door decides this for each call of the batch.
  rpc: true,
  // By its method: see `rpc/answer.ts`.
  ask: true,
};

/** Time is counted in ticks, not by the clock: after the process was frozen, its thread must not appear overdue. */
const TICK_MS = 1_000;
/** A commit has its own limit, 15 s; a call that takes longer than this waits for a silent database. */
const CALL_TICKS = 20;
/** Far longer than any single turn of the thread. */
const STUCK_TICKS = 10;
/** External calls that may wait at a time; a few hundred milliseconds' work. */
const MAX_EXTERNAL_CALLS = 200;
/** The desk's admission bounds its own calls long before. */
const MAX_DESK_CALLS = 5_000;
const CLOSE_MS = 5_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;
/** A thread that has run this long did not die of its initial state. */
const SOUND_AFTER_TICKS = 60;

interface WaitingCall {
  readonly name: CallName;
  readonly weight: number;
  readonly isExternal: boolean;
  readonly since: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: Error) => void;
}

interface Opening {
  /** The chain is taken only from a thread of this process. */
  readonly resume: boolean;
  /** The promise of the caller that waits for the first thread to open the chain; later settlements have no effect. */
  readonly opened: () => void;
  readonly failed: (reason: Error) => void;
}

const AGAIN: Opening = { resume: true, opened: () => {}, failed: () => {} };

/** @throws when the database does not answer, or holds the chain of another seed */
export async function openChain(
  options: ChainOptions,
  prepared: PreparedThread | null = null,
): Promise<SandboxChain> {
  const thread = new ChainThread(options);
  await thread.start(prepared?.take() ?? startThread(options.sql));
  const calls = Object.fromEntries(
    Object.keys(MAY_LAND).map((name) => [
      name,
      (...args: unknown[]) => thread.call(name as CallName, args as never),
    ]),
  ) as unknown as Pick<SandboxChain, CallName>;
  return {
    ...calls,
    blocks: () => thread.blocks(),
    onLanded: (listener) => thread.onLanded(listener),
    isOpen: () => thread.isOpen,
    close: () => thread.close(),
  };
}

class ChainThread {
  readonly #options: ChainOptions;
  readonly #name = randomUUID();
  readonly #listeners = new Set<() => void>();
  /** In the order in which they were sent. */
  readonly #waiting = new Map<number, WaitingCall>();
  #worker: Worker | null = null;
  /** Counts the chain's blocks while it is open: they follow from seed and time. */
  #blocks: BlockClock | null = null;
  #shownSlot = 0;
  #isClosed = false;
  #hasOpened = false;
  #generation = 0;
  #lastId = 0;
  #externalCalls = 0;
  #deskCalls = 0;
  #ticks = 0;
  #unanswered = 0;
  #bornAt = 0;
  #deaths = 0;
  #ticker: NodeJS.Timeout | undefined;
  #onClosed: () => void = () => {};

  constructor(options: ChainOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#worker !== null && this.#blocks !== null;
  }

  /** @throws when the first thread cannot open the chain; no other thread is started then */
  async start(worker: Worker): Promise<void> {
    await new Promise<void>((resolve, reject) =>
      this.#open(worker, { resume: false, opened: resolve, failed: reject }),
    );
    this.#hasOpened = true;
    this.#ticker = setInterval(() => this.#tick(), TICK_MS);
    this.#ticker.unref();
  }

  onLanded(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  call<Name extends CallName>(name: Name, args: Parameters<ChainCalls[Name]>): Promise<unknown> {
    const worker = this.#worker;
    if (this.#isClosed) return Promise.reject(unavailable('the sandbox chain is closed'));
    if (worker === null)
      return Promise.reject(unavailable('the sandbox chain is being read from its database'));
    const limits = name === 'rpc' ? (args[1] as RpcLimits) : null;
    const isExternal = limits?.caller === 'external';
    const weight = limits?.calls ?? 1;
    if (isExternal && this.#externalCalls + weight > MAX_EXTERNAL_CALLS)
      return Promise.reject(new ChainBusy());
    if (!isExternal && this.#deskCalls >= MAX_DESK_CALLS)
      return Promise.reject(unavailable('too many calls are waiting for the sandbox chain'));
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { name, weight, isExternal, since: this.#ticks, resolve, reject });
      this.#count(isExternal, weight);
      const nowMs = this.#options.clock.now();
      const slot = this.#shownSlot;
      post(worker, { kind: 'call', id, name, args, nowMs, slot, isExternal } as CallMessage);
    });
  }

  /** @throws SandboxChainUnavailable */
  blocks(): LatestBlock {
    if (this.#blocks === null || this.#worker === null)
      throw unavailable('the sandbox chain is being read from its database');
    const { blockhash, lastValidBlockHeight } = latestBlockhash(this.#blocks);
    this.#shownSlot = this.#blocks.slot();
    return { slot: this.#shownSlot, blockhash, lastValidBlockHeight };
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#ticker);
    const worker = this.#worker;
    if (worker !== null) {
      const isOver = new Promise<void>((resolve) => {
        this.#onClosed = resolve;
        worker.once('exit', resolve);
      });
      post(worker, { kind: 'close' });
      await Promise.race([isOver, sleep(CLOSE_MS, undefined, { ref: false })]);
      // Not awaited: a thread in native code does not react.
      worker.terminate().catch(() => {});
    }
    this.#worker = null;
    this.#abandonAll('the sandbox chain was closed');
  }

  #open(worker: Worker, opening: Opening): void {
    const { seed, landing = null, clock } = this.#options;
    this.#generation += 1;
    post(worker, {
      kind: 'open',
      ...{ seed, landing, name: this.#name, generation: this.#generation, resume: opening.resume },
      nowMs: clock.now(),
    });
    this.#worker = worker;
    this.#blocks = null;
    this.#unanswered = 0;
    this.#bornAt = this.#ticks;
    let cause: unknown = 'it ended';
    worker.on('message', (message: FromChain) => {
      if (worker === this.#worker) this.#receive(message, opening);
    });
    worker.on('error', (error) => {
      cause = error;
    });
    worker.on('exit', () => {
      opening.failed(new Error('the thread of the sandbox chain died', { cause }));
      this.#lose(worker, cause);
    });
  }

  #receive(message: FromChain, opening: Opening): void {
    switch (message.kind) {
      case 'unopened':
        opening.failed(errorFrom(message.error));
        break;
      case 'answer':
        this.#take(message.id)?.resolve(message.value);
        break;
      case 'failure':
        this.#take(message.id)?.reject(errorFrom(message.error));
        break;
      case 'state':
        this.#setState(message.state);
        if (message.state.kind === 'open') opening.opened();
        break;
      case 'landed':
        for (const listener of this.#listeners) listener();
        break;
      case 'pong':
        this.#unanswered = 0;
        break;
      case 'closed':
        this.#onClosed();
        break;
      case 'prepared':
        break;
      case 'log':
        this.#options.log?.(message.message, message.details);
    }
  }

  #setState(state: ChainState): void {
    const { seed, clock } = this.#options;
    this.#blocks =
      state.kind === 'open' ? blockClock({ seed, ...state.blocks, now: () => clock.now() }) : null;
    this.#blocks?.reach(this.#shownSlot);
  }

  #tick(): void {
    this.#ticks += 1;
    for (const [id, { since, name }] of this.#waiting) {
      if (this.#ticks - since <= CALL_TICKS) break;
      this.#take(id)?.reject(unanswered(name, 'the sandbox chain did not answer in time'));
    }
    const worker = this.#worker;
    if (worker === null) return;
    if (this.#ticks - this.#bornAt > SOUND_AFTER_TICKS) this.#deaths = 0;
    if (this.#unanswered >= STUCK_TICKS) {
      worker.terminate().catch(() => {});
      this.#lose(worker, 'it was stuck');
      return;
    }
    this.#unanswered += 1;
    post(worker, { kind: 'ping', nowMs: this.#options.clock.now() });
  }

  /** The thread is dead, or is treated as dead: its successor's term in the database fences off its late commits. */
  #lose(worker: Worker, cause: unknown): void {
    if (worker !== this.#worker) return;
    this.#worker = null;
    this.#abandonAll('the thread of the sandbox chain died');
    // A chain that was never open is not reopened.
    if (!this.#hasOpened) this.#isClosed = true;
    if (this.#isClosed) return;
    this.#options.log?.('the thread of the sandbox chain died; another one takes its place', { err: cause });
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** this.#deaths, LONGEST_PAUSE_MS);
    this.#deaths += 1;
    setTimeout(() => {
      if (!this.#isClosed) this.#open(startThread(this.#options.sql), AGAIN);
    }, pause).unref();
  }

  #abandonAll(reason: string): void {
    for (const [id, { name }] of [...this.#waiting]) this.#take(id)?.reject(unanswered(name, reason));
  }

  #take(id: number): WaitingCall | undefined {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return undefined;
    this.#waiting.delete(id);
    this.#count(waiting.isExternal, -waiting.weight);
    return waiting;
  }

  #count(isExternal: boolean, weight: number): void {
    if (isExternal) this.#externalCalls += weight;
    else this.#deskCalls += weight;
  }
}

const post = (worker: Worker, message: ToChain): void => worker.postMessage(message);

const unavailable = (reason: string): SandboxChainUnavailable => new SandboxChainUnavailable('no', reason);

const unanswered = (name: CallName, reason: string): SandboxChainUnavailable =>
  new SandboxChainUnavailable(MAY_LAND[name] ? 'unknown' : 'no', reason);

// Starts the chain's thread, for a chain that is opened at once or in a moment.

function startThread(sql: Sql): Worker {
  const data: ThreadData = { database: addressOf(sql) };
  return new Worker(new URL('./chain-worker.ts', import.meta.url), {
    workerData: data,
    name: 'sandbox-chain',
  });
}

/** A thread that loads what it needs to open a chain. It has no chain, and has not asked the database for anything. */
export interface PreparedThread {
  /** Resolves when nothing is left to load. @throws Error when the thread died */
  readonly ready: Promise<void>;
  /** The thread, which is then the caller's; `null` when it was taken before, has ended or died. */
  take(): Worker | null;
  /** Ends it, unless it was taken. */
  end(): void;
}

export function prepareThread(sql: Sql): PreparedThread {
  const worker = startThread(sql);
  let own: Worker | null = worker;
  const ready = new Promise<void>((resolve, reject) => {
    worker.on('message', ({ kind }: FromChain) => {
      if (kind === 'prepared') resolve();
    });
    worker.on('error', reject);
    worker.once('exit', () => {
      own = null;
      reject(new Error('the thread of the sandbox chain ended before it was ready'));
    });
  });
  // It may die before anybody waits.
  ready.catch(() => {});
  return {
    ready,
    take() {
      const taken = own;
      own = null;
      return taken;
    },
    end() {
      own?.terminate().catch(() => {});
      own = null;
    },
  };
}
