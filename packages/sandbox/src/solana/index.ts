export type {
  AddressedAccount,
  RpcAnswer,
  SandboxChain,
  SendOutcome,
  Statement,
} from './chain-interface.ts';
export { SANDBOX_CHAIN_SCHEMA } from './chain-store.ts';
export { openChain, type PreparedThread, prepareThread } from './chain-thread.ts';
export { askChain } from './rpc/answer.ts';
export { solanaRpcDoor } from './rpc/door.ts';
export { messageHashOf, RECENT_SLOTS, SLOT_MS } from './slots.ts';
