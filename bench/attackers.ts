/**
 * Attackers from several addresses, in a worker thread: each of their connections sends the next request as soon as the
 * last one is answered, until the time is over. Transactions that must land are sent once, other requests repeatedly.
 */
import { connect } from 'node:net';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

export interface Attack {
  readonly port: number;
  readonly connections: number;
  /** Number of addresses of this machine: 127.0.0.2 and those after it. */
  readonly addresses: number;
  readonly seconds: number;
  /** Whole HTTP requests. */
  readonly repeated: readonly string[];
  readonly once: readonly string[];
}

export interface AttackResult {
  readonly perSecond: number;
  readonly statuses: Readonly<Record<string, number>>;
}

const LENGTH = /\r\ncontent-length: (\d+)/i;
/** One request in so many is a transaction that must land. */
const ONCE_EVERY = 3;

export function runAttack(attack: Attack): Promise<AttackResult> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: attack });
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}

/** Sends requests over one connection until the time is over. */
function attackFrom(
  localAddress: string,
  {
    port,
    end,
    next,
    count,
  }: { port: number; end: number; next: () => string; count: (status: string) => void },
): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress, noDelay: true });
    const chunks: Buffer[] = [];
    let size = 0;
    let wanted = Number.POSITIVE_INFINITY;
    socket.once('connect', () => socket.write(next(), 'latin1'));
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (wanted === Number.POSITIVE_INFINITY) {
        const text = Buffer.concat(chunks).toString('latin1');
        const head = text.indexOf('\r\n\r\n');
        if (head < 0) return;
        wanted = head + 4 + Number(LENGTH.exec(text.slice(0, head))?.[1] ?? 0);
      }
      if (size < wanted) return;
      count(chunks[0]?.toString('latin1', 9, 12) ?? '');
      chunks.length = 0;
      size = 0;
      wanted = Number.POSITIVE_INFINITY;
      if (performance.now() < end) socket.write(next(), 'latin1');
      else socket.end();
    });
    socket.on('error', () => count('lost'));
    socket.on('close', () => resolve());
  });
}

async function attack({
  port,
  connections,
  addresses,
  seconds,
  repeated,
  once,
}: Attack): Promise<AttackResult> {
  const statuses = new Map<string, number>();
  const startedAt = performance.now();
  let sent = 0;
  let landing = 0;
  const next = (): string => {
    sent += 1;
    const toLand = sent % ONCE_EVERY === 0 ? once[landing++] : undefined;
    return toLand ?? repeated[sent % repeated.length] ?? '';
  };
  const count = (status: string) => statuses.set(status, (statuses.get(status) ?? 0) + 1);
  const end = startedAt + seconds * 1000;
  await Promise.all(
    Array.from({ length: connections }, (_, nth) =>
      attackFrom(`127.0.0.${2 + (nth % addresses)}`, { port, end, next, count }),
    ),
  );
  const answered = [...statuses.values()].reduce((sum, one) => sum + one, 0);
  return {
    perSecond: answered / ((performance.now() - startedAt) / 1000),
    statuses: Object.fromEntries(statuses),
  };
}

if (!isMainThread) parentPort?.postMessage(await attack(workerData as Attack));
