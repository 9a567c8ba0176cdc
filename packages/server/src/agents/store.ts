/** Agents, their keys and their settings. */
import { transact } from '@bellwether/durable';
import type { Address } from '@bellwether/protocol';
import type { Caller } from '../domain/records.ts';
import { DEFAULT_SAFEGUARDS, usageOf, utcDay } from '../domain/safeguards.ts';
import { type Fragment, ms, msOrNull, only, type Sql } from '../platform/database/connection.ts';
import { type Answering, asRows, groupReads } from '../platform/database/grouped-reads.ts';
import { once } from '../platform/database/idempotency-store.ts';
import { REVOKED_LATELY_MS } from '../platform/database/replica-watch.ts';
import type { AgentsRow, ApiKeysRow, SafeguardsRow } from '../platform/database/rows.generated.ts';
import {
  type Limits,
  type SettingsChange,
  type SettingsRow,
  settingsColumns,
  settingsRow,
} from './settings-columns.ts';

/** An agent with one of its keys; columns that exist in both tables have aliases. */
type AgentWithKey = ApiKeysRow &
  Omit<AgentsRow, 'name' | 'created_at'> & {
    readonly agent_name: AgentsRow['name'];
    readonly agent_created_at: AgentsRow['created_at'];
    readonly agent_last_called_at: ApiKeysRow['last_called_at'];
  };

type CallerRow = Answering &
  Pick<ApiKeysRow, 'id' | 'agent_id' | 'status' | 'revoked_at'> &
  Pick<AgentsRow, 'user_id'>;

function agentRow(row: AgentWithKey): AgentRow {
  return {
    agentId: row.agent_id,
    userId: row.user_id,
    name: row.agent_name,
    description: row.description,
    claimCode: row.claim_code,
    claimed: row.claimed_at !== null,
    claimedAt: msOrNull(row.claimed_at),
    walletAddress: row.wallet_address,
    solAddress: row.sol_address,
    createdAt: ms(row.agent_created_at),
    key: keyRow(row),
    lastCalledAt: ms(row.agent_last_called_at),
  };
}

