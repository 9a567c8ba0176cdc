/**
 * The sandbox in the process that leads the paper exchange. It lives for one term of that lead: when the exchange loses
 * the right to write and gets it back, another replica may have led in between, so the sandbox's memory is discarded and
 * read again.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { JournalledExchange } from '@bellwether/exchange';
import type { RpcAnswer, Sandbox, SandboxRequest, SandboxResponse } from '@bellwether/sandbox';

/** The calls that other replicas may make. */
export interface SandboxCalls {
  request(request: SandboxRequest): Promise<SandboxResponse>;
  /** One JSON-RPC call to the chain. */
  ask(method: string, params: readonly unknown[]): Promise<RpcAnswer>;
  /** Gives a wallet its simulation balance, once ever. */
  credit(wallet: string): Promise<void>;
  /** Whether it is open. Waits for a moment while it is being opened. */
  isOpen(): Promise<boolean>;
}

export interface SandboxHolder extends SandboxCalls {
  /** `null` while it is not open. */
  current(): Sandbox | null;
  /** Opens it for the current term, if it is not open. */
  ensure(): Promise<void>;
  /** Ends the one of an earlier term, of which nothing may run on once another process leads. */
  endFormer(): Promise<void>;
  close(): Promise<void>;
}

interface SandboxHolderOptions {
  readonly exchange: JournalledExchange;
  readonly open: () => Promise<Sandbox>;
  readonly simulationBalance: bigint;
  readonly now: () => number;
}

/** Less than a call between replicas may take. */
const IS_OPEN_MS = 1_500;

/** One SOL: network fees of thousands of orders. */
const FEE_LAMPORTS = 1_000_000_000n;

export function createSandboxHolder(options: SandboxHolderOptions): SandboxHolder {
  const { exchange, open, simulationBalance, now } = options;
  let held: { readonly sandbox: Sandbox; readonly term: number } | null = null;
  let closed = false;
  /** While it is being opened: calls meanwhile wait for it. */
  let opening: Promise<void> | null = null;

  const current = (): Sandbox | null =>
    held !== null && exchange.status === 'open' && held.term === exchange.term ? held.sandbox : null;
  const present = async (): Promise<Sandbox> => {
    if (current() === null) await opening?.catch(() => {});
    const sandbox = current();
    if (sandbox === null) throw new Error('the sandbox is not open');
    return sandbox;
  };
  /** The end of the last one that was dropped. */
  let closing: Promise<void> = Promise.resolve();
  const drop = (): Promise<void> => {
    const gone = held;
    held = null;
    if (gone !== null) closing = Promise.all([closing, gone.sandbox.close()]).then(() => {});
    return closing;
  };

  const openForTerm = async (): Promise<void> => {
    if (closed || exchange.status !== 'open' || current() !== null) return;
    await drop();
    const { term } = exchange;
    held = { sandbox: await open(), term };
    if (closed) await drop();
  };

  return {
    current,
    ensure() {
      opening ??= openForTerm().finally(() => {
        opening = null;
      });
      return opening;
    },
    async endFormer() {
      if (opening === null && current() === null) await drop();
    },
    request: async (request) => (await present()).request(request),
    ask: async (method, params) => (await present()).ask(method, params),
    async isOpen() {
      const waited = new AbortController();
      await Promise.race([opening?.catch(() => {}), sleep(IS_OPEN_MS, undefined, { signal: waited.signal })]);
      waited.abort();
      return current() !== null;
    },
    credit: async (wallet) =>
      (await present()).venue.credit(wallet, simulationBalance, FEE_LAMPORTS, [
        {
          text: "insert into wallet_deposits (wallet, at, amount, reason) values ($1, $2, $3, 'simulation')",
          values: [wallet, new Date(now()).toISOString(), simulationBalance.toString()],
        },
      ]),
    async close() {
      closed = true;
      await drop();
    },
  };
}
