export type { Relay, SocketHandler, SocketPeer } from '../web-sockets.ts';
export { polymarketDoor, polymarketSocketDoor, type SocketDoorOptions } from './door.ts';
export {
  type FaultPlan,
  Faults,
  NO_FAULTS,
  parseFaultPlan,
  readFaultPlan,
  type VenueMode,
} from './faults.ts';
export type { DoorExchange, MarketReads, PolymarketDoorOptions } from './requests.ts';
export {
  AUTH_TOLERANCE_S,
  type AuthenticatedKey,
  type AuthHeaders,
  EXCHANGE_KEYS_SCHEMA,
  MAX_KEY_NONCE,
  type VenueCredentials,
  VenueKeys,
} from './venue-keys.ts';
export {
  type WireBook,
  type WireTrade,
  wireAddress,
  wireBook,
  wireMarket,
  wireOrderId,
  wireTrade,
} from './wire.ts';