export function createAgentStore(sql: Sql, now: () => number) {
  const findAgent = async (where: Fragment): Promise<AgentRow | null> => {
    // The registration's key is the agent's first.
    const [row] = await sql<AgentWithKey[]>`
      select k.*, a.user_id, a.name as agent_name, a.description, a.claim_code, a.claimed_at, a.wallet_address,
        a.sol_address, a.created_at as agent_created_at,
        (select max(last_called_at) from api_keys where agent_id = a.agent_id) as agent_last_called_at
      from agents a join api_keys k on k.agent_id = a.agent_id
      where ${where} order by k.id limit 1`;
    return row === undefined ? null : agentRow(row);
  };
  const callers = groupReads<Uint8Array, CallerRow>(
    (hashes) => sql<CallerRow[]>`
      select q.nth::int as nth, k.id, k.agent_id, k.status, k.revoked_at, a.user_id
      from ${asRows(sql, sql`${hashes as Buffer[]}::bytea[]` as unknown as Fragment, 'key_hash', hashes.length)}
      join api_keys k on k.key_hash = q.key_hash join agents a on a.agent_id = k.agent_id`,
  );
  return {
    async register(agent: {
      readonly agentId: string;
      readonly name: string;
      readonly description: string;
      readonly claimCode: string;
      readonly keyHash: Uint8Array;
      readonly keyPrefix: string;
      readonly keySuffix: string;
      readonly at: number;
    }): Promise<void> {
      const at = new Date(agent.at);
      const limits = {
        ...settingsColumns(DEFAULT_SAFEGUARDS, agent.at),
        agent_id: agent.agentId,
        usage_day: utcDay(agent.at),
      };
      await once(
        sql,
        (tx) => tx`
        with limits as (
          insert into safeguards ${tx(limits)}
        ), owner as (insert into owners (created_at) values (${at}) returning user_id),
        agent as (
          insert into agents (agent_id, user_id, name, description, claim_code, created_at)
          select ${agent.agentId}, user_id, ${agent.name}, ${agent.description}, ${agent.claimCode}, ${at} from owner
          returning agent_id
        )
        insert into api_keys (agent_id, key_hash, key_prefix, key_suffix, name, create_type, created_at, last_called_at)
        select agent_id, ${agent.keyHash as Buffer}, ${agent.keyPrefix}, ${agent.keySuffix}, 'registration', 2, ${at}, ${at} from agent`,
      );
    },

    /** Of an active key, or of one that was revoked lately. */
    async callerByKeyHash(
      hash: Uint8Array,
    ): Promise<{ readonly caller: Caller; readonly isRevoked: boolean } | null> {
      const [row] = await callers(hash);
      if (row === undefined) return null;
      const isRevoked = row.status !== 1;
      if (isRevoked && now() - (msOrNull(row.revoked_at) ?? 0) > REVOKED_LATELY_MS) return null;
      const caller = { agentId: row.agent_id, userId: row.user_id, keyId: row.id };
      return { caller, isRevoked };
    },

    byClaimCode: (code: string): Promise<AgentRow | null> => findAgent(sql`a.claim_code = ${code}`),
    byId: (agentId: string): Promise<AgentRow | null> => findAgent(sql`a.agent_id = ${agentId}`),

    /** Deletes the oldest revoked keys. @returns `null` when the agent has the maximum number of active keys. */
    addKey: (
      caller: Caller,
      key: { hash: Uint8Array; prefix: string; suffix: string; name: string; at: number },
      limits: { active: number; revokedKept: number },
    ): Promise<KeyRow | null> =>
      once(sql, async (tx) => {
        const at = new Date(key.at);
        // The lock on the agent's row serialises new keys, so that the count stays exact.
        await tx`select 1 from safeguards where agent_id = ${caller.agentId} for no key update`;
        const active = only(
          await tx<{ count: number }[]>`select count(*)::int as count from api_keys
          where agent_id = ${caller.agentId} and status = 1`,
        );
        if (active.count >= limits.active) return null;
        // The registration's key is the agent's own record and stays.
        await tx`delete from api_keys where id in (
          select id from api_keys where agent_id = ${caller.agentId} and status = 2 and create_type = 1
          order by revoked_at desc, id desc offset ${limits.revokedKept})`;
        const rows = await tx<ApiKeysRow[]>`
          insert into api_keys (agent_id, key_hash, key_prefix, key_suffix, name, create_type, created_at, last_called_at)
          values (${caller.agentId}, ${key.hash as Buffer}, ${key.prefix}, ${key.suffix}, ${key.name}, 1, ${at}, ${at})
          returning *`;
        return keyRow(only(rows));
      }),

    async keys(agentId: string): Promise<readonly KeyRow[]> {
      return (await sql<ApiKeysRow[]>`select * from api_keys where agent_id = ${agentId} order by id`).map(
        keyRow,
      );
    },

    /** `last`: it is the agent's last active key and `force` was not given. */
    revokeKey: (
      agentId: string,
      keyId: bigint,
      force: boolean,
      at: number,
    ): Promise<KeyRow | 'missing' | 'last'> =>
      transact(sql, async (tx) => {
        // The lock on the agent's row serialises revocations, so that two of them cannot remove the last two keys.
        await tx`select 1 from safeguards where agent_id = ${agentId} for update`;
        const keys = await tx<ApiKeysRow[]>`select * from api_keys where agent_id = ${agentId} order by id`;
        const key = keys.find((row) => row.id === keyId);
        if (key === undefined) return 'missing' as const;
        if (key.status === 2) return keyRow(key);
        if (!force && keys.every((row) => row.id === keyId || row.status === 2)) return 'last' as const;
        const revoked = await tx<
          ApiKeysRow[]
        >`update api_keys set status = 2, revoked_at = ${new Date(at)} where id = ${keyId.toString()}::bigint returning *`;
        return keyRow(only(revoked));
      }),

    async touch(calls: ReadonlyMap<bigint, number>): Promise<void> {
      const batch = [...calls].map(([id, at]) => ({ id: id.toString(), at: new Date(at).toISOString() }));
      await sql`
        update api_keys k set last_called_at = greatest(k.last_called_at, t.at)
        from jsonb_to_recordset(${sql.json(batch)}) as t(id bigint, at timestamptz) where k.id = t.id`;
    },

    async settings(agentId: string): Promise<Limits> {
      const today = utcDay(now());
      const [row] = await sql<LimitsRow[]>`
        select s.*, ${limitColumns(sql)} from safeguards s ${limitFacts(sql, today)} where s.agent_id = ${agentId}`;
      if (row === undefined) throw new Error('the agent has no safeguards row');
      return limitsOf(row);
    },

    /** Guarded exits that are suspended, and whether the agent has an owner, who alone resumes them then. */
    async suspendedExits(agentId: string): Promise<{ readonly count: number; readonly claimed: boolean }> {
      return only(
        await sql<{ readonly count: number; readonly claimed: boolean }[]>`
          select (select count(*)::int from exits e where e.agent_id = a.agent_id and e.status = 'suspended') as count,
            a.claimed_at is not null as claimed
          from agents a where a.agent_id = ${agentId}`,
      );
    },

    /**
     * Locks the agent's row, so the change applies to every trade assessed after it. `decide` receives the locked row;
     * when it throws, nothing changes.
     */
    updateSettings: (
      agentId: string,
      decide: (current: SettingsRow) => SettingsChange,
      at: number,
    ): Promise<SettingsRow> =>
      once(sql, async (tx) => {
        const [locked] = await tx<
          SafeguardsRow[]
        >`select * from safeguards where agent_id = ${agentId} for no key update`;
        if (locked === undefined) throw new Error('the agent has no safeguards row');
        const columns = settingsColumns(decide(settingsRow(locked)), at);
        const rows = await tx<
          SafeguardsRow[]
        >`update safeguards set ${tx(columns)} where agent_id = ${agentId} returning *`;
        return settingsRow(only(rows));
      }),
  };
}

