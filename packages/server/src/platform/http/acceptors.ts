/**
 * Several listening sockets for one server. The event loop takes one new connection of each listening socket in each of its
 * turns. Under load a turn lasts for milliseconds, so with one socket a few hundred clients that connect together wait
 * for seconds, beside connections that are answered at once.
 *
 * The sockets share the port (`SO_REUSEPORT`), which only Linux divides among them; elsewhere there is one.
 */
import { type AddressInfo, createServer, type ListenOptions, type Server } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** Connections that one turn of the event loop takes. */
const ACCEPTORS = 64;

export interface Place {
  /** 0: any that is free. */
  readonly port: number;
  readonly host: string;
  readonly backlog: number;
}

export class Acceptors {
  readonly #app: FastifyInstance;
  readonly #others: Server[] = [];
  #guard: Server | undefined;

  constructor(app: FastifyInstance) {
    this.#app = app;
  }

  /** @returns the address @throws the system's error, as for one socket: EADDRINUSE where anybody listens there */
  async listen(place: Place): Promise<string> {
    const claim = process.platform === 'linux' ? await claimPort(place) : null;
    if (claim === null) return this.#app.listen(place);
    this.#guard = claim.guard;
    const shared = { ...place, port: claim.port, reusePort: true };
    const url = await this.#app.listen(shared);
    const { address: host } = boundOf(this.#app.server);
    for (let nth = 1; nth < ACCEPTORS; nth += 1) {
      const other = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
        this.#app.server.emit('connection', socket);
      });
      this.#others.push(other);
      await listening(other, { ...shared, host });
    }
    return url;
  }

  /** Takes no more connections. Resolves when those that were taken have ended; the server ends them. */
  async close(): Promise<void> {
    this.#guard?.close();
    await Promise.all(this.#others.map((other) => new Promise((resolve) => other.close(resolve))));
  }
}

const listening = (server: Server, options: ListenOptions): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(options, () => {
      server.off('error', reject);
      resolve();
    });
  });

const closed = (server: Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()));

function boundOf(server: Server): AddressInfo {
  const bound = server.address();
  if (typeof bound !== 'object' || bound === null) throw new Error('the server does not listen');
  return bound;
}

/**
 * A shared port is free for every program of the same user, so two services could listen on it and each get half of the
 * requests. Therefore somebody alone must have been able to have it first, and of two that tried at the same
 * time one gets the name that goes with it.
 * @returns `null` where sockets cannot share a port
 */
async function claimPort({
  port,
  host,
}: Place): Promise<{ readonly port: number; readonly guard: Server } | null> {
  const alone = createServer();
  await listening(alone, { port, host });
  const { address, port: free } = boundOf(alone);
  // It takes no messages.
  const guard = createServer((socket) => socket.destroy());
  try {
    // A name of Linux, in no folder: it is gone with the process.
    await listening(guard, { path: `\0bellwether ${address} ${free}` });
  } catch {
    await closed(alone);
    throw Object.assign(new Error(`listen EADDRINUSE: ${host}:${free}`), { code: 'EADDRINUSE', port: free });
  }
  await closed(alone);
  guard.unref();
  if (await canShare(host)) return { port: free, guard };
  guard.close();
  return null;
}

async function canShare(host: string): Promise<boolean> {
  const [one, two] = [createServer(), createServer()];
  try {
    await listening(one, { port: 0, host, reusePort: true });
    await listening(two, { port: boundOf(one).port, host, reusePort: true });
    return true;
  } catch {
    return false;
  } finally {
    await Promise.all([one, two].filter((server) => server.listening).map(closed));
  }
}
