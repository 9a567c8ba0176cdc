/** Needs of the venue's door. */
import type { ExchangeDomains, RecoverPublicKey } from '@bellwether/protocol';
import type { PaperExchange, PriceHistory } from '../../paper-exchange.ts';
import type { TradeHistory } from '../../trade-history.ts';
import type { Guarded } from '../limits.ts';
import type { Faults } from './faults.ts';
import type { VenueKeys } from './venue-keys.ts';

export type MarketReads = Pick<PaperExchange, 'market' | 'marketByToken' | 'book' | 'markets'>;

/** The exchange as the door needs it. */
export interface DoorExchange
  extends MarketReads,
    Pick<PaperExchange, 'account' | 'available' | 'freeTokens' | 'openOrder' | 'openOrders' | 'execute'>,
    Pick<PaperExchange, 'orderRecord' | 'orderRecords' | 'postedOrders'> {
  readonly history: TradeHistory;
  readonly prices: PriceHistory;
}

export interface PolymarketDoorOptions {
  /** `null`: it is not open here; the door then answers as while the venue's engine restarts. */
  readonly exchange: () => DoorExchange | null;
  readonly keys: VenueKeys;
  readonly recover: RecoverPublicKey;
  /** Chain that messages are signed for. */
  readonly chainId: number;
  /** The contracts that orders are signed for. */
  readonly domains: ExchangeDomains;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /**
   * Order version that `/version` reports: 1 for the 12-field struct, 2 for the 11-field struct. The door accepts both.
   * Clients of the venue's first version (clob-client 5) never ask and always sign version 1; clob-client-v2 signs the
   * reported version.
   */
  readonly orderVersion: 1 | 2;
  /** Minimum lead of a GTD order's expiration, in seconds. */
  readonly gtdMinLeadS: number;
  /** Whether a signer's requests are limited as at the venue. */
  readonly limitsSigners: boolean;
  /** How often silent keys are looked for; the venue's five seconds when omitted. */
  readonly heartbeatCheckMs?: number;
  readonly guard: Guarded;
  /** Omitted: the venue has none. */
  readonly faults?: Faults;
}