const keyRow = (row: ApiKeysRow): KeyRow => ({
  id: row.id,
  name: row.name,
  prefix: row.key_prefix,
  suffix: row.key_suffix,
  status: row.status,
  createType: row.create_type,
  createdAt: ms(row.created_at),
  lastCalledAt: ms(row.last_called_at),
});

export interface KeyRow {
  readonly id: bigint;
  readonly name: string;
  /** First 7 and last 4 characters. */
  readonly prefix: string;
  readonly suffix: string;
  readonly status: 1 | 2;
  readonly createType: 1 | 2;
  readonly createdAt: number;
  readonly lastCalledAt: number;
}

export interface AgentRow {
  readonly agentId: string;
  readonly userId: bigint;
  readonly name: string;
  readonly description: string;
  readonly claimCode: string;
  readonly claimed: boolean;
  readonly claimedAt: number | null;
  readonly walletAddress: Address | null;
  readonly solAddress: string | null;
  readonly createdAt: number;
  /** The key of the registration. */
  readonly key: KeyRow;
  /** The latest call with any of its keys. */
  readonly lastCalledAt: number;
}

export type AgentStore = ReturnType<typeof createAgentStore>;

// An agent's safeguards and what is used of them today, as reads show them.

export interface LimitsRow extends SafeguardsRow {
  readonly trades_today: number;
  readonly amount_today: bigint;
  readonly realized_today: bigint;
}

/** Joins; expects the agent's row of `safeguards` as `s`. @param day a UTC day, or a column that has it */
export const limitFacts = (sql: Sql, day: string | Fragment): Fragment =>
  sql`cross join usage_of_day(s.agent_id, ${day}::date) u cross join result_of_day(s.agent_id, ${day}::date) r`;

export const limitColumns = (sql: Sql): Fragment =>
  sql`u.trades as trades_today, u.amount as amount_today, r.net as realized_today`;

export const limitsOf = (row: LimitsRow): Limits => ({
  ...settingsRow(row),
  usage: usageOf(row.trades_today, row.amount_today, row.reserved_exits),
  realizedToday: row.realized_today,
  openExits: row.open_exits,
});
