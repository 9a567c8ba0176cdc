/** What the venue's door needs. */
import type { RecoverPublicKey } from '@bellwether/protocol';
import type { PaperExchange } from '../../paper-exchange.ts';
import type { Guarded } from '../limits.ts';
import type { Faults } from './faults.ts';
import type { VenueKeys } from './venue-keys.ts';

export type MarketReads = Pick<PaperExchange, 'market' | 'marketByToken' | 'book'>;

export interface PolymarketDoorOptions {
  readonly exchange: MarketReads;
  readonly keys: VenueKeys;
  readonly recover: RecoverPublicKey;
  /** Chain that L1 messages are signed for. */
  readonly chainId: number;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /**
   * Order version that `/version` reports and the desk accepts: 1 for the 12-field struct, 2 for the 11-field struct.
   * Clients of the venue's first version (clob-client 5) never ask and always sign version 1; clob-client-v2 signs the
   * reported version.
   */
  readonly orderVersion: 1 | 2;
  readonly guard: Guarded;
  /** Omitted: the venue has none. */
  readonly faults?: Faults;
}
