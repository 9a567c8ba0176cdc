/** Callers: keys that are looked up together, and kept facts, which equal the database's answer after any change by anyone. */
import { randomBytes } from 'node:crypto';
import { transact } from '@bellwether/durable';
import type { Address } from '@bellwether/protocol';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openDeskDatabase } from '../../../test/postgres.ts';
import { createAgentStore } from '../src/agents/store.ts';
import type { Sql } from '../src/platform/database/connection.ts';
import {
  type CallerFacts,
  type CallerQuestion,
  KnownCallers,
  readCallers,
} from '../src/trading/admission-reads.ts';

const AT = Date.parse('2026-11-23T00:00:00Z');
const AGENTS = [0, 1, 2].map((nth) => `00000000-0000-7000-8000-00000000000${nth}`);
const WALLETS = [1, 2, 3].map((nth) => `0x${String(nth).repeat(40)}` as Address);
const KEYS = WALLETS.slice(0, 2);

interface Stage {
  readonly sql: Sql;
  /** Every agent trades with every wallet under every key. */
  readonly questions: readonly CallerQuestion[];
}

/** A desk with these agents. */
async function deskOf(agentIds: readonly string[]) {
  const sql = await openDeskDatabase();
  const agents = createAgentStore(sql, () => AT);
  const registered = agentIds.map((agentId) => ({ agentId, keyHash: randomBytes(32) }));
  for (const [nth, one] of registered.entries())
    await agents.register({
      ...{ ...one, name: `agent ${nth}`, description: '', claimCode: `${nth}` },
      ...{ keyPrefix: 'bw', keySuffix: 'x', at: AT },
    });
  return { sql, agents, registered };
}

async function stage(): Promise<Stage> {
  const { sql, agents, registered } = await deskOf(AGENTS);
  const callers = await Promise.all(
    registered.map(async ({ agentId, keyHash }) => {
      const found = await agents.callerByKeyHash(keyHash);
      return { agentId, keyId: found?.caller.keyId as bigint };
    }),
  );
  const questions = callers.flatMap((caller) =>
    WALLETS.flatMap((funder) =>
      KEYS.map((signer) => ({
        ...{ caller, funder, signer, wallets: WALLETS },
        ...{ tokenIds: ['1', '2'] as const, conditionId: 'market', at: AT },
      })),
    ),
  );
  return { sql, questions };
}

describe('keys that are looked up together', () => {
  const MANY = Array.from(
    { length: 80 },
    (_, nth) => `00000000-0000-7000-8000-${String(nth).padStart(12, '0')}`,
  );

  test('each get their own agent, also one that was revoked lately; an unknown one, and one revoked long ago, none', async () => {
    const { sql, agents, registered } = await deskOf(MANY);
    const [lately, longAgo, ...active] = registered.map(({ keyHash }) => keyHash) as [Buffer, ...Buffer[]];
    await sql`update api_keys set status = 2, revoked_at = ${new Date(AT)} where key_hash = ${lately as Buffer}`;
    await sql`update api_keys set status = 2, revoked_at = ${new Date(AT - 61_000)} where key_hash = ${longAgo as Buffer}`;
    const hashes = [longAgo as Buffer, randomBytes(32), Buffer.alloc(0), lately as Buffer, ...active];
    const found = await Promise.all(hashes.map((hash) => agents.callerByKeyHash(hash)));
    const [lateAgent, , ...activeAgents] = MANY;
    expect(found.map((one) => one && [one.caller.agentId, one.isRevoked])).toEqual([
      ...[null, null, null, [lateAgent, true]],
      ...activeAgents.map((agentId) => [agentId, false]),
    ]);
  });

  test('one key that many requests ask for at once answers them all', async () => {
    const { agents, registered } = await deskOf(AGENTS);
    const keyHash = registered[1]?.keyHash as Buffer;
    const callers = await Promise.all(Array.from({ length: 200 }, () => agents.callerByKeyHash(keyHash)));
    expect(new Set(callers.map((found) => found?.caller.agentId))).toEqual(new Set([AGENTS[1]]));
  });
});

/** Without what differs between two readings of the same state. */
const shown = (callers: readonly (CallerFacts | undefined)[]) =>
  callers.map((facts) => (facts === undefined ? undefined : { ...facts, key: judgedBy(facts.key) }));
