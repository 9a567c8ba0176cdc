/**
 * Reads what a group of trades is judged by, in one trip: all statements are sent together. The first one locks the
 * agents; the later ones have separate snapshots, taken after the locks were granted, so they see what earlier trades of
 * these agents committed.
 *
 * A statement cannot know the answer of the one before it in the same trip. So the first one leaves the ids of the agents
 * that it locked in a setting of the transaction, and the later ones read it.
 */
import { arrayOf } from '@bellwether/durable';
import type { Address } from '@bellwether/protocol';
import { type SettingsColumns, type SettingsRow, settingsRow } from '../agents/index.ts';
import { BoundedCache } from '../domain/bounded-cache.ts';
import type { Standing } from '../domain/records.ts';
import { type Usage, usageOf, utcDay } from '../domain/safeguards.ts';
import { type Fragment, only, type Sql, type Tx } from '../platform/database/connection.ts';
import type {
  AgentsRow,
  ApiKeysRow,
  CallersVersionRow,
  CredentialsRow,
  OrdersRow,
  SafeguardsRow,
} from '../platform/database/rows.generated.ts';
import { nameKey, type StandingQuestion, type TradeScope } from './admission.ts';

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
type NamedOrders = ReadonlyMap<string, string>;

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

// Facts about the callers of trades beside figures: settings, key, owner, wallets and credentials. They change seldom,
// so it is kept from group to group under the name of its state (functions/callers.sql). The name is read with each
// group, after its locks: what was kept under it is what the database would answer.

export interface CallerQuestion extends StandingQuestion {
  readonly caller: { readonly agentId: string; readonly keyId: bigint };
  readonly wallets: readonly Address[];
  readonly quoteId?: string;
}

interface KeyRow extends SettingsColumns, Pick<AgentsRow, 'user_id'>, Pick<CallersVersionRow, 'version'> {
  /** From 1. */
  readonly nth: number;
  /** `null`: the key was deleted. */
  readonly status: ApiKeysRow['status'] | null;
  readonly claimed: boolean;
  /** The agent has traded with the wallet before. */
  readonly is_known: boolean;
  /** Locks of other owners bind the wallet. */
  readonly is_restricted: boolean;
  /** 0 where the agent has no limit for positions. */
  readonly position_value: bigint;
  readonly is_withdrawn: boolean;
}

/** A credential of the owner for one of the trade's wallets. */
type CredentialOf = Pick<CredentialsRow, 'wallet_address' | 'signature_type' | 'api_key_hash'> & {
  readonly is_reachable: boolean;
};

/** One row for each of the trade's credentials; without any, one in which they are null. */
type CallerRow = KeyRow & (CredentialOf | { readonly wallet_address: null });

/** `credentials`: those that the agent may use; `hasUnreachable`: its owner has others of the wallet. */
export interface CallerFacts extends Pick<TradeScope, 'credentials' | 'hasUnreachable'> {
  readonly key: KeyRow;
  readonly settings: SettingsRow;
}

/**
 * In the order of the questions; undefined for an agent that does not exist. Where the statement asks whether a row exists,
 * it selects the row: for `exists` the planner may read the whole table once instead of one row per trade.
 */
export async function readCallers(
  tx: Tx,
  questions: readonly CallerQuestion[],
): Promise<readonly (CallerFacts | undefined)[]> {
  const rows = await tx<CallerRow[]>`
    select t.nth::int as nth, (select version from callers_version) as version, s.*, k.status, a.user_id,
      a.claimed_at is not null as claimed,
      case when s.max_position_value is null then 0 else (
        select value from position_value(t.agent_id, t.funder, array[t.yes, t.no], t.condition_id)) end as position_value,
      (select true from agent_wallets w
        where w.agent_id = t.agent_id and w.address = t.funder and w.is_own and not w.lifted) is not null as is_known,
      (select true from restrictions_by(t.signer, t.agent_id) limit 1) is not null as is_restricted,
      t.quote_id <> '' and (
        select true from quotes q where q.quote_id = t.quote_id and q.withdrawn_at is not null) is not null as is_withdrawn,
      c.wallet_address, c.signature_type, c.api_key_hash, (
        select true from agent_wallets w where w.agent_id = t.agent_id and w.address = c.wallet_address
          and (w.is_own or w.granted)) is not null as is_reachable
    from unnest(${arrayOf('int8', questions, ({ caller }) => caller.keyId)},
        ${arrayOf('uuid', questions, ({ caller }) => caller.agentId)},
        ${arrayOf('text', questions, ({ funder }) => funder)}, ${arrayOf('text', questions, ({ signer }) => signer)},
        ${arrayOf('text', questions, ({ tokenIds }) => tokenIds[0])}, ${arrayOf('text', questions, ({ tokenIds }) => tokenIds[1])},
        ${arrayOf('text', questions, ({ conditionId }) => conditionId)},
        ${arrayOf('text', questions, ({ quoteId }) => quoteId ?? '')},
        ${arrayOf('text', questions, ({ wallets }) => `{${wallets}}`)})
      with ordinality as t(key_id, agent_id, funder, signer, yes, no, condition_id, quote_id, wallets, nth)
    join agents a on a.agent_id = t.agent_id
    join safeguards s on s.agent_id = t.agent_id
    left join api_keys k on k.id = t.key_id
    left join lateral (
      select wallet_address, signature_type, api_key_hash from credentials
      where wallet_address = any(t.wallets::text[]) and user_id = a.user_id) c on true`;
  const callers: (CallerFacts | undefined)[] = questions.map(() => undefined);
  for (const row of rows) callers[row.nth - 1] = withRow(callers[row.nth - 1], row);
  return callers;
}

