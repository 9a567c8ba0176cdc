/** Statements: what moved the money of wallets in a span of time, and what it came to. */
export { statementJobs } from './jobs.ts';
export { bindStatements } from './routes.ts';
export { createStatementStore } from './store.ts';
