/** Who listens to an agent during a run: a stream at each replica, a webhook, and a chain of briefings. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AgentEvent, BellwetherClient, type RecordedAgentEvent } from '@bellwether/sdk';
import { type Agent, AgentClient } from './agents.ts';
import type { FinalFacts } from './final-facts.ts';
import type { LoggedEvent, Recorder } from './history.ts';
import type { Place } from './place.ts';

const BRIEFING_EVERY_MS = 1_500;
const LAST_ATTEMPTS = 30;
/** A log in which nothing comes for so long has been read to its end. */
const QUIET_MS = 3_000;

export interface Listening {
  readonly agent: Agent;
  /**
   * Ends the briefings with one more, and the streams.
   * @returns the log from where the streams began, read once more while they still listened
   */
  end(): Promise<readonly LoggedEvent[]>;
}

export interface WebhookReceiver {
  /** @returns where to send the webhooks of this agent */
  urlFor(agent: Agent): string;
  close(): void;
}

interface EventBody {
  readonly id: string;
  readonly type: string;
  readonly data: object;
}

function eventOf({ id, type, data }: EventBody): LoggedEvent {
  const { orderId, tradeId, exitId } = data as Readonly<
    Partial<Record<'orderId' | 'tradeId' | 'exitId', string | null>>
  >;
  return {
    id,
    type,
    ...(typeof orderId === 'string' ? { orderId } : {}),
    ...(typeof tradeId === 'string' ? { tradeId } : {}),
    ...(typeof exitId === 'string' ? { exitId } : {}),
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
  const { port } = server.address() as AddressInfo;
  return {
    urlFor: ({ agentId }) => `http://127.0.0.1:${port}/${agentId}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Reads the log from the cursor on, until nothing has come for a while. */
async function readLog(url: string, agent: Agent, after: string): Promise<LoggedEvent[]> {
  const client = new BellwetherClient({ baseUrl: url, apiKey: agent.apiKey });
  const log: LoggedEvent[] = [];
  const stop = new AbortController();
  let timer = setTimeout(() => stop.abort(), QUIET_MS);
  for await (const event of client.events({ after, signal: stop.signal })) {
    clearTimeout(timer);
    timer = setTimeout(() => stop.abort(), QUIET_MS);
    if (isRecorded(event)) log.push(eventOf(event));
  }
  return log;
}

async function firstCursor(client: BellwetherClient): Promise<string> {
  for await (const event of client.events()) if (event.type === 'ready') return event.cursor;
  throw new Error('a stream ended before it was ready');
}

export async function listen(
  place: Place,
  recorder: Recorder,
  receiver: WebhookReceiver,
  agent: Agent,
): Promise<Listening> {
  const direct = new BellwetherClient({ baseUrl: place.urls[0], apiKey: agent.apiKey });
  await direct.createWebhook({ url: receiver.urlFor(agent), events: ['*'] } as never);
  const cursor = await firstCursor(direct);
  const stop = new AbortController();
  const streams = await Promise.all(
    place.urls.map(async (_, replica) => {
      const client = new BellwetherClient({ baseUrl: await place.link(replica), apiKey: agent.apiKey });
      const listener = `of ${agent.agentId} at replica ${replica + 1}`;
      return async (): Promise<void> => {
        for await (const event of client.events({ after: cursor, signal: stop.signal }))
          if (isRecorded(event))
            recorder.hear({ listener, via: 'stream', agent: agent.agentId, event: eventOf(event) });
      };
    }),
  );
  const clients = await Promise.all(
    place.urls.map((_, replica) =>
      AgentClient.open({ agent, name: `listener of ${agent.agentId}`, replica }, place, recorder),
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
    async end() {
      isOver = true;
      await briefings;
      const log = await readLog(place.urls[1], agent, cursor);
      stop.abort();
      await hearing;
      return log;
    },
  };
}

export const endAll = (listening: readonly Listening[]): Promise<FinalFacts['logs']> =>
  Promise.all(listening.map(async ({ agent, end }) => ({ agent: agent.agentId, events: await end() })));
