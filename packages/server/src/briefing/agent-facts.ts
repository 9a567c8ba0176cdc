/** One statement for the heartbeats of many agents, one for their checks before a trade. */

import { limitsOf } from '../agents/index.ts';
import type { PositionRow } from '../domain/records.ts';
import type { Sql } from '../platform/database/connection.ts';
import { byShape, groupReads } from '../platform/database/grouped-reads.ts';
import { ms, msOrNull } from '../platform/database/rows.ts';
import { listedOrderFromJson } from '../trading/index.ts';
import type { PositionJson } from './asked-wallets.ts';
import { askBriefing, type BriefingRow, type OpenOrdersJson, shapeOf } from './briefing-read.ts';
import { askContext, type ContextRow, standingOf } from './context-read.ts';
import type { BriefingFacts, BriefingQuestion, ContextFacts, ContextQuestion, OpenOrders } from './facts.ts';

export function createAgentFacts(sql: Sql) {
  const briefings = byShape(shapeOf, (shape) => groupReads(askBriefing(sql, shape)));
  const contexts = byShape(
    ({ family, user }: ContextQuestion) => ({ family, isAsked: user !== null }),
    (shape) => groupReads(askContext(sql, shape)),
  );
  return {
    async briefing(question: BriefingQuestion): Promise<BriefingFacts> {
      const [row] = await briefings(question);
      if (row === undefined) throw new Error('the calling agent has no row');
      return briefingFacts(row);
    },

    async context(question: ContextQuestion): Promise<ContextFacts> {
      const [row] = await contexts(question);
      if (row === undefined) throw new Error('the calling agent has no row');
      return contextFacts(row, question.conditionId);
    },
  };
}

const positionsOf = (rows: readonly PositionJson[] | null): PositionRow[] =>
  (rows ?? []).map((row) => ({
    wallet: row.wallet,
    venue: row.venue,
    conditionId: row.condition_id,
    tokenId: row.token_id,
    outcome: row.outcome,
    size: BigInt(row.size),
    cost: BigInt(row.cost),
    realized: BigInt(row.realized),
    fees: BigInt(row.fees),
    boughtSize: BigInt(row.bought_size),
    boughtCost: BigInt(row.bought_cost),
    closedAt: null,
    // The venue knows every market in which an account holds tokens.
    market: null,
  }));

const openOrders = (row: OpenOrdersJson): OpenOrders => ({
  venue: row.venue,
  conditionId: row.condition_id,
  marketId: row.market_id,
  count: row.count,
  stale: row.stale ?? [],
  staleCount: row.stale_count,
  inDoubt: row.in_doubt ?? [],
  inDoubtCount: row.in_doubt_count,
});

const briefingFacts = (row: BriefingRow): BriefingFacts => ({
  name: row.agent_name,
  claimed: row.agent_claimed_at !== null,
  walletAddress: row.agent_wallet,
  solAddress: row.agent_sol,
  wallets: { evm: row.wallets ?? [], solana: row.solana_wallets ?? [] },
  hasCredentials: row.has_credentials,
  hasExits: row.has_exits,
  limits: limitsOf(row),
  silence: row.silent_at === null ? null : { at: ms(row.silent_at), orders: row.silent_orders ?? 0 },
  away: row.away,
  repeatedRefusal: row.repeated_refusal,
  positions: positionsOf(row.positions),
  openOrders: (row.groups ?? []).map(openOrders),
  approvals: row.approvals ?? [],
  changed: (row.changed ?? []).map(listedOrderFromJson),
  lastChangeAt: msOrNull(row.last_change_at),
  snapshot: row.snapshot,
});

function openOrdersIn(conditionId: string, row: ContextRow): OpenOrders | null {
  if (row.venue === null) return null;
  return openOrders({
    ...{ venue: row.venue, market_id: row.market_id, count: row.count, in_doubt: row.in_doubt },
    condition_id: conditionId,
    stale: null,
    stale_count: 0,
    in_doubt_count: (row.in_doubt ?? []).length,
  });
}

const contextFacts = (row: ContextRow, conditionId: string): ContextFacts => ({
  wallets: row.wallets ?? [],
  funder: row.funder,
  signer: row.signer,
  claimed: row.agent_claimed_at !== null,
  positions: positionsOf(row.positions),
  openOrders: openOrdersIn(conditionId, row),
  standing: standingOf(row),
  openExits: row.open_exits,
});

export type AgentFacts = ReturnType<typeof createAgentFacts>;
