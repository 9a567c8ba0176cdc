/**
 * The load generator, a worker thread: sends prepared requests over a fixed number of connections, one at a time on
 * each, and measures every answer. It implements only the HTTP it needs, to take little processor time from the service.
 */
import { connect, type Socket } from 'node:net';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

export interface Load {
  readonly port: number;
  readonly connections: number;
  readonly seconds: number;
  /** Whole HTTP requests. Each is sent once, or repeatedly with `repeat`. */
  readonly requests: readonly string[];
  readonly repeat?: boolean;
  /** Every good answer has this status and contains this text. */
  readonly expectStatus: number;
  readonly expectText: string;
}

export interface LoadResult {
  readonly answers: number;
  readonly seconds: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly bad: number;
  /** The first bad answers, to be looked at. */
  readonly examples: readonly string[];
}

const EXAMPLES = 3;

export function runLoad(load: Load): Promise<LoadResult> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: load });
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

async function generate(load: Load): Promise<LoadResult> {
  const latencies: number[] = [];
  const examples: string[] = [];
  let bad = 0;
  let next = 0;
  const startedAt = performance.now();
  const end = startedAt + load.seconds * 1000;
  const wanted = `HTTP/1.1 ${load.expectStatus} `;

  const takeNext = (): string | undefined => {
    if (performance.now() >= end) return undefined;
    const index = next++;
    return load.requests[load.repeat === true ? index % load.requests.length : index];
  };
  const count = (answer: string) => {
    if (answer.startsWith(wanted) && answer.includes(load.expectText)) return;
    bad += 1;
    if (examples.length < EXAMPLES) examples.push(answer.slice(0, 900));
  };

  await Promise.all(
    Array.from({ length: load.connections }, async () => {
      const connection = await openConnection(load.port);
      for (let request = takeNext(); request !== undefined; request = takeNext()) {
        const sentAt = performance.now();
        const answer = await connection.ask(request);
        latencies.push(performance.now() - sentAt);
        count(answer);
      }
      connection.close();
    }),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  latencies.sort((a, b) => a - b);
  const quantile = (share: number) =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0;
  return {
    answers: latencies.length,
    seconds,
    perSecond: latencies.length / seconds,
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
    bad,
    examples,
  };
}

const LENGTH = /\r\ncontent-length: (\d+)/i;

async function openConnection(port: number) {
  const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  let received = '';
  let answered: (answer: string) => void = () => {};
  let failed: (error: Error) => void = () => {};
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
    answered(answer);
  });
  socket.on('error', (error) => failed(error));
  socket.on('close', () => failed(new Error('the service closed the connection')));
  return {
    ask: (request: string): Promise<string> =>
      new Promise((resolve, reject) => {
        answered = resolve;
        failed = reject;
        socket.write(request);
      }),
    close: () => {
      failed = () => {};
      socket.destroy();
    },
  };
}

if (!isMainThread) parentPort?.postMessage(await generate(workerData as Load));
