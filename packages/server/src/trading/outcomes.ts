/** What became of orders, written: the journal of an order, a venue's evidence, and the orders of a group of trades. */

import {
  type FillId,
  fold,
  type Holding,
  holdingKey,
  type Part,
  type PositionEvent,
} from '@bellwether/contract/positions';
import { arrayOf, type Element, type ElementType, transact } from '@bellwether/durable';
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

// Records the orders of a group of trades and what is used of their agents' budgets, as sets: a statement for all
// orders, in any number.

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

interface GroupWrites {
  readonly accepted: readonly Accepted[];
  readonly budgets: readonly UsedBudget[];
  /** Outcomes that their venue proved in the same commit, by order id; an order without one is recorded first. */
  readonly outcomes: ReadonlyMap<string, OutcomeEvidence>;
}

interface NewRow extends Accepted {
  readonly outcome: OutcomeEvidence | undefined;
}

const cancelAt = ({ order }: Recorded): Date | null =>
  order.cancelAt === null ? null : new Date(order.cancelAt);

/** Column, type, and value of an order's row. */
const COLUMNS: readonly (readonly [keyof OrdersRow, ElementType, (row: NewRow) => Element])[] = [
  ['agent_id', 'uuid', ({ recorded }) => recorded.order.agentId],
  ['order_id', 'text', ({ recorded }) => recorded.order.orderId],
  ['user_id', 'int8', ({ recorded }) => recorded.order.userId],
  ['venue', 'text', ({ recorded }) => recorded.order.venue],
  ['market_id', 'text', ({ recorded }) => recorded.order.marketId],
  ['condition_id', 'text', ({ recorded }) => recorded.order.conditionId],
  ['question', 'text', ({ recorded }) => recorded.order.question],
  ['token_id', 'text', ({ recorded }) => recorded.order.tokenId],
  ['outcome', 'text', ({ recorded }) => recorded.order.outcome],
  ['outcome_name', 'text', ({ recorded }) => recorded.order.outcomeName],
  ['side', 'text', ({ recorded }) => recorded.order.side],
  ['is_limit', 'bool', ({ recorded }) => recorded.order.isLimitOrder],
  ['time_in_force', 'text', ({ recorded }) => recorded.order.timeInForce],
  ['post_only', 'bool', ({ recorded }) => recorded.order.postOnly],
  ['defer_exec', 'bool', ({ recorded }) => recorded.order.deferExec],
  ['price', 'int4', ({ recorded }) => recorded.order.price],
  ['limit_price', 'int4', ({ recorded }) => recorded.order.limit],
  ['shares', 'int8', ({ recorded }) => recorded.order.shares],
  ['money', 'int8', ({ recorded }) => recorded.order.money],
  ['funder', 'text', ({ recorded }) => recorded.order.funder],
  ['wallet_address', 'text', ({ recorded }) => recorded.order.walletAddress],
  ['kind', 'text', ({ recorded }) => recorded.order.kind],
  [
    'signature_type',
    'int2',
    ({ recorded: { order } }) => (order.kind === 'signed' ? order.signatureType : null),
  ],
  ['version', 'int2', ({ recorded: { order } }) => (order.kind === 'signed' ? order.version : null)],
  ['is_redemption', 'bool', ({ recorded: { order } }) => !isTrade(order)],
  [
    'expiration',
    'timestamptz',
    ({ recorded: { order } }) => (order.expiration === null ? null : new Date(order.expiration)),
  ],
  ['fee_amount', 'int8', ({ recorded }) => recorded.order.feeAmount],
  ['reasoning', 'text', ({ recorded }) => recorded.order.reasoning],
  ['source', 'text', ({ recorded }) => recorded.order.source],
  ['skill_slug', 'text', ({ recorded }) => recorded.order.skillSlug],
  ['client_order_id', 'text', ({ recorded }) => recorded.order.clientOrderId],
  ['cancel_at', 'timestamptz', ({ recorded }) => cancelAt(recorded)],
  ['request_id', 'text', ({ recorded }) => recorded.order.requestId],
  ['created_at', 'timestamptz', ({ recorded }) => new Date(recorded.order.createdAt)],
  ['status', 'text', ({ outcome }) => outcome?.status ?? FIRST_STATUS],
  ['filled', 'int8', ({ outcome }) => outcome?.filled ?? 0n],
  ['cost', 'int8', ({ outcome }) => outcome?.cost ?? 0n],
  ['fees', 'int8', ({ outcome }) => outcome?.fees ?? 0n],
  ['error_code', 'text', ({ outcome }) => outcome?.errorCode ?? null],
  [
    'first_answer',
    'jsonb',
    ({ outcome }) => (outcome?.first == null ? null : JSON.stringify(firstAnswerJson(outcome.first))),
  ],
  [
    'journal_lines',
    'text',
    ({ recorded: { order, checked }, outcome }) =>
      journalText([
        { at: order.createdAt, event: 'recorded', status: FIRST_STATUS, checked },
        ...(outcome?.journal ?? []),
      ]),
  ],
  ['reserved_day', 'date', ({ day }) => day],
  ['reserved_amount', 'int8', ({ recorded }) => recorded.reserves],
  // A set of columns has one type each, which an array of arrays of different lengths has not.
  ['restricted_by', 'text', ({ others }) => (others.length === 0 ? null : `{${others.join()}}`)],
  [
    'updated_at',
    'timestamptz',
    ({ recorded, outcome }) => new Date(Math.max(recorded.order.createdAt, outcome?.at ?? 0)),
  ],
];

