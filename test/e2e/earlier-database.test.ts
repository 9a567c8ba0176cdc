/**
 * This service takes over a database that an earlier one wrote: it answers every read as the earlier one did, keeps
 * that one's promises, and trading goes on. How the database was written: test/earlier-database/record.ts.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { USDC_MINT } from '@bellwether/protocol';
import {
  BellwetherClient,
  buildLimitOrder,
  buildMarketOrder,
  type Market,
  verifyWebhook,
  type WebhookEvent,
} from '@bellwether/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPool } from '../../packages/server/src/platform/database/connection.ts';
import {
  type Answers,
  answersForAll,
  answersOfAgent,
  answersOfChain,
  answersOfOwner,
  ENVIRONMENT,
  ownerOf,
  type Recorded,
  type RecordedAgent,
  readDump,
  readRecorded,
  signerOf,
  solanaSignerOf,
  VENUE_B,
} from '../earlier-database/desk.ts';
import { call, startTestService, type TestService, withTurns } from '../harness.ts';
import type { Visitor } from '../passkey.ts';
import { createTestDatabase } from '../postgres.ts';
import { type ManualClock, manualClock } from '../world.ts';

let recorded: Recorded;
let clock: ManualClock;
let service: TestService;
let owner: Visitor;
/** The exchange's state after recovery, before anything changes it. */
let exchangeHash: string;
/** Deliveries to the agents' webhooks, refused until `isReceiving`. */
const received: { readonly signature: string; readonly body: string }[] = [];
let isReceiving = false;
const receiver = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  if (isReceiving)
    received.push({
      signature: String(request.headers['x-signature']),
      body: Buffer.concat(chunks).toString(),
    });
  response.writeHead(isReceiving ? 204 : 503).end();
});

beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const { port } = receiver.address() as AddressInfo;
  recorded = readRecorded(port);
  // The clock stands at the moment of the dump, so that time-dependent answers are the same.
  clock = manualClock(recorded.now);
  const databaseUrl = await createTestDatabase();
  // A connection of its own: the dump empties its search path.
  const sql = openPool(databaseUrl, { max: 1 });
  await sql.unsafe(readDump(port));
  await sql.end();
  // The order in flight stays open until a test lets it be filled.
  const environment = { ...ENVIRONMENT, DATABASE_URL: databaseUrl, PAPER_B_FILL: 'never' };
  service = await startTestService(environment, { clock });
  exchangeHash = service.exchange.stateHash();
  owner = ownerOf(service, recorded);
});
afterAll(() => {
  receiver.closeAllConnections();
  receiver.close();
});

const agent = (name: string): RecordedAgent & { readonly client: BellwetherClient } => {
  const found = recorded.agents.find((one) => one.name === name) as RecordedAgent;
  return { ...found, client: new BellwetherClient({ baseUrl: service.url, apiKey: found.apiKey }) };
};
const market = (): Promise<Market> => agent('Nils').client.getMarket(recorded.markets.traded);

/** Fields that may differ: an agent's last call is written later; a cursor counts transactions of its PostgreSQL. */
const VOLATILE = new Set(['lastCalledAt', 'onlineStatus', 'nextCursor']);
/** Advice may become better from release to release: only that it is given must stay. */
const withoutVolatile = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutVolatile);
  if (value === null || typeof value !== 'object') return value;
  if ('code' in value && value.code === 'register_credentials') return { code: value.code };
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !VOLATILE.has(name))
      .map(([name, each]) => [name, withoutVolatile(each)]),
  );
};

/** Every earlier field is unchanged; a later service may add fields. */
function expectAsBefore(answers: Answers, before: Answers | undefined): void {
  expect(before).toBeDefined();
  expect(Object.keys(answers)).toEqual(Object.keys(before ?? {}));
  for (const [path, answer] of Object.entries(before ?? {}))
    expect({ path, answer: answers[path] }).toMatchObject({
      path,
      answer: withoutVolatile(answer) as object,
    });
}

describe('before any request', () => {
  test('the exchange has recovered to the same state from snapshot and journal', () => {
    expect(exchangeHash).toBe(recorded.exchangeHash);
  });

  test.each(['Mara', 'Nils', 'Olga', 'Paul', 'Rosa', 'Quinn'])(
    '%s reads the same as before',
    async (name) => {
      const answers = await answersOfAgent(service, agent(name), recorded.markets.traded);
      expectAsBefore(answers, recorded.answers[name]);
    },
  );

  test('the owner signs in with the old passkey and sees the same agents, locks, keys and wallets', async () => {
    expect((await owner.signIn()).status).toBe(200);
    expectAsBefore(await answersOfOwner(owner, recorded.claimedByOwner), recorded.answers.owner);
  });

  test('markets, order book, price history, leaderboard and skills are the same', async () => {
    const answers = await answersForAll(service, agent('Nils').apiKey, recorded.markets);
    expectAsBefore(answers, recorded.answers.all);
  });

  test('balances and supply on the chain are the same', async () => {
    const wallets = recorded.agents.flatMap(({ solanaWallet }) => solanaWallet ?? []);
    expectAsBefore(await answersOfChain(service, wallets, USDC_MINT), recorded.answers.chain);
  });
});

