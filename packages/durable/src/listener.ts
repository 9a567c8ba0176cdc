/**
 * Notifications of the database, on a separate connection that is reopened whenever it is lost. Notifications sent
 * meanwhile are lost: listeners must not depend on receiving every one.
 */
import { setTimeout as sleep } from 'node:timers/promises';
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
  readonly #connect: () => Promise<Connection>;
  readonly #channels = new Map<string, Set<OnNotify>>();
  #connection: Promise<Connection> | undefined;
  #open: Connection | undefined;
  readonly #stop = new AbortController();

  constructor(connect: () => Promise<Connection>) {
    this.#connect = connect;
  }

  async listen(channel: string, onNotify: OnNotify): Promise<{ readonly unlisten: () => Promise<void> }> {
    const listeners = this.#channels.get(channel) ?? new Set();
    this.#channels.set(channel, listeners);
    listeners.add(onNotify);
    try {
      this.#connection ??= this.#connectOnce();
      await issue(await this.#connection, `listen ${quoted(channel)}`);
    } catch (fault) {
      listeners.delete(onNotify);
      throw fault;
    }
    return {
      unlisten: async () => {
        listeners.delete(onNotify);
        if (listeners.size > 0) return;
        this.#channels.delete(channel);
        // A connection that is still being opened will not be asked to listen.
        if (this.#open !== undefined) await issue(this.#open, `unlisten ${quoted(channel)}`).catch(() => {});
      },
    };
  }

  stop(): void {
    this.#stop.abort(new Error('the pool was closed'));
  }

  async #connectOnce(): Promise<Connection> {
    let connection: Connection;
    try {
      connection = await this.#connect();
    } catch (fault) {
      this.#connection = undefined;
      throw fault;
    }
    connection.onNotification = (channel, payload) => {
      for (const onNotify of this.#channels.get(channel) ?? []) notify(onNotify, payload);
    };
    this.#open = connection;
    const asking = setInterval(() => void ask(connection), ASK_EVERY_MS);
    asking.unref();
    connection.onLost(() => {
      clearInterval(asking);
      this.#open = undefined;
      if (this.#stop.signal.aborted) return;
      this.#connection = this.#connectAgain();
      this.#connection.catch(() => {});
    });
    return connection;
  }

  async #connectAgain(): Promise<Connection> {
    for (;;) {
      this.#stop.signal.throwIfAborted();
      try {
        const connection = await this.#connectOnce();
        for (const channel of this.#channels.keys()) await issue(connection, `listen ${quoted(channel)}`);
        return connection;
      } catch {
        await sleep(RETRY_MS, undefined, { signal: this.#stop.signal });
      }
    }
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
