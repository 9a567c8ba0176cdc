/** Where the chain's database is, as data: its thread opens connections of its own. */
import type { Database } from '@bellwether/exchange';
import postgres, { type Sql } from 'postgres';

export type DatabaseAddress = Readonly<Record<string, unknown>>;

/** One session writes; reads of history take the others. */
const READERS = 2;
const CONNECT_TIMEOUT_S = 10;
/** A thread that is stuck within a transaction keeps its successor waiting no longer. */
const IDLE_IN_TRANSACTION_MS = 15_000;

/** Of the pool's options those that say where and who, and nothing that is a function. */
export function addressOf(database: Database): DatabaseAddress {
  const { host, port, path, database: name, user, pass, ssl, connection } = (database as Sql).options;
  return structuredClone({ host, port, path, database: name, user, pass, ssl, connection });
}

export function openDatabase(address: DatabaseAddress): Sql {
  const { connection } = address as { readonly connection?: Readonly<Record<string, string>> };
  return postgres({
    ...address,
    max: READERS,
    connect_timeout: CONNECT_TIMEOUT_S,
    max_lifetime: null,
    onnotice: () => {},
    connection: { ...connection, idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS },
  } as unknown as postgres.Options<Record<string, never>>) as unknown as Sql;
}
