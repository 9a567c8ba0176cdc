/** The stream of an agent's events: what it tells, where it resumes, who may read it and how it ends. */
import type { AgentEvent, Market } from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import { watchRisks } from '../../packages/server/src/briefing/watch-risks.ts';
import { claim, ownerOf } from '../approving.ts';
import {
  aMarket,
  call,
  marketBuy,
  newAgent,
  newTrader,
  refusalOf,
  restingOrder,
  sharedTestService,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import { openAsAdmin } from '../postgres.ts';

let service: TestService;
let market: Market;

beforeAll(async () => {
  service = await sharedTestService();
  const { client } = await newAgent(service);
  market = await aMarket(client);
});

/** Reads until an event fits, which is the last one of the list. */
async function until(
  agent: Pick<Trader, 'client'>,
  fits: (event: AgentEvent) => boolean,
  { after, onReady }: { after?: string; onReady?: () => unknown } = {},
): Promise<AgentEvent[]> {
  const ending = new AbortController();
  const events: AgentEvent[] = [];
  const options = { signal: ending.signal, ...(after === undefined ? {} : { after }) };
  let isReady = false;
  let fault: unknown;
  for await (const event of agent.client.events(options)) {
    if (event.type === 'ready' && !isReady) {
      isReady = true;
      Promise.resolve(onReady?.()).catch((error: unknown) => {
        fault = error;
        ending.abort();
      });
    }
    if (event.type !== 'ready' && event.type !== 'venue') events.push(event);
    if (fits(event)) ending.abort();
  }
  if (fault !== undefined) throw fault;
  return events;
}

const buy = async (trader: Trader, amount = 5) =>
  trader.client.placeTrade(await marketBuy(trader, market, amount));

const typesOf = (events: readonly AgentEvent[]) => events.map(({ type }) => type);
/** The raw answer to a request for the stream. */
const open = (headers: Record<string, string>, path = '/events') => {
  const ending = new AbortController();
  return fetch(service.url + path, { headers, signal: ending.signal }).then((response) => ({
    response,
    close: () => ending.abort(),
  }));
};
const bearer = ({ apiKey }: Pick<Trader, 'apiKey'>) => ({ authorization: `Bearer ${apiKey}` });

describe('what a stream tells', () => {
  test('a trade: order, fill, fee, position and balance, in that order, to its agent alone', async () => {
    const trader = await newTrader(service);
    // Without a wallet: the credit of one may still be on its way to the stream.
    const stranger = await newAgent(service);
    const traded = Promise.withResolvers<void>();
    const theirs = until(stranger, ({ type }) => type === 'safeguards', {
      onReady: () => traded.promise.then(() => stranger.client.updateSettings({ maxTradesPerDay: 77 })),
    });
    let isFilled = false;
    const isLast = ({ type }: AgentEvent): boolean => {
      isFilled ||= type === 'fill';
      return isFilled && type === 'balance';
    };
    const all = await until(trader, isLast, { onReady: () => buy(trader) });
    traded.resolve();
    const events = all.slice(all.findIndex(({ type }) => type.startsWith('order.')));
    const fill = events.find((event) => event.type === 'fill');
    const position = events.find((event) => event.type === 'position');
    const balance = events.find((event) => event.type === 'balance');
    expect(typesOf(events).slice(0, 2)).toEqual(['order.filled', 'fill']);
    expect(typesOf(events)).toEqual(expect.arrayContaining(['fee', 'position', 'balance']));
    expect(fill?.data).toMatchObject({ side: 'BUY', tokenId: market.clobTokenIds[0], venue: 'polymarket' });
    expect(position?.data).toMatchObject({
      walletAddress: trader.funder,
      tokenId: market.clobTokenIds[0],
      marketId: market.id,
      reason: 'trade',
    });
    const { cost = 0, fee = 0 } = fill?.data ?? {};
    expect(balance?.data.change).toBeCloseTo(-(cost + fee), 6);
    expect(new Set(events.map(({ cursor }) => cursor)).size).toBe(events.length);
    expect(typesOf(await theirs)).toEqual(['safeguards']);
  });

  test('safeguards: the settings that changed, with their values', async () => {
    const agent = await newAgent(service);
    const events = await until(agent, ({ type }) => type === 'safeguards', {
      onReady: () => agent.client.updateSettings({ maxTradeAmount: 12.5, tradingPaused: true }),
    });
    expect(events.at(-1)?.data).toEqual({
      tradingPaused: true,
      settings: { maxTradeAmount: 12.5, tradingPaused: true },
      locks: {},
    });
  });

  test('a risk alert, although no webhook wants it; one that was raised while no reader was there is not missed', async () => {
    const agent = await newAgent(service);
    const isRisk = ({ type }: AgentEvent) => type === 'risk';
    const events = await until(agent, isRisk, {
      async onReady() {
        await agent.client.updateSettings({ tradingPaused: true });
        await service.runJob('watch risks');
      },
    });
    expect(events.at(-1)?.data).toEqual((await agent.client.getBriefing()).riskAlerts[0]);
    await agent.client.updateSettings({ tradingPaused: false });
    await watchRisks(service.needs);
    await agent.client.updateSettings({ tradingPaused: true });
    await watchRisks(service.needs);
    const after = events.at(-1)?.cursor as string;
    const missed = await until(agent, isRisk, { after });
    expect(typesOf(missed)).toEqual(['safeguards', 'safeguards', 'risk']);
  });

  test('the status of every venue when it begins', async () => {
    const agent = await newAgent(service);
    const ending = new AbortController();
    const venues: string[] = [];
    for await (const event of agent.client.events({ signal: ending.signal })) {
      if (event.type === 'venue') venues.push(event.data.venue);
      if (venues.length === 2) ending.abort();
    }
    expect(venues.toSorted()).toEqual(['kalshi', 'polymarket']);
  });

  test('a wallet that a second agent reaches: its holdings, and nothing of the order', async () => {
    const trader = await newTrader(service);
    // The log has an order: what comes with this one is the last of what made the trader.
    const isMade = (event: AgentEvent) =>
      event.type === 'safeguards' && event.data.settings.maxTradesPerDay === 79;
    await until(trader, isMade, { onReady: () => trader.client.updateSettings({ maxTradesPerDay: 79 }) });
    const other = await newAgent(service);
    const sql = await openAsAdmin(service.databaseUrl);
    await sql`update agents set user_id = (select user_id from agents where agent_id = ${trader.agentId})
      where agent_id = ${other.agentId}`;
    await sql`insert into agent_wallets (agent_id, address, signer, is_own, granted, since)
      values (${other.agentId}, ${trader.funder}, ${trader.signer.address.toLowerCase()}, false, true, now())`;
    const events = await until(other, ({ type }) => type === 'balance', { onReady: () => buy(trader) });
    expect(typesOf(events)).toEqual(['position', 'balance']);
    await sql`delete from agent_wallets where agent_id = ${other.agentId}`;
    const later = await until(other, ({ type }) => type === 'safeguards', {
      onReady: async () => {
        await buy(trader);
        await other.client.updateSettings({ maxTradesPerDay: 78 });
      },
    });
    expect(typesOf(later)).toEqual(['safeguards']);
  });
});

describe('where it resumes', () => {
  test('after any event exactly the rest, also in the middle of a fact', async () => {
    const trader = await newTrader(service);
    let begin = '';
    const ending = new AbortController();
    const whole: AgentEvent[] = [];
    for await (const event of trader.client.events({ signal: ending.signal })) {
      if (event.type === 'ready') {
        begin = event.cursor;
        await buy(trader);
        await trader.client.placeTrade(await restingOrder(trader, market));
      } else if (event.type !== 'venue') whole.push(event);
      if (event.type === 'order.live') ending.abort();
    }
    expect(whole.length).toBeGreaterThanOrEqual(5);
    const isLast = ({ type }: AgentEvent) => type === 'order.live';
    expect(await until(trader, isLast, { after: begin })).toEqual(whole);
    for (const [index, { cursor }] of whole.slice(0, -1).entries()) {
      expect(await until(trader, isLast, { after: cursor })).toEqual(whole.slice(index + 1));
    }
  });

  test('Last-Event-ID goes before ?after=, as a browser that reconnects needs it', async () => {
    const agent = await newAgent(service);
    const [reported] = await until(agent, ({ type }) => type === 'safeguards', {
      onReady: () => agent.client.updateSettings({ maxTradesPerDay: 71 }),
    });
    const path = `/events?after=${reported?.cursor}`;
    const { response, close } = await open({ ...bearer(agent), 'last-event-id': 'e1.broken' }, path);
    close();
    expect(response.status).toBe(400);
  });

  test('a broken cursor and one of another agent are 400; one that the log forgot is 410', async () => {
    const [agent, other] = [await newAgent(service), await newAgent(service)];
    const cursorOf = async (of: Pick<Trader, 'client'>) => {
      const ending = new AbortController();
      for await (const { cursor } of of.client.events({ signal: ending.signal })) return cursor;
      return '';
    };
    const own = await cursorOf(agent);
    const first = async (after: string) => {
      for await (const _ of agent.client.events({ after })) return;
    };
    expect(await refusalOf(first(own.replace(/\d/, '9')))).toBe('event_cursor_invalid');
    expect(await refusalOf(first('yesterday'))).toBe('event_cursor_invalid');
    expect(await refusalOf(first(await cursorOf(other)))).toBe('event_cursor_invalid');
    expect(await refusalOf(first(own))).toBe('nothing');
    const sql = await openAsAdmin(service.databaseUrl);
    await agent.client.updateSettings({ maxTradesPerDay: 72 });
    await sql`select forget_facts(now() + interval '1 hour', 10000)`;
    expect(await refusalOf(first(own))).toBe('event_cursor_gone');
    // A cursor of this moment is behind what was forgotten for as long as an older transaction is open somewhere.
    await expect.poll(async () => refusalOf(first(await cursorOf(agent)))).toBe('nothing');
  });
});

describe('who may read it, and how it ends', () => {
  test('the key travels in the header alone', async () => {
    const agent = await newAgent(service);
    for (const [headers, path] of [
      [{}, '/events'],
      [{}, `/events?key=${agent.apiKey}&authorization=${agent.apiKey}`],
      [{ cookie: `authorization=Bearer ${agent.apiKey}; apiKey=${agent.apiKey}` }, '/events'],
    ] as const) {
      const { response, close } = await open(headers, path);
      expect(response.status).toBe(401);
      close();
    }
  });

  test('of twelve that are opened at once ten are, where few requests may be under way', async () => {
    const small = await startTestService({ PAPER_WORLD: 'off', MAX_REQUESTS_IN_FLIGHT: '12' });
    const agent = await newAgent(small);
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => fetch(`${small.url}/events`, { headers: bearer(agent) })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(10).fill(200), 409, 409]);
    await Promise.all(answers.map(({ body }) => body?.cancel()));
  });

  test('at most ten of an agent; one that is closed makes room', async () => {
    const agent = await newAgent(service);
    const streams = await Promise.all(Array.from({ length: 10 }, () => open(bearer(agent))));
    expect(streams.map(({ response }) => response.status)).toEqual(Array(10).fill(200));
    const more = await open(bearer(agent));
    expect(more.response.status).toBe(409);
    expect(await more.response.json()).toMatchObject({ code: 'stream_limit_reached' });
    streams[0]?.close();
    await expect
      .poll(async () => {
        const next = await open(bearer(agent));
        next.close();
        return next.response.status;
      })
      .toBe(200);
    for (const { close } of streams) close();
  });

  test('a revoked key ends its streams, and those of other keys stay', async () => {
    const agent = await newAgent(service);
    const second = await agent.client.createApiKey('second');
    const one = await open(bearer(agent));
    const two = await open({ authorization: `Bearer ${second.apiKeyCode}` });
    const rest = two.response.text();
    const keys = await agent.client.listApiKeys();
    const revoked = keys.find(({ keyName }) => keyName === 'second');
    await agent.client.revokeApiKey(String(revoked?.id));
    expect(await rest).toContain('"reason":"key_revoked"');
    expect(await refusalOf(until({ client: agent.client.withApiKey(second.apiKeyCode) }, () => false))).toBe(
      'unauthorized',
    );
    const reader = one.response.body?.getReader();
    await agent.client.updateSettings({ maxTradesPerDay: 73 });
    let text = '';
    while (!text.includes('event: safeguards'))
      text += new TextDecoder().decode((await reader?.read())?.value);
    expect(text).not.toContain('closing');
    one.close();
  });

  test('a claim ends them with the reason, and the client goes on with the next event', async () => {
    const agent = await newAgent(service);
    const owner = await ownerOf(service);
    const stream = await open(bearer(agent));
    const rest = stream.response.text();
    const events = await until(agent, ({ type }) => type === 'safeguards', {
      onReady: async () => {
        await claim(owner, agent);
        expect(await rest).toContain('"reason":"reauthorised"');
        await agent.client.updateSettings({ maxTradesPerDay: 71 });
      },
    });
    expect(events.at(-1)).toMatchObject({ type: 'safeguards', agentId: agent.agentId });
  });

  test('a key that was revoked where no notice comes from ends them as well', async () => {
    const agent = await newAgent(service);
    const stream = await open(bearer(agent));
    const sql = await openAsAdmin(service.databaseUrl);
    await sql`update api_keys set status = 2, revoked_at = now() where agent_id = ${agent.agentId}`;
    expect(await stream.response.text()).toContain('"reason":"key_revoked"');
  });

  test('a stream is no request under way, and keeps no deadline', async () => {
    const small = await startTestService({
      PAPER_WORLD: 'off',
      REQUEST_DEADLINE_MS: '3000',
      MAX_REQUESTS_IN_FLIGHT: '16',
    });
    const agents = await Promise.all([newAgent(small), newAgent(small)]);
    const streams: Response[] = [];
    // One after the other: while its answer has not begun, each is a request under way.
    for (const agent of agents)
      for (let nth = 0; nth < 8; nth++)
        streams.push(await fetch(`${small.url}/events`, { headers: bearer(agent) }));
    expect(streams.map(({ status }) => status)).toEqual(Array(16).fill(200));
    // Those of the streams would have passed before that of a later request.
    const sql = await openAsAdmin(small.databaseUrl);
    const lock = await sql.session();
    await lock`begin`;
    await lock`lock table agents in access exclusive mode`;
    expect((await call(small, 'GET', '/agents/me', { key: agents[1]?.apiKey ?? '' })).status).toBe(503);
    await lock`commit`;
    lock.end();
    expect(await agents[0]?.client.getSettings()).toBeDefined();
    const rest = streams.map((response) => response.text());
    await small.stop();
    for (const text of await Promise.all(rest)) {
      expect(text).toMatch(/retry: \d+\nevent: closing\ndata: {"reason":"service_stopping"/);
      expect(text).not.toContain('service_unavailable');
    }
  });
});
