export { dflowMetadataDoor } from './metadata-door.ts';
export { LANDING } from './orders.ts';
export {
  type DflowSandbox,
  loadTransactions,
  openDflowSandbox,
} from './sandbox.ts';
export { DFLOW_SANDBOX_SCHEMA } from './schema.ts';
export type { Switches } from './switches.ts';
export { dflowTradeDoor } from './trade-door.ts';
