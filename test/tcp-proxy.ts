/**
 * A TCP proxy that fails as networks do: it stops forwarding without closing a connection, cuts, delays, and loses an answer before
 * or after the other side has heard the request. A watcher may look at what passes, and hold it back or change it.
 */
import { createConnection, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterFile } from './setup/clean-up.ts';

export type Target = { readonly host: string; readonly port: number } | { readonly path: string };

/** Treatment of bytes: `now` passes at once. `later` passes after `held`; with `held: null` nothing passes any more. */
export interface Passage {
  readonly now: Buffer;
  readonly later: Buffer;
  readonly held: Promise<void> | null;
}

/** Looks at what passes on one connection; `null` lets all of it pass. */
export interface Watcher {
  fromClient(bytes: Buffer): Passage | null;
  fromServer(bytes: Buffer): Passage | null;
}

/** One direction of a connection. */
interface Connection {
  readonly isFromClient: boolean;
  readonly watcher: Watcher | undefined;
  /** By both directions: nothing passes any more, and nothing is closed. */
  readonly shared: { isOver: boolean };
}

export interface TcpProxy {
  readonly port: number;
  /** From now on nothing passes, in either direction; connections stay open. */
  stall(): void;
  /** Forwards the delayed bytes and everything after them. */
  resume(): void;
  /** Ends every connection at once. */
  cut(): void;
  /** How long every further chunk is on its way; 0 ends it. */
  delay(ms: number): void;
  /**
   * Cuts the next connection on which something passes: `before` the server hears what the client sends, or `after` the server has
   * heard it, in place of its answer. Without anything to lose it waits; `null` gives it up.
   */
  loseAnswer(when: 'before' | 'after' | null): void;
  /** Lets what the next servers' answers say be changed; the length must stay. */
  change(alter: ((bytes: Buffer) => Buffer) | null): void;
  close(): void;
}

/** Where a database listens. @param socketUrl `postgres://user@/database?host=/folder&port=5432` */
export function databaseTarget(socketUrl: string): {
  readonly target: Target;
  /** The same database behind a port of this machine. */
  readonly urlAt: (port: number) => string;
} {
  const [, user, database, query] = /^postgres:\/\/([^@]*)@\/([^?]*)\?(.*)$/.exec(socketUrl) ?? [];
  const where = new URLSearchParams(query);
  return {
    target: { path: `${where.get('host')}/.s.PGSQL.${where.get('port')}` },
    urlAt: (port) => `postgres://${user}@127.0.0.1:${port}/${database}`,
  };
}

/** It ends with the file. */
export async function startTcpProxy(target: Target, watch?: () => Watcher): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let isStalled = false;
  let delayMs = 0;
  let losing: 'before' | 'after' | null = null;
  let alter: ((bytes: Buffer) => Buffer) | null = null;

  const isLost = (isFromClient: boolean): boolean => {
    if (losing !== (isFromClient ? 'before' : 'after')) return false;
    losing = null;
    return true;
  };
  const pass = (from: Socket, to: Socket, connection: Connection): void => {
    const { isFromClient, watcher } = connection;
    sockets.add(from);
    const forward = async (whole: Buffer): Promise<void> => {
      const bytes = isFromClient || alter === null ? whole : alter(whole);
      const passage = (isFromClient ? watcher?.fromClient(bytes) : watcher?.fromServer(bytes)) ?? null;
      const now = passage?.now ?? bytes;
      if (now.length > 0) to.write(now);
      if (passage === null) return;
      if (passage.held === null) {
        // As if the network had gone at that moment.
        connection.shared.isOver = true;
        return;
      }
      from.pause();
      await passage.held;
      if (passage.later.length > 0) to.write(passage.later);
      from.resume();
    };
    let line: Promise<void> | null = null;
    from.on('data', (bytes: Buffer) => {
      if (connection.shared.isOver) return;
      if (isLost(isFromClient)) {
        connection.shared.isOver = true;
        from.destroy();
        to.destroy();
        return;
      }
      if (delayMs === 0 && line === null) {
        void forward(bytes);
        return;
      }
      // First bytes arrive first, also when the delay has ended meanwhile.
      const until = sleep(delayMs);
      const mine: Promise<void> = Promise.all([until, line])
        .then(() => forward(bytes))
        .finally(() => {
          if (line === mine) line = null;
        });
      line = mine;
    });
    from.on('close', () => {
      sockets.delete(from);
      void (line ?? Promise.resolve()).then(() => to.destroy());
    });
    from.on('error', () => {});
    if (isStalled) from.pause();
  };
  const server = createServer((client) => {
    const upstream = createConnection(target);
    const connection = { watcher: watch?.(), shared: { isOver: false } };
    pass(client, upstream, { ...connection, isFromClient: true });
    pass(upstream, client, { ...connection, isFromClient: false });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const each = (act: (socket: Socket) => void): void => {
    for (const socket of sockets) act(socket);
  };
  const close = (): void => {
    each((socket) => socket.destroy());
    server.close();
  };
  afterFile('pools', close);
  return {
    port: (server.address() as { port: number }).port,
    stall() {
      isStalled = true;
      each((socket) => socket.pause());
    },
    resume() {
      isStalled = false;
      each((socket) => socket.resume());
    },
    cut: () => each((socket) => socket.destroy()),
    delay(ms) {
      delayMs = ms;
    },
    loseAnswer(when) {
      losing = when;
    },
    change(next) {
      alter = next;
    },
    close,
  };
}
