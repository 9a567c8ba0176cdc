/** The resources of one agent: tokens over all its keys, and rows in the database. */
import { createVenueCredentials, credentialRequest, Signer } from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import { openPool, type Sql } from '../../packages/server/src/platform/database/connection.ts';
import { watchReplicas } from '../../packages/server/src/platform/database/replica-watch.ts';
import {
  aMarket,
  call,
  newAgent,
  newTrader,
  restingOrder,
  startTestService,
  type TestService,
} from '../harness.ts';
import { manualClock } from '../world.ts';

const OPERATOR_KEY = 'an-operator-key-of-decent-length';
let service: TestService;
let sql: Sql;

beforeAll(async () => {
  const limits = {
    RATE_LIMITS: 'on',
    OPERATOR_KEY,
    RATE_LIMIT_READ_BURST: '1000',
    RATE_LIMIT_READ_PER_SECOND: '1000',
    RATE_LIMIT_SEARCH_BURST: '5',
    RATE_LIMIT_SEARCH_PER_SECOND: '1',
    RATE_LIMIT_TRADE_PER_SECOND: '1',
    RATE_LIMIT_TRADE_BURST: '25',
  };
  // It stands still: no token comes back while a slow machine sends the requests.
  service = await startTestService(limits, { clock: manualClock(Date.now()) });
  sql = openPool(service.databaseUrl, { max: 2, applicationName: 'edge test' });
  return () => sql.end();
});

const newKey = async (key: string, keyName = 'more') =>
  call(service, 'POST', '/agents/create-api-key', { key, body: { keyName } });

