/** Resolved markets, the holders of their tokens, and the agents that requested the redemption. */
import { fold, holdingKey, type PositionEvent } from '@bellwether/contract/positions';
import { transact } from '@bellwether/durable';
import type { Address } from '@bellwether/protocol';
import type { VenueId } from '../domain/market.ts';
import type { Caller } from '../domain/records.ts';
import { ms, msOrNull, type Sql } from '../platform/database/connection.ts';
import type {
  AgentsRow,
  PositionsRow,
  RelayedRedemptionsRow,
  TradedMarketsRow,
} from '../platform/database/rows.generated.ts';
import {
  type PreparedRelay,
  type RedeemedTokens,
  type RelayJson,
  relayFromJson,
  relayJson,
} from '../venues/venue.ts';
import { evmWallets } from '../wallets/index.ts';
import { lockRedeemed, writeParts } from './positions-in-play.ts';

/** Wallets with credentials of the signed-order venue. */
type EvmPosition = Pick<PositionsRow, 'condition_id'> & { readonly wallet: Address };

export function createRedemptionStore(sql: Sql) {
  return {
    /** A market that was traded here, by market id, condition id or slug; also one that its venue has forgotten. */
    async market(id: string): Promise<TradedMarket | null> {
      const [row] = await sql<Pick<TradedMarketsRow, 'condition_id' | 'market_id' | 'venue' | 'payout'>[]>`
        select condition_id, market_id, venue, payout from traded_markets where condition_id = ${id}
        union all
        select condition_id, market_id, venue, payout from traded_markets where market_id = ${id}
        limit 1`;
      if (row === undefined) return null;
      return {
        conditionId: row.condition_id,
        marketId: row.market_id,
        venue: row.venue,
        resolved: row.payout !== null,
      };
    },

    /**
     * Accounts within the caller's reach that hold tokens of a market (of one outcome, when named); only those among
     * `wallets`, when given.
     */
    async holders(
      caller: Caller,
      conditionId: string,
      {
        wallets,
        outcome,
      }: { readonly wallets: readonly Address[] | null; readonly outcome: 'YES' | 'NO' | null },
    ): Promise<readonly Address[]> {
      const rows = await sql<Pick<EvmPosition, 'wallet'>[]>`
        select distinct p.wallet from positions p
        where p.condition_id = ${conditionId} and p.is_held
          ${wallets === null ? sql`` : sql`and p.wallet = any(${[...wallets]}::text[])`}
          ${outcome === null ? sql`` : sql`and p.outcome = ${outcome}`}
          and p.wallet in (${evmWallets(sql, caller)})
        order by p.wallet`;
      return rows.map((row) => row.wallet);
    },

    /** Records which agent requested a redemption, before the venue's evidence reports it. */
    async request(holdings: readonly Holding[], automatic: boolean, at: number): Promise<void> {
      const batch = holdings.map(({ wallet, conditionId, agentId }) => ({
        wallet,
        condition_id: conditionId,
        agent_id: agentId,
      }));
      await sql`
        insert into redemption_requests (wallet, condition_id, agent_id, automatic, requested_at)
        select wallet, condition_id, agent_id, ${automatic}, ${new Date(at)}
        from jsonb_to_recordset(${sql.json(batch)}) as t(wallet text, condition_id text, agent_id uuid)
        order by wallet, condition_id
        on conflict (wallet, condition_id) do update set
          agent_id = excluded.agent_id, automatic = excluded.automatic, requested_at = excluded.requested_at`;
    },

    /**
     * Resolved markets of these venues (and those without a recorded venue) that the automatic redemption has not handled
     * yet, longest waiting first.
     */
    async due(
      venues: readonly VenueId[],
      limit: number,
    ): Promise<readonly Pick<TradedMarket, 'conditionId' | 'venue'>[]> {
      const rows = await sql<Pick<TradedMarketsRow, 'condition_id' | 'venue'>[]>`
        select condition_id, venue from traded_markets where payout is not null and swept_at is null
          and (venue is null or venue = any(${[...venues]}::text[]))
        order by resolved_at limit ${limit}`;
      return rows.map((row) => ({
        conditionId: row.condition_id,
        venue: row.venue,
      }));
    },

    /** Positions of agents with autoRedeemEnabled in these markets. */
    async automatic(conditionIds: readonly string[]): Promise<readonly Holding[]> {
      // The agent that traded the token last comes before other agents of the wallet.
      const rows = await sql<(EvmPosition & Pick<AgentsRow, 'agent_id'>)[]>`
        select distinct on (p.condition_id, p.wallet) p.wallet, p.condition_id, a.agent_id
        from positions p
        join credentials c on c.wallet_address = p.wallet or c.funder = p.wallet
        join agents a on a.user_id = c.user_id and (a.agent_id = p.agent_id or a.wallet_address = c.wallet_address)
        join safeguards s on s.agent_id = a.agent_id and s.auto_redeem_enabled
        where p.condition_id = any(${[...conditionIds]}::text[]) and p.is_held
        order by p.condition_id, p.wallet, (a.agent_id = p.agent_id) desc nulls last, a.agent_id`;
      return rows.map((row) => ({
        wallet: row.wallet,
        conditionId: row.condition_id,
        agentId: row.agent_id,
      }));
    },

    /**
     * Accounts that hold only worthless tokens of these markets. Redeeming closes their positions, and the venue forgets a
     * market only when no account holds its tokens.
     */
    async worthless(conditionIds: readonly string[]): Promise<readonly Omit<Holding, 'agentId'>[]> {
      const rows = await sql<EvmPosition[]>`
        select p.wallet, p.condition_id from positions p join traded_markets m using (condition_id)
        where p.condition_id = any(${[...conditionIds]}::text[]) and not p.is_held and m.payout in ('YES', 'NO') and p.outcome <> m.payout
          and p.closed_at >= m.resolved_at and not exists (
            select 1 from positions o where o.wallet = p.wallet and o.condition_id = p.condition_id and o.is_held)
        order by 2, 1`;
      return rows.map((row) => ({ wallet: row.wallet, conditionId: row.condition_id }));
    },

    async swept(conditionIds: readonly string[], at: number): Promise<void> {
      await sql`update traded_markets set swept_at = ${new Date(at)}
        where condition_id = any(${[...conditionIds]}::text[])`;
    },

    /**
     * Accounts that hold what a resolution at this venue made redeemable, longest waiting first. An account that was claimed
     * is due again after `everyMs`; of several replicas one gets it.
     */
    async claimHolders(
      venue: VenueId,
      { everyMs, limit }: { readonly everyMs: number; readonly limit: number },
    ): Promise<readonly RedeemableHolder[]> {
      // The database's clock alone decides, so clocks of replicas are never compared.
      const rows = await sql<(Pick<EvmPosition, 'wallet'> & { readonly condition_ids: readonly string[] })[]>`
        with due as materialized (
          select p.wallet, array_agg(distinct p.condition_id) as condition_ids
          from positions p join traded_markets m using (condition_id)
          left join redemption_checks c on c.venue = ${venue} and c.wallet = p.wallet
          where p.is_held and m.venue = ${venue} and (m.payout = p.outcome or m.payout not in ('YES', 'NO'))
            and (c.wallet is null or c.checked_at <= clock_timestamp() - ${everyMs} * interval '1 millisecond')
          group by p.wallet order by min(c.checked_at) nulls first, p.wallet limit ${limit}
        ), claimed as (
          insert into redemption_checks as c (venue, wallet, checked_at)
          select ${venue}, wallet, clock_timestamp() from due order by wallet
          on conflict (venue, wallet) do update set checked_at = excluded.checked_at
            where c.checked_at <= clock_timestamp() - ${everyMs} * interval '1 millisecond'
          returning c.wallet
        )
        select due.wallet, due.condition_ids from due join claimed using (wallet) order by 1`;
      return rows.map((row) => ({ wallet: row.wallet, conditionIds: row.condition_ids }));
    },

    /** These accounts are due at once. */
    async makeDue(venue: VenueId, wallets: readonly Address[]): Promise<void> {
      await sql`update redemption_checks set checked_at = '-infinity'
        where venue = ${venue} and wallet = any(${[...wallets]}::text[])`;
    },

    /**
     * Closes positions as far as their tokens were redeemed, each token once, however often and by whichever replica it is
     * recorded. What an account has redeemed beyond its position came to it past the desk.
     * @returns how many positions changed
     */
    recordRedeemed: (tokens: readonly (RedeemedTokens & { readonly wallet: Address })[]): Promise<number> =>
      transact(sql, async (tx) => {
        const holdings = await lockRedeemed(tx, tokens);
        const events = tokens.flatMap((token): PositionEvent[] => {
          const key = holdingKey(token);
          const payout = holdings.get(key)?.payout ?? null;
          return payout === null ? [] : [{ kind: 'redemption', key, size: token.size, payout, at: token.at }];
        });
        const { parts } = fold(holdings, events);
        await Promise.all(writeParts(tx, parts));
        return parts.length;
      }),
  };
}