const judgedBy = (key: CallerFacts['key']) => {
  const { status, user_id, claimed, is_known, is_restricted, position_value, is_withdrawn } = key;
  return { status, user_id, claimed, is_known, is_restricted, position_value, is_withdrawn };
};

const kept = (sql: Sql, known: KnownCallers, questions: readonly CallerQuestion[]) =>
  transact(sql, (tx) => known.read(tx, questions)).then(shown);
const fresh = (sql: Sql, questions: readonly CallerQuestion[]) =>
  transact(sql, (tx) => readCallers(tx, questions)).then(shown);

const versionOf = async (sql: Sql): Promise<unknown> =>
  (await sql`select version from callers_version`)[0]?.version;

interface Change {
  readonly agent: string;
  readonly other: string;
  readonly wallet: Address;
  readonly key: Address;
  readonly flag: boolean;
}

const ownerOf = (sql: Sql, agent: string) =>
  sql`(select user_id from agents where agent_id = ${agent}::uuid)`;
const keyOf = (sql: Sql, agent: string) =>
  sql`(select min(id) from api_keys where agent_id = ${agent}::uuid)`;

/** Changes of what callers are judged by. */
const CHANGES: readonly ((sql: Sql, change: Change) => PromiseLike<unknown>)[] = [
  (sql, { agent, wallet, key, flag }) => sql`
    insert into agent_wallets (agent_id, address, signer, is_own, since) values (${agent}, ${wallet}, ${key}, ${flag}, now())
    on conflict (agent_id, address) do update set is_own = excluded.is_own, signer = excluded.signer`,
  (sql, { agent, flag }) => sql`update agent_wallets set lifted = ${flag} where agent_id = ${agent}`,
  (sql, { wallet, flag }) => sql`update agent_wallets set granted = ${flag} where address = ${wallet}`,
  (sql, { agent, wallet }) =>
    sql`delete from agent_wallets where agent_id = ${agent} and address = ${wallet}`,
  (sql, { agent, wallet, key }) => sql`
    insert into credentials (wallet_address, user_id, eoa, funder, signature_type, api_key_hash, key_id, sealed, registered_at)
    values (${wallet}, ${ownerOf(sql, agent)}, ${key}, ${wallet}, 0, ${randomBytes(32)}, 1, ${randomBytes(8)}, now())
    on conflict (wallet_address) do update set user_id = excluded.user_id`,
  (sql, { wallet, flag }) =>
    sql`update credentials set signature_type = ${flag ? 1 : 2} where wallet_address = ${wallet}`,
  (sql, { wallet }) => sql`delete from credentials where wallet_address = ${wallet}`,
  (sql, { agent, flag }) =>
    sql`update agents set claimed_at = ${flag ? new Date(AT) : null} where agent_id = ${agent}`,
  (sql, { agent, other }) =>
    sql`update agents set user_id = ${ownerOf(sql, other)} where agent_id = ${agent}`,
  (sql, { agent, flag }) => sql`update api_keys set status = ${flag ? 1 : 2} where id = ${keyOf(sql, agent)}`,
  (sql, { agent, flag }) =>
    sql`update safeguards set max_position_value = ${flag ? 5_000_000n : null} where agent_id = ${agent}`,
];

/** Changes of the same rows that no caller is judged by. */
const ELSEWHERE: readonly ((sql: Sql, agent: string) => PromiseLike<unknown>)[] = [
  (sql, agent) => sql`update api_keys set last_called_at = now() where agent_id = ${agent}`,
  (sql, agent) => sql`update agents set sol_address = 'S', wallet_address = null where agent_id = ${agent}`,
  (sql, agent) =>
    sql`update safeguards set usage_day = now(), used_trades = 1, used_amount = 5 where agent_id = ${agent}`,
  (sql) => sql`update credentials set key_id = 2, sealed = ${randomBytes(8)}`,
];
/** Columns of an agent's row that trades write, and its name. */
const NO_SETTINGS = new Set([
  ...['agent_id', 'usage_day', 'used_trades', 'used_amount'],
  ...['reserved_exits', 'open_exits'],
]);

const changes = fc.array(
  fc.record({
    kind: fc.nat(CHANGES.length - 1),
    agent: fc.constantFrom(...AGENTS),
    other: fc.constantFrom(...AGENTS),
    wallet: fc.constantFrom(...WALLETS),
    key: fc.constantFrom(...KEYS),
    flag: fc.boolean(),
    /** Read before the next change. */
    isRead: fc.boolean(),
  }),
  { minLength: 1, maxLength: 12 },
);

