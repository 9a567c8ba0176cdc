/**
 * Reads what a group of trades is judged by, in one trip: all statements are sent together. The first one locks the
 * agents; the later ones have separate snapshots, taken after the locks were granted, so they see what earlier trades of
 * these agents committed.
 *
 * A statement cannot know the answer of the one before it in the same trip. So the first one leaves the ids of the agents
 * that it locked in a setting of the transaction, and the later ones read it.
 */
import { arrayOf } from '@bellwether/durable';
import type { Standing } from '../domain/records.ts';
import { type Usage, usageOf } from '../domain/safeguards.ts';
import { utcDay } from '../domain/utc-day.ts';
import type { Fragment, Tx } from '../platform/database/connection.ts';
import type { OrdersRow, SafeguardsRow } from '../platform/database/rows.generated.ts';
import { nameKey } from './admission.ts';
import { type CallerFacts, type CallerQuestion, type KnownCallers, readCallers } from './trade-callers.ts';
import { restricting, restrictingFacts, standingOf } from './trade-standing.ts';

/** A trade's questions to the database. */
export interface TradeQuestion extends CallerQuestion {
  readonly orderId: string;
  readonly clientOrderId: string | null;
}

/** Facts about an agent that is locked. */
export interface LockedAgent {
  /** The UTC day that its trades count on. */
  readonly day: string;
  readonly usage: Usage;
  /** Budget came back that the agent's row does not include yet. */
  readonly hasReturns: boolean;
  readonly realizedToday: bigint;
  readonly openOrders: number;
}

export interface GroupFacts {
  /** Those that are locked now. */
  readonly agents: ReadonlyMap<string, LockedAgent>;
  /** Order ids that another transaction is recording. The others are locked, too. */
  readonly takenIds: ReadonlySet<string>;
  readonly orders: ReadonlyMap<string, OrdersRow>;
  /** Orders that have the client order ids of the group, by agent and name. */
  readonly named: NamedOrders;
  /** By the trade's place in the group; undefined for an agent that does not exist. */
  readonly callers: readonly (CallerFacts | undefined)[];
}

const LOCKED = 'bellwether.locked';

/**
 * Every statement here reads a few rows by key for each trade, so one plan fits all groups. The planner's own choice would
 * be a new plan for each group, or a scan of a whole table that was small when the plan was made.
 */
const PLANNING = {
  plan_cache_mode: 'force_generic_plan',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_material: 'off',
};
/** A group must not stand still for one trade. A trade alone waits as long as statements may take. */
const GROUP_PLANNING = { ...PLANNING, lock_timeout: '1s' };

const settings = (tx: Tx, values: Readonly<Record<string, string>>) =>
  tx`select set_config(t.name, t.value, true)
    from unnest(${Object.keys(values)}::text[], ${Object.values(values)}::text[]) as t(name, value)`;

/** For transactions on the pool; the journal's session has these settings. */
export const keepPlans = (tx: Tx) => settings(tx, PLANNING);
export const keepGroupPlans = (tx: Tx) => settings(tx, GROUP_PLANNING);

const lockedAgents = (tx: Tx): Fragment => tx`current_setting(${LOCKED})::uuid[]` as unknown as Fragment;

type UsedRow = Pick<
  SafeguardsRow,
  'agent_id' | 'usage_day' | 'used_trades' | 'used_amount' | 'reserved_exits'
>;

type LockedRow = UsedRow & {
  /** Order ids, in every row, that another transaction is recording. */
  readonly taken_ids: readonly string[];
};

/** Locks those of the agents and of the order ids that no other transaction has locked, until the end. Never waits. */
const lockFree = (tx: Tx, agentIds: readonly string[], orderIds: readonly string[]) => tx<LockedRow[]>`
  with locked as materialized (
    select agent_id, usage_day, used_trades, used_amount, reserved_exits from safeguards where agent_id = any(${arrayOf('uuid', agentIds)})
    order by agent_id for no key update skip locked
  ), named as materialized (
    select set_config(${LOCKED}, coalesce(array_agg(agent_id), '{}')::text, true) from locked
  ), taken as materialized (
    select coalesce(array_agg(t.order_id), '{}') as taken_ids from unnest(${arrayOf('text', orderIds)}) as t(order_id)
    where not pg_try_advisory_xact_lock(hashtextextended(t.order_id, 0))
  )
  select locked.*, taken.taken_ids from locked cross join named cross join taken`;

