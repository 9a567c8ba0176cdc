/** Statements: what moved the money of wallets in a span of time, and what it came to. */

export { bindStatements } from './routes.ts';
export { statementJobs } from './statement.ts';
export { createStatementStore } from './store.ts';