function withRow(before: CallerFacts | undefined, row: CallerRow): CallerFacts {
  const facts = before ?? { key: row, settings: settingsRow(row), credentials: [], hasUnreachable: false };
  if (row.wallet_address === null) return facts;
  if (!row.is_reachable) return { ...facts, hasUnreachable: true };
  const { wallet_address: walletAddress, signature_type: signatureType, api_key_hash: apiKeyHash } = row;
  return { ...facts, credentials: [...facts.credentials, { walletAddress, signatureType, apiKeyHash }] };
}

const MOST_KNOWN = 10_000;

export class KnownCallers {
  readonly #known = new BoundedCache<CallerFacts>({
    entries: MOST_KNOWN,
    weight: MOST_KNOWN,
    weightOf: () => 1,
  });
  /** Read last. */
  #version = '';

  /**
   * The same as `readCallers`. To be issued behind the statement that locks the agents. A second trip is needed only where
   * something has changed since the last group.
   */
  async read(tx: Tx, questions: readonly CallerQuestion[]): Promise<readonly (CallerFacts | undefined)[]> {
    const known = questions.map((question) => this.#find(question));
    const unknown = questions.filter((_, at) => known[at] === undefined);
    const [current, asked] = await Promise.all([
      tx<Pick<CallersVersionRow, 'version'>[]>`select version from callers_version`,
      this.#ask(tx, unknown),
    ]);
    const { version } = only(current);
    this.#version = version;
    const isOutdated = (facts: CallerFacts | undefined): boolean =>
      facts !== undefined && facts.key.version !== version;
    const outdated = questions.filter((_, at) => isOutdated(known[at]));
    const first = asked.values();
    const again = (await this.#ask(tx, outdated)).values();
    return known.map((facts) => {
      if (facts === undefined) return first.next().value;
      return isOutdated(facts) ? again.next().value : facts;
    });
  }

  async #ask(tx: Tx, questions: readonly CallerQuestion[]): Promise<readonly (CallerFacts | undefined)[]> {
    if (questions.length === 0) return [];
    const callers = await readCallers(tx, questions);
    for (const [at, question] of questions.entries()) {
      const facts = callers[at];
      if (facts !== undefined && mayKeep(question, facts)) this.#known.set(nameOf(question), facts);
    }
    return callers;
  }

  #find(question: CallerQuestion): CallerFacts | undefined {
    if (question.quoteId !== undefined) return undefined;
    const facts = this.#known.get(nameOf(question));
    return facts?.key.version === this.#version ? facts : undefined;
  }
}

/** Figures of limits and withdrawals of quotes change under the same version. */
const mayKeep = ({ quoteId }: CallerQuestion, { settings }: CallerFacts): boolean =>
  quoteId === undefined && settings.maxPositionValue === null;

/** Everything of the question that the answer depends on, if it may be kept. */
const nameOf = ({ caller, funder, signer, wallets }: CallerQuestion): string =>
  `${caller.keyId} ${caller.agentId} ${funder} ${signer} ${wallets}`;

// Facts for the judgement of a trade: the agent's safeguards and what is used of them, and the locks of other owners' agents
// that had the wallet. The facts are SQL functions (functions/standing.sql), which the agent's reads use, too; a trade
// reads them under its locks (admission-reads.ts), other requests read them without locks.

const restricting = (tx: Tx | Sql, { caller, signer }: StandingQuestion): Fragment =>
  tx`(select r from restricting_agents(${signer}, ${caller.agentId}::uuid) r)` as unknown as Fragment;

/**
 * Rows `day`: the trade's UTC day. A trade that waited for the lock across midnight may find that the next day has begun,
 * and counts there: the budget of a past day is never changed.
 */
const tradeDay = (tx: Tx | Sql, { caller, at }: StandingQuestion): Fragment =>
  tx`(select greatest(usage_day, ${utcDay(at)}::date) as day from safeguards where agent_id = ${caller.agentId})` as unknown as Fragment;

