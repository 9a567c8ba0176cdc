/** Durable access to PostgreSQL: pool, transactions, sessions, terms, group commit. */
export { arrayOf, type Element, type ElementType } from './binary-array.ts';
export { socketUrl, type Tls } from './database-url.ts';
export { CommitInDoubt, ConnectionLost, ConnectionRefused, DatabaseError, whilePassing } from './errors.ts';
export { GroupCommit, type GroupCommitOptions, type Take } from './group-commit.ts';
export {
  openPool,
  type PoolAddress,
  type PoolOptions,
  refuseLoneCommits,
  refusePooler,
  type Session,
  type Sql,
} from './pool.ts';
export {
  currentOrigin,
  type Fragment,
  json,
  type Row,
  type Rows,
  type Tag,
  withOrigin,
} from './statement.ts';
export {
  beginTerm,
  endOwnSession,
  type Lead,
  Superseded,
  TERM_SCHEMA,
  type Term,
  takeLead,
} from './term.ts';
export { commitAll, openTransaction, type Transaction, type Tx, transact } from './transaction.ts';
