export { type RelayerDoorOptions, relayerDoor } from './door.ts';
export { createRelayedStore, RELAYED_SCHEMA, type RelayedStore } from './relayed-store.ts';
