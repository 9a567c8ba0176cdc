/** What became of orders, written: the journal of an order, a venue's evidence, and the orders of a group of trades. */

import {
  type FillId,
  fold,
  type Holding,
  holdingKey,
  type Part,
  type PositionEvent,
} from '@bellwether/contract/positions';
import { arrayOf, type Element, type ElementType, json, transact } from '@bellwether/durable';
import type { Evidence, EvidenceLog, FirstAnswer, OutcomeEvidence } from '../domain/evidence.ts';
import { FIRST_STATUS } from '../domain/lifecycle.ts';
import { UNKNOWN_END } from '../domain/market.ts';
import type { Checked, OrderRow } from '../domain/records.ts';
import type { Sql, Tx } from '../platform/database/connection.ts';
import type { OrdersRow } from '../platform/database/rows.generated.ts';
import {
  type FoldedPositions,
  lockPositions,
  type Resolved,
  readHeld,
  writeParts,
} from '../positions/index.ts';
import { isTrade, type Recorded } from './admission.ts';
import type { TradeQuestion } from './admission-reads.ts';

type JournalEntryInput = OutcomeEvidence['journal'][number] & { readonly checked?: Checked };
type Status = JournalEntryInput['status'];
type JournalLine = [at: number, event: string, status: Status, detail?: string | null, checked?: Checked];

function lineOf({ at, event, status, detail, checked }: JournalEntryInput): JournalLine {
  if (checked !== undefined) return [at, event, status, detail ?? null, checked];
  return detail === undefined ? [at, event, status] : [at, event, status, detail];
}

export const journalText = (entries: readonly JournalEntryInput[]): string =>
  entries.map((entry) => `${JSON.stringify(lineOf(entry))}\n`).join('');

const entryOf = (line: string): OrderRow['journal'][number] => {
  const [at, event, status, detail, checked] = JSON.parse(line) as JournalLine;
  return {
    at: new Date(at).toISOString(),
    event,
    status,
    ...(detail == null ? {} : { detail }),
    ...(checked === undefined ? {} : { checked }),
  };
};

/** @param earlier entries from before the lines */
export function journalEntries(earlier: OrderRow['journal'], lines: string): OrderRow['journal'] {
  const entries = lines.split('\n').slice(0, -1).map(entryOf);
  if (earlier.length === 0) return entries;
  return [...earlier, ...entries].sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
}

// Records a venue's evidence: outcomes of orders, fills, and the resulting positions and budgets. The statements join
// the caller's transaction and are sent without waiting for one another.

const iso = (at: number): string => new Date(at).toISOString();
const text = (value: bigint): string => value.toString();

/** As the column holds it: JSON has no 64-bit integers. */
const firstAnswerJson = (first: FirstAnswer | null) =>
  first === null
    ? null
    : { ...first, filled: text(first.filled), cost: text(first.cost), fees: text(first.fees) };

/** Writes each batch in a separate transaction. */
export const createEvidenceLog = (sql: Sql): EvidenceLog => ({
  record: (evidence) => transact(sql, (tx) => recordEvidence(tx, evidence)),
});

