/** Fee charges. Every step is one statement that names its starting state, so of two concurrent steps one fails. */

import type { Micro } from '@bellwether/contract/decimals';
import type { SolanaAddress } from '@bellwether/protocol';
import type { Sql } from '../platform/database/connection.ts';
import type { FeeChargesRow } from '../platform/database/rows.generated.ts';

const chargeOf = (row: FeeChargesRow): FeeCharge => ({
  id: row.id,
  amount: row.amount,
  fromAddress: row.from_address,
  toAddress: row.to_address,
  status: row.status,
  signed:
    row.signature === null || row.provider_id === null || row.wire === null
      ? null
      : {
          providerId: row.provider_id,
          signature: row.signature,
          wire: new Uint8Array(row.wire),
          lastValidBlockHeight: Number(row.last_valid_block_height),
        },
});

/** The states that each outcome may follow. */
const FOLLOWS: Readonly<Record<Parameters<FeeStore['settle']>[2], readonly FeeStatus[]>> = {
  unknown: ['signed'],
  refused: ['signed'],
  broadcast: ['signed', 'unknown'],
  landed: ['signed', 'unknown', 'broadcast'],
  failed: ['signed', 'unknown', 'broadcast'],
  dropped: ['signed', 'unknown', 'broadcast'],
};

export function createFeeStore(sql: Sql) {
  return {
    async find(agentId: string, key: string): Promise<FeeCharge | null> {
      const [row] = await sql<FeeChargesRow[]>`
        select * from fee_charges where agent_id = ${agentId} and idempotency_key = ${key}`;
      return row === undefined ? null : chargeOf(row);
    },

    /** @returns `null` when an attempt is in progress, has landed or may still land */
    async begin(charge: NewFeeCharge): Promise<FeeAttempt | null> {
      const at = new Date(charge.at);
      const [row] = await sql<Pick<FeeChargesRow, 'id' | 'attempt'>[]>`
        insert into fee_charges as f (id, agent_id, idempotency_key, venue, amount, from_address, to_address, request_id,
          status, lease_until, created_at, updated_at)
        values (${charge.id}, ${charge.agentId}, ${charge.key}, ${charge.venue}, ${charge.amount},
          ${charge.fromAddress}, ${charge.toAddress}, ${charge.requestId}, 'signing', ${new Date(charge.leaseUntil)},
          ${at}, ${at})
        on conflict (agent_id, idempotency_key) where idempotency_key is not null do update set
          status = 'signing', attempt = f.attempt + 1, lease_until = excluded.lease_until,
          to_address = excluded.to_address, request_id = excluded.request_id, updated_at = excluded.updated_at,
          dead_signatures = array_remove(f.dead_signatures || f.signature, null),
          provider_id = null, signature = null, wire = null, last_valid_block_height = null
        where f.amount = excluded.amount and f.from_address = excluded.from_address
          and (f.status in ('unsigned', 'refused', 'failed', 'dropped')
            or (f.status = 'signing' and f.lease_until <= ${at}))
        returning id, attempt`;
      return row === undefined ? null : { id: row.id, attempt: row.attempt };
    },

    /** Call it before sending. @returns false when another process has taken the attempt: then send nothing */
    async recordSigned({ id, attempt }: FeeAttempt, signed: SignedFee, at: number): Promise<boolean> {
      const rows = await sql<object[]>`
        update fee_charges set status = 'signed', provider_id = ${signed.providerId}, signature = ${signed.signature},
          wire = ${signed.wire as Buffer}, last_valid_block_height = ${signed.lastValidBlockHeight},
          updated_at = ${new Date(at)}
        where id = ${id} and attempt = ${attempt} and status = 'signing' returning 1`;
      return rows.length > 0;
    },

    /** Nothing was signed. A charge without any signed attempt is deleted. */
    async abandon({ id, attempt }: FeeAttempt, at: number): Promise<void> {
      const ours = sql`id = ${id} and attempt = ${attempt} and status = 'signing'`;
      await sql`
        with forgotten as (delete from fee_charges where ${ours} and dead_signatures = '{}' returning 1)
        update fee_charges set status = 'unsigned', updated_at = ${new Date(at)}
        where ${ours} and dead_signatures <> '{}'`;
    },

    /**
     * Records the outcome of a signed attempt; `landed` queues webhook events in the same transaction. `refused` and
     * `unknown` follow only `signed`: so no process sends an abandoned attempt, or abandons one that another sends.
     * @returns false when the attempt does not exist, or its state does not allow this outcome
     */
    async settle(
      id: string,
      signature: string,
      status: Exclude<FeeStatus, 'signing' | 'unsigned' | 'signed'>,
      at: number,
    ): Promise<boolean> {
      const [row] = await sql<object[]>`
        with settled as (
          update fee_charges set status = ${status}, updated_at = ${new Date(at)}
          where id = ${id} and signature = ${signature} and status = any(${FOLLOWS[status]}::text[])
          returning agent_id, venue, amount, updated_at
        ), logged as (
          insert into facts (agent_id, kind, subject, at, payload)
          select agent_id, 'fee', ${signature}, updated_at,
            jsonb_build_object('venue', venue, 'amount', amount::text)
          from settled where ${status === 'landed'}
        )
        select 1 from settled`;
      return row !== undefined;
    },

    /** Signed charges whose outcome is not known, oldest first. */
    async unsettled(limit: number): Promise<readonly FeeCharge[]> {
      const rows = await sql<FeeChargesRow[]>`
        select * from fee_charges where status in ('signed', 'unknown', 'broadcast') order by created_at limit ${limit}`;
      return rows.map(chargeOf);
    },
  };
}

/**
 * One attempt at a time: `signing` → `signed` (its bytes are stored; the process that signed sends them for the first
 * time) → `broadcast` (a node accepted them), or `unknown` (a node may have them, and no refusal can disprove it)
 * → `landed`. It can end as `unsigned` (not signed), `refused` (no node ever accepted it), `failed` (on the chain
 * without effect) or `dropped` (it can no longer land). Only after one of these four can another attempt begin.
 */
type FeeStatus =
  | 'signing'
  | 'unsigned'
  | 'signed'
  | 'unknown'
  | 'broadcast'
  | 'landed'
  | 'refused'
  | 'failed'
  | 'dropped';

export interface SignedFee {
  readonly providerId: string;
  /** Base58: the transaction's id. */
  readonly signature: string;
  /** The signed transaction. */
  readonly wire: Uint8Array;
  readonly lastValidBlockHeight: number;
}

export interface FeeCharge {
  readonly id: string;
  readonly amount: Micro;
  readonly fromAddress: SolanaAddress;
  readonly toAddress: SolanaAddress;
  readonly status: FeeStatus;
  /** The latest signed attempt; set from `signed` on. */
  readonly signed: SignedFee | null;
}

/** The right to make one attempt. */
export interface FeeAttempt {
  readonly id: string;
  readonly attempt: number;
}

interface NewFeeCharge {
  /** Used for a new charge; an existing charge with the same key keeps its id. */
  readonly id: string;
  readonly agentId: string;
  /** `null`: the charge is never looked up. */
  readonly key: string | null;
  readonly venue: string;
  readonly amount: Micro;
  readonly fromAddress: SolanaAddress;
  readonly toAddress: SolanaAddress;
  readonly requestId: string;
  readonly at: number;
  /** No other process begins an attempt before this time, unless this attempt ends. */
  readonly leaseUntil: number;
}

export type FeeStore = ReturnType<typeof createFeeStore>;
