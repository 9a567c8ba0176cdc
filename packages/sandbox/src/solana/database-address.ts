/** The address of the chain's database as data: the thread opens its own connections. */
import { openPool, type PoolAddress, type Sql } from '@bellwether/durable';

export type DatabaseAddress = PoolAddress;

/** One session writes; reads of the history use the others. */
const READERS = 2;

export const addressOf = (sql: Sql): DatabaseAddress => sql.address();

export const openDatabase = ({ url, options }: DatabaseAddress): Sql =>
  openPool(url, { ...options, max: READERS });
