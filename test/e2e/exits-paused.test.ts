/** What a pause does to exits, who is told, and who arms them again: of an agent without an owner, and of one that has an owner. */
import { BellwetherClient, type ExitRequest, type Market } from '@bellwether/sdk';
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { claim, ownerOf } from '../approving.ts';
import { cli } from '../cli-process.ts';
import { bidOf, exitOrder, hold, passes, pushBidTo } from '../exits.ts';
import { newTrader, openMarkets, startTestService, type TestService, type Trader } from '../harness.ts';
import { poolOf } from '../live-desk.ts';
import { Visitor } from '../passkey.ts';
import { dataFolder } from '../service-process.ts';
import { manualClock } from '../world.ts';

const clock = manualClock();
let service: TestService;
let markets: Market[];
let market: Market;
let trader: Trader;
let owner: Visitor;
let place = 0;

beforeAll(async () => {
  service = await startTestService({ PAPER_WORLD: 'off' }, { clock });
  markets = await openMarkets((await newTrader(service)).client);
  owner = await ownerOf(service);
});
beforeEach(async () => {
  market = markets[place] as Market;
  place += 1;
  trader = await newTrader(service);
  await hold(trader, market, 40);
});
afterEach(() => void vi.restoreAllMocks());

const tick = (price: number) => Math.round(price * 100) / 100;
/** A stop that waits: three ticks below the bid. */
async function stopRequest(more: object = {}): Promise<ExitRequest> {
  const price = tick(bidOf(service, market) - 0.03);
  const order = await exitOrder(trader, market, { worst: tick(price * 0.95), size: 10 });
  return { ...order, trigger: { kind: 'price_at_or_below', price }, ...more };
}
const leaveStop = async (more: object = {}) =>
  (await trader.client.leaveExit(await stopRequest(more))).exitId;
const exitOf = (exitId: string) => trader.client.getExit(exitId);
const pauseOwn = (tradingPaused: boolean) => trader.client.updateSettings({ tradingPaused });
const path = (rest: string) => `/owner/agents/${trader.agentId}${rest}`;
const pauseBy = (paused: boolean, by = owner) => by.send('POST', path('/pause'), { paused });
const resumeRoute = (exitId: string) => `/markets/exits/${exitId}/resume`;

describe('a pause', () => {
  test('and its end say how many exits are suspended, and how they are resumed', async () => {
    expect(await pauseOwn(true)).not.toHaveProperty('suspendedExits');
    await pauseOwn(false);
    const exits = [await leaveStop(), await leaveStop()];
    for (const paused of [true, false])
      expect((await pauseOwn(paused)).suspendedExits).toEqual({
        ...{ count: 2, resumableBy: 'agent' },
        message: expect.stringContaining('POST /markets/exits/{exitId}/resume'),
      });
    const risk = (await trader.post('/markets/risk-settings', { tradingPaused: false })).body;
    expect(risk.suspendedExits).toMatchObject({ count: 2 });
    const { riskAlerts } = await trader.client.getBriefing();
    const message = riskAlerts.find(({ code }) => code === 'exit_suspended')?.message;
    expect(message).toContain('/resume');
    for (const exitId of exits) await trader.client.cancelExit({ exitId });
    expect(await pauseOwn(false)).not.toHaveProperty('suspendedExits');
  });

  test('of an owner says the same, and that only the owner resumes them', async () => {
    const { claimCode } = await trader.client.getMe();
    await claim(owner, trader);
    await leaveStop();
    expect((await pauseBy(true)).body.suspendedExits).toMatchObject({ count: 1, resumableBy: 'owner' });
    expect((await pauseBy(false)).body.suspendedExits).toMatchObject({ count: 1 });
    // The pages that resume trading without the console say so, too.
    for (const page of ['/console/pause', `/agents/claim/${claimCode}`]) {
      const answer = await fetch(`${service.needs.publicUrl}${page}`, {
        headers: { accept: 'text/html', cookie: owner.cookie ?? '' },
      });
      expect(await answer.text(), page).toContain('1 exit is suspended and protects nothing');
    }
    expect((await pauseOwn(false)).suspendedExits).toMatchObject({
      ...{ count: 1, resumableBy: 'owner' },
      message: expect.stringContaining('on the console'),
    });
  });

  test('on the command line says so, and names the command that arms one again', async () => {
    const exitId = await leaveStop();
    const env = {
      ...{ BELLWETHER_URL: service.url, BELLWETHER_HOME: dataFolder(), BELLWETHER_API_KEY: trader.apiKey },
    };
    const run = async (...args: readonly string[]) => {
      const { code, stdout, stderr } = await cli(args, env);
      expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
      return stdout;
    };
    expect(await run('pause')).toContain('1 exit is suspended and protects nothing');
    expect(JSON.parse(await run('resume', '--json')).suspendedExits).toMatchObject({ count: 1 });
    expect(await run('exits')).toContain('bellwether resume-exit <exit-id>');
    expect(await run('resume-exit', exitId)).toContain('armed');
    expect((await exitOf(exitId)).status).toBe('armed');
  });

  test('that comes while an exit is left suspends it', async () => {
    const { exits } = service.needs;
    const real = exits.leave.bind(exits);
    vi.spyOn(exits, 'leave').mockImplementation(async (...asked) => {
      await pauseOwn(true);
      return real(...asked);
    });
    const request = await stopRequest();
    const left = await trader.client.leaveExit(request);
    expect(left).toMatchObject({ status: 'suspended', because: 'pause', resumableBy: 'agent' });
    expect((await exitOf(left.exitId)).status).toBe('suspended');
  });

  test('that binds the wallet by then suspends it, too: of an owner whose agent had the key before', async () => {
    const former = await newTrader(service);
    await claim(owner, former);
    const { exits } = service.needs;
    const real = exits.leave.bind(exits);
    vi.spyOn(exits, 'leave').mockImplementation(async (...asked) => {
      await poolOf(service)`insert into agent_wallets
        select (jsonb_populate_record(w, jsonb_build_object('agent_id', ${former.agentId}::text,
          'is_own', true, 'taken_along', '{"owner_paused": true}'::jsonb))).*
        from agent_wallets w where w.agent_id = ${trader.agentId} and w.is_own`;
      return real(...asked);
    });
    expect(await trader.client.leaveExit(await stopRequest())).toMatchObject({
      ...{ status: 'suspended', because: 'pause' },
    });
  });

  test('on the day after a recovery suspends what was armed for it, too, and sends none', async () => {
    const ada = await ownerOf(service);
    await claim(ada, trader);
    const [armed, plain] = [await leaveStop(), await leaveStop()];
    const wanted = { act: 'arm_for_pause' };
    const { body } = await ada.send('POST', path(`/exits/${armed}/passkey-options`), wanted);
    await ada.send('POST', path(`/exits/${armed}/act`), {
      ...wanted,
      ...ada.signature(body.challenge ?? ''),
    });
    expect((await exitOf(armed)).firesOnPause).toBe(true);
    const code = await ada.newRecoveryCode();
    const finder = new Visitor(service);
    await finder.recover(code);
    expect((await pauseBy(true, finder)).body.suspendedExits).toMatchObject({ count: 2 });
    await passes(service, clock, 2_500);
    for (const exitId of [armed, plain])
      expect(await exitOf(exitId)).toMatchObject({ status: 'suspended', because: 'pause', fired: null });
  });
});