/**
 * Waits for the agent's lock, and for those of the agents whose locks bind the wallet, always in the same order; for the
 * order's id, too.
 */
const lockAgent = async (tx: Tx, question: TradeQuestion) => {
  const { agentId } = question.caller;
  const [rows] = await Promise.all([
    tx<SafeguardsRow[]>`select * from safeguards
      where agent_id = any(array(select ${agentId}::uuid union ${restricting(tx, question)}))
      order by agent_id for no key update`,
    tx`select set_config(${LOCKED}, ${`{${agentId}}`}, true), pg_advisory_xact_lock(hashtextextended(${question.orderId}, 0))`,
  ]);
  return rows;
};

/** Budget that came back, or the figures that an agent's limits need. */
type AgentFactsRow = { readonly agent_id: string } & (
  | {
      readonly day: string;
      readonly trades: number;
      readonly amount: bigint;
      readonly realized_today: null;
      readonly open_orders: null;
    }
  | { readonly day: null; readonly realized_today: bigint; readonly open_orders: number }
);

/**
 * The locked agents. Deletes their returned budget: who records a trade writes the usage, which includes it, to the
 * agent's row. Figures that no limit of the agent needs are not read, so most agents have no row here.
 */
const agentFacts = (tx: Tx, latestAt: number) => tx<AgentFactsRow[]>`
  with taken as (
    delete from budget_returns where agent_id = any(${lockedAgents(tx)}) returning agent_id, day, trades, amount
  )
  select agent_id, day::text as day, trades, amount, null::bigint as realized_today, null::integer as open_orders
  from taken
  union all
  select s.agent_id, null, null, null,
    case when s.daily_loss_limit is null then 0
      else (select net from result_of_day(s.agent_id, greatest(s.usage_day, ${utcDay(latestAt)}::date))) end, o.count
  from safeguards s cross join lateral open_orders(s.agent_id, s.max_open_orders is not null) o
  where s.agent_id = any(${lockedAgents(tx)}) and (s.daily_loss_limit is not null or s.max_open_orders is not null)`;

const ordersOf = (tx: Tx, orderIds: readonly string[]) =>
  tx<OrdersRow[]>`select * from orders where order_id = any(${arrayOf('text', orderIds)})`;

/** Order ids by {@link nameKey}. */
export type NamedOrders = ReadonlyMap<string, string>;

/**
 * Orders that hold the client order ids of these trades. A refused order frees its name, and so does a quoted one that was
 * canceled, which happens only before it is sent. Trades without a name cost no statement.
 */
async function namedOrders(tx: Tx, questions: readonly TradeQuestion[]): Promise<NamedOrders> {
  const wanted = questions.flatMap(({ caller, clientOrderId }) =>
    clientOrderId === null ? [] : [{ agentId: caller.agentId, clientOrderId }],
  );
  if (wanted.length === 0) return new Map();
  const rows = await tx<Pick<OrdersRow, 'agent_id' | 'client_order_id' | 'order_id'>[]>`
    select o.agent_id, o.client_order_id, o.order_id
    from unnest(${arrayOf('uuid', wanted, ({ agentId }) => agentId)},
      ${arrayOf('text', wanted, ({ clientOrderId }) => clientOrderId)}) as t(agent_id, client_order_id)
    join orders o using (agent_id, client_order_id)
    where o.status <> 'rejected' and (o.kind <> 'quoted' or o.status <> 'canceled')`;
  return new Map(rows.map((row) => [nameKey(row.agent_id, row.client_order_id as string), row.order_id]));
}

/** Issues the statements without awaiting between them. Locks what is free, and never waits. */
export async function readGroup(
  tx: Tx,
  questions: readonly TradeQuestion[],
  known: KnownCallers,
): Promise<GroupFacts> {
  const agentIds = [...new Set(questions.map(({ caller }) => caller.agentId))];
  const orderIds = questions.map(({ orderId }) => orderId);
  const [locked, facts, orders, named, callers] = await Promise.all([
    lockFree(tx, agentIds, orderIds).execute(),
    agentFacts(tx, latestOf(questions)),
    ordersOf(tx, orderIds),
    namedOrders(tx, questions),
    known.read(tx, questions),
  ]);
  return gather(questions, { locked, takenIds: locked[0]?.taken_ids ?? [], facts, orders, named, callers });
}

