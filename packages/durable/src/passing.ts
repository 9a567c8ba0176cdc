/** A start beside a database that starts, ends or recovers: what cut it short passes by itself, so it begins again. */
import { setTimeout as sleep } from 'node:timers/promises';

export interface WaitOptions {
  /** There is a server. Else one that was never reached may have another address. */
  readonly hasServer: boolean;
  /** Names of errors of what is read from the database, which pass, too. */
  readonly passing: readonly string[];
  /** Called once for each state, with its name. */
  readonly onWait: (state: string) => void;
  /** Ends the wait: the last attempt's error is thrown. */
  readonly signal: AbortSignal;
}

const WITHIN_MS = 60_000;
const AGAIN_MS = 500;
/** A connection was lost; and of SQLSTATE: the server ends, starts or recovers, or has no connection free. */
const PASSING: readonly unknown[] = [
  ...['CONNECTION_CLOSED', 'ECONNRESET', 'EPIPE', '57P01', '57P02', '57P03', '53300'],
];

/** None was made. ENOENT is a socket's that is not there; of a folder it has another call. */
const UNREACHED: readonly unknown[] = [
  ...['ECONNREFUSED', 'ENOENT', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'],
  'CONNECT_TIMEOUT',
];
const CONNECTS: readonly unknown[] = ['connect', 'getaddrinfo', undefined];

/** By its code, which a fault keeps on its way from a thread, unlike its class. */
function isPassing(error: unknown, hasServer: boolean): boolean {
  const { code, syscall } = error as { readonly code?: unknown; readonly syscall?: unknown };
  return PASSING.includes(code) || (hasServer && UNREACHED.includes(code) && CONNECTS.includes(syscall));
}

/** With what is behind it: an exchange that is unavailable says what its database said. */
function stateOf({ message, cause }: Error): string {
  const behind = cause instanceof Error ? stateOf(cause) : '';
  return message.includes(behind) ? message : `${message}: ${behind}`;
}

/**
 * Attempts a start until it succeeds, or ends by something that does not pass by itself.
 * @param attempt stops what it has started before it fails
 * @throws the error of the last attempt, also when the same state has lasted for a minute
 */
export async function whilePassing<T>(attempt: () => Promise<T>, options: WaitOptions): Promise<T> {
  const { hasServer, passing, onWait, signal } = options;
  const until = performance.now() + WITHIN_MS;
  const said = new Set<string>();
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      const isOver = signal.aborted || performance.now() > until;
      const state = stateOf(error as Error);
      const goesOn = passing.includes((error as Error).name) || isPassing(error, hasServer || said.size > 0);
      if (isOver || !goesOn) throw error;
      if (!said.has(state)) onWait(state);
      said.add(state);
      await sleep(AGAIN_MS, undefined, { signal }).catch(() => {});
      if (signal.aborted) throw error;
    }
  }
}
