/**
 * The sandbox chain in PostgreSQL. Each process that opens the chain begins a new term, and a commit under an earlier one
 * changes nothing. So a process that lost the lead without noticing cannot overwrite its successor's data, and a commit
 * whose answer was lost is either visible when the accounts are read again, or never.
 */
import { createHash } from 'node:crypto';
import {
  beginTerm,
  commitAll,
  type Row,
  type Session,
  type Sql,
  TERM_SCHEMA,
  type Term,
  type Tx,
  transact,
} from '@bellwether/durable';
import type {
  AddressedAccount,
  ChainAccount,
  Executed,
  InnerInstructions,
  LandedMeta,
  LandedRow,
  LandedTransaction,
  Statement,
} from './chain-interface.ts';
import { parseJson, toJson } from './exact-json.ts';
import { messageHashOf, type RecentTransaction, SLOT_MS } from './slots.ts';

const TERM_NAME = 'sandbox chain';
/** A new chain starts with one minute of blocks, so that their rate can be measured from the start. */
const HEAD_START_MS = 75 * SLOT_MS;

/** One thing to make durable. */
export interface Change {
  /** `null`: the account was deleted. */
  readonly accounts: ReadonlyMap<string, ChainAccount | null>;
  readonly landed: { readonly executed: Executed; readonly atMs: number; readonly meta: LandedMeta } | null;
  readonly also: readonly Statement[];
}

interface StoredChain {
  readonly genesisMs: number;
  readonly lastSlot: number;
  /** Transactions that ever landed. */
  readonly landed: number;
  readonly accounts: readonly AddressedAccount[];
  /** The last `recentSlots` slots before `lastSlot`, in order. */
  readonly recent: readonly Omit<RecentTransaction, 'pending'>[];
  readonly term: ChainTerm;
}

/** The right to write, until another process begins the next term. */
export interface ChainTerm {
  /**
   * Writes all changes or none.
   * @throws CommitInDoubt when the database was lost during the commit; other errors prove that nothing was written.
   *   The term is over after either.
   */
  commit(changes: readonly Change[]): Promise<void>;
  /** Rejects when the connection is gone; never resolves. */
  readonly lost: Promise<never>;
  end(): void;
}

interface TakeOptions {
  /** A name that no other process has used. */
  readonly holder: string;
  /** Required prefix of the current holder's name. Missing: the chain is taken from any holder. */
  readonly from?: string;
  readonly nowMs: number;
  readonly recentSlots: number;
}

export class ChainStore {
  readonly #sql: Sql;
  readonly #seedHash: string;
  readonly #landing: string | null;

  /** @param landing see ChainOptions */
  constructor(sql: Sql, seed: string, landing: string | null) {
    this.#sql = sql;
    this.#landing = landing;
    this.#seedHash = createHash('sha256').update(seed).digest('hex');
  }

