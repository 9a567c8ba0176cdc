/**
 * Terms and the lead. One process at a time may write a journal. Each time that the right to write passes on, a new term
 * begins, and every commit carries the number of its term: a commit under an older term is refused by the database,
 * whatever its sender believes.
 *
 * The lead is a lease. Its holder renews it; a holder that cannot renew stops by itself (`isHeld`) before the lease is
 * over, and another process then ends the silent holder's session and begins the next term. The holder measures time
 * from the moment at which it sent its last renewal, by its own monotonic clock; the others measure the age of that
 * renewal by the database's clock. So the clocks of two machines are never compared.
 */
import type { Session, Sql } from './pool.ts';
import { type Tx, transact } from './transaction.ts';

/** Idempotent. `assert_term` locks the row, so that a new term waits for a commit that is under way. */
export const TERM_SCHEMA = `
create table if not exists durable_terms (
  name text primary key,
  term bigint not null,
  holder text not null,
  backend_pid integer not null,
  renewed_at timestamptz not null
) with (fillfactor = 50);
create or replace function assert_term(term_name text, term_number bigint) returns void language plpgsql as $$
begin
  perform 1 from durable_terms where name = term_name and term = term_number for share;
  if not found then
    raise exception 'the term % of "%" is over', term_number, term_name using errcode = 'BW001';
  end if;
end $$;
`;

/** Another process has begun a term since. */
export class Superseded extends Error {
  override readonly name = 'Superseded';
}

export interface Term {
  /** Counts up by one with every term of this name. */
  readonly number: bigint;
  /** Belongs in front of every commit's statements: fails the transaction when the term is over. */
  assert(tx: Tx): PromiseLike<unknown>;
}

export interface TermClaim {
  readonly name: string;
  /** A name that no process has had before. */
  readonly holder: string;
  /** How the name of the present holder must begin. Missing: the term is taken from any holder. */
  readonly from?: string;
}

/** Begins the next term, as a part of the transaction. @throws Superseded */
export async function beginTerm(tx: Tx, { name, holder, from }: TermClaim): Promise<Term> {
  const [row] = await tx`
    insert into durable_terms as present (name, term, holder, backend_pid, renewed_at)
    values (${name}, 1, ${holder}, pg_backend_pid(), clock_timestamp())
    on conflict (name) do update set
      term = present.term + 1, holder = excluded.holder, backend_pid = excluded.backend_pid,
      renewed_at = excluded.renewed_at
    where ${from ?? null}::text is null or starts_with(present.holder, ${from ?? ''})
    returning term`;
  if (row === undefined) throw new Superseded(`another process has begun a term of "${name}"`);
  const number = row.term as bigint;
  return { number, assert: (later) => later`select assert_term(${name}, ${number})` };
}

export interface Lead {
  /** For the journal's statements only. Lost: the lead is lost. */
  readonly session: Session;
  readonly term: Term;
  /** False once the last renewal is so old that another process may soon take over, until a renewal succeeds. */
  isHeld(): boolean;
  /** Gives the lead up for good, and waits until it is free where the connection still answers. */
  release(): Promise<void>;
}

export interface LeadOptions {
  readonly name: string;
  readonly holder: string;
  /** Of an advisory lock that the holder's session keeps: it is free as soon as that session is gone. Signed, 64 bits. */
  readonly lockKey: string;
  /** Of the session. */
  readonly settings: Readonly<Record<string, string>>;
}

const RENEW_EVERY_MS = 500;
/** By the holder's clock, from when it sent a renewal. */
const HELD_FOR_MS = 2_000;
/** By the database's clock. Longer than the holder counts, so that it has stopped by then. */
const SILENT_AFTER_MS = 2_500;
/** Renewals in a row without an answer, after which the holder gives its session up. */
const UNANSWERED_MOST = 8;
/** How long to wait for the lock after its silent holder was ended. */
const FREED_WITHIN_MS = 300;
const FREED_LOOK_MS = 20;

/**
 * The pooled connections must be real sessions: a pooler that lends one session to several clients breaks the lock.
 * @returns undefined when another process leads. @throws when the database does not answer
 */
