/** The owner's console: its pages, and the reads behind them. */

export { createConsoleBundle } from './bundle.ts';
export { consoleJobs } from './equity.ts';
export { serveConsole, servePausePage } from './pages.ts';
export { bindAgentReads, bindOwnerConsole } from './routes.ts';
export {
  createEquityStore,
  createOwnerReads,
  type EquityPoint,
  type EquityStore,
  type OwnerReads,
} from './store.ts';
