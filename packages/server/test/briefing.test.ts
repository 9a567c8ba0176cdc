/**
 * The briefing. One whose markets are bytes that were written before reads as the route's own serializer would write it.
 * Agents whose risk alerts are looked at are shared by replicas, bounded, and forgotten when no reader is left.
 */
import { Briefing, type Market } from '@bellwether/contract';
import { ANSWERS } from '@bellwether/contract/examples';
import Fastify from 'fastify';
import { beforeAll, describe, expect, test } from 'vitest';
import { openDeskDatabase } from '../../../test/postgres.ts';
import { createRiskWatches, type RiskWatches } from '../src/briefing/store.ts';
import { createBriefingSender } from '../src/markets/shown-markets.ts';
import type { Sql } from '../src/platform/database/connection.ts';

const sample = ANSWERS.getBriefing?.body as Briefing;
const [market] = sample.opportunities.newMarkets as [Market, ...Market[]];
/** Text that would be split at the wrong place, if quotes were not escaped. */
const HOSTILE = '"opportunities":{"newMarkets":[{}],"recommendedSkills":[]} \\" ’\u2028';

const withMarkets = (...newMarkets: Market[]): Briefing => ({
  ...sample,
  agent: { ...sample.agent, name: HOSTILE },
  opportunities: { ...sample.opportunities, newMarkets },
});

test('is the same with any number of markets, the first time and later, with any texts of strangers', async () => {
  const [plain, hostile] = [{ ...market }, { ...market, question: HOSTILE, description: HOSTILE }];
  const unlike = { ...market, id: '9', notInTheSchema: HOSTILE } as Market;
  const app = Fastify();
  const schema = { response: { 200: Briefing } };
  let answer = sample;
  const send = createBriefingSender();
  app.get('/sent', { schema }, (_, reply) => send(reply, answer));
  app.get('/plain', { schema }, () => answer);
  for (const newMarkets of [[], [plain], [hostile, plain], [plain, unlike, hostile], []]) {
    answer = withMarkets(...newMarkets);
    const [sent, expected] = await Promise.all(['/sent', '/plain'].map((url) => app.inject({ url })));
    expect(sent?.body).toBe(expected?.body);
    expect(sent?.headers['content-type']).toBe(expected?.headers['content-type']);
    expect(JSON.parse(sent?.body ?? '').opportunities.newMarkets).toHaveLength(newMarkets.length);
  }
  await app.close();
});

describe('risk watches', () => {
  const NOW = Date.UTC(2026, 10, 1);
  const WEEK_MS = 7 * 24 * 3_600_000;
  const AGENTS = Array.from(
    { length: 30 },
    (_, n) => `00000000-0000-4000-8000-0000000000${String(n).padStart(2, '0')}`,
  );

  let sql: Sql;
  let watches: RiskWatches;
  beforeAll(async () => {
    sql = await openDeskDatabase();
    await sql`insert into owners (created_at) values (now())`;
    await sql`insert into agents (agent_id, user_id, name, description, claim_code, created_at)
    select id, (select min(user_id) from owners), 'agent', '', id::text, now() from unnest(${AGENTS}::uuid[]) as t(id)`;
    watches = createRiskWatches(sql);
  });

  const claim = (at: number, limit = 100) => watches.claim({ at, dueBefore: at - 28_000, limit });

  test('replicas that ask at the same time get different agents, at most so many, and each once in a while', async () => {
    await watches.listen(AGENTS, NOW + WEEK_MS);
    const claimed = (await Promise.all([claim(NOW, 8), claim(NOW, 8), claim(NOW, 8)])).flat();
    expect(claimed).toHaveLength(24);
    expect(new Set(claimed.map(({ agentId }) => agentId)).size).toBe(24);
    expect(await claim(NOW + 1)).toHaveLength(6);
    expect(await claim(NOW + 10_000)).toEqual([]);
    expect(await claim(NOW + 29_000)).toHaveLength(30);
  });

  test('an alert is logged once while it stands, and again when it is back', async () => {
    const [agent = ''] = AGENTS;
    const standing = new Map([['drawdown ', { code: 'drawdown' }]]);
    for (const alerts of [standing, standing, new Map(), standing]) await watches.raise(agent, alerts, NOW);
    const facts = await sql`select payload from facts where agent_id = ${agent} and kind = 'risk'`;
    expect(facts).toHaveLength(2);
  });

  test('an agent is forgotten when its stream cannot be resumed any more and no webhook wants its alerts', async () => {
    const [first = '', second = ''] = AGENTS;
    await sql`insert into webhook_endpoints (id, agent_id, url, events, description, sealed_secret, key_id, created_at)
    values (gen_random_uuid(), ${first}, 'https://a.example/', '{risk}', '', '\\x00', 0, now())`;
    await watches.listen([second], NOW + 2 * WEEK_MS);
    await watches.sweep(NOW + WEEK_MS + 1);
    const left = await claim(NOW + WEEK_MS + 1);
    expect(left.map(({ agentId }) => agentId).sort()).toEqual([first, second]);
    await sql`update webhook_endpoints set enabled = false`;
    await watches.sweep(NOW + 3 * WEEK_MS);
    expect(await claim(NOW + 3 * WEEK_MS)).toEqual([]);
    expect(await sql`select from raised_alerts`).toHaveLength(0);
  });
});
