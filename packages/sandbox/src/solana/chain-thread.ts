/**
 * The chain as a thread of its own, seen from outside: starts it, asks it, watches it, and starts another one from the
 * database when it dies or is stuck. What it was asked for then is answered with the truth: not landed, or not known.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { addressOf } from './database-address.ts';
import {
  type CallMessage,
  type CallName,
  errorFrom,
  type FromChain,
  type ThreadData,
  type ToChain,
} from './thread-messages.ts';
import {
  ChainBusy,
  type ChainCalls,
  type ChainOptions,
  type RpcLimits,
  type SandboxChain,
  SandboxChainUnavailable,
} from './types.ts';

/** Every call, and whether it may have had its effect although no answer came. */
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
  tokenAccountsByDelegate: false,
  // Decided for each of its calls by the door.
  rpc: true,
};

/**
 * Time is counted in ticks, not by the clock: a process that was frozen finds everything as it left it, and its thread
 * not overdue.
 */
const TICK_MS = 1_000;
/** A commit has its own limit, 15 s; what takes longer than this waits for a database that says nothing. */
const CALL_TICKS = 20;
/** No single turn of the thread comes near this. */
const STUCK_TICKS = 10;
/** Calls of strangers that may wait at a time; a few hundred milliseconds' work. */
const MAX_STRANGERS_CALLS = 200;
/** The desk's own are bounded by its admission long before. */
const MAX_DESK_CALLS = 5_000;
const CLOSE_MS = 5_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;
/** A thread that has lived so long was not killed by what it started with. */
const SOUND_AFTER_TICKS = 60;

interface Waiting {
  readonly name: CallName;
  readonly weight: number;
  readonly isStranger: boolean;
  readonly since: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: Error) => void;
}

/** Who waits for the first thread to open the chain; what they are told later changes nothing. */
interface Opening {
  readonly opened: () => void;
  readonly failed: (reason: Error) => void;
}

const NO_OPENING: Opening = { opened: () => {}, failed: () => {} };

/** @throws when the database does not answer, or holds the chain of another seed */
export async function openChain(options: ChainOptions): Promise<SandboxChain> {
  const thread = new ChainThread(options);
  await thread.start();
  const calls = Object.fromEntries(
    Object.keys(MAY_LAND).map((name) => [
      name,
      (...args: unknown[]) => thread.call(name as CallName, args as never),
    ]),
  ) as unknown as Pick<SandboxChain, CallName>;
  return {
    ...calls,
    onLanded: (listener) => thread.onLanded(listener),
    isOpen: () => thread.isOpen,
    close: () => thread.close(),
  };
}

class ChainThread {
  readonly #options: ChainOptions;
  readonly #name = randomUUID();
  readonly #listeners = new Set<() => void>();
  /** In order of their asking. */
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | null = null;
  #state: 'open' | 'reading' | 'superseded' = 'reading';
  #isClosed = false;
  #hasOpened = false;
  #generation = 0;
  #lastId = 0;
  #strangersCalls = 0;
  #deskCalls = 0;
  #ticks = 0;
  #unanswered = 0;
  #bornAt = 0;
  #deaths = 0;
  #ticker: NodeJS.Timeout | undefined;

  constructor(options: ChainOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#worker !== null && this.#state === 'open';
  }

  /** @throws when the first thread cannot open the chain; then there is no other */
  async start(): Promise<void> {
    await new Promise<void>((resolve, reject) => this.#spawn(false, { opened: resolve, failed: reject }));
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
    const isStranger = limits?.caller === 'stranger';
    const weight = limits?.calls ?? 1;
    if (isStranger && this.#strangersCalls + weight > MAX_STRANGERS_CALLS)
      return Promise.reject(new ChainBusy());
    if (!isStranger && this.#deskCalls >= MAX_DESK_CALLS)
      return Promise.reject(unavailable('too many calls are waiting for the sandbox chain'));
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { name, weight, isStranger, since: this.#ticks, resolve, reject });
      this.#count(isStranger, weight);
      const nowMs = this.#options.clock.now();
      tell(worker, { kind: 'call', id, name, args, nowMs, isStranger } as CallMessage);
    });
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#ticker);
    const worker = this.#worker;
    if (worker !== null) {
      const isOver = once(worker, 'exit');
      tell(worker, { kind: 'close' });
      await Promise.race([isOver, sleep(CLOSE_MS, undefined, { ref: false })]);
      // Not waited for: a thread in native code hears of nothing.
      worker.terminate().catch(() => {});
    }
    this.#worker = null;
    this.#abandonAll('the sandbox chain was closed');
  }

  #spawn(resume: boolean, opening: Opening = NO_OPENING): void {
    const { sql, seed, landing = null, clock } = this.#options;
    this.#generation += 1;
    const data: ThreadData = {
      ...{ database: addressOf(sql), seed, landing },
      ...{ name: this.#name, generation: this.#generation, resume },
      nowMs: clock.now(),
    };
    const worker = new Worker(new URL('./chain-worker.ts', import.meta.url), {
      workerData: data,
      name: 'sandbox-chain',
    });
    this.#worker = worker;
    this.#state = 'reading';
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
        this.#state = message.state;
        if (message.state === 'open') opening.opened();
        break;
      case 'landed':
        for (const listener of this.#listeners) listener();
        break;
      case 'pong':
        this.#unanswered = 0;
        break;
      case 'log':
        this.#options.log?.(message.message, message.details);
    }
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
    tell(worker, { kind: 'ping', nowMs: this.#options.clock.now() });
  }

  /** The thread is gone, or counts as gone: its successor's name in the database fences off whatever it still does. */
  #lose(worker: Worker, cause: unknown): void {
    if (worker !== this.#worker) return;
    this.#worker = null;
    this.#abandonAll('the thread of the sandbox chain died');
    // What never was open is not opened again.
    if (!this.#hasOpened) this.#isClosed = true;
    if (this.#isClosed) return;
    this.#options.log?.('the thread of the sandbox chain died; another one takes its place', { err: cause });
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** this.#deaths, LONGEST_PAUSE_MS);
    this.#deaths += 1;
    setTimeout(() => {
      if (!this.#isClosed) this.#spawn(true);
    }, pause).unref();
  }

  #abandonAll(reason: string): void {
    for (const [id, { name }] of [...this.#waiting]) this.#take(id)?.reject(unanswered(name, reason));
  }

  #take(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return undefined;
    this.#waiting.delete(id);
    this.#count(waiting.isStranger, -waiting.weight);
    return waiting;
  }

  #count(isStranger: boolean, weight: number): void {
    if (isStranger) this.#strangersCalls += weight;
    else this.#deskCalls += weight;
  }
}

const tell = (worker: Worker, message: ToChain): void => worker.postMessage(message);

const unavailable = (reason: string): SandboxChainUnavailable => new SandboxChainUnavailable('no', reason);

const unanswered = (name: CallName, reason: string): SandboxChainUnavailable =>
  new SandboxChainUnavailable(MAY_LAND[name] ? 'unknown' : 'no', reason);
