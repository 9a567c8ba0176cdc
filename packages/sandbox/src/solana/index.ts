export { RECENT_SLOTS, SLOT_MS } from './block-clock.ts';
export { openChain } from './chain-thread.ts';
export { askChain } from './rpc/desk.ts';
export { solanaRpcDoor } from './rpc/door.ts';
export { SANDBOX_CHAIN_SCHEMA } from './schema.ts';
export { messageHashOf } from './status-cache.ts';
export { type PreparedThread, prepareThread } from './thread-start.ts';
export type {
  AddressedAccount,
  RpcAnswer,
  SandboxChain,
  SendOutcome,
  Statement,
} from './types.ts';
