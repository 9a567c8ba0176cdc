/** Small sentences of the documents, each tried. */
import {
  createVenueCredentials,
  credentialRequest,
  linkSolanaWallet,
  type Market,
  Signer,
  SolanaSigner,
} from '@bellwether/sdk';
import { beforeAll, expect, test } from 'vitest';
import { claim, ownerOf } from '../approving.ts';
import {
  aMarket,
  call,
  marketBuy,
  newAgent,
  newTrader,
  restingOrder,
  sharedTestService,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import { Visitor } from '../passkey.ts';
import { sendRaw } from '../raw-http.ts';

let service: TestService;
let market: Market;

beforeAll(async () => {
  service = await sharedTestService();
  market = await aMarket((await newTrader(service)).client);
});

const get = (path: string, key: string) => call(service, 'GET', path, { key });

test('a key that was never used has no time of its last call', async () => {
  const { client, apiKey } = await newAgent(service);
  const second = await client.createApiKey('second');
  expect(second.lastCalledAt).toBeNull();
  const listed = (await get('/agents/api-key/list', apiKey)).body;
  expect(listed.find(({ keyName }: { keyName: string }) => keyName === 'second').lastCalledAt).toBeNull();
});

test('the registration is the first call, and an answer to a key knows of its own call', async () => {
  const time = /^\d{13}$/;
  const agent = await newAgent(service);
  const { claimCode } = await agent.client.getMe();
  const claimOf = async () => (await call(service, 'GET', `/agents/claim/${claimCode}`)).body;
  expect((await claimOf()).lastCalledAt).toMatch(time);
  const me = await agent.client.getMe();
  expect(me.lastCalledAt).toMatch(time);
  expect(Number(me.lastCalledAt)).toBeGreaterThanOrEqual(Number(me.createdAt));
  const { apiKeyCode, id } = await agent.client.createApiKey('second');
  const listedWith = async (key: string) => (await get('/agents/api-key/list', key)).body;
  expect(await listedWith(agent.apiKey)).toMatchObject([
    { keyName: 'registration', lastCalledAt: expect.stringMatching(time) },
    { keyName: 'second', lastCalledAt: null },
  ]);
  // What a key learns of itself waits for no job.
  expect((await listedWith(apiKeyCode))[1].lastCalledAt).toMatch(time);
  expect((await get('/agents/me', apiKeyCode)).body.lastCalledAt).toMatch(time);
  const revoked = await call(service, 'DELETE', `/agents/api-key/${id}`, { key: apiKeyCode });
  expect(revoked.body).toMatchObject({ status: 2, lastCalledAt: expect.stringMatching(time) });
});

test('a name of blanks is refused, of agents and of keys', async () => {
  const { apiKey } = await newAgent(service);
  for (const [path, body] of [
    ['/agents/register', { name: '   ' }],
    ['/agents/create-api-key', { keyName: '\u2003 ' }],
  ] as const) {
    const answer = await call(service, 'POST', path, { key: apiKey, body });
    expect({ path, status: answer.status, code: answer.body.code }).toEqual({
      ...{ path, status: 400, code: 'invalid_request' },
    });
  }
});

test('every list counts itself', async () => {
  const trader = await newTrader(service);
  await trader.client.placeTrade(await restingOrder(trader, await aMarket(trader.client)));
  for (const path of [
    '/agents/api-key/list',
    '/agents/approvals',
    '/agents/trades/by-strategy',
    '/markets?q=*&limit=1',
    '/markets/orders/open',
    '/markets/orders?limit=1',
    '/markets/fills',
    '/markets/current-positions',
    '/markets/closed-positions',
    '/venueb/agent/orders',
    '/venueb/agent/positions',
    '/venues',
    '/webhooks',
  ]) {
    const { status, headers, body } = await get(path, trader.apiKey);
    expect({ path, status }).toEqual({ path, status: 200 });
    expect(Number(headers.get('x-total-count') ?? Number.NaN), path).toBeGreaterThanOrEqual(body.length);
  }
});

test('the total of approvals counts those beyond the page', async () => {
  const owner = await ownerOf(service);
  const trader = await newTrader(service);
  await claim(owner, trader);
  await trader.client.updateSettings({ approvalAbove: 0 });
  const market = await aMarket(trader.client);
  for (let nth = 0; nth < 3; nth += 1)
    await trader.post('/markets/trade', await restingOrder(trader, market));
  const { headers, body } = await get('/agents/approvals?limit=2', trader.apiKey);
  expect({ shown: body.length, total: headers.get('x-total-count') }).toEqual({ shown: 2, total: '3' });
});

test('a receipt that is not written yet says when to ask again', async () => {
  const trader = await newTrader(service);
  const { orderId } = await trader.client.placeTrade(
    await restingOrder(trader, await aMarket(trader.client)),
  );
  const { status, headers, body } = await get(`/markets/orders/${orderId}/receipt`, trader.apiKey);
  if (status === 404) {
    expect(body.code).toBe('receipt_not_found');
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  } else expect(status).toBe(200);
});

test('the refusal of too many wrong keys states its limit', async () => {
  const strict = await startTestService({ PAPER_WORLD: 'off', RATE_LIMITS: 'on' });
  for (let nth = 0; nth < 200; nth += 1) {
    const { status, headers } = await call(strict, 'GET', '/agents/me', { key: 'wrong' });
    if (status === 401) continue;
    expect(status).toBe(429);
    expect(headers.get('ratelimit')).toMatch(/^"failed_auth";r=0;t=\d+$/);
    expect(headers.get('ratelimit-policy')).toMatch(/^"failed_auth";q=\d+;w=\d+$/);
    return;
  }
  throw new Error('no wrong key was refused for its number');
});

test('a claim code is read as people type it', async () => {
  const { client } = await newAgent(service);
  const { claimCode } = (await client.getMe()) as { claimCode: string };
  const typed = [
    claimCode.replace('-', ''),
    claimCode.toLowerCase(),
    ` ${claimCode.replace('-', ' ')} `,
    claimCode.replaceAll('0', 'O').replaceAll('1', 'l'),
  ];
  for (const code of typed) {
    const { status, body } = await call(service, 'GET', `/agents/claim/${encodeURIComponent(code)}`);
    expect({ code, status, claimCode: body.claimCode }).toEqual({ code, status: 200, claimCode });
  }
});

test('an unlink that names nothing takes the wallet of the agent, and no other of its owner', async () => {
  const trader = await newTrader(service);
  await linkSolanaWallet(trader.client, SolanaSigner.generate());
  const other = Signer.generate();
  const credentials = await createVenueCredentials({ clobUrl: `${service.url}/paper/clob`, signer: other });
  const { walletAddress: latest } = await trader.client.registerCredentials(
    credentialRequest(other, credentials),
  );
  const before = (await trader.client.getMe()).walletAddress;
  const { status, body } = await trader.post('/wallet/unlink', {});
  expect({ status, code: body.code }).toEqual({ status: 200, code: undefined });
  expect(body.message.toLowerCase()).toContain(before?.toLowerCase());
  const left = [trader.funder, latest.toLowerCase()].filter((wallet) => wallet !== before?.toLowerCase());
  expect(await trader.client.checkCredentials(left[0] as string)).toMatchObject({ hasCredentials: true });
});

test('an unlink of two wallets of one key takes both', async () => {
  const trader = await newTrader(service);
  const credentials = await createVenueCredentials({
    clobUrl: `${service.url}/paper/clob`,
    signer: trader.signer,
  });
  await trader.client.registerCredentials(credentialRequest(trader.signer, credentials, 2));
  const { status, body } = await trader.post('/wallet/unlink', {});
  expect({ status, code: body.code }).toEqual({ status: 200, code: undefined });
  expect(await trader.client.checkCredentials(trader.funder)).toMatchObject({ hasCredentials: false });
});

test('a link answers the names of another SDK beside ours, and takes them', async () => {
  const { apiKey } = await newAgent(service);
  const signer = Signer.generate();
  const { body: challenge } = await get(`/wallet/link/challenge?address=${signer.address}`, apiKey);
  expect(challenge.expires_at).toBe(challenge.expiresAt);
  const signature = await signer.signMessage(challenge.message);
  const { status, body } = await call(service, 'POST', '/wallet/link', {
    key: apiKey,
    body: { wallet_address: signer.address, nonce: challenge.nonce, signature },
  });
  expect({ status, code: body.code }).toEqual({ status: 200, code: undefined });
  expect(body.wallet_address).toBe(body.walletAddress);
});

test('a session goes on although another cookie of its name comes first', async () => {
  const owner = new Visitor(service);
  await owner.register('Eve');
  const cookie = `bw_owner=x; bw_owner=${'A'.repeat(43)}; ${owner.cookie}`;
  const answer = await call(service, 'GET', '/owner/session', { headers: { cookie } });
  expect(answer.body).toMatchObject({ name: 'Eve' });
  expect((await call(service, 'GET', '/owner/agents', { headers: { cookie } })).status).toBe(200);
});

test('the document has the version of the service', async () => {
  const [document, ready] = await Promise.all(
    ['/openapi.json', '/readyz'].map(async (path) => (await call(service, 'GET', path)).body),
  );
  expect(document.info).toMatchObject({ version: '1.0.0', 'x-service-version': ready.version });
});

test('a skill without howItWorks is taken, and shows it empty', async () => {
  const { apiKey } = await newAgent(service);
  const body = {
    skillName: 'Momentum',
    description: 'Buys what rises.',
    version: '1.0.0',
    hubUrl: 'https://example.org/momentum',
    githubUrl: 'https://example.org/momentum.git',
  };
  const answer = await call(service, 'POST', '/agent/skill/submit-skill', { key: apiKey, body });
  expect({ status: answer.status, code: answer.body.code }).toEqual({ status: 200, code: undefined });
  expect(answer.body).toMatchObject({ howItWorks: '', how_it_works: '' });
});

test('the balance of venue B is the same in portfolio and briefing, and totals are of all venues', async () => {
  const trader = await newTrader(service);
  const solana = SolanaSigner.generate();
  await trader.post('/wallet/update-sol-address', { solAddress: solana.address });
  const [market] = await trader.client.listMarkets({ q: '*', venue: 'kalshi', limit: 1 });
  await trader.client.quoteVenueB({
    ...{ marketTicker: market?.id as string, side: 'YES', action: 'BUY', amount: 5 },
  });
  const [portfolio, briefing] = await Promise.all([
    trader.client.getPortfolio(),
    trader.client.getBriefing({}),
  ]);
  expect(portfolio.venues.kalshi?.balance).toBe(10_000);
  for (const name of ['polymarket', 'kalshi'])
    expect(portfolio.venues[name]?.balance).toBe(briefing.venues[name]?.balance);
  expect(portfolio).toMatchObject({ venue: 'polymarket', balance: 10_000, total: { balance: 20_000 } });
});

const buy = async (trader: Trader, amount: number) =>
  trader.post('/markets/trade', await marketBuy(trader, market, amount));

test('the faucet call that insufficient_balance advises is taken, and the order then passes the balance', async () => {
  const trader = await newTrader(service);
  const { body } = await buy(trader, 10_400);
  expect(body.code).toBe('insufficient_balance');
  const advised = JSON.parse(/\{"address".*?\}/.exec(body.fix)?.[0] ?? 'null');
  expect(advised.amount).toBeCloseTo(body.context.needed - body.context.available, 6);
  const drawn = await call(service, 'POST', '/paper/faucet', { body: advised });
  expect(drawn.status).toBe(200);
  expect((await buy(trader, 10_400)).body.code).toBeUndefined();
});

test('where the faucet gives no more today, it is not advised', async () => {
  const trader = await newTrader(service);
  const { body } = await buy(trader, 90_000);
  expect(body.code).toBe('insufficient_balance');
  expect(body.fix).not.toContain('POST /paper/faucet');
  expect(body.fix).toContain('more today');
});

test('an agent without credentials on paper reads where it gets them', async () => {
  const trader = await newTrader(service);
  const other = await newAgent(service);
  const order = await restingOrder({ ...trader, signer: other.signer }, market);
  const { body } = await other.post('/markets/trade', order);
  expect(body).toMatchObject({ code: 'credentials_not_registered' });
  expect(body.fix).toContain('/wallet/credentials/paper');
  const [action] = (await other.client.getBriefing({})).venues.polymarket?.actions ?? [];
  expect(action).toMatchObject({ code: 'register_credentials', path: '/wallet/credentials/paper' });
});

test('a range of prices that ends before it begins, and venue B without any: the fix fits', async () => {
  const { apiKey } = await newAgent(service);
  const get = (query: string) => call(service, 'GET', `/markets/prices-history?${query}`, { key: apiKey });
  const backwards = await get(`market=${market.clobTokenIds[0]}&startTs=1900000000&endTs=1800000000`);
  expect(backwards.body).toMatchObject({ code: 'contradictory_filter' });
  expect(backwards.body.fix).toContain('startTs');
  const [ofB] = (await call(service, 'GET', '/markets?venue=kalshi&q=*&limit=1', { key: apiKey })).body;
  const none = await get(`market=${ofB.clobTokenIds[0]}&venue=kalshi&interval=1d`);
  expect(none.status).toBe(400);
  expect(none.body.fix).toContain('/markets/orderbook');
});

test('a malformed request line, and a webhook to this machine: the fix and the setting are named', async () => {
  const { text: answer } = await sendRaw(service.url, 'NONSENSE\r\n\r\n');
  expect(answer).toContain('"code":"invalid_request"');
  expect(answer).not.toContain('listed in');
  const { apiKey } = await newAgent(service);
  const { body } = await call(service, 'POST', '/webhooks', {
    key: apiKey,
    body: { url: 'https://127.0.0.1/hook', events: ['fill'] },
  });
  expect(body).toMatchObject({ code: 'webhook_url_refused' });
  expect(body.detail).toContain('WEBHOOKS_ALLOW_LOOPBACK');
});
