/**
 * An open loop, in a worker thread: requests are sent by the clock whether the earlier ones are answered or not, each on
 * a connection that is free or on a new one, and each is timed from the moment at which it was due. An order that
 * was turned away had no effect and is sent again later, so that only accepted orders are used up.
 */
import { createReadStream } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

export interface OpenLoad {
  readonly port: number;
  readonly perSecond: number;
  readonly seconds: number;
  /** One whole HTTP request a line, as a JSON text. */
  readonly file: string;
}

export interface OpenLoadResult {
  readonly offeredPerSecond: number;
  readonly acceptedPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly shedPerSecond: number;
  readonly shedP99Ms: number;
  /** Neither accepted nor turned away in the documented way. */
  readonly bad: number;
  readonly examples: readonly string[];
  /** How late requests were sent at most: the load generator shares the machine. */
  readonly lateMs: number;
}

const TICK_MS = 1;
const MAX_CONNECTIONS = 4_000;
const READ_AHEAD = 20_000;
const EXAMPLES = 3;
const DRAIN_MS = 10_000;
const LENGTH = /\r\ncontent-length: (\d+)/i;

export function runOpenLoad(load: OpenLoad): Promise<OpenLoadResult> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: load });
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}

/** Requests from the file, read a little ahead of what is needed. */
async function openSource(file: string) {
  const fresh: string[] = [];
  const lines = createInterface({ input: createReadStream(file) });
  let isAtEnd = false;
  lines.on('line', (line) => {
    fresh.push(JSON.parse(line));
    if (fresh.length > READ_AHEAD) lines.pause();
  });
  lines.once('close', () => {
    isAtEnd = true;
  });
  while (fresh.length < READ_AHEAD && !isAtEnd) await new Promise((resolve) => setTimeout(resolve, 10));
  const again: string[] = [];
  let at = 0;
  return {
    next(): string | undefined {
      // An order that was turned away goes to the back of the queue and is sent again a little later.
      if (again.length > READ_AHEAD) return again.shift();
      const line = fresh[at];
      if (line === undefined) return again.shift();
      at += 1;
      if (at > READ_AHEAD / 2) {
        fresh.splice(0, at);
        at = 0;
        if (!isAtEnd) lines.resume();
      }
      return line;
    },
    putBack: (request: string) => again.push(request),
  };
}

interface Connection {
  /** The service closes connections that were idle for long. */
  isOpen(): boolean;
  ask(request: string, answered: (answer: string | null) => void): void;
  close(): void;
}

function openConnection(port: number): Connection {
  const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true });
  socket.setEncoding('latin1');
  let received = '';
  let waiting: ((answer: string | null) => void) | null = null;
  const tell = (answer: string | null) => {
    const resolve = waiting;
    waiting = null;
    resolve?.(answer);
  };
  socket.on('data', (chunk: string) => {
    received += chunk;
    const head = received.indexOf('\r\n\r\n');
    if (head < 0) return;
    const length = Number(LENGTH.exec(received.slice(0, head))?.[1] ?? 0);
    if (received.length < head + 4 + length) return;
    const answer = received;
    received = '';
    tell(answer);
  });
  socket.on('error', () => tell(null));
  socket.on('close', () => tell(null));
  return {
    isOpen: () => !socket.destroyed && !socket.readableEnded,
    ask(request, answered) {
      waiting = answered;
      socket.write(request);
    },
    close: () => socket.destroy(),
  };
}

const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

async function generate({ port, perSecond, seconds, file }: OpenLoad): Promise<OpenLoadResult> {
  const source = await openSource(file);
  const idle: Connection[] = [];
  const accepted: number[] = [];
  const shed: number[] = [];
  const examples: string[] = [];
  let bad = 0;
  let lateMs = 0;
  let sent = 0;
  let open = 0;
  const startedAt = performance.now();

  const takeIdle = (): Connection | undefined => {
    for (;;) {
      const connection = idle.pop();
      if (connection === undefined || connection.isOpen()) return connection;
      connection.close();
    }
  };
  const send = (request: string, dueAt: number): void => {
    const connection = takeIdle() ?? openConnection(port);
    open += 1;
    connection.ask(request, (answer) => {
      open -= 1;
      const now = performance.now();
      if (answer === null) {
        bad += 1;
        connection.close();
        return;
      }
      idle.push(connection);
      if (answer.startsWith('HTTP/1.1 201 ') && answer.includes('"success":true')) {
        accepted.push(now - dueAt);
      } else if (answer.startsWith('HTTP/1.1 503 ') && answer.includes('"code":"overloaded"')) {
        shed.push(now - dueAt);
        source.putBack(request);
      } else {
        bad += 1;
        if (examples.length < EXAMPLES) examples.push(answer.slice(0, 600));
      }
    });
  };

  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const now = performance.now();
      const due = Math.min(seconds * perSecond, ((now - startedAt) / 1000) * perSecond);
      while (sent < due && open < MAX_CONNECTIONS) {
        const request = source.next();
        if (request === undefined) break;
        const dueAt = startedAt + (sent / perSecond) * 1000;
        lateMs = Math.max(lateMs, now - dueAt);
        sent += 1;
        send(request, dueAt);
      }
      if (now - startedAt < seconds * 1000) return;
      clearInterval(timer);
      resolve();
    }, TICK_MS);
  });
  const took = (performance.now() - startedAt) / 1000;
  const until = performance.now() + DRAIN_MS;
  while (open > 0 && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 10));
  for (const connection of idle) connection.close();
  bad += open;
  accepted.sort((a, b) => a - b);
  shed.sort((a, b) => a - b);
  return {
    offeredPerSecond: sent / took,
    acceptedPerSecond: accepted.length / took,
    p50Ms: quantile(accepted, 0.5),
    p99Ms: quantile(accepted, 0.99),
    shedPerSecond: shed.length / took,
    shedP99Ms: quantile(shed, 0.99),
    bad,
    examples,
    lateMs,
  };
}

if (!isMainThread) parentPort?.postMessage(await generate(workerData as OpenLoad));
