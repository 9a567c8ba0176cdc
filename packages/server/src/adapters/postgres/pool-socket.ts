/**
 * The sockets that the pool's connections speak through. The driver (postgres 3.4.9, connection.js) cannot bear how a
 * socket dies; this one dies so that it can:
 *
 * - Between a socket's error and its close, the driver goes on giving it queries, forgets those, and from then on hands
 *   answers to the wrong queries. Here the two come as one.
 * - The server's last words (FATAL) stay with the connection, and fail the first query of the next one. They are not
 *   passed on: that the connection is lost says as much.
 * - What was about to be written when a socket closes stays too, and the next greeting waits behind it for ever, unless
 *   a kilobyte collects. So a connection that keeps silent is cut at once, which makes the driver try again, until it
 *   speaks; and of what it says then, only the last greeting goes out.
 */
import { once } from 'node:events';
import { isIP, Socket } from 'node:net';
import { type ConnectionOptions, connect as secure } from 'node:tls';
import postgres from 'postgres';
import type { Sql } from './connection.ts';

/** What the driver parsed of its options; it hands them to `socket`. */
interface DriverOptions {
  readonly host: readonly string[];
  readonly port: readonly number[];
  readonly path: string | false | null;
  readonly parsers: Readonly<Record<number, unknown>>;
  readonly sslnegotiation: string | null;
  readonly connect_timeout: number;
  readonly ssl: unknown;
  fetch_types: boolean;
}

const TEXT_ARRAY = 1009;
const ERROR_RESPONSE = 0x45;
const READY_FOR_QUERY = Buffer.from([0x5a, 0, 0, 0, 5]);
const FATAL = Buffer.from('VFATAL\0');
const LONGEST_SEVERITY = 64;
/** The greeting's version of the protocol. */
const STARTUP = 196_608;
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
const SSL_ACCEPTED = 0x53;

/**
 * A pool like the one given, which must not have been used; it and the pools made from its options speak through such
 * sockets. Where several hosts are named the driver dials itself: it alone knows whose turn it is.
 */
export function harden(pool: Sql, onSocket: (socket: Socket) => void = () => {}): Sql {
  const { ssl, ...options } = pool.options as unknown as DriverOptions;
  if (options.host.length > 1) return pool;
  const socket = async (current: DriverOptions): Promise<Socket> => {
    const opened = await openSocket(current, ssl);
    onSocket(opened);
    return opened;
  };
  // The driver's TLS would put a socket of its own before this one. It takes its own parsed options back (its `listen`
  // does the same); its types do not say so.
  const own = { ...options, ssl: false, socket };
  return postgres(own as unknown as postgres.Options<Record<string, never>>) as unknown as Sql;
}

async function openSocket(options: DriverOptions, ssl: unknown): Promise<Socket> {
  // Asked for once, by the first: the driver asks on every connection, and one that dies over it ends the process.
  if (options.parsers[TEXT_ARRAY] !== undefined) options.fetch_types = false;
  const socket = await dial(options, ssl);
  dieAtOnce(socket);
  greetCleanly(socket);
  return socket;
}

/** Never rejects, which the driver would not survive: what cannot be reached is a socket that dies. */
async function dial(options: DriverOptions, ssl: unknown): Promise<Socket> {
  const { host, port, path, connect_timeout } = options;
  const socket = new Socket();
  if (path) socket.connect(path);
  else socket.connect(port[0] as number, host[0] as string);
  if (!ssl) return socket;
  const timer = setTimeout(
    () => socket.destroy(Object.assign(new Error('no TLS in time'), { code: 'CONNECT_TIMEOUT' })),
    connect_timeout * 1000,
  );
  try {
    return await startTls(socket, options, ssl);
  } catch (error) {
    socket.destroy();
    const dead = new Socket();
    // Once the driver listens.
    setImmediate(() => dead.destroy(error as Error));
    return dead;
  } finally {
    clearTimeout(timer);
  }
}

/** As the driver does it: `ssl` is its option. */
async function startTls(
  socket: Socket,
  { host, sslnegotiation }: DriverOptions,
  ssl: unknown,
): Promise<Socket> {
  const isDirect = sslnegotiation === 'direct';
  if (!isDirect) {
    socket.write(SSL_REQUEST);
    const answer = await heard(socket, 'data');
    if (answer[0] !== SSL_ACCEPTED && ssl === 'prefer') return socket;
  }
  const isUnchecked = ssl === 'require' || ssl === 'allow' || ssl === 'prefer';
  const encrypted = secure({
    socket,
    ...(isIP(host[0] as string) === 0 ? { servername: host[0] as string } : {}),
    ...(isDirect ? { ALPNProtocols: ['postgresql'] } : {}),
    ...(isUnchecked ? { rejectUnauthorized: false } : {}),
    ...(typeof ssl === 'object' ? (ssl as ConnectionOptions) : {}),
  });
  await heard(encrypted, 'secureConnect');
  return encrypted;
}

/** @throws when the socket dies first, of an error or not */
async function heard(socket: Socket, event: 'data' | 'secureConnect'): Promise<Buffer> {
  const closed = once(socket, 'close').then(() => {
    throw new Error('the database closed the connection before it was secure');
  });
  closed.catch(() => {});
  const [what] = await Promise.race([once(socket, event), closed]);
  return what;
}

function dieAtOnce(socket: Socket): void {
  const emit: (event: string | symbol, ...args: unknown[]) => boolean = socket.emit.bind(socket);
  let fault: unknown;
  let isReady = false;
  socket.emit = (event: string | symbol, ...args: unknown[]): boolean => {
    if (event === 'error') {
      fault = args[0];
      return true;
    }
    if (event === 'close' && fault !== undefined) emit('error', fault);
    if (event !== 'data') return emit(event, ...args);
    const bytes = args[0] as Buffer;
    const end = isReady ? lastWordsAt(bytes) : bytes.length;
    isReady ||= bytes.subarray(-6, -1).equals(READY_FOR_QUERY);
    return end === 0 || emit('data', bytes.subarray(0, end));
  };
}

/** Where the error begins that the server closes with; the length when these bytes do not end in one. */
function lastWordsAt(bytes: Buffer): number {
  // Errors end in two zeros; an answer ends in the state of the transaction, a letter.
  if (bytes.at(-1) !== 0 || bytes.at(-2) !== 0) return bytes.length;
  const severity = bytes.lastIndexOf(FATAL);
  // Before it stand the message's type, its length, and the same word in the server's language.
  for (let at = severity - 6; at >= 0 && at > severity - LONGEST_SEVERITY; at -= 1)
    if (bytes[at] === ERROR_RESPONSE && bytes.readInt32BE(at + 1) === bytes.length - at - 1) return at;
  return bytes.length;
}

function greetCleanly(socket: Socket): void {
  const { write } = socket;
  let hasSpoken = false;
  socket.write = (greeting: Uint8Array, ...rest: never[]): boolean => {
    hasSpoken = true;
    socket.write = write;
    return socket.write(withoutRemains(Buffer.from(greeting)), ...rest);
  };
  // The driver writes in the round after the one in which it got the socket.
  setImmediate(() =>
    setImmediate(() => {
      if (!hasSpoken) socket.destroy();
    }),
  );
}

function withoutRemains(bytes: Buffer): Buffer {
  for (let at = bytes.length - 8; at > 0; at -= 1)
    if (bytes.readInt32BE(at) === bytes.length - at && bytes.readInt32BE(at + 4) === STARTUP)
      return bytes.subarray(at);
  return bytes;
}