/**
 * The same for one trade, which waits for its locks, and with the restrictions of its wallet.
 * @returns `null`: another agent's locks began to bind the wallet meanwhile, and its row is not locked; to be repeated
 */
export async function readAlone(
  tx: Tx,
  question: TradeQuestion,
): Promise<{ readonly facts: GroupFacts; readonly restrictions: Standing['restrictions'] } | null> {
  const [locked, figures, orders, named, callers, restricting] = await Promise.all([
    lockAgent(tx, question),
    agentFacts(tx, question.at),
    ordersOf(tx, [question.orderId]),
    namedOrders(tx, [question]),
    readCallers(tx, [question]),
    restrictingFacts(tx, question),
  ]);
  const facts = gather([question], { locked, takenIds: [], facts: figures, orders, named, callers });
  const { agentId } = question.caller;
  const own = facts.agents.get(agentId);
  if (own === undefined) throw new Error('the agent has no safeguards row');
  const standing = standingOf(question, {
    locked,
    restricting,
    used: { day: own.day, ...own.usage },
    facts: {
      position_value: facts.callers[0]?.key.position_value ?? 0n,
      realized_today: own.realizedToday,
      open_orders: own.openOrders,
      claimed: facts.callers[0]?.key.claimed === true,
    },
  });
  if (standing === null) return null;
  const { day, usage, restrictions } = standing;
  return { restrictions, facts: { ...facts, agents: new Map([[agentId, { ...own, day, usage }]]) } };
}

/** Judges a trade beside its standing, without a lock. */
export async function unlockedFacts(
  tx: Tx,
  question: TradeQuestion,
): Promise<{
  readonly caller: CallerFacts;
  readonly existing: OrdersRow | undefined;
  readonly named: NamedOrders;
}> {
  const [[caller], [existing], named] = await Promise.all([
    readCallers(tx, [question]),
    ordersOf(tx, [question.orderId]).execute(),
    namedOrders(tx, [question]),
  ]);
  if (caller === undefined) throw new Error('the agent has no safeguards row');
  return { caller, existing, named };
}

const latestOf = (questions: readonly TradeQuestion[]): number => Math.max(...questions.map(({ at }) => at));

interface Answers {
  readonly locked: readonly UsedRow[];
  readonly takenIds: readonly string[];
  readonly facts: readonly AgentFactsRow[];
  readonly orders: readonly OrdersRow[];
  readonly named: NamedOrders;
  readonly callers: GroupFacts['callers'];
}

const gather = (
  questions: readonly TradeQuestion[],
  { locked, takenIds, facts, orders, named, callers }: Answers,
): GroupFacts => ({
  agents: lockedAgentsOf(locked, facts, utcDay(latestOf(questions))),
  takenIds: new Set(takenIds),
  orders: new Map(orders.map((row) => [row.order_id, row])),
  named,
  callers,
});

/** @param today UTC day of the group's last trade. A budget of a later day may have begun: it is never gone back from. */
function lockedAgentsOf(
  locked: readonly UsedRow[],
  facts: readonly AgentFactsRow[],
  today: string,
): ReadonlyMap<string, LockedAgent> {
  const agents = new Map<string, LockedAgent>();
  for (const row of locked) {
    const usedDay = utcDay(row.usage_day.getTime());
    const day = usedDay > today ? usedDay : today;
    // A budget of an earlier day does not count.
    const isToday = usedDay === day;
    const usage = usageOf(isToday ? row.used_trades : 0, isToday ? row.used_amount : 0n, row.reserved_exits);
    agents.set(row.agent_id, { day, usage, hasReturns: false, realizedToday: 0n, openOrders: 0 });
  }
  for (const row of facts) {
    const agent = agents.get(row.agent_id);
    if (agent !== undefined) agents.set(row.agent_id, withFacts(agent, row));
  }
  return agents;
}

function withFacts(agent: LockedAgent, row: AgentFactsRow): LockedAgent {
  if (row.day === null) return { ...agent, realizedToday: row.realized_today, openOrders: row.open_orders };
  const { day, usage } = agent;
  if (row.day !== day) return { ...agent, hasReturns: true };
  const left = { ...usage, trades: usage.trades - row.trades, amount: usage.amount - row.amount };
  return { ...agent, hasReturns: true, usage: left };
}
