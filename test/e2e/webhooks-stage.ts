/** A service whose webhooks go to a receiver in the test. */
import type { Market, WebhookEvent } from '@bellwether/sdk';
import { beforeAll, beforeEach } from 'vitest';
import { newAgent, openMarkets, startTestService, type TestService, type Trader } from '../harness.ts';
import { type Asked, standIn } from '../stand-in.ts';

interface Delivery extends Asked {
  readonly path: string;
  readonly event: WebhookEvent;
}

export const VENUE_SECRET = 'a secret shared with the venue';

export let service: TestService;

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
    hooks = await standIn((asked, response) => {
      const delivery = { ...asked, path: asked.url, event: JSON.parse(asked.body) };
      got.push(delivery);
      response.writeHead(stage.answerOf(delivery, at(delivery.path).length)).end('taken');
    });
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
  beforeEach(() => {
    stage.answerOf = () => 204;
  });
}
