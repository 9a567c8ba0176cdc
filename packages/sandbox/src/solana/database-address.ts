/** Where the chain's database is, as data: its thread opens connections of its own. */
import { openPool, type PoolAddress, type Sql } from '@bellwether/durable';

export type DatabaseAddress = PoolAddress;

/** One session writes; reads of history take the others. */
const READERS = 2;

export const addressOf = (sql: Sql): DatabaseAddress => sql.address();

export const openDatabase = ({ url, options }: DatabaseAddress): Sql =>
  openPool(url, { ...options, max: READERS });
