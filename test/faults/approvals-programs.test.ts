/** The command line and the MCP server trade quotes that the owner has to approve first. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BellwetherClient, type Market } from '@bellwether/sdk';
import { deskPlace, loadKeys, readKeys, SpendingLimit } from '@bellwether/sdk/keystore';
import { beforeAll, describe, expect, test } from 'vitest';
import { approve, claim, decline, ownerOf } from '../approving.ts';
import { cli, deskBetween, startCli } from '../cli-process.ts';
import { sharedTestService, type TestService, withTurns } from '../harness.ts';
import { connect, type Model, readyEnvironment } from '../mcp-client.ts';
import type { Visitor } from '../passkey.ts';
import { dataFolder } from '../service-process.ts';

const PASSPHRASE = 'correct horse battery staple';
const ABOVE = 2;
/** The wait of the caller covers it, and the wait for the outcome, too. */
const APPROVED_AFTER_MS = 6_000;

let service: TestService;
let owner: Visitor;
let market: Market;

beforeAll(async () => {
  service = await sharedTestService();
  owner = await ownerOf(service);
});

/** The one approval that waits, once it does. */
async function waitingApproval(agentId: string): Promise<string> {
  const ids = async (): Promise<string[]> => {
    const { body } = await owner.send('GET', `/owner/approvals?status=waiting&agentId=${agentId}`);
    return body.map(({ approvalId }: { approvalId: string }) => approvalId);
  };
  await expect.poll(ids).toHaveLength(1);
  const [id] = await ids();
  return id as string;
}

async function aQuotedMarket(client: BellwetherClient): Promise<Market> {
  const listed = await client.listMarkets({ venue: 'kalshi', q: '*', limit: 200 });
  return listed.find(({ bestBid, bestAsk }) => Number(bestBid) >= 0.2 && Number(bestAsk) <= 0.8) as Market;
}

describe('bellwether trade', () => {
  let env: Record<string, string>;
  let client: BellwetherClient;
  let agentId: string;

  async function homeWithLimit(collateral: number): Promise<string> {
    const home = join(dataFolder(), 'keys');
    // As a person does in a terminal.
    const place = deskPlace({ ...env, BELLWETHER_HOME: home });
    new SpendingLimit(place).setLimit(BigInt(collateral * 1_000_000));
    return home;
  }
  const buy = () => ['trade', 'buy', market.id, 'YES', '--amount', '5', '--yes', '--json'];
  const orders = async () => (await client.venueB.orders()).length;
  const approvals = async () => (await client.listApprovals()).length;

  beforeAll(async () => {
    const home = {
      BELLWETHER_URL: service.url,
      BELLWETHER_HOME: join(dataFolder(), 'keys'),
      BELLWETHER_PASSPHRASE: PASSPHRASE,
    };
    expect((await cli(['init', '--name', 'newcomer'], home)).code).toBe(0);
    const { apiKey, solana } = await readKeys(deskPlace(home), PASSPHRASE);
    env = {
      BELLWETHER_URL: service.url,
      BELLWETHER_HOME: home.BELLWETHER_HOME,
      BELLWETHER_API_KEY: apiKey,
      BELLWETHER_SOLANA_KEY: solana?.secretKey as string,
      BELLWETHER_KEY_USE: 'paper',
    };
    client = new BellwetherClient({ baseUrl: service.url, apiKey });
    market = await aQuotedMarket(client);
    await client.updateSettings({ approvalAbove: ABOVE });
    ({ agentId } = await client.getMe());
  });

  test('without an owner says how the agent gets one, and places nothing', async () => {
    const { code, stderr } = await cli(buy(), env);
    expect(code).not.toBe(0);
    expect(JSON.parse(stderr).error).toMatchObject({
      code: 'approval_required',
      message: expect.stringContaining('claimUrl'),
    });
    expect([await orders(), await approvals()]).toEqual([0, 0]);
    await claim(owner, { client });
  });

  test('with --validate-only does not ask the owner', async () => {
    const { code, stderr } = await cli([...buy(), '--validate-only'], env);
    expect(code).not.toBe(0);
    expect(JSON.parse(stderr).error.code).toBe('approval_required');
    expect([await orders(), await approvals()]).toEqual([0, 0]);
  });

  test('that the spending limit of this machine refuses does not ask the owner', async () => {
    const { code, stderr } = await cli(
      ['trade', 'buy', market.id, 'YES', '--amount', '99', '--yes', '--json'],
      { ...env, BELLWETHER_HOME: await homeWithLimit(50) },
    );
    expect(code).toBe(3);
    expect(JSON.parse(stderr).error.code).toBe('spending_limit_reached');
    expect([await orders(), await approvals()]).toEqual([0, 0]);
  });

  test('waits for the owner, checks the transaction, and trades', async () => {
    const running = startCli(buy(), env);
    await approve(owner, await waitingApproval(agentId));
    const { code, stdout, stderr } = await withTurns(service, ['follow'], running.ended);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(JSON.parse(stdout)).toMatchObject({ status: 'filled', marketTicker: market.id });
  });

  test('that the owner declines trades nothing, and says why', async () => {
    const before = await orders();
    const running = startCli(buy(), env);
    await decline(owner, await waitingApproval(agentId), 'too large');
    const { code, stderr } = await running.ended;
    expect(code).not.toBe(0);
    expect(stderr).toContain('too large');
    expect(stderr).toContain('approval_declined');
    expect(await orders()).toBe(before);
  });

  test('that is stopped while the owner thinks submits nothing', async () => {
    const before = await orders();
    const running = startCli(buy(), env);
    const approvalId = await waitingApproval(agentId);
    running.child.kill('SIGINT');
    expect(await running.ended).toMatchObject({
      stderr: expect.stringContaining('before anything was placed'),
    });
    await approve(owner, approvalId);
    expect(await orders()).toBe(before);
  });
});