describe('promises of the earlier service', () => {
  test('every answered request gets the same answer again, without a second effect', async () => {
    const before = await agent('Mara').client.getMe();
    expect(recorded.requests.length).toBeGreaterThan(10);
    for (const { agent: name, path, headers, body, status, answer } of recorded.requests) {
      const again = await call(service, 'POST', path, { key: agent(name).apiKey, body, headers });
      expect({ path, status: again.status }).toEqual({ path, status });
      if (status < 400) expect(again.body).toMatchObject(answer as object);
      else expect(again.body.code).toBe((answer as { code: string }).code);
    }
    const after = await agent('Mara').client.getMe();
    expect(withoutVolatile(after)).toEqual(withoutVolatile(before));
  });

  test('a revoked key stays revoked', async () => {
    expect((await call(service, 'GET', '/agents/me', { key: recorded.revokedKey })).status).toBe(401);
  });

  test("the owner's locks and pause apply, also to the wallet that left", async () => {
    const raised = agent('Mara').client.updateSettings({ maxTradeAmount: 901 });
    await expect(raised).rejects.toMatchObject({ code: 'locked_by_owner' });
    const common = { market: await market(), outcome: 'YES', side: 'BUY', worstPrice: 0.97 } as const;
    const left = await buildMarketOrder({ ...common, signer: signerOf('Rosa'), amount: 51 });
    await expect(agent('Quinn').client.placeTrade(left)).rejects.toMatchObject({
      code: 'max_trade_amount_exceeded',
    });
    const paused = { ...common, signer: signerOf('Paul'), signatureType: 1 } as const;
    const request = await buildMarketOrder({ ...paused, amount: 10 });
    await expect(agent('Paul').client.placeTrade(request)).rejects.toMatchObject({ code: 'trading_paused' });
    const path = `/owner/agents/${agent('Paul').agentId}/pause`;
    expect((await owner.send('POST', path, { paused: false })).status).toBe(200);
    expect(await agent('Paul').client.placeTrade(request)).toMatchObject({ success: true });
  });
});

describe('trading goes on', () => {
  test('an order signed before and never sent is placed; a new order rests and is canceled', async () => {
    const { client } = agent('Mara');
    const { tradesToday } = await client.getMe();
    expect(await client.placeTrade(recorded.unsent)).toMatchObject({ success: true, status: 'matched' });
    const { orderId } = await client.placeTrade(
      await buildLimitOrder({
        ...{ signer: signerOf('Mara'), market: await market(), outcome: 'NO', side: 'BUY' },
        ...{ price: '0.02', size: 50, postOnly: true },
      }),
    );
    expect((await client.cancelOrder(orderId)).canceled).toEqual([orderId]);
    expect((await client.getMe()).tradesToday).toBe(tradesToday + 2);
  });

  test('an order that rested before is canceled', async () => {
    const { client } = agent('Olga');
    const open = await client.listOpenOrders();
    const resting = open.find(({ orderType }) => orderType === 'GTC');
    const orderId = resting?.orderId as string;
    expect((await client.cancelOrder(orderId)).canceled).toEqual([orderId]);
  });

  test('a position of a resolved market is redeemed once', async () => {
    const { client } = agent('Nils');
    const redeem = () => client.redeemPosition({ marketId: recorded.markets.resolved });
    expect(await redeem()).toMatchObject({ status: 'redeemed' });
    expect(await redeem()).toMatchObject({ status: 'nothing_to_redeem' });
  });

  test('on the quote venue the order in flight is filled, and its position is sold', async () => {
    const { client } = agent('Mara');
    const [open] = (await client.listOpenOrders()).filter(({ venue }) => venue === VENUE_B);
    service.sandbox.venue.switches.fill = 'auto';
    const ticking = setInterval(() => clock.advance(100), 100);
    const wait = (orderId: string) => withTurns(service, ['follow'], client.venueB.wait(orderId));
    try {
      const bought = await wait(open?.orderId as string);
      expect(bought.status).toBe('filled');
      const signer = solanaSignerOf('Mara');
      const { ticker } = recorded.markets;
      const ask = { ticker, side: 'YES', action: 'SELL', shares: bought.filledSize } as const;
      const quote = await client.venueB.quote(ask, signer.address);
      // The quote ends by the clock of the dump, which the real one has passed.
      const verified = client.venueB.verify(quote, ask, {
        ...{ wallet: signer.address, use: signer.use },
        now: clock.now(),
      });
      const submitted = await client.venueB.submit(quote.quoteId, client.venueB.sign(verified, signer));
      expect(['filled', 'reverted']).toContain((await wait(submitted.orderId)).status);
    } finally {
      clearInterval(ticking);
    }
  });

  test('waiting webhooks are delivered in order, signed with the old secret', async () => {
    const { client, webhooks } = agent('Mara');
    const [webhook] = webhooks;
    const path = `/webhooks/${webhook?.id}/deliveries?limit=100`;
    const log = recorded.answers.Mara?.[path] as { status: string; event: { id: string } }[];
    const waiting = log.filter(({ status }) => status === 'pending').map(({ event }) => event.id);
    expect(waiting.length).toBeGreaterThan(10);
    isReceiving = true;
    await client.enableWebhook(webhook?.id as string);
    await withTurns(
      service,
      ['webhooks'],
      expect.poll(() => received.length, { timeout: 30_000 }).toBeGreaterThanOrEqual(waiting.length),
    );
    const events = received.map(({ body, signature }) =>
      verifyWebhook({ body, signature, secret: webhook?.secret as string, now: clock.now() }),
    );
    const ids = events.map(({ id }: WebhookEvent) => id);
    expect(ids.slice(0, waiting.length)).toEqual(waiting.reverse());
  });

  test('a GTD order expires on time', async () => {
    const { client } = agent('Olga');
    const [mortal] = (await client.listOpenOrders()).filter(({ orderType }) => orderType === 'GTD');
    clock.advance(3 * 3_600_000);
    await service.exchange.step();
    expect((await client.getOrder(mortal?.orderId as string)).status).toBe('expired');
  });
});
