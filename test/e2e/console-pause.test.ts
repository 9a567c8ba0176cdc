/** The page that pauses without scripts: what its forms need, and what they cannot do. */
import { beforeAll, describe, expect, test } from 'vitest';
import { ownerOf } from '../approving.ts';
import { newTrader, sharedTestService, type TestService, type Trader } from '../harness.ts';
import { Visitor } from '../passkey.ts';

let service: TestService;
beforeAll(async () => {
  service = await sharedTestService();
});

const HTML = 'text/html';

async function page(owner: Visitor | null, query = ''): Promise<string> {
  const answer = await fetch(`${service.needs.publicUrl}/console/pause${query}`, {
    headers: { accept: HTML, ...(owner?.cookie == null ? {} : { cookie: owner.cookie }) },
  });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-security-policy')).not.toContain('unsafe');
  return answer.text();
}

const tokenOf = (text: string): string => /name="token" value="([^"]+)"/.exec(text)?.[1] ?? '';

interface Post {
  readonly fields: Readonly<Record<string, string>> | string;
  readonly cookie?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

const post = ({ fields, cookie = null, headers = {} }: Post): Promise<Response> =>
  fetch(`${service.needs.publicUrl}/console/pause`, {
    method: 'POST',
    redirect: 'manual',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      accept: HTML,
      origin: new URL(service.needs.publicUrl).origin,
      ...(cookie === null ? {} : { cookie }),
      ...headers,
    },
    body: new URLSearchParams(fields).toString(),
  });

async function claimed(name: string, agents: number): Promise<readonly [Visitor, readonly Trader[]]> {
  const owner = new Visitor(service);
  await owner.register(name);
  const all: Trader[] = [];
  for (let i = 0; i < agents; i += 1) {
    const trader = await newTrader(service);
    const { claimCode } = await trader.client.getMe();
    expect((await owner.send('POST', '/owner/claim', { claimCode })).status).toBe(200);
    all.push(trader);
  }
  return [owner, all];
}

const isPaused = async ({ client }: Trader): Promise<boolean> => (await client.getSettings()).tradingPaused;

describe('the page that pauses without scripts', () => {
  test('pauses and resumes one agent, and all of them', async () => {
    const [owner, [first, second]] = (await claimed('Ada', 2)) as [Visitor, [Trader, Trader]];
    const token = tokenOf(await page(owner));
    const send = (agent: string, paused: string) =>
      post({ fields: { token, agent, paused }, cookie: owner.cookie });

    const paused = await send(first.agentId, 'yes');
    expect([paused.status, paused.headers.get('location')]).toEqual([303, '/console/pause?done=paused']);
    expect([await isPaused(first), await isPaused(second)]).toEqual([true, false]);
    const shown = await page(owner, '?done=paused');
    expect(shown).toContain('Trading is paused.');
    expect(shown).toContain('Paused by you');
    await expect(first.client.updateSettings({ tradingPaused: false })).rejects.toMatchObject({
      code: 'locked_by_owner',
    });

    expect((await send(first.agentId, 'no')).status).toBe(303);
    expect(await isPaused(first)).toBe(false);
    expect((await send('all', 'yes')).status).toBe(303);
    expect([await isPaused(first), await isPaused(second)]).toEqual([true, true]);
    expect((await send('all', 'no')).status).toBe(303);
    expect([await isPaused(first), await isPaused(second)]).toEqual([false, false]);
  });

  test('without a session it explains where to sign in, and a form changes nothing', async () => {
    const text = await page(null);
    expect(text).toContain('You are not signed in here.');
    expect(tokenOf(text)).toBe('');
    expect((await post({ fields: { token: 'x', agent: 'all', paused: 'yes' } })).status).toBe(401);
  });

  test('a form without the session’s token, of another session or of another site changes nothing', async () => {
    const [owner, [agent]] = (await claimed('Ada', 1)) as [Visitor, [Trader]];
    const token = tokenOf(await page(owner));
    const [evesAgents] = [await claimed('Mallory', 1)];
    const others = tokenOf(await page(evesAgents[0]));
    expect(others).not.toBe('');
    expect(others).not.toBe(token);
    const fields = { agent: agent.agentId, paused: 'yes' };
    const { cookie } = owner;
    for (const refused of [
      post({ fields, cookie }),
      post({ fields: { ...fields, token: others }, cookie }),
      post({ fields: { ...fields, token: `${token}x` }, cookie }),
      post({ fields: { ...fields, token }, cookie, headers: { origin: 'https://evil.example' } }),
      post({ fields: { ...fields, token }, cookie, headers: { origin: 'null' } }),
    ])
      expect((await refused).status).toBe(403);
    // A cookie that a neighbour planted before the session's own does not make the neighbour's token right.
    const planted = `${cookie?.split('=')[0]}=planted; ${cookie}`;
    expect((await post({ fields: { ...fields, token }, cookie: planted })).status).toBe(303);
    expect(await isPaused(agent)).toBe(true);
  });

  test('another owner’s agent is not found', async () => {
    const [, [agent]] = (await claimed('Ada', 1)) as [Visitor, [Trader]];
    const [mallory] = await claimed('Mallory', 1);
    const token = tokenOf(await page(mallory));
    const answer = await post({
      fields: { token, agent: agent.agentId, paused: 'yes' },
      cookie: mallory.cookie,
    });
    expect(answer.status).toBe(404);
    expect(await isPaused(agent)).toBe(false);
  });

  test('a misspelt, incomplete or oversized form is refused, and so is JSON', async () => {
    const [owner, [agent]] = (await claimed('Ada', 1)) as [Visitor, [Trader]];
    const { cookie } = owner;
    const token = tokenOf(await page(owner));
    const whole = { token, agent: agent.agentId };
    expect((await post({ fields: { ...whole, pause: 'yes' }, cookie })).status).toBe(400);
    expect((await post({ fields: { ...whole, paused: 'true' }, cookie })).status).toBe(400);
    expect((await post({ fields: { token, paused: 'yes' }, cookie })).status).toBe(400);
    expect((await post({ fields: { token, agent: 'no such id', paused: 'yes' }, cookie })).status).toBe(404);
    expect((await post({ fields: { ...whole, paused: 'x'.repeat(5_000) }, cookie })).status).toBe(413);
    const json = await post({
      fields: whole,
      cookie,
      headers: { 'content-type': 'application/json' },
    });
    expect(json.status).toBe(400);
    expect(await isPaused(agent)).toBe(false);
  });

  test('names of agents are shown as text', async () => {
    const owner = await ownerOf(service);
    const registered = await fetch(`${service.needs.publicUrl}/agents/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: '<script>alert(1)</script>' }),
    });
    const { claimCode } = (await registered.json()) as { claimCode: string };
    await owner.send('POST', '/owner/claim', { claimCode });
    const text = await page(owner);
    expect(text).not.toContain('<script>');
    expect(text).toContain('&lt;script&gt;alert(1)');
  });

  test('the former page of owners leads to the console', async () => {
    const answer = await fetch(`${service.needs.publicUrl}/owner`, { redirect: 'manual' });
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/console']);
  });
});
