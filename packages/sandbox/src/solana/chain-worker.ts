/**
 * The thread that computes the chain: it executes, simulates, reads its database and encodes answers, so that this work
 * does not delay the main thread. Only `chain-thread.ts` starts it. It loads its code and the virtual machine at once, and
 * opens the chain when it is asked to.
 */
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { basename } from 'node:path';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { CallQueue, ProcessorShare } from './call-queue.ts';
import { createLocalChain, type DurableChain } from './chain.ts';
import { type RpcLimits, SandboxChainUnavailable } from './chain-interface.ts';
import { loadKit } from './faucet.ts';
import { createMachine } from './machine.ts';
import { answerAsk, answerBody } from './rpc/answer.ts';
import {
  type CallMessage,
  type FromChain,
  factsOf,
  type Opening,
  openDatabase,
  type ThreadData,
  type ToChain,
} from './thread-messages.ts';

/** Niceness, at most 19: when processors are busy, the other threads of the process run first. Not before it is open: callers wait. */
const NICENESS = 10;
const DATABASE_END_S = 1;

/** Linux has a priority per thread. On other systems this does nothing. */
function lowerPriority(): void {
  try {
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), NICENESS);
  } catch {
    // Not Linux, or no /proc: the thread keeps the default priority.
  }
}

class ChainThreadServer {
  readonly #port: MessagePort;
  readonly #data: ThreadData;
  readonly #share = new ProcessorShare();
  readonly #queue = new CallQueue<CallMessage>(
    (call) => {
      if (call.isExternal) this.#answer(call);
      else this.#share.exempt(() => this.#answer(call));
    },
    () => this.#share.pauseMs(),
  );
  readonly #machine = createMachine();
  /** The time of the latest call: the clock itself is in another thread. */
  #nowMs = 0;
  #chain: DurableChain | null = null;
  #hasReportedLanded = false;

  constructor(port: MessagePort, data: ThreadData) {
    this.#port = port;
    this.#data = data;
    port.on('message', (message: ToChain) => this.#receive(message));
  }

  async prepare(): Promise<void> {
    await Promise.all([this.#machine, loadKit()]);
    this.#post({ kind: 'prepared' });
  }

  async #open({ seed, landing, name, generation, resume, nowMs }: Opening): Promise<void> {
    this.#nowMs = nowMs;
    const sql = openDatabase(this.#data.database);
    try {
      this.#chain = await createLocalChain({
        ...{ sql, seed, name, generation },
        machine: await this.#machine,
        ...(landing === null ? {} : { landing }),
        clock: { now: () => this.#nowMs },
        onLanded: () => this.#postLanded(),
        onState: (state) => this.#post({ kind: 'state', state }),
        log: (message, details) => this.#log(message, details),
      });
      await this.#chain.start(resume);
      lowerPriority();
    } catch (error) {
      this.#post({ kind: 'unopened', error: factsOf(error) });
      await sql.end({ timeout: DATABASE_END_S });
      process.exit(0);
    }
  }

  #receive(message: ToChain): void {
    if (message.kind === 'call') this.#queue.add(message, message.isExternal);
    else if (message.kind === 'open') void this.#open(message);
    else if (message.kind === 'close') void this.#close();
    else {
      this.#nowMs = message.nowMs;
      this.#post({ kind: 'pong' });
    }
  }

  async #close(): Promise<void> {
    await this.#chain?.close();
    this.#post({ kind: 'closed' });
    process.exit(0);
  }

  #answer(call: CallMessage): void {
    this.#nowMs = call.nowMs;
    this.#chain?.reach(call.slot);
    const { id } = call;
    this.#perform(call).then(
      (value) => this.#post({ kind: 'answer', id, value }, value),
      (error: unknown) => this.#post({ kind: 'failure', id, error: factsOf(error) }),
    );
  }

  async #perform(call: CallMessage): Promise<unknown> {
    const chain = this.#chain;
    if (chain === null)
      throw new SandboxChainUnavailable('no', 'the sandbox chain is being read from its database');
    if (call.name === 'rpc') return this.#rpc(chain, ...call.args);
    if (call.name === 'ask')
      return answerAsk(...call.args, { find: () => chain, onFault: (error) => this.#fault(error) });
    const method = chain[call.name] as (...args: readonly unknown[]) => unknown;
    return method.apply(chain, call.args);
  }

  async #rpc(chain: DurableChain, body: string, limits: RpcLimits): Promise<Uint8Array | null> {
    const text = await answerBody(body, {
      find: () => chain,
      limits,
      onFault: (error) => this.#fault(error),
    });
    return text === null ? null : new TextEncoder().encode(text);
  }

  /** Sent once per commit, before the senders of its transactions receive their answers. */
  #postLanded(): void {
    if (this.#hasReportedLanded) return;
    this.#hasReportedLanded = true;
    this.#post({ kind: 'landed' });
    setImmediate(() => {
      this.#hasReportedLanded = false;
    });
  }

  #fault(error: unknown): void {
    this.#log('the Solana door failed', { err: error });
  }

  #log(message: string, details?: unknown): void {
    try {
      this.#post({ kind: 'log', message, details });
    } catch {
      this.#post({ kind: 'log', message, details: String(details) });
    }
  }

  /** @param value encoded answers are transferred instead of copied */
  #post(message: FromChain, value?: unknown): void {
    const isText = value instanceof Uint8Array && value.byteLength === value.buffer.byteLength;
    this.#port.postMessage(message, isText ? [value.buffer as ArrayBuffer] : []);
  }
}

if (parentPort !== null) {
  await new ChainThreadServer(parentPort, workerData as ThreadData).prepare();
}
