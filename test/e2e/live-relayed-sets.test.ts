/** Splits and merges without gas: prepared by the desk, signed by the owner, forwarded to the relayer once, followed to their end. */
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  createVenueCredentials,
  type Market,
  readRelayTerms,
  type SetResponse,
  Signer,
  signRelay,
  verifyRelay,
  type WalletAction,
} from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import { Faults, NO_FAULTS } from '../../packages/exchange/src/doors/polymarket/index.ts';
import { signedRelayBody } from '../../packages/protocol/src/index.ts';
import { followSets } from '../../packages/server/src/trading/sets.ts';
import { relayRequestOf } from '../../packages/server/src/venues/venue.ts';
import { call, openMarkets, type TestService, type Trader } from '../harness.ts';
import { newLiveTrader, orderAt, poolOf, startLiveDesk, startVenue } from '../live-desk.ts';
import { runScript } from '../service-process.ts';
import { afterFile } from '../setup/clean-up.ts';
import { micro } from '../world.ts';

const faults = new Faults(Date.now);
let venue: TestService;
let relayerUrl: string;
let key: Record<string, string>;
/** Requests that reached the relayer. */
let submits = 0;
/** The next one is lost on its way. */
let losesNext = false;
let desk: TestService;
let market: Market;
let names = 0;

beforeAll(async () => {
  venue = await startVenue({}, { faults });
  relayerUrl = `${venue.url}/paper/relayer`;
  const operator = Signer.generate();
  const { apiKey } = await createVenueCredentials({ clobUrl: `${venue.url}/paper/clob`, signer: operator });
  key = { POLYMARKET_RELAYER_API_KEY: apiKey, POLYMARKET_RELAYER_API_KEY_ADDRESS: operator.address };
  key.POLYMARKET_RELAYER_URL = await counted(relayerUrl);
  desk = await startLiveDesk(venue, key);
  const trader = await newLiveTrader(desk, venue);
  market = (await openMarkets(trader.client))[0] as Market;
});

