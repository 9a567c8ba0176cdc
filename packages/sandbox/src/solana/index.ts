export { RECENT_SLOTS, SLOT_MS } from './block-clock.ts';
export { openChain } from './chain-thread.ts';
export { askChain } from './rpc/desk.ts';
export { type SolanaRpcDoorOptions, solanaRpcDoor } from './rpc/door.ts';
export { SANDBOX_CHAIN_SCHEMA } from './schema.ts';
export { messageHashOf } from './status-cache.ts';
export { type PreparedThread, prepareThread } from './thread-start.ts';
export {
  type AddressedAccount,
  type AirdropAllowance,
  AirdropRefused,
  type BalanceSheet,
  type ChainAccount,
  type ChainOptions,
  type Executed,
  type LandedTransaction,
  type Refusal,
  type RpcAnswer,
  type SandboxChain,
  SandboxChainUnavailable,
  type SendOptions,
  type SendOutcome,
  type SignatureStatus,
  type Simulated,
  type SimulateOptions,
  type SimulationOutcome,
  type Statement,
  type TokenFilter,
} from './types.ts';