/** A fill whose settlement failed: it never happened. */
interface Reversal {
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
 * @param group what is recorded in the same commit
 */
export function writeEvidence(
  tx: Tx,
  evidence: Evidence,
  { reversed, reported, resolved }: FoldedPositions,
  group: GroupWrites | null = null,
): PromiseLike<unknown>[] {
  const statements: PromiseLike<unknown>[] = [];
  const resolutions = evidence.resolutions.map(({ conditionId, payout, at }) => ({
    condition_id: conditionId,
    payout,
    at: iso(at),
  }));
  statements.push(...writeParts(tx, reversed));
  if (resolutions.length > 0) statements.push(tx`select log_resolutions(${tx.json(resolutions)}::jsonb)`);
  if (group !== null) statements.push(...writeGroup(tx, group, evidence.outcomes));
  else if (evidence.outcomes.length > 0) statements.push(writeOutcomes(tx, evidence.outcomes));
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

/** An order that was accepted. */
export interface Accepted {
  readonly question: TradeQuestion;
  readonly recorded: Recorded;
  /** The UTC day on whose budget it counts. */
  readonly day: string;
  /** The agent has traded with the wallet before. */
  readonly isKnown: boolean;
  /** Agents of other owners whose budgets also reserve it. */
  readonly others: readonly string[];
  /** The order has a row: that of an attempt which its venue refused. */
  readonly isAgain: boolean;
}

/** An agent's budget with everything that its accepted orders reserve. */
export interface UsedBudget {
  readonly agentId: string;
  readonly day: string;
  readonly trades: number;
  readonly amount: bigint;
}

/** Orders to record, and the budgets of their agents, who are locked. */
export interface GroupWrites {
  readonly accepted: readonly Accepted[];
  readonly budgets: readonly UsedBudget[];
}

/** Issues the statements, without awaiting between them. */
export const writeGroup = (
  tx: Tx,
  { accepted, budgets }: GroupWrites,
  outcomes: readonly OutcomeEvidence[] = [],
): PromiseLike<unknown>[] => [
  ...accepted.filter(({ isAgain }) => isAgain).flatMap((one) => sendAgain(tx, one)),
  writeOutcomes(tx, outcomes, { accepted, budgets }),
  ...accepted.filter(({ isKnown }) => !isKnown).map((one) => noteWallets(tx, one)),
  ...chainOrders(tx, accepted),
  ...lateOrders(tx, accepted),
];

/**
 * What became of orders, as a set: of those that are recorded with it, and of those that are recorded already. Nothing else writes an
 * outcome.
 * @param group `null`: every order is recorded already
 */
export function writeOutcomes(
  tx: Tx | Sql,
  outcomes: readonly OutcomeEvidence[],
  group: GroupWrites | null = null,
): PromiseLike<unknown> {
  if (group === null) return tx.unsafe(ONLY_MOVED, [movesOf(outcomes)]);
  const fresh = group.accepted.filter(({ isAgain }) => !isAgain);
  const placed = new Map(
    fresh.map(({ question }) => [question.orderId, undefined as OutcomeEvidence | undefined]),
  );
  const moved: OutcomeEvidence[] = [];
  for (const one of outcomes)
    if (placed.has(one.orderId)) placed.set(one.orderId, one);
    else moved.push(one);
  const rows = fresh.map((one) => rowOf(one, placed.get(one.question.orderId)));
  const { budgets } = group;
  const values = [
    ...COLUMNS.map((name) => arrayOf(COLUMN_TYPES[name], rows, (row) => row[name])),
    arrayOf('uuid', budgets, ({ agentId }) => agentId),
    arrayOf('date', budgets, ({ day }) => day),
    arrayOf('int4', budgets, ({ trades }) => trades),
    arrayOf('int8', budgets, ({ amount }) => amount),
  ];
  return moved.length === 0
    ? tx.unsafe(ONLY_PLACED, values)
    : tx.unsafe(PLACED_AND_MOVED, [...values, movesOf(moved)]);
}

/** Columns of a new order, and their types. */
const COLUMN_TYPES = {
  agent_id: 'uuid',
  order_id: 'text',
  user_id: 'int8',
  venue: 'text',
  market_id: 'text',
  condition_id: 'text',
  question: 'text',
  token_id: 'text',
  outcome: 'text',
  outcome_name: 'text',
  side: 'text',
  is_limit: 'bool',
  time_in_force: 'text',
  post_only: 'bool',
  defer_exec: 'bool',
  price: 'int4',
  limit_price: 'int4',
  shares: 'int8',
  money: 'int8',
  funder: 'text',
  wallet_address: 'text',
  kind: 'text',
  signature_type: 'int2',
  version: 'int2',
  is_redemption: 'bool',
  expiration: 'timestamptz',
  fee_amount: 'int8',
  reasoning: 'text',
  source: 'text',
  skill_slug: 'text',
  client_order_id: 'text',
  cancel_at: 'timestamptz',
  request_id: 'text',
  created_at: 'timestamptz',
  status: 'text',
  filled: 'int8',
  cost: 'int8',
  fees: 'int8',
  error_code: 'text',
  first_answer: 'jsonb',
  journal_lines: 'text',
  reserved_day: 'date',
  reserved_amount: 'int8',
  // A set of columns has one type each, which an array of arrays of different lengths has not.
  restricted_by: 'text',
  updated_at: 'timestamptz',
} as const satisfies Partial<Record<keyof OrdersRow, ElementType>>;

type Column = keyof typeof COLUMN_TYPES;

const COLUMNS = Object.keys(COLUMN_TYPES) as Column[];

const dateOrNull = (at: number | null): Date | null => (at === null ? null : new Date(at));

/** @param outcome what its venue says in the same commit; without one it is recorded first, and sent then */
function rowOf(
  { recorded: { order, reserves, checked }, day, others }: Accepted,
  outcome: OutcomeEvidence | undefined,
): Readonly<Record<Column, Element>> {
  const isSigned = order.kind === 'signed';
  const entry = { at: order.createdAt, event: 'recorded', status: FIRST_STATUS, checked };
  return {
    agent_id: order.agentId,
    order_id: order.orderId,
    user_id: order.userId,
    venue: order.venue,
    market_id: order.marketId,
    condition_id: order.conditionId,
    question: order.question,
    token_id: order.tokenId,
    outcome: order.outcome,
    outcome_name: order.outcomeName,
    side: order.side,
    is_limit: order.isLimitOrder,
    time_in_force: order.timeInForce,
    post_only: order.postOnly,
    defer_exec: order.deferExec,
    price: order.price,
    limit_price: order.limit,
    shares: order.shares,
    money: order.money,
    funder: order.funder,
    wallet_address: order.walletAddress,
    kind: order.kind,
    signature_type: isSigned ? order.signatureType : null,
    version: isSigned ? order.version : null,
    is_redemption: !isTrade(order),
    expiration: dateOrNull(order.expiration),
    fee_amount: order.feeAmount,
    reasoning: order.reasoning,
    source: order.source,
    skill_slug: order.skillSlug,
    client_order_id: order.clientOrderId,
    cancel_at: dateOrNull(order.cancelAt),
    request_id: order.requestId,
    created_at: new Date(order.createdAt),
    status: outcome?.status ?? FIRST_STATUS,
    filled: outcome?.filled ?? 0n,
    cost: outcome?.cost ?? 0n,
    fees: outcome?.fees ?? 0n,
    error_code: outcome?.errorCode ?? null,
    first_answer: outcome?.first == null ? null : JSON.stringify(firstAnswerJson(outcome.first)),
    journal_lines: journalText([entry, ...(outcome?.journal ?? [])]),
    reserved_day: day,
    reserved_amount: reserves,
    restricted_by: others.length === 0 ? null : `{${others.join()}}`,
    updated_at: new Date(Math.max(order.createdAt, outcome?.at ?? 0)),
  };
}

const movesOf = (outcomes: readonly OutcomeEvidence[]) =>
  json(
    outcomes.map((outcome) => ({
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
    })),
  );

const NAMES = COLUMNS.join(', ');
const SELECTED = COLUMNS.map((name) => (name === 'restricted_by' ? `${name}::uuid[]` : name)).join(', ');
const ARRAYS = COLUMNS.map((name, index) => `$${index + 1}::${COLUMN_TYPES[name]}[]`).join(', ');
const next = (offset: number): string => `$${COLUMNS.length + offset}`;

const placed = `placed as (
    insert into orders (${NAMES}) select ${SELECTED} from unnest(${ARRAYS}) as t(${NAMES})
    returning agent_id, restricted_by, order_id, reserved_day, reserved_amount, status, is_redemption, side, shares, filled, cost,
      fees, error_code, source, skill_slug, updated_at, first_answer is null as has_no_answer,
      (first_answer ->> 'success')::boolean as is_taken
  ), logged as (
    insert into facts (agent_id, kind, subject, at, payload)
    select agent_id, 'order', order_id, updated_at, order_change(status, filled, cost, fees, error_code) from placed
  )`;

/**
 * Changes that the lifecycle does not allow have no effect: a missing answer changes nothing on an order with evidence, whichever is
 * written last. An order that evidence leaves as it was keeps its time of change: it would be told of twice.
 */
const moved = (batch: string): string => `e as (
    select * from jsonb_to_recordset(${batch}::jsonb) as t(
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
    returning o.agent_id, o.restricted_by, o.order_id, o.reserved_day, o.reserved_amount, o.status, o.is_redemption, o.side,
      o.shares, o.filled, o.cost, o.fees, o.error_code, o.source, o.skill_slug, o.updated_at,
      o.first_answer is null as has_no_answer, (e.first_answer ->> 'success')::boolean as is_taken
  )`;

/** An order that its venue accepted counts once among its agent's trades: with the answer. One that has ended gives back what it did not use. */
const counted = (orders: string): string => `changed as (${orders}), counted as (
    insert into agent_results as r (agent_id, source, skill_slug, trades, last_trade_at)
    select agent_id, coalesce(source, ''), coalesce(skill_slug, ''), count(*), max(updated_at)
    from changed where is_taken and not is_redemption group by 1, 2, 3 order by 1, 2, 3
    on conflict (agent_id, source, skill_slug) do update
      set trades = r.trades + excluded.trades, last_trade_at = greatest(r.last_trade_at, excluded.last_trade_at)
  ), back as (
    select o.agent_id, o.restricted_by, o.order_id, o.reserved_day, o.is_placed, b.trades, b.amount
    from changed o cross join lateral budget_back(o.status, o.has_no_answer, o.is_redemption, o.side, o.reserved_amount, o.cost,
      o.shares, o.filled) b
    where b.trades > 0 or b.amount > 0
  )`;

/** An agent that is locked has it at once, the others with their next trade: every budget that reserved it. */
const BUDGETS = `update safeguards s set usage_day = t.day, used_trades = t.trades - coalesce(b.trades, 0),
    used_amount = t.amount - coalesce(b.amount, 0)
  from unnest(${next(1)}::uuid[], ${next(2)}::date[], ${next(3)}::integer[], ${next(4)}::bigint[])
      as t(agent_id, day, trades, amount)
    left join (select agent_id, sum(trades)::integer as trades, sum(amount)::bigint as amount from back where is_placed
      group by agent_id) b using (agent_id)
  where s.agent_id = t.agent_id`;
const RETURNS = `insert into budget_returns (agent_id, order_id, day, trades, amount)
  select reserver, order_id, reserved_day, trades, amount
  from back cross join lateral unnest(array_append(restricted_by, agent_id)) as t(reserver)
  where not is_placed
  -- What an earlier attempt of an exit gave back, and its agent has not taken up yet.
  on conflict (agent_id, order_id) do update set day = excluded.day,
    trades = excluded.trades + case when budget_returns.day = excluded.day then budget_returns.trades else 0 end,
    amount = excluded.amount + case when budget_returns.day = excluded.day then budget_returns.amount else 0 end`;

const PLACED = 'select *, true as is_placed from placed';
const MOVED = 'select *, false as is_placed from moved';
const ONLY_PLACED = `with ${placed}, ${counted(PLACED)} ${BUDGETS}`;
const ONLY_MOVED = `with ${moved('$1')}, ${counted(MOVED)} ${RETURNS}`;
const PLACED_AND_MOVED = `with ${placed}, ${moved(next(5))}, ${counted(`${PLACED} union all ${MOVED}`)},
  returned as (${RETURNS}) ${BUDGETS}`;

/** What its agent asked for stays as it was first recorded. Only a venue that is told later refuses an order that it may take. */
function sendAgain(
  tx: Tx,
  { question: { orderId }, recorded, day, others }: Accepted,
): PromiseLike<unknown>[] {
  const { order, reserves } = recorded;
  const at = new Date(order.createdAt);
  const line = journalText([{ at: order.createdAt, event: 'sent_again', status: FIRST_STATUS }]);
  return [
    tx`delete from venue_orders where order_id = ${orderId}`,
    tx`delete from late_orders where order_id = ${orderId}`,
    tx`update orders set status = ${FIRST_STATUS}, error_code = null, sent_at = ${at}, updated_at = ${at},
      journal_lines = journal_lines || ${line}, reserved_day = ${day}::date, reserved_amount = ${reserves},
      restricted_by = ${others.length === 0 ? null : `{${others.join()}}`}::uuid[]
      where order_id = ${orderId} and status = 'rejected' and first_answer is null`,
  ];
}

/** Records the agent's first trade with this wallet. */
function noteWallets(tx: Tx, { question, recorded: { order } }: Accepted): PromiseLike<unknown> {
  const addresses = [...new Set([order.walletAddress, order.funder])];
  return tx`select note_agent_wallets(${order.agentId}::uuid, ${addresses}::text[], ${question.signer},
    ${new Date(order.createdAt)}::timestamptz)`;
}

/** Reserves what the order reserves in the budgets of other owners' agents, too. */
export const bindOthers = (tx: Tx, { recorded, day, others }: Accepted): PromiseLike<unknown> => {
  const { order, reserves } = recorded;
  const trades = isTrade(order) ? 1 : 0;
  return tx`update safeguards set usage_day = ${day}::date,
      used_trades = case when usage_day = ${day}::date then used_trades else 0 end + ${trades}::integer,
      used_amount = case when usage_day = ${day}::date then used_amount else 0 end + ${reserves}
    where agent_id = any(${[...others]}::uuid[])`;
};

/** Notes the orders that the desk cancels when their time is over. */
function lateOrders(tx: Tx, accepted: readonly Accepted[]): PromiseLike<unknown>[] {
  const rows = accepted.filter(({ recorded }) => recorded.order.cancelAt !== null);
  if (rows.length === 0) return [];
  return [
    tx`insert into late_orders (order_id, due_at)
      select * from unnest(${arrayOf('text', rows, ({ recorded }) => recorded.order.orderId)},
        ${arrayOf('timestamptz', rows, ({ recorded }) => dateOrNull(recorded.order.cancelAt))})
      on conflict (order_id) do update set due_at = excluded.due_at`,
  ];
}

/**
 * Records the transactions with their quoted orders, before any is sent to a node. The signature proves the wallet, which
 * becomes the agent's named wallet if it has none.
 */
function chainOrders(tx: Tx, accepted: readonly Accepted[]): PromiseLike<unknown>[] {
  const rows = accepted.flatMap(({ recorded: { order, transaction } }) =>
    transaction === undefined
      ? []
      : [{ ...transaction, agentId: order.agentId, wallet: order.walletAddress }],
  );
  if (rows.length === 0) return [];
  const ids = rows.map(({ orderId }) => orderId);
  const agents = rows.map(({ agentId }) => agentId);
  return [
    tx`insert into chain_orders (order_id, agent_id, signature, wire, stage, due_at)
      select t.order_id, t.agent_id, t.signature, t.wire, 'sending', t.due_at
      from unnest(${ids}::text[], ${agents}::uuid[], ${rows.map(({ signature }) => signature)}::text[],
        ${rows.map(({ wire }) => wire)}::bytea[], ${rows.map(({ dueAt }) => new Date(dueAt))}::timestamptz[])
        as t(order_id, agent_id, signature, wire, due_at)`,
    tx`update agents a set sol_address = t.wallet
      from (select distinct on (agent_id) agent_id, wallet
        from unnest(${agents}::uuid[], ${rows.map(({ wallet }) => wallet)}::text[]) as t(agent_id, wallet)
        order by agent_id, wallet) t
      where a.agent_id = t.agent_id and a.sol_address is null`,
  ];
}
