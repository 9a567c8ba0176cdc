/**
 * Records a venue's evidence: outcomes of orders, fills, and the resulting positions and budgets. The statements join
 * the caller's transaction and are sent without waiting for one another.
 */

import type { FillId } from '@bellwether/contract/positions';
import {
  fold,
  type Holding,
  holdingKey,
  type Part,
  type PositionEvent,
} from '@bellwether/contract/positions';
import { transact } from '@bellwether/durable';
import type { Evidence, EvidenceLog, FirstAnswer } from '../domain/evidence.ts';
import { UNKNOWN_END } from '../domain/market.ts';
import type { Sql, Tx } from '../platform/database/connection.ts';
import type { FoldedPositions } from '../positions/index.ts';
import { lockPositions, type Resolved, readHeld, writeParts } from '../positions/index.ts';
import { journalText } from './order-journal.ts';

const iso = (at: number): string => new Date(at).toISOString();
const text = (value: bigint): string => value.toString();

/** As the column holds it: JSON has no 64-bit integers. */
export const firstAnswerJson = (first: FirstAnswer | null) =>
  first === null
    ? null
    : { ...first, filled: text(first.filled), cost: text(first.cost), fees: text(first.fees) };

/** Writes each batch in a separate transaction. */
export const createEvidenceLog = (sql: Sql): EvidenceLog => ({
  record: (evidence) => transact(sql, (tx) => recordEvidence(tx, evidence)),
});

/** A fill whose settlement failed: it never happened. */
export interface Reversal {
  readonly wallet: string;
  readonly tokenId: string;
  readonly orderId: string;
  readonly tradeId: FillId;
  readonly at: number;
}

/** Reads positions under their locks, folds the evidence into them and writes both. Fills are taken back first. */
export async function recordEvidence(
  tx: Tx,
  evidence: Evidence,
  reversals: readonly Reversal[] = [],
): Promise<void> {
  await Promise.all(await evidenceWrites(tx, evidence, reversals));
}

/** @returns the writes, which are sent as soon as they are awaited */
export async function evidenceWrites(
  tx: Tx,
  evidence: Evidence,
  reversals: readonly Reversal[] = [],
): Promise<readonly PromiseLike<unknown>[]> {
  const { fills, resolutions } = evidence;
  const [locked, held] = await Promise.all([
    lockPositions(tx, fills, reversals),
    readHeld(tx, conditionsOf(resolutions), true),
  ]);
  const positions = foldEvidence(new Map([...held, ...locked.holdings]), evidence, {
    reversals,
    resolvedBefore: locked.resolved,
  });
  return writeEvidence(tx, evidence, positions);
}

const conditionsOf = (resolutions: Evidence['resolutions']): string[] =>
  resolutions.map(({ conditionId }) => conditionId);

interface FoldTerms {
  readonly reversals: readonly Reversal[];
  /** Resolutions of the fills' markets: fills that bought in vain there are lost at once. */
  readonly resolvedBefore: readonly Resolved[];
}

function foldEvidence(
  known: Map<string, Holding>,
  { fills, resolutions }: Evidence,
  { reversals, resolvedBefore }: FoldTerms,
): FoldedPositions {
  const take = (events: readonly PositionEvent[]): readonly Part[] => {
    const { holdings, parts } = fold(known, events);
    for (const [key, holding] of holdings) known.set(key, holding);
    return parts;
  };
  const reversed = [...Map.groupBy(reversals, holdingKey)].map(
    ([key, ofOne]): PositionEvent => ({
      kind: 'reversal',
      key,
      fills: ofOne,
      at: Math.max(...ofOne.map(({ at }) => at)),
    }),
  );
  return {
    reversed: take(reversed),
    reported: take([{ kind: 'fills', fills }, ...resolvedBefore]),
    resolved: take(resolutions.map((one) => ({ kind: 'resolution', ...one }))),
  };
}

/**
 * Issues the statements. Bigints are text inside JSON; the column types convert them back.
 * @param positions what the evidence makes of positions
 */
export function writeEvidence(
  tx: Tx,
  evidence: Evidence,
  { reversed, reported, resolved }: FoldedPositions,
): PromiseLike<unknown>[] {
  const statements: PromiseLike<unknown>[] = [];
  const resolutions = evidence.resolutions.map(({ conditionId, payout, at }) => ({
    condition_id: conditionId,
    payout,
    at: iso(at),
  }));
  statements.push(...writeParts(tx, reversed));
  if (resolutions.length > 0) statements.push(tx`select log_resolutions(${tx.json(resolutions)}::jsonb)`);
  if (evidence.outcomes.length > 0) statements.push(writeOutcomes(tx, evidence));
  if (evidence.markets.length > 0) statements.push(writeMarkets(tx, evidence));
  statements.push(...writeParts(tx, reported));
  if (resolutions.length > 0)
    statements.push(tx`update traded_markets m set payout = t.payout, resolved_at = t.at
      from jsonb_to_recordset(${tx.json(resolutions)}) as t(condition_id text, payout text, at timestamptz)
      where m.condition_id = t.condition_id`);
  statements.push(...writeParts(tx, resolved));
  if (evidence.deposits.length > 0) {
    const batch = evidence.deposits.map(({ wallet, amount, reason, at }) => ({
      wallet,
      amount: text(amount),
      reason,
      at: iso(at),
    }));
    statements.push(tx`select record_deposits(${tx.json(batch)}::jsonb)`);
  }
  return statements;
}

