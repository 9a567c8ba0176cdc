/** Guarded exits: SELL orders that an agent signed ahead and left with the desk, each with the trigger that sends it. */

export { endOf as exitEnd, exitRecords } from './records.ts';
export { bindExits } from './routes.ts';
export { type AlertReader, createExitStore, type ExitRow, type ExitStore } from './store.ts';
export { exitJobs } from './watch-exits.ts';