/** The agent's own row and those of the agents whose locks bind the wallet. */
export const safeguardRows = (sql: Tx | Sql, question: StandingQuestion) =>
  sql<SafeguardsRow[]>`select * from safeguards
    where agent_id = any(array(select ${question.caller.agentId}::uuid union ${restricting(sql, question)}))`;

interface UsageRow {
  readonly day: string;
  readonly trades: number;
  readonly amount: bigint;
}

/** The agent's usage of the day. */
export const usage = (sql: Tx | Sql, question: StandingQuestion) => sql<UsageRow[]>`
  select t.day::text as day, u.trades, u.amount
  from ${tradeDay(sql, question)} t cross join usage_of_day(${question.caller.agentId}::uuid, t.day) u`;

interface FactsRow {
  readonly position_value: bigint;
  readonly realized_today: bigint;
  readonly open_orders: number;
  readonly claimed: boolean;
}

/** Every figure, also those that no limit of the agent needs. */
export const ownFacts = (tx: Tx | Sql, question: StandingQuestion) => {
  const { caller, funder, tokenIds, conditionId } = question;
  return tx<FactsRow[]>`
    select v.value as position_value, r.net as realized_today, o.count as open_orders,
      a.claimed_at is not null as claimed
    from agents a cross join ${tradeDay(tx, question)} t
    cross join open_orders(a.agent_id, true) o
    cross join result_of_day(a.agent_id, t.day) r
    cross join position_value(a.agent_id, ${funder}::text, ${[...tokenIds]}::text[], ${conditionId}::text) v
    where a.agent_id = ${caller.agentId}`;
};

interface RestrictingRow extends UsageRow, Omit<FactsRow, 'claimed'>, SettingsColumns {
  readonly agent_id: string;
}

/**
 * The same for each agent whose locks bind the wallet, as if that agent traded, including what other owners traded with
 * wallets that it had. No row for a wallet that no locks bind.
 */
export const restrictingFacts = (tx: Tx | Sql, question: StandingQuestion) => {
  const { signer, funder, tokenIds, conditionId } = question;
  const terms = tx`s.agent_id, ${funder}::text, ${[...tokenIds]}::text[], ${conditionId}::text`;
  return tx<RestrictingRow[]>`
    select s.*, t.day::text as day, u.trades, u.amount, r.net as realized_today,
      o.count + b.count as open_orders, v.value + w.value as position_value
    from ${tradeDay(tx, question)} own cross join ${restricting(tx, question)} f(agent_id)
    cross join binding_settings(${signer}, f.agent_id) s
    cross join lateral (select greatest(s.usage_day, own.day) as day) t
    cross join usage_of_day(s.agent_id, t.day) u
    cross join result_of_day(s.agent_id, t.day) r
    cross join open_orders(s.agent_id, s.locked_max_open_orders is not null) o
    cross join bound_open_orders(s.agent_id, s.locked_max_open_orders is not null) b
    cross join position_value(${terms}) v
    cross join bound_position_value(${terms}) w`;
};

interface StandingRows {
  readonly locked: readonly SafeguardsRow[];
  readonly used: UsageRow;
  readonly facts: FactsRow;
  readonly restricting: readonly RestrictingRow[];
}

/**
 * `null`: another agent's locks began to bind the wallet between the first and the last statement, and its row was not
 * read. The caller repeats.
 */
export function standingOf(
  { caller }: StandingQuestion,
  { locked, used, facts, restricting: bound }: StandingRows,
): (Standing & { readonly day: string }) | null {
  const isLocked = new Set(locked.map((row) => row.agent_id));
  const ownRow = locked.find((row) => row.agent_id === caller.agentId);
  if (ownRow === undefined) throw new Error('the agent has no safeguards row');
  const day = [used, ...bound].reduce((latest, row) => (row.day > latest ? row.day : latest), used.day);
  // Usage of an earlier day does not count.
  const usageToday = (row: UsageRow, kept = 0): Usage =>
    row.day === day ? usageOf(row.trades, row.amount, kept) : usageOf(0, 0n, kept);
  const restrictions: Standing['restrictions'][number][] = [];
  for (const row of bound) {
    if (!isLocked.has(row.agent_id)) return null;
    const settings = settingsRow(row);
    restrictions.push({
      agentId: row.agent_id,
      paused: settings.ownerPaused,
      locks: settings.locks,
      usage: usageToday(row),
      realizedToday: row.realized_today,
      positionValue: row.position_value,
      openOrders: row.open_orders,
    });
  }
  return {
    day,
    claimed: facts.claimed,
    safeguards: settingsRow(ownRow),
    usage: usageToday(used, ownRow.reserved_exits),
    realizedToday: facts.realized_today,
    positionValue: facts.position_value,
    openOrders: facts.open_orders,
    restrictions,
  };
}
