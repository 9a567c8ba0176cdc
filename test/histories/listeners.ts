/** Who listens to an agent during a run: a stream at each replica, a webhook, and a chain of briefings. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AgentEvent, BellwetherClient, type RecordedAgentEvent } from '@bellwether/sdk';
import { afterFile } from '../setup/clean-up.ts';
import { startTcpProxy } from '../tcp-proxy.ts';
import { type Agent, AgentClient } from './agents.ts';
import type { LoggedEvent, Recorder } from './history.ts';
import type { Stage } from './stage.ts';

const BRIEFING_EVERY_MS = 1_500;
const LAST_ATTEMPTS = 30;

export interface Listening {
  readonly agent: Agent;
  /** Where the streams began. */
  readonly cursor: string;
  /** Ends the briefings with one more, and the streams. */
  end(): Promise<void>;
}

export interface WebhookReceiver {
  /** @returns where to send the webhooks of this agent */
  urlFor(agent: Agent): string;
}

interface EventBody {
  readonly id: string;
  readonly type: string;
  readonly data: object;
}

export function eventOf({ id, type, data }: EventBody): LoggedEvent {
  const { orderId, tradeId } = data as { readonly orderId?: string | null; readonly tradeId?: string | null };
  return {
    id,
    type,
    ...(typeof orderId === 'string' ? { orderId } : {}),
    ...(typeof tradeId === 'string' ? { tradeId } : {}),
  };
}

const isRecorded = (event: AgentEvent): event is RecordedAgentEvent =>
  event.type !== 'ready' && event.type !== 'venue';

export async function startReceiver(recorder: Recorder): Promise<WebhookReceiver> {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += chunk));
    request.on('end', () => {
      const agent = (request.url ?? '/').slice(1);
      recorder.hear({
        listener: `webhook of ${agent}`,
        via: 'webhook',
        agent,
        event: eventOf(JSON.parse(body)),
      });
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterFile('services', () => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { urlFor: ({ agentId }) => `http://127.0.0.1:${port}/${agentId}` };
}

/** Reads the log from the cursor on, until nothing has come for a while. */
export async function readLog(
  url: string,
  agent: Agent,
  after: string,
  quietMs: number,
): Promise<LoggedEvent[]> {
  const client = new BellwetherClient({ baseUrl: url, apiKey: agent.apiKey });
  const log: LoggedEvent[] = [];
  const stop = new AbortController();
  let timer = setTimeout(() => stop.abort(), quietMs);
  for await (const event of client.events({ after, signal: stop.signal })) {
    clearTimeout(timer);
    timer = setTimeout(() => stop.abort(), quietMs);
    if (isRecorded(event)) log.push(eventOf(event));
  }
  return log;
}

async function firstCursor(client: BellwetherClient): Promise<string> {
  for await (const event of client.events()) if (event.type === 'ready') return event.cursor;
  throw new Error('a stream ended before it was ready');
}

export async function listen(
  stage: Stage,
  recorder: Recorder,
  receiver: WebhookReceiver,
  agent: Agent,
): Promise<Listening> {
  const direct = new BellwetherClient({ baseUrl: stage.replicas[0].process.url, apiKey: agent.apiKey });
  await direct.createWebhook({ url: receiver.urlFor(agent), events: ['*'] } as never);
  const cursor = await firstCursor(direct);
  const stop = new AbortController();
  const streams = await Promise.all(
    stage.replicas.map(async (replica) => {
      const link = await startTcpProxy({ host: '127.0.0.1', port: replica.port });
      replica.links.push(link);
      const client = new BellwetherClient({ baseUrl: `http://127.0.0.1:${link.port}`, apiKey: agent.apiKey });
      const listener = `of ${agent.agentId} at ${replica.name}`;
      return async (): Promise<void> => {
        for await (const event of client.events({ after: cursor, signal: stop.signal }))
          if (isRecorded(event))
            recorder.hear({ listener, via: 'stream', agent: agent.agentId, event: eventOf(event) });
      };
    }),
  );
  const clients = await Promise.all(
    stage.replicas.map((replica) =>
      AgentClient.open(agent, `listener of ${agent.agentId}`, replica, recorder),
    ),
  );
  let isOver = false;
  const heartbeat = async (): Promise<void> => {
    let since: string | null = null;
    const ask = async (turn: number): Promise<boolean> => {
      const next = await (clients[turn % clients.length] as AgentClient).briefing(
        `of ${agent.agentId}`,
        since,
      );
      since = next ?? since;
      return next !== null;
    };
    for (let turn = 0; !isOver; turn += 1) {
      await ask(turn);
      await sleep(BRIEFING_EVERY_MS);
    }
    // Once everything has come to rest, one more.
    for (let turn = 0; turn < LAST_ATTEMPTS && !(await ask(turn)); turn += 1) await sleep(BRIEFING_EVERY_MS);
  };
  const briefings = heartbeat();
  const hearing = Promise.all(streams.map((hear) => hear()));
  return {
    agent,
    cursor,
    async end() {
      isOver = true;
      await briefings;
      stop.abort();
      await hearing;
    },
  };
}