const NAMES = COLUMNS.map(([name]) => name).join(', ');
const SELECTED = COLUMNS.map(([name]) => (name === 'restricted_by' ? `${name}::uuid[]` : name)).join(', ');
const ARRAYS = COLUMNS.map(([, type], index) => `$${index + 1}::${type}[]`).join(', ');
const next = (offset: number): string => `$${COLUMNS.length + offset}`;

/**
 * The budgets change by what is recorded. An order that has ended in the same commit gives back at once what it did not
 * spend, and an order that its venue accepted counts among its agent's trades.
 */
const RECORD = `with placed as (
    insert into orders (${NAMES}) select ${SELECTED} from unnest(${ARRAYS}) as t(${NAMES})
    returning agent_id, order_id, status, is_redemption, side, reserved_amount, cost, shares, filled, fees, error_code,
      source, skill_slug, updated_at, first_answer
  ), logged as (
    insert into facts (agent_id, kind, subject, at, payload)
    select agent_id, 'order', order_id, updated_at, order_change(status, filled, cost, fees, error_code) from placed
  ), back as (
    select p.agent_id, sum(b.trades)::integer as trades, sum(b.amount)::bigint as amount
    from placed p cross join lateral budget_back(p.status, p.first_answer is null, p.is_redemption, p.side,
      p.reserved_amount, p.cost, p.shares, p.filled) b
    group by p.agent_id
  ), counted as (
    insert into agent_results as r (agent_id, source, skill_slug, trades, last_trade_at)
    select agent_id, coalesce(source, ''), coalesce(skill_slug, ''), count(*), max(updated_at)
    from placed where (first_answer ->> 'success')::boolean and not is_redemption
    group by 1, 2, 3 order by 1, 2, 3
    on conflict (agent_id, source, skill_slug) do update
      set trades = r.trades + excluded.trades, last_trade_at = greatest(r.last_trade_at, excluded.last_trade_at)
  )
  update safeguards s set usage_day = t.day, used_trades = t.trades - coalesce(b.trades, 0),
    used_amount = t.amount - coalesce(b.amount, 0)
  from unnest(${next(1)}::uuid[], ${next(2)}::date[], ${next(3)}::integer[], ${next(4)}::bigint[])
    as t(agent_id, day, trades, amount) left join back b using (agent_id)
  where s.agent_id = t.agent_id`;

/** Issues the statements, without awaiting between them. */
export function writeGroup(tx: Tx, { accepted, budgets, outcomes }: GroupWrites): PromiseLike<unknown>[] {
  const rows: readonly NewRow[] = accepted
    .filter(({ isAgain }) => !isAgain)
    .map((one) => ({ ...one, outcome: outcomes.get(one.question.orderId) }));
  return [
    ...accepted.filter(({ isAgain }) => isAgain).flatMap((one) => sendAgain(tx, one)),
    tx.unsafe(RECORD, [
      ...COLUMNS.map(([, type, of]) => arrayOf(type, rows, of)),
      arrayOf('uuid', budgets, ({ agentId }) => agentId),
      arrayOf('date', budgets, ({ day }) => day),
      arrayOf('int4', budgets, ({ trades }) => trades),
      arrayOf('int8', budgets, ({ amount }) => amount),
    ]),
    ...accepted.filter(({ isKnown }) => !isKnown).map((one) => noteWallets(tx, one)),
    ...chainOrders(tx, accepted),
    ...lateOrders(tx, accepted),
  ];
}

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
        ${arrayOf('timestamptz', rows, ({ recorded }) => cancelAt(recorded))})
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
