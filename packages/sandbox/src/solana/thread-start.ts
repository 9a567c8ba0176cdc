/** Starts the chain's thread, for a chain that is opened at once or in a moment. */
import { Worker } from 'node:worker_threads';
import type { Sql } from '@bellwether/durable';
import { addressOf } from './database-address.ts';
import type { FromChain, ThreadData } from './thread-messages.ts';

export function startThread(sql: Sql): Worker {
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
