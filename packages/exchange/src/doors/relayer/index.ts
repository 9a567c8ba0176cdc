export {
  createRelayedStore,
  RELAYED_SCHEMA,
  type RelayedStore,
  type RelayerDoorOptions,
  relayerDoor,
} from './door.ts';