test('what is kept is what the database would answer, in each of two processes', async () => {
  const { sql, questions } = await stage();
  const [one, two] = [new KnownCallers(), new KnownCallers()];
  await fc.assert(
    fc.asyncProperty(changes, async (row) => {
      for (const { kind, isRead, ...change } of row) {
        await CHANGES[kind]?.(sql, change);
        if (isRead) expect(await kept(sql, one, questions)).toEqual(await fresh(sql, questions));
      }
      const answer = await fresh(sql, questions);
      expect(await kept(sql, one, questions)).toEqual(answer);
      expect(await kept(sql, two, questions)).toEqual(answer);
    }),
    { numRuns: 40 },
  );
});

test('each kind of change that matters renames the version, and no other', async () => {
  const { sql } = await stage();
  const [agent, other] = AGENTS as [string, string];
  const change = { agent, other, wallet: WALLETS[0] as Address, key: KEYS[0] as Address, flag: true };
  // The rows that later changes need exist by then; deletions come last.
  const inOrder = [0, 4, 1, 2, 5, 7, 8, 9, 10, 3, 6];
  expect(new Set(inOrder).size).toBe(CHANGES.length);
  for (const kind of inOrder) {
    const before = await versionOf(sql);
    await CHANGES[kind]?.(sql, change);
    expect(await versionOf(sql), `change ${kind}`).not.toBe(before);
  }
  await CHANGES[4]?.(sql, change);
  const before = await versionOf(sql);
  for (const elsewhere of ELSEWHERE) await elsewhere(sql, agent);
  expect(await versionOf(sql)).toBe(before);
});

test('every column of the settings renames the version, also one that is added later', async () => {
  const { sql } = await stage();
  const columns = await sql<{ readonly name: string }[]>`
    select column_name as name from information_schema.columns where table_name = 'safeguards'`;
  const settings = columns.map(({ name }) => name).filter((name) => !NO_SETTINGS.has(name));
  expect(settings.length).toBeGreaterThan(20);
  for (const name of settings) {
    const before = await versionOf(sql);
    await sql.unsafe(`update safeguards set ${name} = ${name}`);
    expect(await versionOf(sql), name).not.toBe(before);
  }
});

test('a change that is not committed is not seen, and no request waits for it', async () => {
  const { sql, questions } = await stage();
  const known = new KnownCallers();
  const before = await kept(sql, known, questions);
  const [agent, other] = AGENTS as [string, string];
  await transact(sql, async (open) => {
    await open`update api_keys set status = 2 where agent_id = ${agent}`;
    expect(await kept(sql, known, questions)).toEqual(before);
    // Another transaction changes something, too, and ends first.
    await sql`update agents set claimed_at = now() where agent_id = ${other}`;
    expect(await kept(sql, known, questions)).toEqual(await fresh(sql, questions));
  });
  const after = await kept(sql, known, questions);
  expect(after).toEqual(await fresh(sql, questions));
  expect(after.some((facts) => facts?.key.status === 2)).toBe(true);
});

test('a change that is rolled back renames nothing', async () => {
  const { sql } = await stage();
  const before = await versionOf(sql);
  const failing = transact(sql, async (tx) => {
    await tx`update agents set claimed_at = now()`;
    throw new Error('changed its mind');
  });
  await expect(failing).rejects.toThrow('changed its mind');
  expect(await versionOf(sql)).toBe(before);
});

test('many transactions that change callers at once all commit', async () => {
  const { sql } = await stage();
  const turns = Array.from({ length: 40 }, (_, nth) => AGENTS[nth % AGENTS.length] as string);
  await Promise.all(
    turns.map((agent, nth) =>
      transact(sql, async (tx) => {
        await tx`insert into agent_wallets (agent_id, address, signer, is_own, since)
          values (${agent}, ${`wallet ${nth}`}, ${`key ${nth % 3}`}, true, now())`;
        // Locks that others of these transactions hold until their commits.
        await tx`select 1 from safeguards where agent_id = ${agent} for no key update`;
      }),
    ),
  );
  expect((await sql`select count(*)::int as n from agent_wallets`)[0]?.n).toBe(turns.length);
});