/** The relayer, with each of its requests counted. */
async function counted(url: string): Promise<string> {
  const target = new URL(url);
  const server = createServer((incoming, outgoing) => {
    if (incoming.url === '/submit') submits += 1;
    if (incoming.url === '/submit' && losesNext) {
      losesNext = false;
      outgoing.destroy();
      return;
    }
    const { method, headers } = incoming;
    const where = { host: target.hostname, port: target.port, path: `${target.pathname}${incoming.url}` };
    const passed = request({ ...where, method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    // What the relayer cut off is cut off here, too.
    passed.on('error', () => outgoing.destroy());
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterFile('services', () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const named = (amount: number) => {
  names += 1;
  return { clientOrderId: `relayed-${names}`, marketId: market.id, amount };
};
const signed = async ({ signer, funder }: Trader, answer: SetResponse, action: WalletAction) => {
  const own = { signer, wallet: funder };
  const terms = await readRelayTerms({ ...own, relayerUrl });
  return signRelay(verifyRelay(answer, action, { ...own, market, terms }), signer);
};
async function relayed(trader: Trader, kind: 'split' | 'merge', amount: number) {
  const body = named(amount);
  const answer = await (kind === 'split' ? trader.client.splitSets(body) : trader.client.mergeSets(body));
  return { body, answer, request: await signed(trader, answer, { kind, amount }) };
}
const post = (trader: Trader, body: unknown, at = desk) =>
  call(at, 'POST', '/markets/relay', { key: trader.apiKey, body });

async function follow(at = desk): Promise<void> {
  await poolOf(desk)`update handed_out_sets set due_at = now() - interval '1 second'`;
  await followSets(at.needs);
}
const becomes = (trader: Trader, orderId: string, status: string, at = desk) =>
  expect
    .poll(
      async () => {
        await follow(at);
        return (await orderAt(desk, trader, orderId)).status;
      },
      { timeout: 15_000, interval: 300 },
    )
    .toBe(status);
const held = ({ funder }: Trader) => {
  const tokens = venue.exchange.account(funder).tokens.get(market.conditionId);
  return [tokens?.yes ?? 0n, tokens?.no ?? 0n];
};

describe.each([1, 2, 3] as const)('from a wallet of type %i', (type) => {
  test('a split and a merge are prepared, signed, made and booked', async () => {
    const trader = await newLiveTrader(desk, venue, type);
    const { body, answer, request } = await relayed(trader, 'split', 10);
    expect(answer).toMatchObject({
      status: 'unsigned',
      relay: { type: ['', 'PROXY', 'SAFE', 'WALLET'][type], nonce: '0', chainId: 137 },
    });
    expect(answer.transactions).toBeUndefined();
    expect(await trader.client.splitSets(body)).toEqual(answer);
    expect(held(trader)).toEqual([0n, 0n]);
    expect(await trader.client.relaySet(request)).toMatchObject({ success: true, status: 'submitted' });
    expect((await trader.client.splitSets(body)).status).toBe('submitted');
    expect(held(trader)).toEqual([micro(10), micro(10)]);
    await becomes(trader, answer.orderId, 'filled');
    const again = await post(trader, request);
    expect(again).toMatchObject({ status: 200, body: { status: 'filled', amount: 10 } });
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    const merge = await relayed(trader, 'merge', 4);
    expect(merge.answer.relay?.nonce).toBe('1');
    await trader.client.relaySet(merge.request);
    await becomes(trader, merge.answer.orderId, 'filled');
    expect((await trader.client.getCurrentPositions()).map(({ size }) => size)).toEqual([6, 6]);
    expect(held(trader)).toEqual([micro(6), micro(6)]);
  });
});

test('an EOA sends its own transactions', async () => {
  const trader = await newLiveTrader(desk, venue, 0);
  const answer = await trader.client.splitSets(named(5));
  expect(answer.transactions).toHaveLength(1);
  expect(answer.relay).toBeUndefined();
  const nothing = await post(trader, { orderId: answer.orderId, signature: `0x${'1'.repeat(130)}` });
  expect([nothing.status, nothing.body.code]).toEqual([404, 'order_not_found']);
});

test('another signature is refused, and nothing is forwarded', async () => {
  const trader = await newLiveTrader(desk, venue, 2);
  const stranger = await newLiveTrader(desk, venue, 2);
  const { answer, request } = await relayed(trader, 'split', 3);
  const other = await Signer.generate().signDigest(new Uint8Array(32).fill(7));
  for (const signature of [other, `0x${'0'.repeat(130)}`, request.signature.replace(/.$/, '5')]) {
    const { status, body } = await post(trader, { orderId: answer.orderId, signature });
    expect([status, body.code]).toEqual([400, 'transaction_signature_invalid']);
  }
  expect((await post(stranger, request)).body.code).toBe('order_not_found');
  expect(held(trader)).toEqual([0n, 0n]);
  expect((await post(trader, request)).body.status).toBe('submitted');
});

test('many at once are forwarded once', async () => {
  const trader = await newLiveTrader(desk, venue, 2);
  const { answer, request } = await relayed(trader, 'split', 3);
  const before = submits;
  const answers = await Promise.all(Array.from({ length: 6 }, () => post(trader, request)));
  expect(submits - before).toBe(1);
  expect(new Set(answers.map(({ body }) => body.status))).toEqual(new Set(['submitted']));
  const firsts = answers.filter(({ headers }) => headers.get('idempotency-replayed') === null);
  expect(firsts).toHaveLength(1);
  await becomes(trader, answer.orderId, 'filled');
  expect(held(trader)).toEqual([micro(3), micro(3)]);
});

test('a pause since then stops a split, and no merge', async () => {
  const trader = await newLiveTrader(desk, venue, 2);
  await venue.exchange.execute({
    ...{ kind: 'split', account: trader.funder, conditionId: market.conditionId, amount: micro(5) },
  });
  const split = await relayed(trader, 'split', 3);
  await trader.client.updateSettings({ tradingPaused: true });
  expect((await post(trader, split.request)).body.code).toBe('trading_paused');
  const merge = await relayed(trader, 'merge', 5);
  expect((await post(trader, merge.request)).body.status).toBe('submitted');
  await becomes(trader, merge.answer.orderId, 'filled');
});

test('after its deadline nothing is forwarded, and the budget is back', async () => {
  const trader = await newLiveTrader(desk, venue, 2);
  await trader.client.updateSettings({ dailyTradeAmountLimit: 10 });
  const { body, answer, request } = await relayed(trader, 'split', 10);
  await poolOf(
    desk,
  )`update handed_out_sets set relay = jsonb_set(relay, '{deadlineS}', '1'), ends_at = to_timestamp(1)
    where order_id = ${answer.orderId}`;
  expect((await post(trader, request)).body).toMatchObject({ status: 'expired', amount: 0 });
  expect((await trader.client.splitSets(body)).status).toBe('expired');
  expect((await trader.client.splitSets(named(10))).status).toBe('unsigned');
  expect(held(trader)).toEqual([0n, 0n]);
});

test('what fails on the chain is refused, and its trade does not count', async () => {
  const trader = await newLiveTrader(desk, venue, 2);
  await venue.exchange.execute({
    ...{ kind: 'split', account: trader.funder, conditionId: market.conditionId, amount: micro(5) },
  });
  const { answer, request } = await relayed(trader, 'merge', 5);
  await venue.exchange.execute({
    ...{ kind: 'merge', account: trader.funder, conditionId: market.conditionId, amount: micro(4.5) },
  });
  await trader.client.relaySet(request);
  await becomes(trader, answer.orderId, 'rejected');
  expect(await trader.client.relaySet(request)).toMatchObject({
    ...{ success: false, status: 'rejected', errorCode: 'transaction_failed' },
  });
});

describe('while the relayer', () => {
  const during = async (plan: Partial<typeof NO_FAULTS>, work: () => Promise<void>) => {
    faults.set({ ...NO_FAULTS, ...plan });
    await work().finally(() => faults.set(NO_FAULTS));
  };

  test.each([
    ['loses its answers', { droppedShare: 1 }],
    ['answers with 500 after it did it', { failedAfterShare: 1 }],
    ['answers what is no JSON', { garbledShare: 1 }],
  ])('%s, a request is followed and never sent twice, also by another process', async (_, plan) => {
    const trader = await newLiveTrader(desk, venue, 3);
    const { answer, request } = await relayed(trader, 'split', 6);
    const before = submits;
    await during(plan, async () => {
      expect((await post(trader, request)).body.status).toBe('submitted');
      expect((await post(trader, request)).body.status).toBe('submitted');
    });
    const { databaseUrl, masterKey } = desk;
    const other = await startLiveDesk(venue, { ...key, DATABASE_URL: databaseUrl, MASTER_KEY: masterKey });
    expect((await post(trader, request, other)).body.status).toMatch(/submitted|filled/);
    await becomes(trader, answer.orderId, 'filled', other);
    expect(held(trader)).toEqual([micro(6), micro(6)]);
    expect(submits - before).toBe(1);
    await other.stop();
  });

  test('takes no requests, the same signature may be given again', async () => {
    const trader = await newLiveTrader(desk, venue, 2);
    const { answer, request } = await relayed(trader, 'split', 2);
    await during({ bareLimitedShare: 1 }, async () => {
      const { status, body } = await post(trader, request);
      expect([status, body.code]).toEqual([503, 'service_unavailable']);
    });
    expect((await post(trader, request)).body.status).toBe('submitted');
    await becomes(trader, answer.orderId, 'filled');
  });
});

describe('a request that was lost on its way', () => {
  const lose = async (trader: Trader, amount: number) => {
    const lost = await relayed(trader, 'split', amount);
    losesNext = true;
    expect((await post(trader, lost.request)).body.status).toBe('submitted');
    return lost;
  };
  const left = async ({ agentId }: Trader) =>
    10_000_000n - (await desk.needs.agents.settings(agentId)).usage.amount;

  test.each([1, 2] as const)(
    'gives its budget back once another has used its nonce, from a wallet of type %i',
    async (type) => {
      const trader = await newLiveTrader(desk, venue, type);
      await trader.client.updateSettings({ dailyTradeAmountLimit: 10 });
      const { answer, body } = await lose(trader, 6);
      await follow();
      // Nothing says that it can never be made.
      expect([(await orderAt(desk, trader, answer.orderId)).status, await left(trader)]).toEqual([
        'live',
        micro(4),
      ]);
      const next = await relayed(trader, 'split', 3);
      expect(next.answer.relay?.nonce).toBe(answer.relay?.nonce);
      await post(trader, next.request);
      await becomes(trader, next.answer.orderId, 'filled');
      await becomes(trader, answer.orderId, 'rejected');
      expect(await left(trader)).toBe(micro(7));
      expect(await trader.client.splitSets(body)).toMatchObject({
        status: 'rejected',
        errorCode: 'nonce_used',
      });
      expect(held(trader)).toEqual([micro(3), micro(3)]);
      expect((await relayed(trader, 'split', 7)).answer.status).toBe('unsigned');
    },
  );

  test('stays while what used its nonce is not listed, failed, or is another wallet’s', async () => {
    const trader = await newLiveTrader(desk, venue, 2);
    const other = await newLiveTrader(desk, venue, 2);
    const sets = { account: trader.funder, conditionId: market.conditionId };
    await venue.exchange.execute({ ...sets, kind: 'split', amount: micro(5) });
    const { answer } = await lose(trader, 6);
    const theirs = await relayed(other, 'split', 2);
    await post(other, theirs.request);
    await becomes(other, theirs.answer.orderId, 'filled');
    const failing = await relayed(trader, 'merge', 5);
    expect(failing.answer.relay?.nonce).toBe(answer.relay?.nonce);
    await venue.exchange.execute({ ...sets, kind: 'merge', amount: micro(4.5) });
    await post(trader, failing.request);
    await becomes(trader, failing.answer.orderId, 'rejected');
    await follow();
    expect((await orderAt(desk, trader, answer.orderId)).status).toBe('live');
  });

  test('is booked where it was made all the same, by the desk’s credentials or by the owner’s own', async () => {
    const trader = await newLiveTrader(desk, venue, 2);
    const { answer, request } = await lose(trader, 6);
    const own = await createVenueCredentials({ clobUrl: `${venue.url}/paper/clob`, signer: trader.signer });
    const handed = await desk.needs.handedOutSets.find(answer.orderId);
    const sent = signedRelayBody(relayRequestOf(handed!.relay!), request.signature as `0x${string}`);
    const taken = await call({ url: relayerUrl }, 'POST', '/submit', {
      body: sent,
      headers: { RELAYER_API_KEY: own.apiKey, RELAYER_API_KEY_ADDRESS: trader.signer.address },
    });
    expect(taken.status).toBe(200);
    await becomes(trader, answer.orderId, 'filled');
    expect(held(trader)).toEqual([micro(6), micro(6)]);
  });

  test('of two that are the same request one is booked, and the other one ends', async () => {
    const trader = await newLiveTrader(desk, venue, 2);
    const first = await lose(trader, 4);
    const second = await relayed(trader, 'split', 4);
    expect(second.answer.relay?.digest).toBe(first.answer.relay?.digest);
    await post(trader, second.request);
    await follow();
    // On paper the relayer and the list of the chain name a transaction differently; at the live venue its hash is one.
    const list = await call({ url: relayerUrl }, 'GET', '/transactions', {
      headers: {
        RELAYER_API_KEY: key.POLYMARKET_RELAYER_API_KEY as string,
        RELAYER_API_KEY_ADDRESS: key.POLYMARKET_RELAYER_API_KEY_ADDRESS as string,
      },
    });
    await poolOf(
      desk,
    )`insert into set_transactions select wallet, ${list.body[0].transactionHash}, condition_id, kind,
      'the first' from set_transactions where wallet = ${trader.funder}`;
    await follow();
    const ends = [first, second].map(({ answer }) => orderAt(desk, trader, answer.orderId));
    expect((await Promise.all(ends)).map(({ status }) => status).sort()).toEqual(['filled', 'rejected']);
    expect(held(trader)).toEqual([micro(4), micro(4)]);
  });
});

test('credentials of a builder do as well; wrong ones take nothing', async () => {
  const operator = Signer.generate();
  const clobUrl = `${venue.url}/paper/clob`;
  const { apiKey, apiSecret, apiPassphrase } = await createVenueCredentials({ clobUrl, signer: operator });
  const builder = { POLYMARKET_BUILDER_API_KEY: apiKey, POLYMARKET_BUILDER_PASSPHRASE: apiPassphrase };
  const good = await startLiveDesk(venue, { ...builder, POLYMARKET_BUILDER_SECRET: apiSecret });
  const bad = await startLiveDesk(venue, { ...builder, POLYMARKET_BUILDER_SECRET: 'AAAA' });
  for (const [at, status] of [
    [good, 200],
    [bad, 503],
  ] as const) {
    const trader = await newLiveTrader(at, venue, 2);
    const { request } = await relayed(trader, 'split', 1);
    const answer = await post(trader, request, at);
    expect(answer.status).toBe(status);
    expect(JSON.stringify(answer.body)).not.toContain(apiPassphrase);
  }
});

test('an agent has a part of what the relayer grants the service', async () => {
  const limits = { RATE_LIMITS: 'on', RATE_LIMIT_RELAY_PER_MINUTE: '2' };
  const own = await startLiveDesk(venue, { ...key, ...limits });
  const trader = await newLiveTrader(own, venue, 2);
  const { request } = await relayed(trader, 'split', 1);
  const statuses = [];
  for (let at = 0; at < 3; at += 1) statuses.push((await post(trader, request, own)).status);
  expect(statuses).toEqual([200, 200, 429]);
});

test('the doctor says whether the relayer takes the credentials, and shows none of them', async () => {
  const look = (more: Readonly<Record<string, string>>) =>
    runScript('scripts/doctor.ts', ['--relayer'], {
      env: { POLYMARKET_RELAYER_URL: relayerUrl, ...key, ...more },
    });
  const good = await look({});
  expect(good).toMatchObject({ code: 0, stdout: expect.stringContaining('takes these credentials') });
  const bad = await look({ POLYMARKET_RELAYER_API_KEY: crypto.randomUUID() });
  expect(bad.code).toBe(1);
  expect(bad.stdout + bad.stderr).toContain('refuses these credentials (401)');
  expect([good, bad].map(({ stdout, stderr }) => stdout + stderr).join()).not.toContain(
    key.POLYMARKET_RELAYER_API_KEY,
  );
});
