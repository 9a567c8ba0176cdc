/** The owner's console: its pages, and the reads behind them. */
export { bindAgentReads } from './agent-reads.ts';
export { createConsoleBundle } from './bundle.ts';
export { createEquityStore, type EquityPoint, type EquityStore } from './equity-store.ts';
export { consoleJobs } from './jobs.ts';
export { createOwnerReads, type OwnerReads } from './owner-reads.ts';
export { serveConsole } from './pages.ts';
export { servePausePage } from './pause-page.ts';
export { bindOwnerConsole } from './routes.ts';
