/**
 * Which wallets an agent of an owner reaches: those that it registered, linked or traded with, and those that the owner
 * grants. Walks every route that takes a wallet.
 */

import { createVenueCredentials, linkSignersWallet } from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import { ownerOf } from '../approving.ts';
import { exitOrder } from '../exits.ts';
import { createFakeQuoteVenue } from '../fake-quote-venue.ts';
import {
  aMarket,
  call,
  newAgent,
  newTrader,
  type RawAnswer,
  restingOrder,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import type { Visitor } from '../passkey.ts';
import { newQuoteTrader, type TraderB } from '../quote-trader.ts';

let service: TestService;
let owner: Visitor;
/** Agents of one owner: two that have wallets, and a stranger's agent that the owner claimed too. */
let trader: Trader;
let traderB: TraderB;
let stranger: Awaited<ReturnType<typeof newAgent>>;
/** Agent of another owner. */
let outsider: Awaited<ReturnType<typeof newAgent>>;
let orderId: string;
let marketId: string;

beforeAll(async () => {
  service = await startTestService({ PAPER_WORLD: 'off' }, { venues: () => [createFakeQuoteVenue()] });
  trader = await newTrader(service);
  traderB = await newQuoteTrader(service);
  await traderB.trade();
  stranger = await newAgent(service, 'Stranger');
  outsider = await newAgent(service, 'Outsider');
  owner = await ownerOf(service, trader, traderB, stranger);
  await ownerOf(service, outsider);
  const market = await aMarket(trader.client);
  marketId = market.id;
  ({ orderId } = await trader.client.placeTrade(await restingOrder(trader, market)));
});

type Ask = (key: string) => Promise<RawAnswer>;
const get =
  (path: string): Ask =>
  (key) =>
    call(service, 'GET', path, { key });
const post =
  (path: string, body: () => unknown): Ask =>
  async (key) =>
    call(service, 'POST', path, { key, body: await body() });
const NOT_FOUND = { status: 404, code: 'wallet_not_found' };

/** The refusal for a wallet out of reach; `null`: the route accepts any address, for the reason beside it. */
const refusals = (): Record<string, readonly [Ask, object] | null> => {
  const { funder } = trader;
  const solana = traderB.wallet.address;
  return {
    'GET /markets/briefing user': [get(`/markets/briefing?user=${funder}`), NOT_FOUND],
    'GET /markets/context/{marketId} user': [get(`/markets/context/${marketId}?user=${funder}`), NOT_FOUND],
    'GET /markets/current-positions user': [get(`/markets/current-positions?user=${solana}`), NOT_FOUND],
    'GET /markets/closed-positions user': [get(`/markets/closed-positions?user=${funder}`), NOT_FOUND],
    'GET /markets/positions/expiring user': [get(`/markets/positions/expiring?user=${funder}`), NOT_FOUND],
    'GET /markets/portfolio user': [get(`/markets/portfolio?user=${solana}`), NOT_FOUND],
    'GET /markets/wallet/{address}/positions address': [
      get(`/markets/wallet/${funder}/positions`),
      NOT_FOUND,
    ],
    'GET /venueb/agent/positions userPublicKey': [
      get(`/venueb/agent/positions?userPublicKey=${solana}`),
      NOT_FOUND,
    ],
    'POST /venueb/agent/positions userPublicKey': [
      post('/venueb/agent/positions', () => ({ userPublicKey: solana })),
      NOT_FOUND,
    ],
    'GET /wallet/credentials/check walletAddress': [
      get(`/wallet/credentials/check?walletAddress=${funder}`),
      { hasCredentials: false },
    ],
    'POST /wallet/unlink address': [post('/wallet/unlink', () => ({ address: funder })), NOT_FOUND],
    'POST /markets/trade walletAddress': [
      post('/markets/trade', async () => restingOrder(trader, await aMarket(trader.client))),
      { status: 403, code: 'credentials_not_registered' },
    ],
    'POST /markets/trade funderAddress': null,
    'POST /markets/exits walletAddress': [
      post('/markets/exits', async () => ({
        ...(await exitOrder(trader, await aMarket(trader.client), { worst: 0.9 })),
        trigger: { kind: 'price_at_or_above', price: 0.9 },
      })),
      { status: 403, code: 'credentials_not_registered' },
    ],
    'POST /markets/exits funderAddress': null,
    'POST /markets/trade/prepare walletAddress': [
      post('/markets/trade/prepare', () => ({
        clientOrderId: 'out of reach',
        ...{ marketId, outcome: 'YES', side: 'BUY', price: 0.5, size: 10, walletAddress: funder },
      })),
      { accepted: false },
    ],
    // Each order is checked as if sent alone.
    'POST /markets/batch-trade orders': [
      post('/markets/batch-trade', async () => ({
        orders: [await restingOrder(trader, await aMarket(trader.client))],
      })),
      { succeeded: 0 },
    ],
    'POST /markets/orders/cancel-market walletAddress': [
      post('/markets/orders/cancel-market', () => ({ walletAddress: funder })),
      { totalCanceled: 0 },
    ],
    'POST /markets/split walletAddress': [
      post('/markets/split', () => ({ clientOrderId: 'a', marketId, amount: 1, walletAddress: funder })),
      { status: 403, code: 'credentials_not_registered' },
    ],
    'POST /markets/convert walletAddress': [
      post('/markets/convert', () => ({ clientOrderId: 'a', marketId, amount: 1, walletAddress: funder })),
      { status: 403, code: 'credentials_not_registered' },
    ],
    'POST /markets/merge walletAddress': [
      post('/markets/merge', () => ({ clientOrderId: 'a', marketId, amount: 1, walletAddress: funder })),
      { status: 403, code: 'credentials_not_registered' },
    ],
    'POST /markets/redeem walletAddress': [
      post('/markets/redeem', () => ({ marketId, walletAddress: funder })),
      { status: 400, code: 'market_not_resolved' },
    ],
    'POST /venueb/charge-fee fromAddress': [
      post('/venueb/charge-fee', () => ({ amount: '0.1', fromAddress: solana })),
      { status: 403, code: 'wallet_not_yours' },
    ],
    'POST /venueb/agent/charge-fee fromAddress': [
      post('/venueb/agent/charge-fee', () => ({ amount: '0.1', fromAddress: solana })),
      { status: 403, code: 'wallet_not_yours' },
    ],
    // The venue's secret, or the wallet's signature over the challenge or the transaction, is the proof.
    'POST /wallet/credentials walletAddress': null,
    'POST /wallet/credentials polyAddress': null,
    'GET /wallet/link/challenge address': null,
    'GET /wallet/credentials/challenge address': null,
    'GET /wallet/credentials/challenge walletAddress': null,
    'POST /wallet/credentials/paper address': null,
    'POST /wallet/credentials/paper walletAddress': null,
    'POST /wallet/link address': null,
    'POST /venueb/agent/quote userPublicKey': null,
    'POST /venueb/agent/quote destinationWallet': null,
    'POST /venueb/agent/submit userPublicKey': null,
    // Public on the chain.
    'GET /venueb/agent/delegation walletAddress': null,
    'GET /venueb/agent/delegation address': null,
    // An alias of a field above: the validator renames it first.
    'GET /wallet/credentials/check address': [
      get(`/wallet/credentials/check?address=${funder}`),
      { hasCredentials: false },
    ],
    'POST /wallet/unlink walletAddress': [
      post('/wallet/unlink', () => ({ walletAddress: funder })),
      NOT_FOUND,
    ],
    'POST /wallet/unlink wallet_address': [
      post('/wallet/unlink', () => ({ wallet_address: funder })),
      NOT_FOUND,
    ],
    'POST /markets/orders/cancel-market address': [
      post('/markets/orders/cancel-market', () => ({ address: funder })),
      { totalCanceled: 0 },
    ],
    'POST /markets/split address': [
      post('/markets/split', () => ({ clientOrderId: 'a', marketId, amount: 1, address: funder })),
      { status: 403, code: 'credentials_not_registered' },
    ],
    'POST /markets/convert address': [
      post('/markets/convert', () => ({ clientOrderId: 'a', marketId, amount: 1, address: funder })),
      { status: 403, code: 'credentials_not_registered' },
    ],
    'POST /markets/merge address': [
      post('/markets/merge', () => ({ clientOrderId: 'a', marketId, amount: 1, address: funder })),
      { status: 403, code: 'credentials_not_registered' },
    ],
    'POST /markets/redeem address': [
      post('/markets/redeem', () => ({ marketId, address: funder })),
      { status: 400, code: 'market_not_resolved' },
    ],
    'POST /wallet/credentials address': null,
    'GET /wallet/link/challenge walletAddress': null,
    'GET /wallet/link/challenge wallet_address': null,
    'POST /wallet/link walletAddress': null,
    'POST /wallet/link wallet_address': null,
    // Refused on routes where it would be a filter.
    'DELETE /markets/orders walletAddress': [
      (key) => call(service, 'DELETE', `/markets/orders?walletAddress=${funder}`, { key }),
      { status: 400, code: 'invalid_request' },
    ],
    // Other public clients send it; it is unused: the order's id identifies the order and its agent.
    'GET /markets/orders/{orderId} walletAddress': null,
    'POST /markets/orders/cancel walletAddress': null,
    // Must equal the quote's value.
    'POST /venueb/agent/submit destinationWallet': null,
    // Names an address and gives no right to it.
    'POST /wallet/update-sol-address solAddress': null,
  };
};

const WALLET_FIELD =
  /^(user|address|wallet\w*|solAddress|polyAddress|funderAddress|userPublicKey|fromAddress|destinationWallet)$/;

test('the table below names every field of every route that takes a wallet', async () => {
  const { body: document } = await call(service, 'GET', '/openapi.json');
  const found: string[] = [];
  interface Documented {
    readonly security?: readonly { readonly apiKey?: unknown }[];
    readonly parameters?: readonly { readonly name: string }[];
    readonly requestBody?: { content: Record<string, { schema?: { properties?: object } }> };
  }
  for (const [path, methods] of Object.entries<Record<string, Documented>>(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      if (operation.security?.[0]?.apiKey === undefined) continue;
      const fields = [
        ...(operation.parameters ?? []).map(({ name }) => name),
        ...Object.keys(operation.requestBody?.content?.['application/json']?.schema?.properties ?? {}),
      ];
      found.push(
        ...fields
          .filter((name) => WALLET_FIELD.test(name))
          .map((name) => `${method.toUpperCase()} ${path} ${name}`),
      );
    }
  }
  const listed = Object.keys(refusals()).filter((name) => !name.endsWith(' orders'));
  expect(found.sort()).toEqual(listed.sort());
});

describe('out of reach', () => {
  test('every route refuses another agent of the same owner like an outsider', async () => {
    for (const [name, row] of Object.entries(refusals())) {
      if (row === null) continue;
      const [ask, expected] = row;
      for (const [who, { apiKey }] of Object.entries({ stranger, outsider })) {
        const { body } = await ask(apiKey);
        expect({ name, who, ...body }).toMatchObject({ name, who, ...expected });
      }
    }
  });

  test('reads without a wallet exclude it, and DELETE /markets/orders cancels nothing on it', async () => {
    for (const path of ['/markets/current-positions', '/markets/closed-positions', '/venueb/agent/positions'])
      expect((await get(path)(stranger.apiKey)).body).toEqual([]);
    const { body } = await call(service, 'DELETE', '/markets/orders', { key: stranger.apiKey });
    expect(body).toMatchObject({ totalCanceled: 0, results: [] });
    expect((await trader.client.getOrder(orderId)).status).toBe('live');
    expect(await stranger.client.getMe()).toMatchObject({ currentPositionCount: 0, walletAddress: null });
    // The refusal of a trade tells how to get access.
    const order = await restingOrder(trader, await aMarket(trader.client));
    const refused = await stranger.post('/markets/trade', order);
    expect(refused.body.fix).toContain('owner');
  });
});

describe('the owner', () => {
  const path = () => `/owner/agents/${stranger.agentId}/wallets`;
  const grant = (walletAddress: string, granted: boolean, visitor = owner) =>
    visitor.send('POST', path(), { walletAddress, granted });

  test('grants a wallet, and revokes the grant', async () => {
    const listed = (await owner.send('GET', path())).body;
    expect(listed).toEqual(
      expect.arrayContaining([
        {
          ...{ walletAddress: trader.funder, venue: 'polymarket', isOwn: false, granted: false },
          heartbeat: { on: false, cancelsAfterS: null },
        },
        {
          ...{ walletAddress: traderB.wallet.address, venue: 'kalshi', isOwn: false, granted: false },
          heartbeat: null,
        },
      ]),
    );
    for (const wallet of [trader.funder, traderB.wallet.address])
      expect((await grant(wallet, true)).status).toBe(200);
    for (const [name, row] of Object.entries(refusals())) {
      // Some of these would remove the wallet, or the order that the next test checks.
      if (row === null || /unlink|cancel|trade|redeem/.test(name)) continue;
      const { body } = await row[0](stranger.apiKey);
      expect({ name, code: body.code }).not.toMatchObject({ name, code: 'wallet_not_found' });
      expect({ name, code: body.code }).not.toMatchObject({ name, code: 'wallet_not_yours' });
    }
    const order = await restingOrder(trader, await aMarket(trader.client));
    expect((await stranger.post('/markets/trade', order)).status).toBe(201);
    const { body } = await call(service, 'DELETE', '/markets/orders', { key: stranger.apiKey });
    expect(body.totalCanceled).toBe(2);
    // The agent has traded with one wallet and keeps it; the other is out of reach again.
    for (const wallet of [trader.funder, traderB.wallet.address]) await grant(wallet, false);
    expect((await get(`/markets/portfolio?user=${trader.funder}`)(stranger.apiKey)).status).toBe(200);
    expect((await get(`/markets/portfolio?user=${traderB.wallet.address}`)(stranger.apiKey)).status).toBe(
      404,
    );
  });

  test('cannot grant other owners’ wallets, nor to their agents; other owners see nothing', async () => {
    const alien = await newTrader(service);
    expect((await grant(alien.funder, true)).body.code).toBe('wallet_not_found');
    const eve = await ownerOf(service);
    expect((await grant(trader.funder, true, eve)).body.code).toBe('agent_not_found');
    expect((await eve.send('GET', path())).status).toBe(404);
  });

  test('lists and revokes an agent’s keys, even the last one, with immediate effect', async () => {
    const agent = await newAgent(service);
    await agent.client.createApiKey('second');
    const ada = await ownerOf(service, agent);
    const keys = `/owner/agents/${agent.agentId}/keys`;
    const { body: listed } = await ada.send('GET', keys);
    expect(listed).toMatchObject([{ status: 1 }, { status: 1, keyName: 'second' }]);
    expect(JSON.stringify(listed)).not.toContain(agent.apiKey);
    expect((await owner.send('GET', keys)).status).toBe(404);
    expect((await owner.send('POST', `${keys}/${listed[0].id}/revoke`)).body.code).toBe('agent_not_found');
    expect((await ada.send('POST', `${keys}/999999/revoke`)).body.code).toBe('api_key_not_found');
    for (const { id } of listed) {
      expect((await ada.send('POST', `${keys}/${id}/revoke`)).body).toMatchObject({ id, status: 2 });
    }
    expect((await agent.get('/agents/me')).status).toBe(401);
  });
});

test('unlinking without a body covers only wallets within reach, and names no other', async () => {
  const [mine, hers] = [await newTrader(service), await newTrader(service)];
  await ownerOf(service, mine, hers);
  const { status, body } = await mine.post('/wallet/unlink');
  expect({ status, success: body.success }).toEqual({ status: 200, success: true });
  expect(JSON.stringify(body)).not.toContain(hers.funder);
  expect((await hers.client.checkCredentials(hers.funder)).hasCredentials).toBe(true);
  const again = await mine.post('/wallet/unlink');
  expect(again).toMatchObject({ status: 404, body: { code: 'wallet_not_found' } });
});

test('a wallet that a claimed agent registers or links later is within its reach', async () => {
  const agent = await newAgent(service);
  await ownerOf(service, agent);
  await createVenueCredentials({ clobUrl: `${service.url}/paper/clob`, signer: agent.signer });
  await linkSignersWallet({ client: agent.client, signer: agent.signer });
  expect((await get(`/markets/portfolio?user=${agent.signer.address}`)(agent.apiKey)).status).toBe(200);
});
