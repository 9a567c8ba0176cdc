/**
 * A process that still believes that it leads commits nothing once another one has begun a term. The database refuses it:
 * no clock, lock or lost connection is needed. Every kind of commit asserts its term, so each has a row here.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  beginTerm,
  type Lead,
  openPool,
  openTransaction,
  type Sql,
  type Term,
  takeLead,
  transact,
} from '@bellwether/durable';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { migrateExchange } from '../../packages/exchange/src/index.ts';
import {
  commitRows,
  type JournalRow,
  type Leading,
  Turn,
} from '../../packages/exchange/src/journal/commits.ts';
import { ChainStore } from '../../packages/sandbox/src/solana/chain-store.ts';
import { SANDBOX_CHAIN_SCHEMA } from '../../packages/sandbox/src/solana/index.ts';
import { createTestDatabase } from '../postgres.ts';
import { afterFile } from '../setup/clean-up.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const ENDED = { code: 'BW001' };

let sql: Sql;
beforeAll(async () => {
  sql = openPool(await createTestDatabase());
  afterFile('services', async () => {
    await sql.end({ timeout: 1 });
    return true;
  });
  await migrateExchange(sql);
  await sql.unsafe(SANDBOX_CHAIN_SCHEMA);
  await sql`create table marks (name text)`;
});
beforeEach(() => sql`truncate marks, exchange_journal, sandbox_accounts`);

const row: JournalRow = {
  entry: { seq: 1, at: 1, command: { kind: 'step' }, events: [], markets: new Map() },
  command: '{}',
  prices: [],
};
const takeOne = (): JournalRow[] => [row];
const mark = (name: string) => ({ text: 'insert into marks values ($1)', values: [name] });

const another = (name: string): Promise<Term> =>
  transact(sql, (tx) => beginTerm(tx, { name, holder: 'another process' }));

async function leading(name = 'exchange'): Promise<Leading> {
  const session = await sql.session();
  return { session, term: await transact(session, (tx) => beginTerm(tx, { name, holder: 'this process' })) };
}

/** A turn whose commit has come. */
function ownTurn(lead: Leading, rows: readonly JournalRow[]): Turn {
  const turn = new Turn({
    ...{ lead, place: () => [], sent: () => {}, committed: () => {} },
    failed: (cause) => cause as Error,
  });
  turn.run(() => rows).catch(() => {});
  return turn;
}

async function takeTurn(lead: Leading, rows: readonly JournalRow[], marks: readonly string[]): Promise<void> {
  const turn = ownTurn(lead, rows);
  for (const name of marks) turn.tx`insert into marks values (${name})`.then(undefined, () => {});
  try {
    await turn.begin();
  } catch (error) {
    await turn.giveUp(error);
    throw error;
  }
  await turn.commit();
}

const written = async () => {
  const [counts] = await sql`select (select count(*)::int from marks) as marks,
    (select count(*)::int from exchange_journal) as journal, (select count(*)::int from sandbox_accounts) as accounts`;
  return { ...counts };
};
const NOTHING_WRITTEN = { marks: 0, journal: 0, accounts: 0 };

interface Kind {
  readonly name: string;
  readonly term: string;
  /** Takes the lead. @returns the commit */
  readonly begin: () => Promise<{ readonly commit: () => Promise<void>; readonly end: () => void }>;
  readonly writes: object;
}

