/**
 * The sandbox in the process that leads the paper exchange. It lives as long as one term of that lead: when the
 * exchange has lost its journal and won it back, another replica may have led meanwhile, so what the sandbox has in
 * memory is thrown away and read again.
 */
import type { JournalledExchange } from '@bellwether/exchange';
import type { Sandbox, SandboxRequest, SandboxResponse } from '@bellwether/sandbox';

/** What other replicas may ask for. */
export interface SandboxCalls {
  request(request: SandboxRequest): Promise<SandboxResponse>;
  /** The simulation balance, once per wallet for ever. */
  credit(wallet: string): Promise<void>;
}

export interface SandboxHolder extends SandboxCalls {
  /** `null` while there is none. */
  current(): Sandbox | null;
  /** Opens it for the present term, if it is not open. */
  ensure(): Promise<void>;
  close(): Promise<void>;
}

export interface SandboxHolderOptions {
  readonly exchange: JournalledExchange;
  readonly open: () => Promise<Sandbox>;
  readonly simulationBalance: bigint;
}

/** One SOL: network fees of thousands of orders. */
const FEE_LAMPORTS = 1_000_000_000n;

export function createSandboxHolder(options: SandboxHolderOptions): SandboxHolder {
  const { exchange, open, simulationBalance } = options;
  let held: { readonly sandbox: Sandbox; readonly term: number } | null = null;
  let closed = false;

  const current = (): Sandbox | null =>
    held !== null && exchange.status === 'open' && held.term === exchange.term ? held.sandbox : null;
  const present = (): Sandbox => {
    const sandbox = current();
    if (sandbox === null) throw new Error('the sandbox is not open');
    return sandbox;
  };
  const drop = async (): Promise<void> => {
    const gone = held;
    held = null;
    await gone?.sandbox.close();
  };

  return {
    current,
    async ensure() {
      if (closed || exchange.status !== 'open' || current() !== null) return;
      await drop();
      const { term } = exchange;
      held = { sandbox: await open(), term };
      if (closed) await drop();
    },
    request: (request) => present().request(request),
    credit: (wallet) => present().venue.credit(wallet, simulationBalance, FEE_LAMPORTS),
    async close() {
      closed = true;
      await drop();
    },
  };
}
