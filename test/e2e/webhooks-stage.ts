/** A service whose webhooks go to a receiver in the test. */
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Market, WebhookEvent } from '@bellwether/sdk';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { newAgent, openMarkets, startTestService, type TestService, type Trader } from '../harness.ts';

interface Delivery {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly event: WebhookEvent;
}

export const VENUE_SECRET = 'a secret shared with the venue';

export let service: TestService;

let receiver: Server;

export let hooks: string;

const got: Delivery[] = [];

/** Settings of a test, reset before each test. */
export const stage = {} as {
  /** Status for the nth delivery of a path, 1 being the first. */
  answerOf: (delivery: Delivery, nth: number) => number;
  clockAhead: number;
};
stage.answerOf = () => 204;
stage.clockAhead = 0;

export let markets: Market[];

export const at = (path: string) => got.filter((delivery) => delivery.path === path);

let paths = 0;

const newPath = () => `/hook/${++paths}`;

export const subscribe = async (
  agent: Pick<Trader, 'client'>,
  events: readonly string[],
  path = newPath(),
) => {
  const webhook = await agent.client.createWebhook({
    url: hooks + path,
    events: events as never,
  });
  return { ...webhook, path };
};

/** For the top of a test file. */
export function useStage(): void {
  beforeAll(async () => {
    receiver = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        const delivery = { path: request.url ?? '', headers: request.headers, body, event: JSON.parse(body) };
        got.push(delivery);
        response.writeHead(stage.answerOf(delivery, at(delivery.path).length)).end('taken');
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    hooks = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
    service = await startTestService(
      {
        PAPER_WORLD: 'off',
        WEBHOOKS_ALLOW_LOOPBACK: 'on',
        WEBHOOK_INBOUND_SECRETS: `venue=${VENUE_SECRET.replaceAll(' ', '-')},signer=0123456789abcdef=`,
      },
      { clock: { now: () => Date.now() + stage.clockAhead } },
    );
    const { client } = await newAgent(service);
    markets = await openMarkets(client);
  });
  afterAll(() => {
    receiver.closeAllConnections();
    receiver.close();
  });
  beforeEach(() => {
    stage.answerOf = () => 204;
  });
}
