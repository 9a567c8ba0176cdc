export type { Relay, SocketHandler, SocketPeer } from '../web-sockets.ts';
export { AUTH_TOLERANCE_S, type AuthHeaders } from './auth-headers.ts';
export { polymarketDoor } from './door.ts';
export type { DoorExchange, MarketReads, PolymarketDoorOptions } from './door-options.ts';
export { type FaultPlan, NO_FAULTS, parseFaultPlan, readFaultPlan, type VenueMode } from './fault-plan.ts';
export { Faults } from './faults.ts';
export { polymarketSocketDoor, type SocketDoorOptions } from './socket-door.ts';
export {
  type AuthenticatedKey,
  EXCHANGE_KEYS_SCHEMA,
  MAX_KEY_NONCE,
  type VenueCredentials,
  VenueKeys,
} from './venue-keys.ts';
export { type WireBook, wireBook, wireMarket } from './wire.ts';
export { type WireTrade, wireAddress, wireOrderId, wireTrade } from './wire-trade.ts';