const KINDS: readonly Kind[] = [
  {
    name: 'the journal’s own commands',
    term: 'exchange',
    writes: { marks: 1, journal: 1, accounts: 0 },
    async begin() {
      const lead = await leading();
      const recorder = () => (tx: Parameters<Term['assert']>[0]) => [
        tx`insert into marks values ('recorded')`,
      ];
      return { commit: () => commitRows(lead, takeOne, recorder), end: lead.session.end };
    },
  },
  {
    name: 'a turn at the journal',
    term: 'exchange',
    writes: { marks: 2, journal: 1, accounts: 0 },
    async begin() {
      const lead = await leading();
      return {
        end: lead.session.end,
        commit: () => takeTurn(lead, [row], ['read', 'recorded']),
      };
    },
  },
  {
    name: 'a turn without a command',
    term: 'exchange',
    writes: { marks: 1, journal: 0, accounts: 0 },
    async begin() {
      const lead = await leading();
      return { end: lead.session.end, commit: () => takeTurn(lead, [], ['only']) };
    },
  },
  {
    name: 'blocks of the sandbox chain, with what their witnesses write',
    term: 'sandbox chain',
    writes: { marks: 1, journal: 0, accounts: 1 },
    async begin() {
      const { term } = await new ChainStore(sql, 'seed', null).take({
        ...{ holder: 'this process', nowMs: 1_000_000, recentSlots: 1 },
      });
      term.lost.catch(() => {});
      const account = { lamports: 1n, owner: 'owner', executable: false, data: new Uint8Array() };
      const change = { accounts: new Map([['address', account]]), landed: null, also: [mark('witness')] };
      return { commit: () => term.commit([change]), end: () => term.end() };
    },
  },
];

describe.each(KINDS)('$name', ({ term, begin, writes }) => {
  test('are committed while the term lasts', async () => {
    const { commit, end } = await begin();
    await commit();
    expect(await written()).toEqual(writes);
    end();
  });

  test('are not committed, in no part, after another process has begun a term', async () => {
    const { commit, end } = await begin();
    await another(term);
    await expect(commit()).rejects.toMatchObject(ENDED);
    expect(await written()).toEqual(NOTHING_WRITTEN);
    end();
  });
});

test('a new term waits for a commit that has asserted its own', async () => {
  const lead = await leading();
  const turn = ownTurn(lead, [row]);
  await turn.begin();
  let hasBegun = false;
  const next = another('exchange').then(() => {
    hasBegun = true;
  });
  const waits = () => sql`select 1 from pg_stat_activity where wait_event_type = 'Lock'
    and datname = current_database() and query like '%durable_terms%'`;
  await expect.poll(async () => (await waits()).count > 0 || hasBegun).toBe(true);
  expect(hasBegun).toBe(false);
  await turn.commit();
  await next;
  expect(await written()).toMatchObject({ journal: 1 });
  lead.session.end();
});

test('a holder of the same name has no say under a number that is over', async () => {
  const lead = await leading();
  await transact(sql, (tx) => beginTerm(tx, { name: 'exchange', holder: 'this process' }));
  await expect(commitRows(lead, takeOne, undefined)).rejects.toMatchObject(ENDED);
  const other = openTransaction(sql);
  await expect(lead.term.assert(other.tx)).rejects.toMatchObject(ENDED);
  await other.rollback();
  lead.session.end();
});

test('a leader that cannot renew its lease stops before it is ended, and goes on once it can', async () => {
  const lead = (await takeLead(sql, {
    name: 'lease',
    holder: 'this process',
    lockKey: '4711',
    settings: {},
  })) as Lead;
  expect(lead.isHeld()).toBe(true);
  const blocker = openTransaction(sql);
  await blocker.tx`select 1 from durable_terms where name = 'lease' for update`;
  await expect.poll(() => lead.isHeld(), { interval: 20 }).toBe(false);
  expect(lead.session.isLost()).toBe(false);
  await blocker.rollback();
  await expect.poll(() => lead.isHeld(), { interval: 20 }).toBe(true);
  await lead.release();
});

/** Transactions that need no term, each with its reason. */
const WITHOUT_TERM: Readonly<Record<string, string>> = {
  'packages/exchange/src/journal/snapshot-worker.ts':
    'reads what is durable, and writes nothing in this transaction',
  'packages/exchange/src/history/store.ts':
    'what the history keeps follows from the journal, so any process may write it',
};

test('every other transaction of exchange and sandbox is known to need no term', () => {
  const found = ['packages/exchange/src', 'packages/sandbox/src'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => join(folder, file))
      .filter((file) => {
        const text = readFileSync(join(ROOT, file), 'utf8');
        const opened = text.match(/\b(commitAll|openTransaction|transact)\(/g)?.length ?? 0;
        const asserted = text.match(/\.assert\(|\bbeginTerm\(|#claim\(tx/g)?.length ?? 0;
        return opened > asserted;
      }),
  );
  expect(found.toSorted()).toEqual(Object.keys(WITHOUT_TERM).toSorted());
});
