/** The stream of an owner's pages: all agents of the owner and no others, by a session that must go on to hold. */
import { beforeAll, describe, expect, test } from 'vitest';
import { ownerOf } from '../approving.ts';
import {
  aMarket,
  newAgent,
  newTrader,
  restingOrder,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import { Visitor } from '../passkey.ts';
import { openAsAdmin } from '../postgres.ts';

let service: TestService;
let now = Date.now();

beforeAll(async () => {
  service = await startTestService({ PAPER_WORLD: 'off' }, { clock: { now: () => now } });
});

type Agent = Pick<Trader, 'client' | 'agentId'>;

const claim = async (owner: Visitor, { client }: Agent) => {
  const { claimCode } = await client.getMe();
  expect((await owner.send('POST', '/owner/claim', { claimCode })).status).toBe(200);
};

/** A stream, and what came on it so far. */
async function open(owner: Visitor, path = '/owner/events', headers: Record<string, string> = {}) {
  const ending = new AbortController();
  const response = await fetch(service.url + path, {
    headers: { cookie: owner.cookie ?? '', 'sec-fetch-site': 'same-origin', ...headers },
    signal: ending.signal,
  });
  const state = { text: '', isOver: false };
  const read = async () => {
    for await (const chunk of response.body ?? []) state.text += Buffer.from(chunk).toString();
  };
  void read()
    .catch(() => {})
    .finally(() => {
      state.isOver = true;
    });
  const until = (part: string | RegExp) => expect.poll(() => state.text).toMatch(part);
  return { status: response.status, state, until, close: () => ending.abort() };
}

const change = ({ client }: Agent, maxTradesPerDay: number) => client.updateSettings({ maxTradesPerDay });
const changedTo = (value: number) => new RegExp(`"maxTradesPerDay": ${value}\\b`);
/** [agent, new value] of every change of settings on a stream. */
const changes = (text: string) =>
  [...text.matchAll(/"agentId":"([^"]+)".*"maxTradesPerDay": (\d+)/g)].map(([, id, value]) => [
    id,
    Number(value),
  ]);
const lastId = (text: string) => [...text.matchAll(/^id: (.+)$/gm)].at(-1)?.[1] as string;

describe('what it tells', () => {
  test('events of all agents of the owner, and of no others', async () => {
    const [one, two, foreign] = [await newAgent(service), await newAgent(service), await newAgent(service)];
    const owner = await ownerOf(service, one, two);
    const stranger = await ownerOf(service, foreign);
    const [stream, theirs] = [await open(owner), await open(stranger)];
    await stream.until('event: ready');
    await theirs.until('event: ready');
    await stream.until('"venue":"kalshi"');
    await change(one, 11);
    await change(foreign, 12);
    await change(two, 13);
    await stream.until(changedTo(13));
    await theirs.until(changedTo(12));
    expect(changes(stream.state.text)).toEqual([
      [one.agentId, 11],
      [two.agentId, 13],
    ]);
    expect(changes(theirs.state.text)).toEqual([[foreign.agentId, 12]]);
    stream.close();
    theirs.close();
  });

  test('an unclaimed agent that somebody else claims while the stream runs stays unseen', async () => {
    const [mine, later] = [await newAgent(service), await newAgent(service)];
    const owner = await ownerOf(service, mine);
    const stream = await open(owner);
    await stream.until('event: ready');
    await ownerOf(service, later);
    await change(later, 14);
    await change(mine, 15);
    await stream.until(changedTo(15));
    expect(changes(stream.state.text)).toEqual([[mine.agentId, 15]]);
    stream.close();
  });

  test('the books of some tokens', async () => {
    const trader = await newTrader(service);
    const owner = await ownerOf(service, trader);
    const market = await aMarket(trader.client);
    const stream = await open(owner, `/owner/markets/stream?tokens=${market.clobTokenIds[0]}`);
    await stream.until('event: book');
    await trader.client.placeTrade(await restingOrder(trader, market, 33));
    await stream.until('event: delta');
    expect((await open(owner, '/owner/markets/stream?token=1')).status).toBe(400);
    stream.close();
  });
});

