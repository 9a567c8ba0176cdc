/**
 * Venue A's sockets under trades: messages per second, and what they cost the service, beside the same trades without listeners.
 * The clients count what arrives, on the machine's same processors.
 */
import { join } from 'node:path';
import type { Market } from '@bellwether/sdk';
import { runLoad } from './load.ts';
import { type Report, type RowOptions, whole } from './report.ts';
import { type BenchService, newDataFolder, removeFolder, startService } from './service.ts';
import { type Desk, ENVIRONMENT, openDesk, requestsOf } from './traders.ts';

const ROOT = join(import.meta.dirname, '..');
const AGENTS = 40;
const CONNECTIONS = 16;
/** The most that one address may have. */
const SOCKETS = 20;
const LOAD = { short: { seconds: 10, orders: 3_000 }, full: { seconds: 60, orders: 24_000 } };
const QUIET_MS = 500;

interface Phase {
  readonly listeners: number;
  readonly trades: number;
  readonly tradesPerSecond: number;
  readonly messages: number;
  readonly messagesPerSecond: number;
  /** Processor time of the service, its PostgreSQL excepted. */
  readonly processorMs: number;
}

export async function benchSockets({ full, roots }: RowOptions): Promise<Report> {
  const phases: Phase[] = [];
  for (const root of [ROOT, ...roots]) phases.push(...(await phasesOf(root, full)));
  const most = phases.reduce((best, phase) => Math.max(best, phase.messagesPerSecond), 0);
  return {
    ratios: [[`messages/s through ${SOCKETS} sockets, beside trades`, whole(most), '']],
    tables: [
      {
        head: [
          'trades while clients follow 20 markets',
          'trades/s',
          'messages/s',
          'messages',
          'µs of the service for a trade',
        ],
        rows: phases.map(
          ({ listeners, trades, tradesPerSecond, messages, messagesPerSecond, processorMs }) => [
            listeners === 0 ? 'no socket' : `${listeners} sockets, both tokens of each`,
            whole(tradesPerSecond),
            whole(messagesPerSecond),
            whole(messages),
            whole((processorMs * 1_000) / trades),
          ],
        ),
      },
    ],
  };
}

async function phasesOf(root: string, full: boolean): Promise<Phase[]> {
  const dataDir = newDataFolder();
  const service = await startService({ dataDir, root, env: ENVIRONMENT });
  try {
    const desk = await openDesk(service.url, AGENTS);
    const load = full ? LOAD.full : LOAD.short;
    // Code that the process runs for the first time is compiled meanwhile.
    await phase(service, desk, { ...load, listeners: 0, orders: load.orders / 2 });
    const phases: Phase[] = [];
    for (const listeners of [0, 1, SOCKETS]) phases.push(await phase(service, desk, { ...load, listeners }));
    return phases;
  } finally {
    await service.stop();
    removeFolder(dataDir);
  }
}

async function phase(
  service: BenchService,
  desk: Desk,
  plan: { readonly listeners: number; readonly seconds: number; readonly orders: number },
): Promise<Phase> {
  const requests = await requestsOf(desk, plan.orders);
  const followers = await Promise.all(
    Array.from({ length: plan.listeners }, () => follow(service.url, desk.markets)),
  );
  const counted = () => followers.reduce((sum, { count }) => sum + count(), 0);
  const before = { messages: counted(), processor: service.processor() };
  const { answers, bad, examples, seconds } = await runLoad({
    ...{ port: service.port, connections: CONNECTIONS, seconds: plan.seconds, requests },
    ...{ expectStatus: 201, expectText: '"success":true' },
  });
  if (bad > 0) throw new Error(`${bad} bad answers, e.g.\n${examples[0]}`);
  const processorMs = service.processor().programMs - before.processor.programMs;
  await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
  const messages = counted() - before.messages;
  for (const { isOpen, close } of followers) {
    if (!isOpen()) throw new Error('a socket was closed');
    // An address may have only so many at a time.
    await close();
  }
  if (plan.listeners > 0 && messages === 0) throw new Error('no message arrived');
  return {
    listeners: plan.listeners,
    trades: answers,
    tradesPerSecond: answers / seconds,
    messages,
    messagesPerSecond: messages / seconds,
    processorMs,
  };
}

interface Follower {
  readonly count: () => number;
  readonly isOpen: () => boolean;
  readonly close: () => Promise<void>;
}

/** Resolves once the books have arrived. */
async function follow(url: string, markets: readonly Market[]): Promise<Follower> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/paper/ws/market`);
  let messages = 0;
  const dumped = Promise.withResolvers<void>();
  socket.onmessage = () => {
    messages += 1;
    dumped.resolve();
  };
  socket.onclose = ({ code }) => dumped.reject(new Error(`the socket was closed with ${code}`));
  socket.onopen = () =>
    socket.send(
      JSON.stringify({
        type: 'market',
        assets_ids: markets.flatMap(({ clobTokenIds }) => clobTokenIds),
      }),
    );
  await dumped.promise;
  return {
    count: () => messages,
    isOpen: () => socket.readyState === WebSocket.OPEN,
    close: () =>
      new Promise((resolve) => {
        socket.onclose = () => resolve();
        socket.close();
      }),
  };
}