export interface Holding {
  readonly wallet: Address;
  readonly conditionId: string;
  readonly agentId: string;
}

interface TradedMarket {
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

export type RedemptionStore = ReturnType<typeof createRedemptionStore>;

// Redemptions that were prepared for the venue's relayer: each may be forwarded once.

export interface RelayedRedemption {
  /** Its name: what the owner signs, as hex. */
  readonly digest: string;
  readonly venue: VenueId;
  readonly wallet: Address;
  readonly marketId: string;
  readonly conditionId: string;
  readonly relay: PreparedRelay;
  readonly createdAt: number;
  readonly submittedAt: number | null;
  /** The relayer's words, where it refused. */
  readonly refused: string | null;
}

export type RelayedRedemptions = ReturnType<typeof createRelayedRedemptions>;

export function createRelayedRedemptions(sql: Sql) {
  return {
    /** The same request prepared again is the same. */
    async prepare(agentId: string, one: Omit<RelayedRedemption, 'submittedAt' | 'refused'>): Promise<void> {
      const at = new Date(one.createdAt);
      await sql`delete from relayed_redemptions where created_at < ${at}::timestamptz - interval '1 day'`;
      await sql`
        insert into relayed_redemptions (digest, agent_id, venue, wallet, market_id, condition_id, relay, created_at)
        values (${one.digest}, ${agentId}, ${one.venue}, ${one.wallet}, ${one.marketId}, ${one.conditionId},
          ${sql.json(relayJson(one.relay) as never)}, ${at})
        on conflict (digest) do nothing`;
    },

    async find(agentId: string, digest: string): Promise<RelayedRedemption | null> {
      const [row] = await sql<RelayedRedemptionsRow[]>`
        select * from relayed_redemptions where digest = ${digest} and agent_id = ${agentId}`;
      if (row === undefined) return null;
      return {
        ...{ digest, venue: row.venue, wallet: row.wallet as Address, marketId: row.market_id },
        ...{ conditionId: row.condition_id, relay: relayFromJson(row.relay as RelayJson) },
        ...{ createdAt: ms(row.created_at), submittedAt: msOrNull(row.submitted_at), refused: row.refused },
      };
    },

    /** @returns false: it was before */
    async markSubmitted(digest: string, at: number): Promise<boolean> {
      const rows = await sql<Pick<RelayedRedemptionsRow, 'digest'>[]>`
        update relayed_redemptions set submitted_at = ${new Date(at)}
        where digest = ${digest} and submitted_at is null returning digest`;
      return rows.length === 1;
    },

    /** The relayer has provably not taken it: it may be sent again. */
    async takeBack(digest: string): Promise<void> {
      await sql`update relayed_redemptions set submitted_at = null where digest = ${digest}`;
    },

    async noteRelayed(
      digest: string,
      {
        transactionId = null,
        refused = null,
      }: { readonly transactionId?: string | null; readonly refused?: string | null },
    ): Promise<void> {
      await sql`update relayed_redemptions
        set transaction_id = ${transactionId}::text, refused = ${refused}::text where digest = ${digest}`;
    },
  };
}
