/**
 * A reverse proxy as operators run them: it asks every upstream for its readiness, sends requests to those that are
 * ready over connections that it keeps, and sends a request again only where its first receiver cannot have seen it.
 */
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterFile } from './setup/clean-up.ts';

const ASK_EVERY_MS = 50;
const ASK_WITHIN_MS = 2_000;

interface Upstream {
  readonly port: number;
  readonly agent: Agent;
  isReady: boolean;
}

export interface HealthProxy {
  readonly url: string;
  /** Ports that get requests at the moment. */
  ready(): number[];
}

function isReady({ port }: Upstream): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = request({ port, host: '127.0.0.1', path: '/readyz', agent: false, timeout: ASK_WITHIN_MS });
    asked.once('response', (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    asked.once('timeout', () => asked.destroy());
    asked.once('error', () => resolve(false));
    asked.end();
  });
}

async function bodyOf(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

export async function startHealthProxy(ports: readonly number[]): Promise<HealthProxy> {
  const upstreams: Upstream[] = ports.map((port) => ({
    port,
    agent: new Agent({ keepAlive: true }),
    isReady: false,
  }));
  let turn = 0;
  let isOver = false;
  const watch = async (upstream: Upstream): Promise<void> => {
    while (!isOver) {
      upstream.isReady = await isReady(upstream);
      await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
    }
  };
  const next = (tried: ReadonlySet<Upstream>): Upstream | undefined => {
    const free = upstreams.filter((one) => !tried.has(one));
    const ready = free.filter((one) => one.isReady);
    const from = ready.length > 0 ? ready : free;
    turn += 1;
    return from[turn % from.length];
  };
  const send = (incoming: IncomingMessage, body: Buffer, outgoing: ServerResponse, tried: Set<Upstream>) => {
    const upstream = next(tried);
    if (upstream === undefined) return void outgoing.writeHead(502).end('no upstream');
    tried.add(upstream);
    const { method, url, headers } = incoming;
    const { connection: _, ...passed } = headers;
    const { agent, port } = upstream;
    const sent = request({ host: '127.0.0.1', port, agent, method, path: url, headers: passed });
    sent.once('response', (answer) => {
      const { connection: __, 'keep-alive': ___, ...rest } = answer.headers;
      outgoing.writeHead(answer.statusCode ?? 502, rest);
      answer.pipe(outgoing);
    });
    sent.once('error', (error: NodeJS.ErrnoException) => {
      if (outgoing.headersSent) return void outgoing.destroy();
      // No caller has seen it; anything else must not be sent twice.
      if (error.code === 'ECONNREFUSED') return send(incoming, body, outgoing, tried);
      outgoing.writeHead(502).end(`${error.code}`);
    });
    sent.end(body);
  };
  const server = createServer(async (incoming, outgoing) => {
    send(incoming, await bodyOf(incoming), outgoing, new Set());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  for (const upstream of upstreams) void watch(upstream);
  afterFile('services', () => {
    isOver = true;
    server.closeAllConnections();
    server.close();
    for (const { agent } of upstreams) agent.destroy();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ready: () => upstreams.filter((one) => one.isReady).map(({ port }) => port),
  };
}
