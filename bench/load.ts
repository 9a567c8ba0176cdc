/**
 * The load generator, a worker thread: sends prepared requests over a fixed number of connections, one at a time on
 * each, and measures every answer. It implements only the HTTP that it needs, and requests are bytes before the measurement
 * begins, to take little processor time from the measured program.
 */
import { connect, type Socket } from 'node:net';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

export interface Load {
  readonly port: number;
  readonly connections: number;
  /** At most; the load ends earlier when all requests were sent once. */
  readonly seconds: number;
  /** Whole HTTP requests. Each is sent once, or repeatedly with `repeat`. */
  readonly requests: readonly string[];
  readonly repeat?: boolean;
  /** Every good answer has this status and contains this text. */
  readonly expectStatus: number;
  readonly expectText: string;
}

/** Only good answers count in the rate and the latencies. */
export interface LoadResult {
  readonly answers: number;
  /** Turned away as documented (503 `overloaded`); the connection paused and sent the request again. */
  readonly shed: number;
  readonly seconds: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Processor time of the load generator itself. */
  readonly ownMs: number;
  readonly bad: number;
  /** The first bad answers, to be looked at. */
  readonly examples: readonly string[];
}

/** The requests, one after the other, in memory that the thread shares. */
interface Packed {
  readonly bytes: SharedArrayBuffer;
  /** Where each request begins, and where the last one ends. */
  readonly offsets: readonly number[];
}

type Work = Omit<Load, 'requests'> & { readonly packed: Packed };

const PAUSE_MS = 50;
const EXAMPLES = 3;
const EXAMPLE_CHARS = 900;

export function runLoad({ requests, ...load }: Load): Promise<LoadResult> {
  return new Promise((resolve, reject) => {
    const work: Work = { ...load, packed: pack(requests) };
    const worker = new Worker(new URL(import.meta.url), { workerData: work });
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}

/** The service reads only `host`, `authorization` and `content-type`. */
export function httpText(method: string, path: string, apiKey: string, body?: string): string {
  const head = `${method} ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${apiKey}\r\n`;
  if (body === undefined) return `${head}\r\n`;
  return `${head}content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

function pack(requests: readonly string[]): Packed {
  const offsets = [0];
  for (const request of requests) offsets.push((offsets.at(-1) ?? 0) + Buffer.byteLength(request));
  const bytes = new SharedArrayBuffer(offsets.at(-1) ?? 0);
  const buffer = Buffer.from(bytes);
  for (const [index, request] of requests.entries()) buffer.write(request, offsets[index] ?? 0);
  return { bytes, offsets };
}

function source(
  { packed: { bytes, offsets }, repeat }: Work,
  isOver: () => boolean,
): () => Buffer | undefined {
  const buffer = Buffer.from(bytes);
  const count = offsets.length - 1;
  let next = 0;
  return () => {
    if (isOver()) return undefined;
    const index = repeat === true ? next++ % count : next++;
    return index < count ? buffer.subarray(offsets[index], offsets[index + 1]) : undefined;
  };
}

async function generate(work: Work): Promise<LoadResult> {
  const latencies: number[] = [];
  const examples: string[] = [];
  let bad = 0;
  let shed = 0;
  const wanted = `HTTP/1.1 ${work.expectStatus} `;
  const judge: Judge = (answer, tookMs) => {
    if (answer.startsWith(wanted) && answer.includes(work.expectText)) {
      latencies.push(tookMs);
      return 'done';
    }
    if (answer.startsWith('HTTP/1.1 503 ') && answer.includes('"code":"overloaded"')) {
      shed += 1;
      return 'again';
    }
    bad += 1;
    if (examples.length < EXAMPLES) examples.push(answer.slice(0, EXAMPLE_CHARS));
    return 'done';
  };

  const sockets = await Promise.all(Array.from({ length: work.connections }, () => open(work.port)));
  const usedBefore = process.threadCpuUsage();
  const startedAt = performance.now();
  const isOver = () => performance.now() >= startedAt + work.seconds * 1000;
  const next = source(work, isOver);
  await Promise.all(sockets.map((socket) => sendAll(socket, { next, judge, isOver })));
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.threadCpuUsage(usedBefore);
  latencies.sort((a, b) => a - b);
  const quantile = (share: number) =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0;
  return {
    answers: latencies.length,
    shed,
    seconds,
    perSecond: latencies.length / seconds,
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
    ownMs: (user + system) / 1000,
    bad,
    examples,
  };
}

async function open(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  return socket;
}

const LENGTH = /\r\ncontent-length: (\d+)/i;

type Judge = (answer: string, tookMs: number) => 'done' | 'again';

/** One request over a connection of its own. @returns the answer */
export async function askOnce(port: number, request: string): Promise<{ answer: string; tookMs: number }> {
  const asked = { answer: '', tookMs: Number.POSITIVE_INFINITY };
  const requests = [Buffer.from(request)];
  await sendAll(await open(port), {
    next: () => requests.pop(),
    judge(answer, tookMs) {
      Object.assign(asked, { answer, tookMs });
      return 'done';
    },
    isOver: () => false,
  });
  return asked;
}

/** Sends one request after the other, and again those that were turned away. */
function sendAll(
  socket: Socket,
  {
    next,
    judge,
    isOver,
  }: { readonly next: () => Buffer | undefined; readonly judge: Judge; readonly isOver: () => boolean },
): Promise<void> {
  return new Promise((resolve, reject) => {
    let received = '';
    let sentAt = 0;
    let isDone = false;
    let again: Buffer | undefined;
    const send = (request: Buffer | undefined) => {
      if (request === undefined) {
        isDone = true;
        socket.destroy();
        resolve();
        return;
      }
      again = request;
      sentAt = performance.now();
      socket.write(request);
    };
    // Bodies are ASCII except a few characters of titles; in latin1 each byte is one character, as the length requires.
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      received += chunk;
      const head = received.indexOf('\r\n\r\n');
      if (head < 0) return;
      const length = Number(LENGTH.exec(received.slice(0, head))?.[1] ?? 0);
      if (received.length < head + 4 + length) return;
      const answer = received;
      received = '';
      if (judge(answer, performance.now() - sentAt) === 'done') send(next());
      else setTimeout(() => send(isOver() ? undefined : again), PAUSE_MS);
    });
    socket.on('error', reject);
    socket.on('close', () => {
      if (!isDone) reject(new Error('the measured program closed the connection'));
    });
    send(next());
  });
}

if (!isMainThread) parentPort?.postMessage(await generate(workerData as Work));