describe('an exit that is suspended', () => {
  test('is answered when it is left again, with its id, its status and the way to resume it', async () => {
    const request = await stopRequest();
    const { exitId } = await trader.client.leaveExit(request);
    for (const paused of [true, false]) {
      await pauseOwn(paused);
      const { status, headers, body } = await trader.post('/markets/exits', request);
      expect([status, headers.get('idempotency-replayed')]).toEqual([200, 'true']);
      expect(body).toMatchObject({ exitId, status: 'suspended', resumableBy: 'agent' });
      expect(body.watch.note).toContain(`POST ${resumeRoute(exitId)}`);
    }
    // Another order, other terms and a check are judged as ever.
    await pauseOwn(true);
    const other = { ...request, group: 'other' };
    expect((await trader.post('/markets/exits', other)).body.code).toBe('trading_paused');
    expect((await trader.post('/markets/exits', await stopRequest())).body.code).toBe('trading_paused');
    expect((await trader.post('/markets/exits', { ...request, validateOnly: true })).body.code).toBe(
      'trading_paused',
    );
  });

  test('is answered although its time has come', async () => {
    const at = new Date(clock.now() + 60_000).toISOString();
    const request = await stopRequest({ trigger: { kind: 'time', at } });
    const { exitId } = await trader.client.leaveExit(request);
    await pauseOwn(true);
    clock.advance(120_000);
    expect((await trader.post('/markets/exits', request)).body).toMatchObject({
      exitId,
      status: 'suspended',
    });
  });

  test('is armed again by an agent without an owner: once it is not paused, and its trigger has let go', async () => {
    const bid = bidOf(service, market);
    const exitId = await leaveStop();
    await pauseOwn(true);
    await pushBidTo(service, { market, price: tick(bid - 0.03) });
    expect((await trader.post(resumeRoute(exitId), undefined)).body.code).toBe('trading_paused');
    await pauseOwn(false);
    expect(await trader.client.resumeOwnExit(exitId)).toMatchObject({ status: 'armed', resumableBy: null });
    const again = await trader.post(resumeRoute(exitId), undefined);
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
    await passes(service, clock, 3_000);
    expect(await exitOf(exitId)).toMatchObject({
      ...{ status: 'armed', trouble: { code: 'trigger_held_meanwhile' } },
    });
  });

  test('of a claimed agent is not, nor one of another agent, nor one that has ended', async () => {
    const exitId = await leaveStop();
    await pauseOwn(true);
    await pauseOwn(false);
    const stranger = await newTrader(service);
    expect((await stranger.post(resumeRoute(exitId), undefined)).body.code).toBe('exit_not_found');
    await claim(owner, trader);
    const refused = await trader.post(resumeRoute(exitId), undefined);
    expect([refused.status, refused.body.code]).toEqual([403, 'locked_by_owner']);
    expect(refused.body.detail).toContain('owner');
    expect(await exitOf(exitId)).toMatchObject({ status: 'suspended', resumableBy: 'owner' });
    await trader.client.cancelExit({ exitId });
    expect((await trader.post(resumeRoute(exitId), undefined)).body.code).toBe('exit_gone');
  });

  test('stays so for a key that was revoked', async () => {
    const exitId = await leaveStop();
    await pauseOwn(true);
    await pauseOwn(false);
    const { apiKeyCode } = await trader.client.createApiKey('second');
    const [first] = await trader.client.listApiKeys();
    const second = new BellwetherClient({ baseUrl: service.url, apiKey: apiKeyCode });
    await second.revokeApiKey(first?.id ?? '');
    expect((await trader.post(resumeRoute(exitId), undefined)).status).toBe(401);
    expect((await second.resumeOwnExit(exitId)).status).toBe('armed');
  });
});
