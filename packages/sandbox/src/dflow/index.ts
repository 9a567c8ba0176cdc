export { dflowMetadataDoor, dflowTradeDoor } from './doors.ts';
export { DFLOW_SANDBOX_SCHEMA, LANDING } from './orders.ts';
export type { Switches } from './refusals.ts';
export {
  type DflowSandbox,
  loadTransactions,
  openDflowSandbox,
} from './sandbox.ts';