export async function takeLead(database: Sql, options: LeadOptions): Promise<Lead | undefined> {
  const session = await database.session({ settings: options.settings });
  try {
    if (!(await lockOrEndSilent(database, session, options))) {
      session.end();
      return undefined;
    }
    const sentAt = performance.now();
    const term = await transact(session, (tx) => beginTerm(tx, options));
    return holdLead(await database.session({ settings: RENEWAL }), { session, term, sentAt, ...options });
  } catch (error) {
    session.end();
    throw error;
  }
}

/** A renewal that a crash of the database undoes has lost nothing. */
const RENEWAL = { synchronous_commit: 'off' };

async function lockOrEndSilent(database: Sql, session: Session, options: LeadOptions): Promise<boolean> {
  const lock = async (): Promise<boolean> => {
    const [row] = await session`select pg_try_advisory_lock(${options.lockKey}::bigint) as locked`;
    return row?.locked === true;
  };
  if (await lock()) return true;
  const ended = await endSilentHolder(database, options);
  for (let waited = 0; ended && waited < FREED_WITHIN_MS; waited += FREED_LOOK_MS) {
    await new Promise((resolve) => setTimeout(resolve, FREED_LOOK_MS));
    if (await lock()) return true;
  }
  return false;
}

/**
 * Ends the session of a holder that has not renewed for too long; needs the same database role, or pg_signal_backend.
 * The session that began the term must be the one that has the lock: the number of another's process is not ours to end.
 */
async function endSilentHolder(database: Sql, { name, lockKey }: LeadOptions): Promise<boolean> {
  const ended = await database`
    select pg_terminate_backend(l.pid) from pg_locks l join durable_terms t on t.backend_pid = l.pid
    where t.name = ${name} and t.renewed_at < clock_timestamp() - ${SILENT_AFTER_MS} * interval '1 millisecond'
      and ${ofLock(database, lockKey)}`;
  return ended.length > 0;
}

/** Ends a session of our own that the server still believes in, so that its lock does not outlive it by minutes. */
export async function endOwnSession(database: Sql, lockKey: string, backendPid: number): Promise<void> {
  await database`
    select pg_terminate_backend(l.pid) from pg_locks l where l.pid = ${backendPid} and ${ofLock(database, lockKey)}`;
}

const ofLock = (database: Sql, lockKey: string) => database`
  l.locktype = 'advisory' and l.objsubid = 1 and l.granted
  and l.database = (select oid from pg_database where datname = current_database())
  and (l.classid::bigint << 32) | l.objid::bigint = ${lockKey}::bigint`;

interface Held extends LeadOptions {
  readonly session: Session;
  readonly term: Term;
  /** When the statement that began the term was sent; performance.now(). */
  readonly sentAt: number;
}

function holdLead(renewals: Session, { session, term, name, sentAt, lockKey }: Held): Lead {
  let heldFrom = sentAt;
  let unanswered = 0;
  let isRenewing = false;
  const end = (): void => {
    clearInterval(timer);
    renewals.end();
    session.end();
  };
  const renew = async (): Promise<void> => {
    unanswered += 1;
    if (unanswered > UNANSWERED_MOST) return end();
    // One at a time: what is behind an unanswered renewal would tell nothing more.
    if (isRenewing) return;
    isRenewing = true;
    const sent = performance.now();
    try {
      const { count } = await renewals`
        update durable_terms set renewed_at = clock_timestamp() where name = ${name} and term = ${term.number}`;
      if (count === 0) return end();
      heldFrom = sent;
      unanswered = 0;
    } finally {
      isRenewing = false;
    }
  };
  const timer = setInterval(() => renew().catch(end), RENEW_EVERY_MS);
  timer.unref();
  session.lost.catch(end);
  return {
    session,
    term,
    isHeld: () => !session.isLost() && performance.now() - heldFrom < HELD_FOR_MS,
    async release() {
      clearInterval(timer);
      if (!session.isLost()) await session`select pg_advisory_unlock(${lockKey}::bigint)`.catch(() => {});
      end();
    },
  };
}
