/** Resolved markets, and which agents requested their redemption. */
import type { Address } from '@bellwether/protocol';
import type { VenueId } from '../domain/market.ts';
import type { Caller } from '../domain/records.ts';
import type { RedeemedTokens } from './venue.ts';

export interface Holding {
  readonly wallet: Address;
  readonly conditionId: string;
  readonly agentId: string;
}

export interface TradedMarket {
  readonly conditionId: string;
  readonly marketId: string;
  /** `null` when no fill recorded it. */
  readonly venue: VenueId | null;
  readonly resolved: boolean;
}

export interface RedeemableHolder {
  readonly wallet: Address;
  readonly conditionIds: readonly string[];
}

export interface RedemptionStore {
  /** A market that was traded here, by market id, condition id or slug; also one that its venue has forgotten. */
  market(id: string): Promise<TradedMarket | null>;
  /**
   * Accounts within the caller's reach that hold tokens of a market (of one outcome, when named); only those among
   * `wallets`, when given.
   */
  holders(
    caller: Caller,
    conditionId: string,
    where: { readonly wallets: readonly Address[] | null; readonly outcome: 'YES' | 'NO' | null },
  ): Promise<readonly Address[]>;
  /** Records which agent requested a redemption, before the venue's evidence reports it. */
  request(holdings: readonly Holding[], automatic: boolean, at: number): Promise<void>;
  /**
   * Resolved markets of these venues (and those without a recorded venue) that the automatic redemption has not handled
   * yet, longest waiting first.
   */
  due(
    venues: readonly VenueId[],
    limit: number,
  ): Promise<readonly Pick<TradedMarket, 'conditionId' | 'venue'>[]>;
  /** What agents with autoRedeemEnabled hold in these markets. */
  automatic(conditionIds: readonly string[]): Promise<readonly Holding[]>;
  /**
   * Accounts that hold only worthless tokens of these markets. Redeeming closes their positions, and the venue forgets a
   * market only when no account holds its tokens.
   */
  worthless(conditionIds: readonly string[]): Promise<readonly Omit<Holding, 'agentId'>[]>;
  swept(conditionIds: readonly string[], at: number): Promise<void>;
  /**
   * Accounts that hold what a resolution at this venue made redeemable, longest waiting first. An account that was claimed
   * is due again after `everyMs`; of several replicas one gets it.
   */
  claimHolders(
    venue: VenueId,
    question: { readonly everyMs: number; readonly limit: number },
  ): Promise<readonly RedeemableHolder[]>;
  /** These accounts are due at once. */
  makeDue(venue: VenueId, wallets: readonly Address[]): Promise<void>;
  /**
   * Closes positions as far as their tokens were redeemed, each token once, however often and by whichever replica it is
   * recorded. What an account has redeemed beyond its position came to it past the desk.
   * @returns how many positions changed
   */
  recordRedeemed(tokens: readonly (RedeemedTokens & { readonly wallet: Address })[]): Promise<number>;
}