describe('where it resumes', () => {
  test('right after the last event, of every agent, once', async () => {
    const [one, two] = [await newAgent(service), await newAgent(service)];
    const owner = await ownerOf(service, one, two);
    const stream = await open(owner);
    await stream.until('event: ready');
    await change(one, 21);
    await stream.until(changedTo(21));
    stream.close();
    await change(two, 22);
    await change(one, 23);
    for (const resumed of [
      await open(owner, '/owner/events', { 'last-event-id': lastId(stream.state.text) }),
      await open(owner, `/owner/events?after=${lastId(stream.state.text)}`),
    ]) {
      await resumed.until(changedTo(23));
      expect(changes(resumed.state.text)).toEqual([
        [two.agentId, 22],
        [one.agentId, 23],
      ]);
      resumed.close();
    }
  });

  test('never by the cursor of somebody else', async () => {
    const agent = await newAgent(service);
    const owner = await ownerOf(service, agent);
    const stream = await open(owner);
    await stream.until('event: ready');
    const id = lastId(stream.state.text);
    stream.close();
    const stranger = await ownerOf(service, await newAgent(service));
    expect((await open(stranger, `/owner/events?after=${id}`)).status).toBe(400);
    const own = await fetch(`${service.url}/events?after=${id}`, {
      headers: { authorization: `Bearer ${agent.apiKey}` },
    });
    expect([own.status, ((await own.json()) as { code: string }).code]).toEqual([
      400,
      'event_cursor_invalid',
    ]);
  });
});

describe('how it ends', () => {
  test('by the end of its session: signed out here, ended elsewhere, or too old', async () => {
    const ways: readonly ((owner: Visitor) => Promise<unknown>)[] = [
      (owner) => owner.send('POST', '/owner/sign-out'),
      async () => (await openAsAdmin(service.databaseUrl))`delete from owner_sessions`,
      async () => {
        now += 13 * 3_600_000;
      },
    ];
    for (const end of ways) {
      // A stream may begin with what was committed shortly before it: of this agent there is nothing.
      const agent = await newAgent(service);
      const owner = await ownerOf(service, agent);
      await owner.signIn();
      const stream = await open(owner);
      const books = await open(
        owner,
        `/owner/markets/stream?tokens=${(await aMarket(agent.client)).clobTokenIds[0]}`,
      );
      await stream.until('event: ready');
      await end(owner);
      await stream.until('"reason":"session_ended"');
      await books.until('"reason":"session_ended"');
      await expect.poll(() => stream.state.isOver).toBe(true);
      await change(agent, 31);
      expect(changes(stream.state.text)).toEqual([]);
      expect((await open(owner)).status).toBe(401);
    }
  });

  test('by a claim: the next one begins with the last id and covers the new agent', async () => {
    const [one, two] = [await newAgent(service), await newAgent(service)];
    const owner = await ownerOf(service, one);
    const stream = await open(owner);
    await stream.until('event: ready');
    await claim(owner, two);
    await stream.until('"reason":"agents_changed"');
    const resumed = await open(owner, '/owner/events', { 'last-event-id': lastId(stream.state.text) });
    await change(two, 41);
    await resumed.until(changedTo(41));
    resumed.close();
  });

  test('a page of another origin opens none', async () => {
    const owner = await ownerOf(service, await newAgent(service));
    for (const headers of [
      { origin: 'https://evil.example' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ]) {
      expect((await open(owner, '/owner/events', headers)).status).toBe(403);
    }
    expect((await open(new Visitor(service))).status).toBe(401);
  });

  test('at most ten of an owner, on any subject', async () => {
    const agent = await newAgent(service);
    const owner = await ownerOf(service, agent);
    const token = (await aMarket(agent.client)).clobTokenIds[0];
    const streams = await Promise.all(
      Array.from({ length: 10 }, (_, nth) =>
        open(owner, nth % 2 === 0 ? '/owner/events' : `/owner/markets/stream?tokens=${token}`),
      ),
    );
    expect(streams.map(({ status }) => status)).toEqual(Array(10).fill(200));
    const more = await open(owner);
    await more.until('stream_limit_reached');
    expect(more.status).toBe(409);
    // The agent's own streams are counted apart.
    const own = new AbortController();
    const response = await fetch(`${service.url}/events`, {
      headers: { authorization: `Bearer ${agent.apiKey}` },
      signal: own.signal,
    });
    expect(response.status).toBe(200);
    own.abort();
    for (const { close } of streams) close();
  });
});
