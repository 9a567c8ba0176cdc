/** Redemptions that were prepared for the venue's relayer: each may be forwarded once. */
import type { Address } from '@bellwether/protocol';
import type { VenueId } from '../domain/market.ts';
import type { Sql } from '../platform/database/connection.ts';
import type { RelayedRedemptionsRow } from '../platform/database/rows.generated.ts';
import { ms, msOrNull } from '../platform/database/rows.ts';
import { type RelayJson, relayFromJson, relayJson } from '../venues/relay-record.ts';
import type { PreparedRelay } from '../venues/venue.ts';

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
      const rows = await sql`update relayed_redemptions set submitted_at = ${new Date(at)}
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
