/**
 * Notifications of the database, on a separate connection that is reopened whenever it is lost. Notifications sent
 * meanwhile are lost: listeners must not depend on receiving every one.
 */
import type { Connection } from './connection.ts';

/** Between attempts to connect again. */
const RETRY_MS = 250;
/** A connection that only listens does not notice its loss, so it sends a query at this interval. */
const ASK_EVERY_MS = 5_000;
const ANSWER_WITHIN_MS = 5_000;

type OnNotify = (payload: string) => void;

const quoted = (channel: string): string => `"${channel.replaceAll('"', '""')}"`;

/** A payload that a listener cannot read is like a lost notification; it must not end the process. */
function notify(onNotify: OnNotify, payload: string): void {
  try {
    onNotify(payload);
  } catch {
    // Listeners must not depend on receiving every notification.
  }
}

export class Listener {
  readonly #open: () => Promise<Connection>;
  readonly #channels = new Map<string, Set<OnNotify>>();
  /** The only one: open, or being opened. With a second one everything would come twice. */
  #connection: Promise<Connection> | undefined;
  #retry: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(open: () => Promise<Connection>) {
    this.#open = open;
  }

  /** @returns what ends it: the server may go on sending what nothing listens to */
  async listen(channel: string, onNotify: OnNotify): Promise<() => void> {
    const listeners = this.#channels.get(channel) ?? new Set();
    this.#channels.set(channel, listeners.add(onNotify));
    const unlisten = (): void => {
      listeners.delete(onNotify);
      if (listeners.size === 0 && this.#channels.get(channel) === listeners) this.#channels.delete(channel);
    };
    try {
      // Where the connection listens already, this asks for nothing new.
      await issue(await this.#connect(), `listen ${quoted(channel)}`);
    } catch (fault) {
      unlisten();
      throw fault;
    }
    return unlisten;
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#retry);
  }

  #connect(): Promise<Connection> {
    clearTimeout(this.#retry);
    this.#connection ??= this.#attempt().catch((fault: unknown) => {
      this.#lost(RETRY_MS);
      throw fault;
    });
    return this.#connection;
  }

  #lost(retryMs: number): void {
    this.#connection = undefined;
    if (this.#isStopped || this.#channels.size === 0) return;
    this.#retry = setTimeout(() => void this.#connect().catch(() => {}), retryMs);
  }

  /** @returns a connection that listens to every channel */
  async #attempt(): Promise<Connection> {
    const connection = await this.#open();
    connection.onNotification = (channel, payload) => {
      for (const onNotify of this.#channels.get(channel) ?? []) notify(onNotify, payload);
    };
    try {
      for (const channel of this.#channels.keys()) await issue(connection, `listen ${quoted(channel)}`);
    } catch (fault) {
      connection.destroy(fault);
      throw fault;
    }
    const asking = setInterval(() => void ask(connection), ASK_EVERY_MS);
    asking.unref();
    connection.onLost(() => {
      clearInterval(asking);
      this.#lost(0);
    });
    return connection;
  }
}

const issue = (connection: Connection, text: string): Promise<unknown> =>
  connection.issue({ text, name: null, values: [] });

async function ask(connection: Connection): Promise<void> {
  const timer = setTimeout(
    () => connection.destroy(new Error('the database does not answer')),
    ANSWER_WITHIN_MS,
  );
  timer.unref();
  await issue(connection, 'select 1').catch(() => {});
  clearTimeout(timer);
}
