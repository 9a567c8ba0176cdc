/**
 * Records the database of a desk on which everything has happened once, with the answers of its API at the end.
 * Run it with the service whose database is to be recorded, on an empty database of a server that pg_dump supports:
 *
 *   RECORD_ON=postgres://… npx vitest run --config test/earlier-database/vitest.config.ts
 */
import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { gzipSync } from 'node:zlib';
import { USDC_MINT } from '@bellwether/protocol';
import {
  BellwetherClient,
  buildLimitOrder,
  buildMarketOrder,
  createVenueCredentials,
  credentialRequest,
  linkSignersWallet,
  linkSolanaWallet,
  type Market,
  type SignatureType,
  type TradeRequest,
} from '@bellwether/sdk';
import { expect, test } from 'vitest';
import {
  call,
  openMarkets,
  restingOrder,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import { Visitor } from '../passkey.ts';
import { sandboxMarkets } from '../sandbox.ts';
import { endingMarkets, type ManualClock, resolveMarket } from '../world.ts';
import {
  ANSWERS,
  answersForAll,
  answersOfAgent,
  answersOfChain,
  answersOfOwner,
  DUMP,
  ENVIRONMENT,
  INBOUND_SECRET,
  OPERATOR_KEY,
  RECEIVER_PORT,
  type Recorded,
  type RecordedAgent,
  type RecordedRequest,
  signerOf,
  solanaSignerOf,
} from './desk.ts';

const CLAIMED = ['Mara', 'Paul', 'Rosa'];

/** Runs like the real clock until it is stopped, and can be moved forward. */
function stoppingClock(): ManualClock & { stop(): void } {
  let ahead = 0;
  let stoppedAt: number | null = null;
  const now = () => (stoppedAt ?? Date.now()) + ahead;
  return {
    now,
    advance: (ms) => {
      ahead += ms;
    },
    moveTo: (at) => {
      ahead += Math.max(0, at - now());
    },
    stop: () => {
      stoppedAt = Date.now();
    },
  };
}

interface Recording {
  readonly clock: ReturnType<typeof stoppingClock>;
  service: TestService;
  readonly agents: Map<string, Trader & RecordedAgent>;
  readonly requests: RecordedRequest[];
}

async function register(on: Recording, name: string, signatureType: SignatureType): Promise<Trader> {
  const { service } = on;
  const { agentId, apiKeyCode: apiKey } = await new BellwetherClient({ baseUrl: service.url }).registerAgent({
    name,
    description: `${name} of the earlier database`,
  });
  const client = new BellwetherClient({ baseUrl: service.url, apiKey });
  const signer = signerOf(name);
  const credentials = await createVenueCredentials({ clobUrl: `${service.url}/paper/clob`, signer });
  const { walletAddress } = await client.registerCredentials(
    credentialRequest(signer, credentials, signatureType),
  );
  await client.updateSettings({ maxTradesPerDay: 500, maxTradeAmount: 1_000, dailyTradeAmountLimit: 5_000 });
  const trader = { client, apiKey, agentId, signer, signatureType, funder: walletAddress.toLowerCase() };
  on.agents.set(name, { ...trader, name, solanaWallet: null, webhooks: [] });
  return trader;
}

const agentOf = (on: Recording, name: string): Trader & RecordedAgent => {
  const agent = on.agents.get(name);
  if (agent === undefined) throw new Error(`there is no ${name}`);
  return agent;
};

/** Sends a request and keeps its answer. */
async function keep(
  on: Recording,
  agent: string,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
) {
  const { apiKey } = agentOf(on, agent);
  const { status, body: answer } = await call(on.service, 'POST', path, { key: apiKey, body, headers });
  on.requests.push({ agent, path, headers, body, status, answer });
  return answer;
}

async function trade(on: Recording, agent: string, request: TradeRequest, status = 201) {
  const answer = await keep(on, agent, '/markets/trade', request);
  expect(on.requests.at(-1)).toMatchObject({ status });
  return answer;
}

const buyNow = (
  on: Recording,
  agent: string,
  market: Market,
  amount: number,
  outcome: 'YES' | 'NO' = 'YES',
) => {
  const { signer, signatureType } = agentOf(on, agent);
  return buildMarketOrder({ signer, signatureType, market, outcome, side: 'BUY', amount, worstPrice: 0.97 });
};

async function quoted(
  on: Recording,
  name: string,
  ask: { readonly ticker: string; amount?: number; shares?: number },
) {
  const { client } = agentOf(on, name);
  const signer = solanaSignerOf(name);
  const { ticker, ...size } = ask;
  const action = size.amount === undefined ? 'SELL' : 'BUY';
  for (;;) {
    const request = { ticker, side: 'YES', action, ...size, signer } as never;
    const order = await client.venueB.wait((await client.venueB.trade(request)).orderId);
    // The book may have moved below the quote's minimum: then all was returned, which is recorded, too.
    if (order.filledSize > 0) return order;
  }
}

async function traded(on: Recording, ticker: string, ended: Market): Promise<void> {
  for (const [name, type] of [
    ['Mara', 0],
    ['Nils', 2],
    ['Olga', 3],
    ['Paul', 1],
    ['Rosa', 0],
  ] as const)
    await register(on, name, type);
  for (const name of ['Mara', 'Paul']) {
    const signer = solanaSignerOf(name);
    await linkSolanaWallet(agentOf(on, name).client, signer);
    on.agents.set(name, { ...agentOf(on, name), solanaWallet: signer.address });
  }
  // A market that ends: one agent has redeemed, one has not, one will automatically.
  for (const name of ['Mara', 'Nils', 'Olga'])
    for (const outcome of ['YES', 'NO'] as const)
      await trade(on, name, await buyNow(on, name, ended, 15, outcome));
  await quoted(on, 'Mara', { ticker, amount: 30 });
  await agentOf(on, 'Olga').client.updateSettings({ autoRedeemEnabled: true });
  await resolveMarket(on.service, on.clock, ended.conditionId);
  await agentOf(on, 'Mara').client.redeemPosition({ marketId: ended.id });
  await expect
    .poll(async () => (await agentOf(on, 'Olga').client.getMe()).simulationBalance, { timeout: 10_000 })
    .toBeGreaterThan(9_985);
  for (let step = 0; step < 20; step += 1) {
    on.clock.advance(60_000);
    await on.service.exchange.step();
  }
}

async function webhooks(on: Recording): Promise<void> {
  const hooks = `http://127.0.0.1:${RECEIVER_PORT}`;
  const { client } = agentOf(on, 'Mara');

  const { id, secret } = await client.createWebhook({ url: `${hooks}/mara`, events: ['*'] });
  on.agents.set('Mara', { ...agentOf(on, 'Mara'), webhooks: [{ id, secret }] });
  await client.testWebhook(id);
  await expect
    .poll(async () => (await client.listWebhookDeliveries(id)).map(({ status }) => status))
    .toEqual(['delivered']);
  const body = '{"note":"what a venue calls back with"}';
  const signature = createHmac('sha256', INBOUND_SECRET).update(body).digest('hex');
  const headers = { 'x-signature': signature };
  expect((await call(on.service, 'POST', '/webhooks/inbound/venue', { body, headers })).status).toBe(200);
}

async function ownersAndLocks(on: Recording): Promise<Visitor> {
  const owner = new Visitor(on.service);
  await owner.register('Ada');
  for (const name of CLAIMED) {
    const { claimCode } = await agentOf(on, name).client.getMe();
    expect((await owner.send('POST', '/owner/claim', { claimCode })).status).toBe(200);
  }
  const mara = agentOf(on, 'Mara');
  const locks = {
    maxTradeAmount: { limit: 900, locked: true },
    dailyTradeAmountLimit: { limit: 4_000, locked: true },
    maxPositionValue: { limit: 2_000, locked: true },
  };
  expect((await owner.send('POST', `/owner/agents/${mara.agentId}/safeguards`, locks)).status).toBe(200);
  const paul = agentOf(on, 'Paul');
  expect((await owner.send('POST', `/owner/agents/${paul.agentId}/pause`, { paused: true })).status).toBe(
    200,
  );
  // Quinn, who is not Ada's agent, gets Rosa's wallet: Ada's locks follow it.
  const rosa = agentOf(on, 'Rosa');
  const cap = { maxTradeAmount: { limit: 50, locked: true } };
  expect((await owner.send('POST', `/owner/agents/${rosa.agentId}/safeguards`, cap)).status).toBe(200);
  await register(on, 'Quinn', 0);
  await linkSignersWallet({ client: agentOf(on, 'Quinn').client, signer: rosa.signer });
  return owner;
}

async function skills(on: Recording): Promise<void> {
  const names = ['Fade the open', 'Buy the dip', 'Wait'];
  for (const [index, skillName] of names.entries()) {
    const { skillCode } = await agentOf(on, 'Nils').client.submitSkill({
      skillName,
      description: 'Sells what rose at the open.',
      version: '1.0',
      howItWorks: '1. Wait.\n2. Sell.',
    });
    const verdict = ['approve', 'refuse'][index];
    if (verdict === undefined) continue;
    const path = `/operator/skills/${skillCode}/${verdict}`;
    const body = verdict === 'refuse' ? { reviewRemark: 'Say what it sells.' } : {};
    const answer = await call(on.service, 'POST', path, { key: OPERATOR_KEY, body });
    expect([answer.status, answer.body]).toEqual([200, expect.anything()]);
  }
}

/** After the restart: commands in the journal and in no snapshot. @returns an order that is never sent */
async function afterwards(on: Recording, market: Market, ticker: string): Promise<TradeRequest> {
  const mara = agentOf(on, 'Mara');
  const labels = { source: 'sdk:earlier', reasoning: 'Because it rose.', skillSlug: 'fade-the-open' };
  await trade(on, 'Mara', { ...(await buyNow(on, 'Mara', market, 40)), ...labels });
  await trade(on, 'Nils', await buyNow(on, 'Nils', market, 25, 'NO'));
  const sale = { signer: mara.signer, market, outcome: 'YES', side: 'SELL', shares: 10 } as const;
  await trade(on, 'Mara', await buildMarketOrder({ ...sale, worstPrice: 0.02 }));
  await trade(on, 'Mara', await restingOrder(mara, market, 20));
  const canceled = await trade(on, 'Mara', await restingOrder(mara, market, 30));
  await mara.client.cancelOrder(canceled.orderId);
  const olga = agentOf(on, 'Olga');
  await trade(on, 'Olga', await restingOrder(olga, market, 12));
  const until = { type: 'GTD', expiration: Math.floor(on.clock.now() / 1000) + 7_200 } as const;
  const mortal = {
    signer: olga.signer,
    signatureType: olga.signatureType,
    market,
    outcome: 'NO',
    side: 'BUY',
  } as const;
  await trade(on, 'Olga', await buildLimitOrder({ ...mortal, price: '0.03', size: 15, ...until }));
  // Refused for its size; refused for the pause.
  await trade(on, 'Nils', await buyNow(on, 'Nils', market, 2_000), 403);
  await trade(on, 'Paul', await buyNow(on, 'Paul', market, 10), 403);

  const bought = await quoted(on, 'Mara', { ticker, amount: 25 });
  await quoted(on, 'Mara', { ticker, shares: Math.floor(bought.filledSize / 2) });
  const rpcUrl = `${on.service.url}/paper/solana`;
  await mara.client.venueB.approveDelegate({ signer: solanaSignerOf('Mara'), amount: 1, rpcUrl });
  const fee = { amount: '0.25', fromAddress: mara.solanaWallet };
  await keep(on, 'Mara', '/venueb/agent/charge-fee', fee, { 'idempotency-key': 'fee-of-the-earlier-desk' });
  await keep(on, 'Mara', '/agents/settings', { maxTradesPerDay: 400 }, { 'idempotency-key': 'settings' });

  // In flight when the desk stops: landed, and not filled.
  on.service.sandbox.venue.switches.fill = 'never';
  const under = await mara.client.venueB.trade({
    ...{ ticker, side: 'YES', action: 'BUY', amount: 12 },
    signer: solanaSignerOf('Mara'),
  });
  await expect
    .poll(async () => (await mara.client.venueB.order(under.orderId)).status, { timeout: 10_000 })
    .toBe('open');
  return buyNow(on, 'Mara', market, 5);
}

async function revokedKeyOf({ client, apiKey }: Trader): Promise<string> {
  const extra = await client.createApiKey('an extra one');
  const { id } = await client.createApiKey('one that stays');
  expect(id).toBeDefined();
  await client.revokeApiKey(extra.id);
  expect(extra.apiKeyCode).not.toBe(apiKey);
  return extra.apiKeyCode as string;
}

async function answersOf(
  on: Recording,
  owner: Visitor,
  markets: Recorded['markets'],
): Promise<Recorded['answers']> {
  const answers: Record<string, Record<string, unknown>> = {};
  for (const agent of on.agents.values())
    answers[agent.name] = await answersOfAgent(on.service, agent, markets.traded);
  const claimed = CLAIMED.map((name) => agentOf(on, name).agentId);
  answers.owner = await answersOfOwner(owner, claimed);
  answers.all = await answersForAll(on.service, agentOf(on, 'Nils').apiKey, markets);
  const wallets = ['Mara', 'Paul'].map((name) => solanaSignerOf(name).address);
  answers.chain = await answersOfChain(on.service, wallets, USDC_MINT);
  return answers;
}

test('records', async () => {
  const databaseUrl = process.env.RECORD_ON;
  if (databaseUrl === undefined) throw new Error('RECORD_ON names no database');
  const clock = stoppingClock();
  const start = () => startTestService({ ...ENVIRONMENT, DATABASE_URL: databaseUrl }, { clock });
  const on: Recording = { clock, service: await start(), agents: new Map(), requests: [] };
  const receiver = createServer((_, response) => response.writeHead(204).end());
  await new Promise<void>((resolve) => receiver.listen(RECEIVER_PORT, '127.0.0.1', resolve));

  const scout = await register(on, 'Scout', 0);
  on.agents.delete('Scout');
  const [ended] = await endingMarkets(scout);
  const market = (await openMarkets(scout.client)).at(-1);
  const ticker = (await sandboxMarkets(scout.client))[0]?.id;
  if (ended === undefined || market === undefined || ticker === undefined) throw new Error('no markets');
  await traded(on, ticker, ended);
  await webhooks(on);
  receiver.closeAllConnections();
  receiver.close();
  await skills(on);
  await on.service.stop();

  on.service = await start();
  for (const [name, agent] of on.agents)
    on.agents.set(name, {
      ...agent,
      client: new BellwetherClient({ baseUrl: on.service.url, apiKey: agent.apiKey }),
    });
  const owner = await ownersAndLocks(on);
  const revokedKey = await revokedKeyOf(agentOf(on, 'Nils'));
  const unsent = await afterwards(on, market, ticker);
  clock.stop();
  // Jobs finish their work.
  await new Promise((resolve) => setTimeout(resolve, 6_000));

  // A repetition names the current user, who may have claimed the agent since.
  for (const [index, { agent, path, headers, body }] of on.requests.entries()) {
    const { apiKey } = agentOf(on, agent);
    const { status, body: answer } = await call(on.service, 'POST', path, { key: apiKey, body, headers });
    on.requests[index] = { agent, path, headers, body, status, answer };
  }

  const markets = { traded: market.id, resolved: ended.id, ticker };
  const answers = await answersOf(on, owner, markets);
  const agents = [...on.agents.values()].map(({ name, agentId, apiKey, solanaWallet, webhooks }) => {
    return { name, agentId, apiKey, solanaWallet, webhooks };
  });
  const recorded: Recorded = {
    now: clock.now(),
    exchangeHash: on.service.exchange.stateHash(),
    agents,
    revokedKey,
    claimedByOwner: CLAIMED.map((name) => agentOf(on, name).agentId),
    passkey: {
      id: owner.passkey.id.toString('base64url'),
      key: owner.passkey.key.export({ type: 'pkcs8', format: 'pem' }) as string,
      counter: owner.counter,
    },
    markets,
    requests: on.requests,
    unsent,
    answers,
  };
  // While it runs: a service that starts on this database recovers from a snapshot and a journal.
  const dump = execFileSync(
    'pg_dump',
    ['--no-owner', '--no-privileges', '--inserts', '--rows-per-insert=200', databaseUrl],
    {
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    },
  );
  const sql = dump.replace(/^\\(un)?restrict .*$/gm, '').replace(/^--.*\n/gm, '');
  writeFileSync(DUMP, gzipSync(sql, { level: 9 }));
  writeFileSync(ANSWERS, gzipSync(JSON.stringify(recorded, null, 1), { level: 9 }));
});
