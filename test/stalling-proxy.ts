/** A TCP proxy of the test database that can stop forwarding without closing connections, like a failing network. */
import { createConnection, createServer, type Socket } from 'node:net';
import { afterFile } from './setup/clean-up.ts';

export interface StallingProxy {
  /** The database behind it, as a DATABASE_URL. */
  readonly url: string;
  /** From now on nothing passes, in either direction; connections stay open. */
  stall(): void;
  /** Forwards the delayed bytes and everything after them. */
  resume(): void;
}

/** @param socketUrl of the database: `postgres://user@/database?host=/folder&port=5432` */
export async function startStallingProxy(socketUrl: string): Promise<StallingProxy> {
  const [, user, database, query] = /^postgres:\/\/([^@]*)@\/([^?]*)\?(.*)$/.exec(socketUrl) ?? [];
  const where = new URLSearchParams(query);
  const path = `${where.get('host')}/.s.PGSQL.${where.get('port')}`;
  const sockets = new Set<Socket>();
  let isStalled = false;
  const pass = (from: Socket, to: Socket): void => {
    sockets.add(from);
    from.on('data', (bytes) => to.write(bytes));
    from.on('close', () => {
      sockets.delete(from);
      to.destroy();
    });
    from.on('error', () => {});
    if (isStalled) from.pause();
  };
  const server = createServer((client) => {
    const upstream = createConnection(path);
    pass(client, upstream);
    pass(upstream, client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  afterFile('pools', () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const each = (act: (socket: Socket) => void): void => {
    for (const socket of sockets) act(socket);
  };
  return {
    url: `postgres://${user}@127.0.0.1:${port}/${database}`,
    stall() {
      isStalled = true;
      each((socket) => socket.pause());
    },
    resume() {
      isStalled = false;
      each((socket) => socket.resume());
    },
  };
}
