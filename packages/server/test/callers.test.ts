/** Keys that are looked up together: each gets its own agent, and the others' faults are not its own. */
import { randomBytes } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { createDeskDatabase } from '../../../test/postgres.ts';
import { createAgentStore } from '../src/agents/store.ts';
import { openPool, type Sql } from '../src/platform/database/connection.ts';

const AT = Date.parse('2026-11-23T00:00:00Z');
const KEYS = 80;

const pools: Sql[] = [];
afterEach(() => Promise.all(pools.splice(0).map((sql) => sql.end())));

async function stage() {
  const sql = openPool(await createDeskDatabase());
  pools.push(sql);
  const agents = createAgentStore(sql, () => AT);
  const registered = Array.from({ length: KEYS }, (_, index) => ({
    agentId: `00000000-0000-7000-8000-${String(index).padStart(12, '0')}`,
    keyHash: randomBytes(32),
  }));
  for (const [index, one] of registered.entries())
    await agents.register({
      ...one,
      name: `agent ${index}`,
      description: '',
      claimCode: `${index}`,
      keyPrefix: 'bw',
      keySuffix: 'x',
      at: AT,
    });
  return { sql, agents, registered };
}

test('keys that are looked up together each get their own agent, an unknown or revoked one none', async () => {
  const { sql, agents, registered } = await stage();
  const [revoked, ...active] = registered;
  await sql`update api_keys set status = 2, revoked_at = now() where key_hash = ${revoked?.keyHash as Buffer}`;
  const hashes = [
    revoked?.keyHash as Buffer,
    randomBytes(32),
    Buffer.alloc(0),
    ...active.map(({ keyHash }) => keyHash),
  ];
  const callers = await Promise.all(hashes.map((hash) => agents.callerByKeyHash(hash)));
  expect(callers.map((caller) => caller?.agentId ?? null)).toEqual([
    ...[null, null, null],
    ...active.map(({ agentId }) => agentId),
  ]);
});

test('one key that is asked for by many requests at once answers them all', async () => {
  const { agents, registered } = await stage();
  const { agentId, keyHash } = registered[7] as (typeof registered)[number];
  const callers = await Promise.all(Array.from({ length: 200 }, () => agents.callerByKeyHash(keyHash)));
  expect(new Set(callers.map((caller) => caller?.agentId))).toEqual(new Set([agentId]));
});