describe('trade_venue_b', () => {
  let model: Model;
  let agentId: string;
  let client: BellwetherClient;

  const quote = () =>
    model.call('quote_venue_b', { market: market.id, outcome: 'YES', side: 'BUY', amount: 5 });

  beforeAll(async () => {
    const env = await readyEnvironment(service.url);
    new SpendingLimit(deskPlace(env)).setLimit(10_000_000_000n);
    model = await connect(env, { transport: 'http' });
    const { keys } = await loadKeys({ env });
    client = new BellwetherClient({ baseUrl: service.url, apiKey: keys.apiKey });
    await client.updateSettings({ approvalAbove: ABOVE });
    ({ agentId } = await client.getMe());
  });

  test('without an owner says what the person has to do', async () => {
    const { quoteId, refusal, tradable } = await quote();
    expect({ refusal, tradable }).toEqual({ refusal: 'approval_required', tradable: false });
    const unclaimed = {
      code: 'approval_required',
      fix: expect.stringMatching(/claim address.*Then ask for a new quote/),
    };
    expect(await model.refusal('trade_venue_b', { quoteId })).toMatchObject(unclaimed);
    await claim(owner, { client });
    expect(await model.refusal('trade_venue_b', { quoteId })).toMatchObject(unclaimed);
  });

  test('asks the owner once, and trades the same quote once it is approved', async () => {
    const { quoteId } = await quote();
    const { spendingLimit } = await model.call('get_portfolio');
    const ask = () => model.refusal('trade_venue_b', { quoteId, waitSeconds: 0 });
    expect(await ask()).toMatchObject({ code: 'approval_required' });
    expect(await ask()).toMatchObject({ code: 'approval_required' });
    expect((await model.call('get_portfolio')).spendingLimit).toEqual(spendingLimit);
    await approve(owner, await waitingApproval(agentId));
    const trade = model.call('trade_venue_b', { quoteId, waitSeconds: 40 });
    const traded = await withTurns(service, ['follow'], trade);
    expect(traded).toMatchObject({ placed: true, orderId: quoteId });
    expect(await model.call('trade_venue_b', { quoteId })).toMatchObject({ orderId: traded.orderId });
    expect(await client.venueB.orders()).toHaveLength(1);
  });

  test('that the owner declines reserves and trades nothing', async () => {
    const { quoteId } = await quote();
    const { spendingLimit } = await model.call('get_portfolio');
    const trading = model.refusal('trade_venue_b', { quoteId, waitSeconds: 40 });
    await decline(owner, await waitingApproval(agentId));
    expect(await trading).toMatchObject({ code: 'approval_declined' });
    expect(await model.refusal('trade_venue_b', { quoteId })).toMatchObject({ code: 'approval_declined' });
    expect((await model.call('get_portfolio')).spendingLimit).toEqual(spendingLimit);
    expect(await client.venueB.orders()).toHaveLength(1);
  });

  test('waits no longer in all than it was asked to, for its owner and for a desk that freezes then', async () => {
    const desk = await deskBetween(service.url, async ({ path }, pass) =>
      path.startsWith('/venueb/agent/orders/') ? 'hang' : pass(),
    );
    const env = await readyEnvironment(desk, { BELLWETHER_DESK_HOST: new URL(service.url).host });
    const { keys } = await loadKeys({ env });
    const other = new BellwetherClient({ baseUrl: service.url, apiKey: keys.apiKey });
    await claim(owner, { client: other });
    await other.updateSettings({ approvalAbove: ABOVE });
    const itsModel = await connect(env, { transport: 'http' });
    const { quoteId } = await itsModel.call('quote_venue_b', {
      market: market.id,
      outcome: 'YES',
      side: 'BUY',
      amount: 5,
    });
    const waitSeconds = 8;
    const begun = Date.now();
    const trading = itsModel.call('trade_venue_b', { quoteId, waitSeconds });
    const approvalId = await waitingApproval((await other.getMe()).agentId);
    await sleep(begun + APPROVED_AFTER_MS - Date.now());
    await approve(owner, approvalId);
    expect(await trading).toMatchObject({ placed: true, status: 'submitted' });
    // From the approval on, waiting for the outcome anew would take all of it again.
    expect(Date.now() - begun).toBeLessThan(APPROVED_AFTER_MS + waitSeconds * 1_000);
  });
});