  /** Begins a term and reads the chain. @throws Superseded */
  async take(options: TakeOptions): Promise<StoredChain> {
    const session = await this.#sql.session();
    try {
      const term = await transact(session, (tx) => this.#claim(tx, options));
      return await this.#read(session, term, options);
    } catch (error) {
      session.end();
      throw error;
    }
  }

  async #claim(tx: Tx, { holder, from, nowMs }: TakeOptions): Promise<Term> {
    // Waits for a running commit.
    const term = await beginTerm(tx, { name: TERM_NAME, holder, ...(from === undefined ? {} : { from }) });
    // Slots that passed at another rate keep their numbers: blockhashes derive from them, and a quote that is valid
    // until a height must end at that height.
    const [chain] = await tx`
      insert into sandbox_chain as chain (id, genesis_ms, seed_hash, slot_ms)
      values (1, ${String(nowMs - HEAD_START_MS)}::bigint, ${this.#seedHash}, ${SLOT_MS})
      on conflict (id) do update set slot_ms = ${SLOT_MS},
        genesis_ms = case when chain.slot_ms = ${SLOT_MS} then chain.genesis_ms else ${String(nowMs)}::bigint
          - greatest(0, ${String(nowMs)}::bigint - chain.genesis_ms) / chain.slot_ms * ${SLOT_MS} end
      returning seed_hash`;
    if (chain?.seed_hash !== this.#seedHash)
      throw new Error(
        'this database holds a sandbox chain of another seed; use that seed, or a new database',
      );
    return term;
  }

  async #read(session: Session, term: Term, { recentSlots }: TakeOptions): Promise<StoredChain> {
    const [chain, accounts] = await Promise.all([
      session`
          select genesis_ms::text, coalesce((select max(slot) from sandbox_transactions), 0)::text as last_slot,
            (forgotten + (select count(*) from sandbox_transactions))::text as landed
          from sandbox_chain`,
      session`select address, lamports::text, owner, executable, data from sandbox_accounts`,
    ]);
    const lastSlot = Number(chain[0]?.last_slot);
    const recent = await this.#sql`
      select signature, slot::text, err, wire from sandbox_transactions
      where slot > ${String(lastSlot - recentSlots)}::bigint order by slot`;
    return {
      genesisMs: Number(chain[0]?.genesis_ms),
      lastSlot,
      landed: Number(chain[0]?.landed),
      accounts: accounts.map((row) => ({
        address: row.address,
        account: {
          lamports: BigInt(row.lamports),
          owner: row.owner,
          executable: row.executable,
          data: row.data,
        },
      })),
      recent: recent.map((row) => ({
        signature: row.signature,
        messageHash: messageHashOf(messageOf(row.wire)),
        slot: Number(row.slot),
        err: errOf(row.err),
      })),
      term: {
        commit: (changes) => commit(session, { term, changes, landing: this.#landing }),
        lost: session.lost,
        end: session.end,
      },
    };
  }

  async outcomes(
    signatures: readonly string[],
  ): Promise<ReadonlyMap<string, { readonly slot: number; readonly err: unknown }>> {
    const rows = await this.#sql`
      select signature, slot::text, err from sandbox_transactions where signature = any(${signatures as string[]})`;
    return new Map(rows.map((row) => [row.signature, { slot: Number(row.slot), err: errOf(row.err) }]));
  }

  async transaction(signature: string): Promise<LandedTransaction | null> {
    const [row] = await this.#sql`
      select slot::text, at_ms::text, err, meta, wire from sandbox_transactions where signature = ${signature}`;
    return row === undefined ? null : landedOf(row);
  }

  /** The faucet's total of a day, by address. */
  async airdropsOf(day: string): Promise<Map<string, bigint>> {
    const rows = await this.#sql`select address, lamports::text from sandbox_airdrops where day = ${day}`;
    return new Map(rows.map((row) => [row.address, BigInt(row.lamports)]));
  }
}

/** The message follows the signatures: a count byte, then 64 bytes each. Landed transactions were read strictly. */
const messageOf = (wire: Uint8Array): Uint8Array => wire.subarray(1 + 64 * (wire[0] ?? 0));

interface Commit {
  readonly term: Term;
  readonly changes: readonly Change[];
  readonly landing: string | null;
}

async function commit(session: Session, { term, changes, landing }: Commit): Promise<void> {
  try {
    await commitAll(session, (tx) => [
      term.assert(tx),
      ...writeAccounts(tx, changes),
      ...writeTransactions(tx, changes),
      ...landingStatements(landing, changes).map(({ text, values }) => run(tx, text, values)),
      ...changes.flatMap(({ also }) => also.map(({ text, values }) => run(tx, text, values))),
    ]);
  } catch (error) {
    session.end();
    throw error;
  }
}

const run = (tx: Tx, text: string, values: Statement['values']): PromiseLike<unknown> =>
  tx.unsafe(text, [...values]);

function landingStatements(landing: string | null, changes: readonly Change[]): readonly Statement[] {
  if (landing === null) return [];
  const rows = changes.flatMap(({ landed }): LandedRow[] =>
    landed === null
      ? []
      : [
          {
            message_hash: messageHashOf(landed.executed.message),
            signature: landed.executed.signature,
            succeeded: landed.executed.err === null,
            at_ms: landed.atMs,
          },
        ],
  );
  return rows.length === 0 ? [] : [{ text: landing, values: [JSON.stringify(rows)] }];
}

function writeAccounts(tx: Tx, changes: readonly Change[]): PromiseLike<unknown>[] {
  const latest = new Map<string, ChainAccount | null>();
  for (const { accounts } of changes) for (const [address, account] of accounts) latest.set(address, account);
  const present = [...latest].filter((entry): entry is [string, ChainAccount] => entry[1] !== null);
  const gone = [...latest.keys()].filter((address) => latest.get(address) === null);
  const statements: PromiseLike<unknown>[] = [];
  if (present.length > 0)
    statements.push(tx`
      insert into sandbox_accounts (address, lamports, owner, executable, data)
      select address, lamports, owner, executable, decode(data, 'base64') from unnest(
        ${present.map(([address]) => address)}::text[],
        ${present.map(([, account]) => String(account.lamports))}::numeric[],
        ${present.map(([, account]) => account.owner)}::text[],
        ${present.map(([, account]) => String(account.executable))}::boolean[],
        ${present.map(([, account]) => base64(account.data))}::text[]
      ) as given (address, lamports, owner, executable, data)
      on conflict (address) do update set
        lamports = excluded.lamports, owner = excluded.owner,
        executable = excluded.executable, data = excluded.data`);
  if (gone.length > 0) statements.push(tx`delete from sandbox_accounts where address = any(${gone})`);
  return statements;
}

function writeTransactions(tx: Tx, changes: readonly Change[]): PromiseLike<unknown>[] {
  const rows = changes.flatMap(({ landed }) => (landed === null ? [] : [landed]));
  if (rows.length === 0) return [];
  return [
    tx`
      insert into sandbox_transactions (signature, slot, at_ms, err, meta, wire)
      select signature, slot, at_ms, nullif(err, 'null'), meta, decode(wire, 'base64') from unnest(
        ${rows.map(({ executed }) => executed.signature)}::text[],
        ${rows.map(({ executed }) => String(executed.slot))}::bigint[],
        ${rows.map(({ atMs }) => String(atMs))}::bigint[],
        ${rows.map(({ executed }) => toJson(executed.err))}::text[],
        ${rows.map(({ meta }) => metaToJson(meta))}::text[],
        ${rows.map(({ executed }) => base64(executed.wire))}::text[]
      ) as given (signature, slot, at_ms, err, meta, wire)`,
  ];
}

const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');

// The rows of landed transactions.

type Inner = InnerInstructions['instructions'][number];

const errOf = (text: string | null): unknown => (text === null ? null : parseJson(text));

/** From `slot::text, at_ms::text, err, meta, wire`. */
const landedOf = (row: Row): LandedTransaction => ({
  slot: Number(row.slot),
  atMs: Number(row.at_ms),
  err: errOf(row.err),
  meta: metaFromJson(row.meta),
  wire: row.wire,
});

/** Parsed integers are numbers where a double represents them; these fields are always bigint. */
function metaFromJson(text: string): LandedMeta {
  const meta = parseJson(text) as Omit<LandedMeta, 'inner'> & {
    readonly returnData: { programId: string; data: string } | null;
    /** Missing in rows of earlier releases. */
    readonly inner?: readonly (Omit<InnerInstructions, 'instructions'> & {
      readonly instructions: readonly (Omit<Inner, 'data'> & { readonly data: string })[];
    })[];
  };
  const sheet = (from: LandedMeta['pre']): LandedMeta['pre'] => ({
    lamports: from.lamports.map(BigInt),
    tokens: from.tokens.map((token) => ({ ...token, amount: BigInt(token.amount) })),
  });
  return {
    ...meta,
    fee: BigInt(meta.fee),
    unitsConsumed: BigInt(meta.unitsConsumed),
    returnData:
      meta.returnData === null
        ? null
        : { programId: meta.returnData.programId, data: Buffer.from(meta.returnData.data, 'base64') },
    inner: (meta.inner ?? []).map(({ index, instructions }) => ({
      index,
      instructions: instructions.map((one) => ({ ...one, data: Buffer.from(one.data, 'base64') })),
    })),
    pre: sheet(meta.pre),
    post: sheet(meta.post),
  };
}

const metaToJson = (meta: LandedMeta): string =>
  toJson({
    ...meta,
    inner:
      meta.inner.length === 0
        ? undefined
        : meta.inner.map(({ index, instructions }) => ({
            index,
            instructions: instructions.map((one) => ({ ...one, data: base64(one.data) })),
          })),
    returnData:
      meta.returnData === null
        ? null
        : { programId: meta.returnData.programId, data: base64(meta.returnData.data) },
  });

/**
 * The sandbox chain's tables. Idempotent: the migration may run it at every start.
 *
 * - sandbox_chain: one row. `genesis_ms` is slot 0; `seed_hash` keeps a database from being opened with the keys of
 *   another sandbox; `slot_ms` is how long a slot lasts since `genesis_ms`; `forgotten` counts deleted transactions.
 * - sandbox_accounts: every account except the virtual machine's own, as of the last commit.
 * - sandbox_transactions: the transactions that landed in the last two days (`sandbox.ts`), with the data of
 *   getTransaction. `err` and `meta` are JSON as text, because they contain integers that a double cannot represent.
 * - sandbox_airdrops: the faucet's total per address and UTC day; `source …` (a hash) is the total of all addresses
 *   of one caller. The first gift of a day deletes earlier days.
 */
export const SANDBOX_CHAIN_SCHEMA = `${TERM_SCHEMA}
create table if not exists sandbox_chain (
  id smallint primary key check (id = 1),
  genesis_ms bigint not null,
  seed_hash text not null
);
alter table sandbox_chain add column if not exists slot_ms integer not null default 400;
alter table sandbox_chain add column if not exists forgotten bigint not null default 0;
alter table sandbox_chain drop column if exists holder;
create table if not exists sandbox_accounts (
  address text primary key,
  lamports numeric(20) not null,
  owner text not null,
  executable boolean not null,
  data bytea not null
) with (fillfactor = 80);
create table if not exists sandbox_transactions (
  signature text primary key,
  slot bigint not null,
  at_ms bigint not null,
  err text,
  meta text not null,
  wire bytea not null
);
create index if not exists sandbox_transactions_slot on sandbox_transactions (slot);
create table if not exists sandbox_airdrops (
  address text not null,
  day text not null,
  lamports bigint not null,
  primary key (address, day)
);
`;