function writeMarkets(tx: Tx | Sql, { markets }: Evidence): PromiseLike<unknown> {
  const batch = markets.map((market) => ({
    condition_id: market.conditionId,
    market_id: market.marketId,
    slug: market.slug,
    question: market.question,
    outcomes: market.outcomes,
    end_date: iso(market.endDate ?? UNKNOWN_END),
    venue: market.venue,
  }));
  return tx`insert into traded_markets (condition_id, market_id, slug, question, outcomes, end_date, venue)
    select condition_id, market_id, slug, question, outcomes, end_date, venue from jsonb_to_recordset(${tx.json(batch)})
      as t(condition_id text, market_id text, slug text, question text, outcomes text[], end_date timestamptz, venue text)
    on conflict (condition_id) do nothing`;
}

export function writeOutcomes(tx: Tx | Sql, { outcomes }: Pick<Evidence, 'outcomes'>): PromiseLike<unknown> {
  const batch = outcomes.map((outcome) => ({
    order_id: outcome.orderId,
    status: outcome.status,
    filled: text(outcome.filled),
    cost: text(outcome.cost),
    fees: text(outcome.fees),
    error_code: outcome.errorCode,
    first_answer: firstAnswerJson(outcome.first),
    is_repeatable: outcome.isRepeatable ?? false,
    sent_before: outcome.sentBefore === undefined ? null : iso(outcome.sentBefore),
    journal_lines: journalText(outcome.journal),
    at: iso(outcome.at),
  }));
  // A finished order returns its unused budget, to every budget that reserved it. An order that the venue accepted counts
  // once among its agent's trades: with the evidence that answers the submission. Changes that the lifecycle does not
  // allow have no effect: a missing answer changes nothing on an order with evidence, whichever is written last. An order
  // that evidence leaves as it was keeps its time of change: it would be told of twice.
  return tx`
    with e as (
      select * from jsonb_to_recordset(${tx.json(batch)}) as t(
        order_id text, status text, filled bigint, cost bigint, fees bigint, error_code text,
        first_answer jsonb, is_repeatable boolean, sent_before timestamptz, journal_lines text, at timestamptz)
    ), moved as (
      update orders o set
        status = e.status, filled = o.filled + e.filled, cost = o.cost + e.cost, fees = o.fees + e.fees,
        error_code = coalesce(o.error_code, e.error_code),
        first_answer = coalesce(o.first_answer, case when not e.is_repeatable or not exists (
          select from exits x where x.order_id = o.order_id and x.agent_id = o.agent_id and x.sealed is not null)
          then nullif(e.first_answer, 'null'::jsonb) end),
        journal_lines = o.journal_lines || e.journal_lines,
        updated_at = case when (o.status, 0, 0, 0, o.error_code) is distinct from
          (e.status, e.filled, e.cost, e.fees, coalesce(o.error_code, e.error_code)) then e.at else o.updated_at end
      from e where o.order_id = e.order_id
        and order_may_become(o.kind, o.status, e.status)
        and (e.sent_before is null or coalesce(o.sent_at, o.created_at) <= e.sent_before)
      returning o.agent_id, o.restricted_by, o.order_id, o.reserved_day, o.reserved_amount, o.side, o.shares, o.filled, o.cost,
        o.fees, o.error_code, o.status, o.source, o.skill_slug, o.updated_at, o.is_redemption,
        o.first_answer is null as has_no_answer,
        (e.first_answer ->> 'success')::boolean as taken
    ), counted as (
      insert into agent_results as r (agent_id, source, skill_slug, trades, last_trade_at)
      select agent_id, coalesce(source, ''), coalesce(skill_slug, ''), count(*), max(updated_at)
      from moved where taken and not is_redemption group by 1, 2, 3 order by 1, 2, 3
      on conflict (agent_id, source, skill_slug) do update
        set trades = r.trades + excluded.trades, last_trade_at = greatest(r.last_trade_at, excluded.last_trade_at)
    )
    insert into budget_returns (agent_id, order_id, day, trades, amount)
    select reserver, moved.order_id, moved.reserved_day, b.trades, b.amount
    from moved cross join lateral budget_back(moved.status, moved.has_no_answer, moved.is_redemption, moved.side,
      moved.reserved_amount, moved.cost, moved.shares, moved.filled) b
    cross join lateral unnest(array_append(moved.restricted_by, moved.agent_id)) as t(reserver)
    where b.trades > 0 or b.amount > 0
    -- What an earlier attempt of an exit gave back, and its agent has not taken up yet.
    on conflict (agent_id, order_id) do update set day = excluded.day,
      trades = excluded.trades + case when budget_returns.day = excluded.day then budget_returns.trades else 0 end,
      amount = excluded.amount + case when budget_returns.day = excluded.day then budget_returns.amount else 0 end`;
}
