/** What the desk knows of resolved markets and of who asked for their redemption. */
import type { Address } from '@bellwether/protocol';
import type { Caller } from './stores.ts';
import type { VenueId } from './venue.ts';

export interface Holding {
  readonly wallet: Address;
  readonly conditionId: string;
  readonly agentId: string;
}

export interface TradedMarket {
  readonly conditionId: string;
  readonly marketId: string;
  /** `null` where no fill noted it. */
  readonly venue: VenueId | null;
  readonly resolved: boolean;
}

export interface RedemptionStore {
  /** A market that was traded here, by market id, condition id or slug; also one that its venue has forgotten. */
  market(id: string): Promise<TradedMarket | null>;
  /**
   * Accounts within the caller's reach that hold tokens of a market (of one outcome, when named): among `wallets`, when
   * given.
   */
  holders(
    caller: Caller,
    conditionId: string,
    where: { readonly wallets: readonly Address[] | null; readonly outcome: 'YES' | 'NO' | null },
  ): Promise<readonly Address[]>;
  /** Says beforehand whose redemption the venue's evidence will tell of. */
  request(holdings: readonly Holding[], automatic: boolean, at: number): Promise<void>;
  /**
   * Resolved markets of these venues, and of none that is noted, through which the automatic redemption has still to
   * go, longest waiting first.
   */
  due(
    venues: readonly VenueId[],
    limit: number,
  ): Promise<readonly Pick<TradedMarket, 'conditionId' | 'venue'>[]>;
  /** What agents with autoRedeemEnabled hold in these markets. */
  automatic(conditionIds: readonly string[]): Promise<readonly Holding[]>;
  /**
   * Accounts that hold nothing but lost tokens of these markets: their positions are closed, and the venue forgets a
   * market only once nobody holds anything of it.
   */
  worthless(conditionIds: readonly string[]): Promise<readonly Omit<Holding, 'agentId'>[]>;
  swept(conditionIds: readonly string[], at: number): Promise<void>;
}