describe('tokens', () => {
  test('belong to the agent and are shared by its keys', async () => {
    const { apiKey } = await newAgent(service);
    const keys = [apiKey];
    for (let i = 0; i < 4; i++) keys.push((await newKey(apiKey)).body.apiKeyCode);
    const answers = await Promise.all(
      Array.from({ length: 25 }, (_, i) =>
        call(service, 'GET', '/markets?q=*', { key: keys[i % 5] as string }),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
  });

  test('of a batch are taken for all orders or none, after its schema was checked', async () => {
    const trader = await newTrader(service);
    const market = await aMarket(trader.client);
    const orders = await Promise.all(Array.from({ length: 20 }, () => restingOrder(trader, market)));
    const send = (some: readonly unknown[]) => trader.post('/markets/batch-trade', { orders: some });
    // A request that is not a batch costs one token.
    expect((await send(Array.from({ length: 21 }, () => ({})))).status).toBe(400);
    const first = await send(orders);
    expect(first).toMatchObject({ status: 200, body: { total: 20, succeeded: 20 } });
    const more = await Promise.all(Array.from({ length: 20 }, () => restingOrder(trader, market)));
    const second = await send(more);
    expect(second).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    expect(second.headers.get('retry-after')).toBe('16');
    const open = await trader.get('/markets/orders/open?limit=100');
    expect(open.headers.get('x-total-count')).toBe('20');
  });
});

test('full buckets are deleted from the database', async () => {
  const { bank, stop } = await watchReplicas(sql, 'edge-test');
  await bank.lease('read nobody', { burst: 10, perSecond: 1 }, 1);
  await sql`update rate_buckets set at = now() - interval '3 hours' where name = 'read nobody'`;
  await bank.lease('read somebody', { burst: 10, perSecond: 1 }, 1);
  await bank.sweep(3_600);
  const rows = await sql`select name from rate_buckets where name in ('read nobody', 'read somebody')`;
  expect(rows.map(({ name }) => name)).toEqual(['read somebody']);
  await stop();
});

describe('keys', () => {
  test('at most ten are active; revoking one makes room', async () => {
    const { apiKey } = await newAgent(service);
    const made = await Promise.all(Array.from({ length: 12 }, () => newKey(apiKey)));
    const [refused] = made.filter(({ status }) => status !== 200);
    expect(made.filter(({ status }) => status === 200)).toHaveLength(9);
    expect(refused).toMatchObject({ status: 409, body: { code: 'api_key_limit_reached' } });
    const spare = made.find(({ status }) => status === 200)?.body.id;
    await call(service, 'DELETE', `/agents/api-key/${spare}`, { key: apiKey });
    expect((await newKey(apiKey)).status).toBe(200);
  });

  test('revoked ones are deleted eventually, the key of the registration never', async () => {
    const { apiKey, agentId } = await newAgent(service);
    await sql`insert into api_keys (agent_id, key_hash, key_prefix, key_suffix, name, status, create_type, created_at, last_called_at, revoked_at)
      select ${agentId}, decode(md5(${agentId} || i), 'hex'), 'bw_aaaa', 'bbbb', 'old', 2, 1, now(), now(), now() - i * interval '1 minute'
      from generate_series(1, 150) i`;
    expect((await newKey(apiKey)).status).toBe(200);
    const { body } = await call(service, 'GET', '/agents/api-key/list', { key: apiKey });
    expect(body.filter(({ status }: { status: number }) => status === 2)).toHaveLength(100);
    expect(body[0]).toMatchObject({ createType: 2, status: 1 });
  });
});

describe('wallets', () => {
  const fill = async (agentId: string, count: number) => sql`
    insert into linked_wallets (address, user_id, kind, signer, linked_at)
    select '0x' || lpad(to_hex(i) || md5(${agentId}), 40, 'f'), user_id, 'evm', 'x', now()
    from agents, generate_series(1, ${count}) i where agent_id = ${agentId}`;

  test('an owner has at most a hundred; existing ones stay usable', async () => {
    const trader = await newTrader(service);
    const register = async (signer: Signer) => {
      const credentials = await createVenueCredentials({ clobUrl: `${service.url}/paper/clob`, signer });
      return trader.post('/wallet/credentials', credentialRequest(signer, credentials, 0));
    };
    await fill(trader.agentId, 98);
    expect((await register(Signer.generate())).status).toBe(200);
    expect(await register(Signer.generate())).toMatchObject({
      status: 409,
      body: { code: 'wallet_limit_reached' },
    });
    expect((await register(trader.signer)).status).toBe(200);
    // One wallet less makes room for another.
    expect((await trader.post('/wallet/unlink', { address: trader.funder })).status).toBe(200);
    expect((await register(trader.signer)).status).toBe(200);
    const signer = Signer.generate();
    const link = async (key: string, wallet: Signer) => {
      const challenge = await call(service, 'GET', `/wallet/link/challenge?address=${wallet.address}`, {
        key,
      });
      return call(service, 'POST', '/wallet/link', {
        key,
        body: {
          address: wallet.address,
          nonce: challenge.body.nonce,
          signature: await wallet.signMessage(challenge.body.message),
        },
      });
    };
    expect(await link(trader.apiKey, signer)).toMatchObject({
      status: 409,
      body: { code: 'wallet_limit_reached' },
    });
    // The limit does not lock out an owner who lost a key: registered wallets move, at any count.
    const lost = await newTrader(service);
    expect((await link(trader.apiKey, lost.signer)).status).toBe(200);
  });
});

describe('skills', () => {
  const skill = { skillName: 'Fade', description: 'd', version: '1', howItWorks: 'h' };

  test('an owner has at most a hundred: refused ones are replaced, others are not', async () => {
    const { apiKey, agentId } = await newAgent(service);
    const submit = () => call(service, 'POST', '/agent/skill/submit-skill', { key: apiKey, body: skill });
    const { skillCode } = (await submit()).body;
    await sql`insert into skills (skill_code, slug, skill_name, user_id, agent_id, category, version, author,
        description, difficulty_level, how_it_works, hub_url, github_url, create_source, review_status, review_remark,
        is_visible, created_at, updated_at)
      select gen_random_uuid(), 's' || i, 's', user_id, agent_id, 2, '1', 'a', 'd', 2, 'h', '', '', 2,
        case when i = 1 then 3 else 2 end, '', true, now(), now()
      from agents, generate_series(1, 99) i where agent_id = ${agentId}`;
    expect((await submit()).status).toBe(200);
    expect(await submit()).toMatchObject({ status: 409, body: { code: 'skill_limit_reached' } });
    const body = { reviewRemark: 'no' };
    await call(service, 'POST', `/operator/skills/${skillCode}/refuse`, { key: OPERATOR_KEY, body });
    expect((await submit()).status).toBe(200);
  });
});

describe('idempotency keys', () => {
  const update = (key: string, idempotencyKey: string, body: unknown = { maxTradesPerDay: 7 }) =>
    call(service, 'POST', '/agents/settings', { key, body, headers: { 'idempotency-key': idempotencyKey } });

  test('are limited per agent; a replay is still answered', async () => {
    const { apiKey, agentId } = await newAgent(service);
    await sql`insert into idempotency_keys (scope, route, key, body_hash, status, body, expires_at)
      select ${agentId}, 'x', 'old-' || i, '\\x00', 200, '{}', now() + interval '1 hour' from generate_series(1, 19998) i`;
    expect((await update(apiKey, 'a')).status).toBe(200);
    expect((await update(apiKey, 'b')).status).toBe(200);
    const refused = await update(apiKey, 'c');
    expect(refused).toMatchObject({ status: 429, body: { code: 'idempotency_limit_reached' } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await update(apiKey, 'a')).headers.get('idempotency-replayed')).toBe('true');
    expect((await call(service, 'POST', '/agents/settings', { key: apiKey, body: {} })).status).toBe(200);
    const [row] = await sql`select count(*)::int as count from idempotency_keys where scope = ${agentId}`;
    expect(row?.count).toBe(20_000);
  });

  test('are not used up by refused requests', async () => {
    const { apiKey } = await newAgent(service);
    for (let i = 0; i < 30; i++)
      expect((await update(apiKey, `k${i}`, { maxTradesPerDay: -1 })).status).toBe(400);
    expect((await update(apiKey, 'last')).status).toBe(200);
  });

  test('treat JSON with other whitespace or key order as the same request', async () => {
    const { apiKey } = await newAgent(service);
    const first = await update(apiKey, 'k', '{"maxTradesPerDay":7,"maxTradeAmount":12.5}');
    expect(first.status).toBe(200);
    const again = await update(apiKey, 'k', ' {\n "maxTradeAmount": 1.25e1, "maxTradesPerDay": 7.0 }');
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(again.body).toEqual(first.body);
    expect(await update(apiKey, 'k', '{"maxTradesPerDay":8,"maxTradeAmount":12.5}')).toMatchObject({
      status: 422,
      body: { code: 'idempotency_key_reused' },
    });
  });

  test('refuse an extremely nested body with 400 instead of 500', async () => {
    const { apiKey } = await newAgent(service);
    const body = `{"keyName":"x","more":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
    const answer = await call(service, 'POST', '/agents/create-api-key', {
      key: apiKey,
      body,
      headers: { 'idempotency-key': 'deep' },
    });
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
  });

  test('on register are scoped to address and body: clients behind one address do not collide', async () => {
    const register = (name: string) =>
      call(service, 'POST', '/agents/register', { body: { name }, headers: { 'idempotency-key': '1' } });
    expect((await register('one')).status).toBe(200);
    expect((await register('two')).status).toBe(200);
    expect(await register('one')).toMatchObject({ status: 409, body: { code: 'secret_already_shown' } });
  });
});
