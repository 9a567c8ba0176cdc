/** The client's methods as the contract declares them: what each sends, and which are retried. */
import * as contract from '@bellwether/contract';
import { BellwetherClient, BellwetherConnectionError } from '@bellwether/sdk';
import { describe, expect, expectTypeOf, test } from 'vitest';

interface Sent {
  readonly method: string;
  readonly url: string;
  readonly body: unknown;
}

function recordingClient(): { readonly client: BellwetherClient; readonly sent: Sent[] } {
  const sent: Sent[] = [];
  const client = new BellwetherClient({
    baseUrl: 'http://desk.example',
    fetch: async (url, { method = 'GET', body }) => {
      sent.push({ method, url: url.slice('http://desk.example'.length), body });
      return new Response('{}');
    },
  });
  return { client, sent };
}

const OPERATIONS = Object.entries(contract).flatMap(([name, value]) =>
  // Streams are methods of their own: streams.test.ts.
  typeof value === 'object' && 'permission' in value && 'path' in value && !('produces' in value)
    ? [[name, value as contract.Operation] as const]
    : [],
);
const LEFT_OUT = ['getClaimByQuery', 'listSkillsAlias', 'revokeApiKeyByPost', 'receiveWebhook'];
const AGENTS = OPERATIONS.filter(
  ([name, { permission, tag }]) =>
    ['agent', 'public'].includes(permission) && tag !== 'owners' && !LEFT_OUT.includes(name),
);
const OTHERS = OPERATIONS.filter(([name]) => !AGENTS.some(([offered]) => offered === name));

type AnyMethods = Readonly<Record<string, (...args: unknown[]) => Promise<unknown>>>;

describe('the operations that agents call', () => {
  test('are more than a few, and none is for owners or operators', () => {
    expect(AGENTS.length).toBeGreaterThan(50);
    expect(OTHERS.length).toBeGreaterThan(10);
    const { client } = recordingClient();
    for (const [name] of OTHERS) expect(name in client, name).toBe(false);
  });

  test.each(AGENTS)('%s sends its method and path', async (name, { method, path, body }) => {
    const { client, sent } = recordingClient();
    await (client as unknown as AnyMethods)[name]?.('x/1');
    const [call] = sent;
    expect(call?.method).toBe(method);
    expect(call?.url.split('?')[0]).toBe(path.replace(/\{\w+\}/, 'x%2F1'));
    expect(call?.body === undefined).toBe(body === undefined);
  });

  test.each(AGENTS)('%s is repeated only where the contract allows it', async (name, operation) => {
    let attempts = 0;
    const client = new BellwetherClient({
      baseUrl: 'http://desk.example',
      maxRetries: 1,
      wait: async () => {},
      fetch: async () => {
        attempts += 1;
        throw new TypeError('fetch failed');
      },
    });
    const call = (client as unknown as AnyMethods)[name]?.('x');
    await expect(call).rejects.toThrow(BellwetherConnectionError);
    expect(attempts).toBe(operation.method === 'GET' || operation.repeatable === true ? 2 : 1);
  });
});

test('path fields, queries, bodies and options are sent in their places', async () => {
  const { client, sent } = recordingClient();
  await client.createApiKey('spare', { requestId: 'r' });
  await client.checkMarket('m', { venue: 'v' });
  await client.revokeApiKey('7', { force: true });
  await client.getDelegation();
  await client.unlinkWallet();
  await client.cancelMarket();
  await client.batchTrade([]);
  await client.getOrder('o', { requestId: 'r' });
  expect(sent).toEqual([
    { method: 'POST', url: '/agents/create-api-key', body: '{"keyName":"spare"}' },
    { method: 'GET', url: '/markets/check?marketId=m&venue=v', body: undefined },
    { method: 'DELETE', url: '/agents/api-key/7?force=true', body: undefined },
    { method: 'GET', url: '/venueb/agent/delegation', body: undefined },
    { method: 'POST', url: '/wallet/unlink', body: '{}' },
    { method: 'POST', url: '/markets/orders/cancel-market', body: '{}' },
    { method: 'POST', url: '/markets/batch-trade', body: '{"orders":[]}' },
    { method: 'GET', url: '/markets/orders/o', body: undefined },
  ]);
});

test('arguments and answers have the types of the contract', () => {
  type Client = BellwetherClient;
  expectTypeOf<Parameters<Client['getMarket']>>().toExtend<
    readonly [string, { readonly venue?: string }?, object?]
  >();
  expectTypeOf<Awaited<ReturnType<Client['getMarket']>>>().toEqualTypeOf<contract.Market>();
  expectTypeOf<Awaited<ReturnType<Client['placeTrade']>>>().toEqualTypeOf<contract.TradeResponse>();
  expectTypeOf<Parameters<Client['placeTrade']>[0]>().toEqualTypeOf<contract.TradeRequest>();
  expectTypeOf<Client>().not.toHaveProperty('approveSkill');
  // @ts-expect-error an order is required
  const missing = (client: Client) => client.placeTrade();
  // @ts-expect-error a misspelt field
  const misspelt = (client: Client) => client.updateSettings({ maxTradesPerDai: 1 });
  expect([missing, misspelt]).toHaveLength(2);
});
