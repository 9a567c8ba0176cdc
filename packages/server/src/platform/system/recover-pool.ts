/**
 * Recovery on other threads, where the machine has cores to spare: it is the largest computation of a trade. Questions of
 * one turn of the event loop travel together. The threads start with the first question. Until they are ready, and while
 * too much waits for them, questions are answered here. A thread that dies or hangs takes no answer with it: what it was
 * asked is answered here, too, and another thread takes its place.
 */
import { Worker } from 'node:worker_threads';
import type { RecoverPublicKey, RecoveryQuestion } from '@bellwether/protocol';
import { packQuestions, READY, unpackAnswer } from './recover-batch.ts';
import type { RecoverElsewhere } from './recovery.ts';

/** One core is for this thread, one for the database. */
const OTHER_CORES = 2;
const MOST_THREADS = 4;
/** Recovering all of them here, because a thread has died, takes about fifteen milliseconds. */
const MOST_WAITING = 256;
const LOOK_EVERY_MS = 250;
/** For an answer that takes a few milliseconds. */
const HANGS_AFTER_MS = 1_000;
const REPLACE_AFTER_MS = 1_000;

export const threadsFor = (cores: number): number => Math.max(0, Math.min(MOST_THREADS, cores - OTHER_CORES));

export interface RecoverPoolOptions {
  readonly threads: number;
  readonly here: RecoverPublicKey;
  readonly log: { warn(context: object, message: string): void };
  readonly openThread?: () => Worker;
}

export interface RecoverPool {
  readonly recover: RecoverElsewhere;
  stop(): Promise<void>;
}

interface WaitingRecovery {
  readonly question: RecoveryQuestion;
  readonly resolve: (publicKey: Uint8Array | null) => void;
}

interface Batch {
  readonly waiting: readonly WaitingRecovery[];
  readonly sentAt: number;
}

interface Thread {
  readonly worker: Worker;
  /** Oldest first; a thread answers them in their order. */
  readonly batches: Batch[];
}

const openThread = (): Worker => new Worker(new URL('./recover-worker.ts', import.meta.url));

export function openRecoverPool(options: RecoverPoolOptions): RecoverPool {
  const pool = new Pool(options);
  return { recover: (question) => pool.ask(question), stop: () => pool.stop() };
}

class Pool {
  readonly #options: RecoverPoolOptions;
  /** Those that are ready. */
  readonly #threads = new Set<Thread>();
  readonly #workers = new Set<Worker>();
  #timer: NodeJS.Timeout | null = null;
  #gathered: WaitingRecovery[] = [];
  #waiting = 0;
  #isStopped = false;

  constructor(options: RecoverPoolOptions) {
    this.#options = options;
  }

  ask(question: RecoveryQuestion): Promise<Uint8Array | null> {
    if (this.#timer === null && !this.#isStopped) this.#startAll();
    if (this.#threads.size === 0 || this.#waiting >= MOST_WAITING)
      return Promise.resolve(this.#recoverHere(question));
    this.#waiting += 1;
    return new Promise((resolve) => {
      this.#gathered.push({ question, resolve });
      if (this.#gathered.length === 1) setImmediate(() => this.#send());
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    for (const thread of this.#threads) this.#giveUp(thread);
    const workers = [...this.#workers];
    // One that says now that it is ready gets no question any more.
    this.#workers.clear();
    await Promise.all(workers.map((worker) => worker.terminate()));
  }

  /** Shares what was gathered among the threads, the least busy ones first. */
  #send(): void {
    const gathered = this.#gathered;
    this.#gathered = [];
    const threads = [...this.#threads].sort((a, b) => a.batches.length - b.batches.length);
    if (threads.length === 0) this.#answerHere(gathered);
    const share = Math.ceil(gathered.length / threads.length);
    const sentAt = performance.now();
    for (const [index, { worker, batches }] of threads.entries()) {
      const waiting = gathered.slice(index * share, (index + 1) * share);
      if (waiting.length === 0) return;
      const packed = packQuestions(waiting.map(({ question }) => question));
      batches.push({ waiting, sentAt });
      worker.postMessage(packed, [packed.buffer]);
    }
  }

  #startAll(): void {
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
    for (let index = 0; index < this.#options.threads; index++) this.#start();
  }

  #start(): void {
    if (this.#isStopped) return;
    const worker = (this.#options.openThread ?? openThread)();
    const thread: Thread = { worker, batches: [] };
    this.#workers.add(worker);
    worker.on('message', (message: Uint8Array | typeof READY) => {
      if (message !== READY) this.#take(thread, message);
      else if (this.#workers.has(worker)) this.#threads.add(thread);
    });
    worker.on('error', (error) => this.#replace(thread, error));
    worker.on('exit', () => this.#replace(thread, new Error('the thread has ended')));
    worker.unref();
  }

  #take(thread: Thread, answers: Uint8Array): void {
    const waiting = thread.batches.shift()?.waiting ?? [];
    this.#waiting -= waiting.length;
    for (const [index, { resolve }] of waiting.entries()) resolve(unpackAnswer(answers, index));
  }

  #look(): void {
    const late = performance.now() - HANGS_AFTER_MS;
    for (const thread of this.#threads) {
      const [oldest] = thread.batches;
      if (oldest !== undefined && oldest.sentAt < late)
        this.#replace(thread, new Error('the thread does not answer'));
    }
  }

  #replace(thread: Thread, error: Error): void {
    if (!this.#workers.delete(thread.worker) || this.#isStopped) return;
    this.#options.log.warn({ err: error }, 'a thread that recovers signers is replaced');
    this.#giveUp(thread);
    thread.worker.terminate().catch(() => {});
    // Not at once: a thread that cannot start would end again and again.
    setTimeout(() => this.#start(), REPLACE_AFTER_MS).unref();
  }

  /** Takes nothing from it any more, and answers what it was asked. */
  #giveUp(thread: Thread): void {
    this.#threads.delete(thread);
    for (const { waiting } of thread.batches.splice(0)) this.#answerHere(waiting);
  }

  #answerHere(waiting: readonly WaitingRecovery[]): void {
    this.#waiting -= waiting.length;
    for (const { question, resolve } of waiting) resolve(this.#recoverHere(question));
  }

  #recoverHere({ digest, signature }: RecoveryQuestion): Uint8Array | null {
    return this.#options.here(digest, signature.rs, signature.recovery);
  }
}
