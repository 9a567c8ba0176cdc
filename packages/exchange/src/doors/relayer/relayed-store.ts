/** Transactions that the paper relayer took, by what their owners signed: each has one effect, also when the process stops in between. */
import { randomUUID } from 'node:crypto';
import type { Sql } from '@bellwether/durable';
import type { Address, RelayTerms } from '@bellwether/protocol';
import type { Submission } from './submission.ts';

/** Idempotent. */
export const RELAYED_SCHEMA = `
create table if not exists exchange_relayed (
  transaction_id uuid primary key,
  digest text not null unique,
  builder text not null,
  eoa text not null,
  type text not null,
  nonce numeric not null,
  state text not null,
  transaction_hash text not null,
  body jsonb not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index if not exists exchange_relayed_nonces on exchange_relayed (eoa, type, nonce)
  where state <> 'STATE_FAILED' and state <> 'STATE_INVALID';
create index if not exists exchange_relayed_builders on exchange_relayed (builder, created_at);
comment on table exchange_relayed is 'Transactions that the paper exchange''s relayer took.';
`;

export type RelayState = 'STATE_NEW' | 'STATE_CONFIRMED' | 'STATE_FAILED';

export interface RelayedRow {
  readonly transaction_id: string;
  readonly digest: string;
  readonly eoa: string;
  readonly type: RelayTerms['type'];
  readonly nonce: string;
  readonly state: RelayState;
  readonly transaction_hash: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly created_at: Date;
  readonly updated_at: Date;
}

const MOST_LISTED = 100;

export type RelayedStore = ReturnType<typeof createRelayedStore>;

export function createRelayedStore(sql: Sql) {
  const columns = sql`transaction_id::text, digest, eoa, type, nonce::text, state, transaction_hash, body, created_at, updated_at`;
  return {
    async nextNonce(eoa: Address, type: string): Promise<bigint> {
      const [row] = await sql<{ readonly next: string }[]>`
        select coalesce(max(nonce) + 1, 0)::text as next from exchange_relayed
        where eoa = ${eoa} and type = ${type} and state not in ('STATE_FAILED', 'STATE_INVALID')`;
      return BigInt(row?.next ?? '0');
    },

    /** @returns the transaction, which may have been taken before; `null`: another one has its nonce */
    async take(
      { digest, owner, type, nonce, body }: Submission,
      { builder, hash }: { readonly builder: Address; readonly hash: string },
    ): Promise<RelayedRow | null> {
      await sql`
        insert into exchange_relayed (transaction_id, digest, builder, eoa, type, nonce, state, transaction_hash, body)
        values (${randomUUID()}, ${digest}, ${builder}, ${owner.eoa}, ${type}, ${nonce.toString()}, 'STATE_NEW', ${hash},
          ${sql.json(body as never)})
        on conflict do nothing`;
      const [row] = await sql<RelayedRow[]>`select ${columns} from exchange_relayed where digest = ${digest}`;
      return row ?? null;
    },

    async find(id: string): Promise<RelayedRow | null> {
      const [row] = await sql<RelayedRow[]>`
        select ${columns} from exchange_relayed where transaction_id::text = ${id}`;
      return row ?? null;
    },

    /** The latest ones that these credentials submitted, newest first. */
    async list(builder: Address): Promise<readonly RelayedRow[]> {
      return sql<RelayedRow[]>`
        select ${columns} from exchange_relayed where builder = ${builder}
        order by created_at desc limit ${MOST_LISTED}`;
    },

    async end(digest: string, state: Exclude<RelayState, 'STATE_NEW'>): Promise<void> {
      await sql`update exchange_relayed set state = ${state}, updated_at = now()
        where digest = ${digest} and state = 'STATE_NEW'`;
    },
  };
}
