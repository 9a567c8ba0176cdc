/**
 * Terms and the lead. One process at a time may write a journal. Each time the right to write changes hands, a new term
 * begins. Every commit carries the number of its term; the database refuses a commit under an older term, even when its
 * sender still believes that it leads.
 *
 * The lead is a lease. Its holder renews it; a holder that cannot renew stops (`isHeld`) before the lease expires.
 * Another process then ends the silent holder's session and begins the next term. The holder measures the time since it
 * sent its last renewal by its own monotonic clock; the other processes measure the age of that renewal by the
 * database's clock. So the clocks of two machines are never compared.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Session, Sql } from './pool.ts';
import { type Tx, transact } from './transaction.ts';

/** Idempotent. `assert_term` locks the row, so that a new term waits for a running commit. */
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

/** Another process has begun a newer term. */
export class Superseded extends Error {
  override readonly name = 'Superseded';
}

export interface Term {
  /** Counts up by one with every term of this name. */
  readonly number: bigint;
  /** The first statement of every commit: fails the transaction when the term is over. */
  assert(tx: Tx): PromiseLike<unknown>;
}

interface TermClaim {
  readonly name: string;
  /** A name that no other process has used. */
  readonly holder: string;
  /** Required prefix of the current holder's name. Missing: the term is taken from any holder. */
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
  /** For the journal's statements only. When it is lost, the lead is lost. */
  readonly session: Session;
  readonly term: Term;
  /** False once the last renewal is so old that another process may soon take over, until a renewal succeeds. */
  isHeld(): boolean;
  /** When the last renewal became too old, performance.now(); `null` while the lead is held, and once its session is lost. */
  lapsedAt(): number | null;
  /** Releases the lead permanently; waits until it is free when the connection still answers. */
  release(): Promise<void>;
}

interface LeadOptions {
  readonly name: string;
  readonly holder: string;
  /** Key of an advisory lock of the holder's session: released as soon as that session ends. Signed, 64 bits. */
  readonly lockKey: string;
  /** Settings of the session. */
  readonly settings: Readonly<Record<string, string>>;
}

const RENEW_EVERY_MS = 250;
/**
 * A takeover from a leader that is frozen or cut off is to take less than three seconds on a busy machine, and a leader
 * whose event loop stands still for a second must keep its lead: it has renewed at most 250 ms before that, and is asked
 * for its next renewal 1,750 ms after the last. Tests without a takeover make the lease longer (test/setup/long-leases.ts):
 * a busy machine may suspend them for seconds.
 */
export const LEASE = {
  /** By the holder's clock, since it sent a renewal. */
  heldForMs: 1_500,
  /** By the database's clock. Longer than `heldForMs`, so that the holder has stopped by then. */
  silentAfterMs: 1_750,
};
/**
 * A database that stood still answers all who waited for it at about the same time. A holder that was only waiting, too,
 * renews within this time, and keeps the lead.
 */
const SECOND_LOOK_AFTER_MS = 100;
/** Consecutive renewals without an answer after which the holder ends its session. */
const MAX_UNANSWERED = 16;
/** How long to wait for the lock after its silent holder was ended. */
const FREED_WITHIN_MS = 300;
const FREED_LOOK_MS = 20;

/**
 * The pooled connections must be real sessions: a pooler that lends one session to several clients breaks the lock.
 * @returns undefined when another process leads. @throws when the database does not answer
 */
export async function takeLead(database: Sql, options: LeadOptions): Promise<Lead | undefined> {
  const holder = await holderOf(database, options);
  if (holder === 'renewing') return undefined;
  if (holder === 'silent') {
    await sleep(SECOND_LOOK_AFTER_MS);
    await endSilentHolder(database, options);
  }
  const session = await database.session({ settings: options.settings });
  try {
    if (!(await lock(session, options, holder === 'silent' ? FREED_WITHIN_MS : 0))) {
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

/** A crash of the database may undo a renewal without harm. */
const RENEWAL = { synchronous_commit: 'off' };

/** Whether another process holds the lock. Asked on the pool, so that an attempt without a chance opens no session. */
async function holderOf(database: Sql, options: LeadOptions): Promise<'none' | 'renewing' | 'silent'> {
  const [holder] = await database`
    select exists (${silentTerm(database, options)} and t.backend_pid = l.pid) as is_silent
    from pg_locks l where ${ofLock(database, options.lockKey)}`;
  if (holder === undefined) return 'none';
  return holder.is_silent === true ? 'silent' : 'renewing';
}

/** @param withinMs how long to try again: an ended holder frees the lock a moment later */
async function lock(session: Session, { lockKey }: LeadOptions, withinMs: number): Promise<boolean> {
  for (let waited = 0; ; waited += FREED_LOOK_MS) {
    const [row] = await session`select pg_try_advisory_lock(${lockKey}::bigint) as locked`;
    if (row?.locked === true) return true;
    if (waited >= withinMs) return false;
    await sleep(FREED_LOOK_MS);
  }
}

/**
 * Ends the session of a holder that has not renewed for too long; needs the same database role, or pg_signal_backend.
 * The session that began the term must be the one that holds the lock, so that no unrelated session is ended.
 */
async function endSilentHolder(database: Sql, options: LeadOptions): Promise<void> {
  await database`
    select pg_terminate_backend(l.pid) from pg_locks l
    where ${ofLock(database, options.lockKey)}
      and exists (${silentTerm(database, options)} and t.backend_pid = l.pid)`;
}

const silentTerm = (database: Sql, { name }: LeadOptions) => database`
  select from durable_terms t
  where t.name = ${name} and t.renewed_at < clock_timestamp() - ${LEASE.silentAfterMs} * interval '1 millisecond'`;

/** Ends our own session on the server, so that a dead connection does not keep its lock for minutes. */
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
    if (unanswered > MAX_UNANSWERED) return end();
    // One at a time: a second renewal behind an unanswered one adds no information.
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
  const lapsedAt = (): number | null => {
    const heldUntil = heldFrom + LEASE.heldForMs;
    return session.isLost() || performance.now() < heldUntil ? null : heldUntil;
  };
  return {
    session,
    term,
    isHeld: () => !session.isLost() && lapsedAt() === null,
    lapsedAt,
    async release() {
      clearInterval(timer);
      if (!session.isLost()) await session`select pg_advisory_unlock(${lockKey}::bigint)`.catch(() => {});
      end();
    },
  };
}
