/** Guarded exits. What changes their status over all replicas is in functions/exits.sql. Times are epoch milliseconds. */

import type { ExitChange } from '@bellwether/contract';
import type { Micro, Pips } from '@bellwether/contract/decimals';
import { transact } from '@bellwether/durable';
import { ownersPause, settingsColumns } from '../agents/index.ts';
import type { ExitStatus, ExitTrigger } from '../domain/exits.ts';
import type { Caller, WalletAddress } from '../domain/records.ts';
import type { UnguardedExit } from '../domain/risk-alerts.ts';
import {
  type ColumnValues,
  type Fragment,
  ms,
  msOrNull,
  only,
  type Sql,
  type Tx,
} from '../platform/database/connection.ts';
import { type DeskWatch, SILENCE } from '../platform/database/desk-watch.ts';
import type { ExitsRow, FactsRow } from '../platform/database/rows.generated.ts';
import type { Place } from '../platform/http/page.ts';
import { createKeyedMutex } from '../platform/scheduler.ts';
import type { Sealed } from '../platform/secrets.ts';

export interface NewExit {
  readonly exitId: string;
  readonly caller: Caller;
  readonly orderId: string;
  readonly venue: string;
  readonly marketId: string;
  readonly conditionId: string;
  readonly tokenId: string;
  readonly outcome: 'YES' | 'NO';
  readonly outcomeName: string | null;
  readonly funder: WalletAddress;
  readonly walletAddress: WalletAddress;
  readonly timeInForce: string;
  readonly limit: Pips;
  readonly shares: Micro;
  readonly orderEndsAt: number | null;
  readonly trigger: ExitTrigger;
  readonly group: string | null;
  readonly expiresAt: number | null;
  /** Of a trigger of silence: the agent's setting when it was left. */
  readonly silenceSeconds: number | null;
  /** What the account held of the outcome when it was left, by its venue. */
  readonly held: Micro | null;
  readonly createdAt: number;
}

/** What sent it. Prices in collateral per share, sizes in shares: for people, not for sums. */
export interface ExitEvidence {
  readonly cause: 'trigger' | 'pause' | 'owner';
  readonly at: string;
  readonly heldSince?: string;
  readonly bid?: number;
  readonly price?: number;
  readonly sequence?: number;
  readonly bids?: readonly { readonly price: number; readonly size: number }[];
}

export interface ExitRow extends NewExit {
  /** Of what is read to be shown: the agent has an owner; its name; the market's question, where a trade has named it. */
  readonly claimed?: boolean;
  readonly agentName?: string;
  readonly marketTitle?: string | null;
  readonly status: ExitStatus;
  readonly because: string | null;
  readonly trouble: { readonly code: string; readonly message: string } | null;
  readonly firesOnPause: boolean;
  /** `null` once it has ended. */
  readonly sealed: Sealed | null;
  readonly fired: ExitEvidence | null;
  readonly attempts: number;
  readonly nextAttemptAt: number;
  /** It was resumed, and its trigger has held ever since. */
  readonly mustLetGo: boolean;
  /** Codes of troubles that have lasted, and were told; as it is read alone or in a list. */
  readonly lastingTroubles: readonly string[];
  readonly updatedAt: number;
}

/** What a turn of the watch needs of an exit. */
export interface WatchedExit
  extends Pick<
    ExitRow,
    | 'exitId'
    | 'caller'
    | 'orderId'
    | 'venue'
    | 'conditionId'
    | 'outcome'
    | 'funder'
    | 'timeInForce'
    | 'limit'
    | 'shares'
    | 'orderEndsAt'
    | 'trigger'
    | 'expiresAt'
    | 'status'
    | 'trouble'
    | 'mustLetGo'
    | 'attempts'
    | 'nextAttemptAt'
  > {
  /** Its agent's `exitDistancePercent`. */
  readonly distancePercent: number;
  /** Another one whenever its row was written. */
  readonly writer: string;
}

/**
 * Whether the shares of an exit are those that it was left for. `closed`: the position fell to dust since, by what is confirmed; `closing`: by
 * a sale that is not.
 */
type ExitHolding = 'held' | 'closing' | 'closed';

type LeftExit =
  | 'too_many'
  | 'no_place'
  | 'key_revoked'
  | 'not_open'
  | 'other_group'
  | { readonly exitId: string };

/** Of one agent of the owner, or of all that the owner has claimed. */
export interface OwnersExits {
  readonly userId: bigint;
  readonly agentId: string | null;
}

export type Resumed = 'resumed' | 'armed_already' | 'not_open' | 'paused' | 'no_place' | 'owned';

export interface ExitFilter {
  readonly of: Pick<Caller, 'agentId'> | OwnersExits;
  readonly venues?: readonly string[];
  readonly conditionId?: string;
  readonly outcome?: string;
  readonly statuses?: readonly ExitStatus[];
  readonly exitIds?: readonly string[];
}

/** A part of the list, which is newest first. */
interface ExitWindow {
  readonly limit: number;
  readonly offset?: number;
  /** Only exits after this one. */
  readonly after?: Place;
}

export function createExitStore(sql: Sql, deskWatch: DeskWatch) {
  const read = async (where: Fragment): Promise<ExitRow[]> =>
    (
      await sql<(ExitsRow & ShownColumns)[]>`
        select e.*, a.claimed_at is not null as claimed, a.name as agent_name,
          (select m.question from traded_markets m where m.condition_id = e.condition_id) as market_title, (select array_agg(t.code order by t.code) from exit_troubles t
          where t.exit_id = e.exit_id and t.told_at is not null) as lasting
        from exits e join agents a using (agent_id) where ${where}`
    ).map(({ claimed, agent_name: agentName, market_title: marketTitle, lasting, ...row }) => ({
      ...exitRow(row),
      ...{ claimed, agentName, marketTitle, lastingTroubles: lasting ?? [] },
    }));
  const isOf = (of: ExitFilter['of']): Fragment =>
    'userId' in of
      ? sql`a.user_id = ${of.userId} and a.claimed_at is not null and (${of.agentId}::uuid is null or a.agent_id = ${of.agentId}::uuid)`
      : sql`e.agent_id = ${of.agentId}`;

  const among = (column: Fragment, values: readonly string[] | undefined) =>
    values === undefined ? sql`true` : sql`${column} = any(${[...values]}::text[])`;
  const wanted = ({ of, venues, conditionId, outcome, statuses, exitIds }: ExitFilter): Fragment =>
    sql`${isOf(of)} and ${among(sql`e.venue`, venues)} and ${among(sql`e.status`, statuses)}
      and ${among(sql`e.exit_id`, exitIds)}
      and ${conditionId === undefined ? sql`true` : sql`e.condition_id = ${conditionId}`}
      and ${outcome === undefined ? sql`true` : sql`e.outcome = ${outcome}`}`;

  const agents = createKeyedMutex();
  /** Sending: the exits of an agent wait for its lock one by one. */
  const inTurn = async <T>({ agentId }: Caller, write: () => PromiseLike<T>): Promise<T> => {
    const release = await agents.acquire(agentId);
    try {
      return await write();
    } finally {
      release();
    }
  };

  return {
    ...createToldExits(sql),

    /** Leaves an exit, in place of another one; only while the agent's key is active and the day's trades have a place for it. */
    leave: (
      exit: NewExit,
      sealed: Sealed,
      {
        replaces,
        most,
        kept,
        isInOrder,
      }: {
        readonly replaces: string | null;
        readonly most: number;
        readonly kept: number;
        /** Its venue's fills are recorded in the order in which they happen. */
        readonly isInOrder: boolean;
      },
    ): Promise<LeftExit> =>
      transact(sql, async (tx) => {
        const { agentId, keyId } = exit.caller;
        const at = new Date(exit.createdAt);
        const [locked] = await tx<{ readonly is_paused: boolean }[]>`
          select trading_paused or owner_paused as is_paused from safeguards where agent_id = ${agentId} for no key update`;
        const [known] = await tx<Pick<ExitsRow, 'exit_id'>[]>`
          select exit_id from exits where agent_id = ${agentId} and order_id = ${exit.orderId} and sealed is not null`;
        if (known !== undefined) return { exitId: known.exit_id };
        if (replaces !== null) {
          const replaced = await tx<Pick<ExitsRow, 'exit_id'>[]>`select exit_id from exits
            where exit_id = ${replaces} and agent_id = ${agentId} and status in ('armed', 'suspended')`;
          if (replaced.length === 0) return 'not_open';
          await tx`select end_exit(${replaces}, 'canceled', 'replaced', ${at})`;
        }
        const others = await tx<Pick<ExitsRow, 'exit_id'>[]>`select exit_id from exits
          where agent_id = ${agentId} and group_name = ${exit.group} and sealed is not null
            and (condition_id, outcome) <> (${exit.conditionId}, ${exit.outcome}) limit 1`;
        if (others.length > 0) throw new NotLeft('other_group');
        // It was left in the moment of a pause, which did not see it.
        const isPaused = locked?.is_paused === true || (await isBoundByPause(tx, exit));
        const status = isPaused ? { status: 'suspended', because: 'pause' } : {};
        // Before it is left: the exit that was changed last stays (functions/desk-watch.sql).
        await tx`delete from exits where exit_id in (
          select exit_id from exits where agent_id = ${agentId} and sealed is null order by updated_at desc offset ${kept})`;
        await tx`insert into exits ${tx({ ...columnsOf(exit, sealed), ...status, in_order: isInOrder })}`;
        const state = only(
          await tx<{ readonly is_active: boolean; readonly open: number; readonly is_over: boolean }[]>`
            select open_exits as open, is_over_the_day(agent_id, ${at}) as is_over,
              exists (select 1 from api_keys k where k.id = ${keyId} and k.status = 1) as is_active
            from safeguards where agent_id = ${agentId}`,
        );
        const refused = !state.is_active
          ? 'key_revoked'
          : state.open > most
            ? 'too_many'
            : state.is_over
              ? 'no_place'
              : null;
        if (refused !== null) throw new NotLeft(refused);
        return { exitId: exit.exitId };
      }).catch((error: unknown) => {
        if (error instanceof NotLeft) return error.why;
        throw error;
      }),

    async byId(exitId: string, agentId: string): Promise<ExitRow | null> {
      const [row] = await read(sql`e.exit_id = ${exitId} and e.agent_id = ${agentId}`);
      return row ?? null;
    },

    /** Newest first. */
    list: (filter: ExitFilter, { limit, offset = 0, after }: ExitWindow): Promise<ExitRow[]> =>
      read(sql`${wanted(filter)} and ${
        after === undefined
          ? sql`true`
          : sql`(e.created_at, e.exit_id) < (${new Date(after.at)}, ${after.id})`
      }
        order by e.created_at desc, e.exit_id desc limit ${limit} offset ${offset}`),

    async count(filter: ExitFilter): Promise<number> {
      return only(
        await sql<{ readonly total: number }[]>`
          select count(*)::int as total from exits e join agents a using (agent_id) where ${wanted(filter)}`,
      ).total;
    },

    /**
     * What was written of exits since a look before; or a page of all that are watched, by their ids. Without what was signed: they are many.
     * `null`: the database was restored, and its exits are suspended now.
     * @param from `since` of the look before; or `after`, the last id of the page before, empty for the first one
     */
    async written(
      from: { readonly since: string } | { readonly after: string; readonly most: number },
      at: number,
    ): Promise<{ readonly rows: readonly WatchedExit[]; readonly since: string } | null> {
      const found = await sql<
        (WatchedColumns & {
          readonly horizon: string;
          readonly generation: string;
          readonly is_restored: boolean;
        })[]
      >`
        select h.horizon::text as horizon, h.generation, h.is_restored, e.exit_id, e.agent_id, e.user_id, e.api_key_id, e.order_id,
          e.venue, e.condition_id, e.outcome, e.funder, e.time_in_force, e.limit_price, e.shares, e.order_ends_at, e.trigger_kind,
          e.trigger_price, e.trigger_at, e.trigger_minutes, e.expires_at, e.status, e.trouble, e.trouble_detail, e.must_let_go,
          e.attempts, e.next_attempt_at, e.writer::text as writer, s.exit_distance_percent
        from (select pg_snapshot_xmin(pg_current_snapshot()) as horizon, exits_generation() as generation,
          database_is_restored(${new Date(at)}, ${deskWatch.known()}) as is_restored offset 0) h
        left join (${
          'since' in from
            ? // Those of another system, which had counted further, were read with all.
              sql`select * from exits where writer >= ${from.since}::xid8 and writer < pg_snapshot_xmax(pg_current_snapshot())`
            : sql`select * from exits where status in ('armed', 'firing') and exit_id > ${from.after} order by exit_id limit ${from.most}`
        }) e on true left join safeguards s using (agent_id) order by e.exit_id`;
      const [first] = found;
      if (first === undefined) throw new Error('a snapshot has a horizon');
      if (first.is_restored) {
        await deskWatch.turn(true);
        return null;
      }
      deskWatch.hear(first.generation);
      return { rows: found.filter((row) => row.exit_id !== null).map(watchedRow), since: first.horizon };
    },

    /** Armed exits of agents that have been silent for long enough: the longer of the times that were set when it was left and since. */
    async silent(at: number): Promise<ReadonlySet<string>> {
      const rows = await sql<Pick<ExitsRow, 'exit_id'>[]>`
        select e.exit_id from exits e join safeguards s using (agent_id) cross join desk_watch d
        where e.trigger_kind = 'silence' and e.status = 'armed'
          -- A watch that has not looked lately does not know of its own pause yet.
          and d.seen_at + ${SILENCE.gap}::interval >= ${new Date(at)} and ${new Date(at)} >= ${SILENCE.slack}::interval
            + make_interval(secs => greatest(e.silence_seconds, s.silence_seconds, s.locked_silence_seconds))
            + greatest(d.since, (select max(k.last_called_at) from api_keys k where k.agent_id = e.agent_id))`;
      return new Set(rows.map((row) => row.exit_id));
    },

    /** @returns `null` where another one began, or it is not armed any more; by the owner's word a suspended one is as good */
    async fire(
      { exitId, caller }: Pick<ExitRow, 'exitId' | 'caller'>,
      evidence: ExitEvidence,
      at: number,
      againAt: number,
    ): Promise<ExitRow | null> {
      const [row] = await inTurn(
        caller,
        () =>
          sql<ExitsRow[]>`select * from fire_exit(${exitId}, ${sql.json({ ...evidence })},
            ${new Date(at)}, ${new Date(againAt)}, ${deskWatch.known()})`,
      );
      return row === undefined ? null : exitRow(row);
    },

    async letGo(exitId: string): Promise<void> {
      await sql`update exits set must_let_go = false, trouble = null, trouble_detail = null
        where exit_id = ${exitId} and status = 'armed'`;
    },

    /** Takes an exit that is being sent over for a while, because whoever sent it is late. @returns false where another one has */
    async takeOver({ exitId, nextAttemptAt }: ExitRow, againAt: number): Promise<boolean> {
      const rows = await sql<
        Pick<ExitsRow, 'exit_id'>[]
      >`update exits set next_attempt_at = ${new Date(againAt)}
        where exit_id = ${exitId} and status = 'firing' and next_attempt_at = ${new Date(nextAttemptAt)} returning exit_id`;
      return rows.length > 0;
    },

    /** There was no answer to its order: the attempts are counted anew. */
    async inDoubt(exitId: string, againAt: number): Promise<void> {
      await sql`update exits set attempts = 0, next_attempt_at = ${new Date(againAt)}
        where exit_id = ${exitId} and status = 'firing'`;
    },

    /** It is looked at again then. */
    async later(exitId: string, againAt: number): Promise<void> {
      await sql`update exits set next_attempt_at = ${new Date(againAt)} where exit_id = ${exitId} and status = 'firing'`;
    },

    /**
     * Takes an exit over whose order is in doubt, and notes that the order is sent again: who proves that it never came looks at that.
     * @returns false where another one has, or where there is no doubt any more
     */
    async repeat(
      { exitId, nextAttemptAt }: ExitRow,
      { at, againAt }: { readonly at: number; readonly againAt: number },
    ): Promise<boolean> {
      const rows = await sql<Pick<ExitsRow, 'order_id'>[]>`
        with taken as (
          update exits set attempts = attempts + 1, next_attempt_at = ${new Date(againAt)}
          where exit_id = ${exitId} and status = 'firing' and next_attempt_at = ${new Date(nextAttemptAt)}
          returning agent_id, order_id
        )
        update orders o set sent_at = ${new Date(at)} from taken t
        where o.order_id = t.order_id and o.agent_id = t.agent_id and o.status in ('submitting', 'unknown')
        returning o.order_id`;
      return rows.length > 0;
    },

    /** The order did not arrive this time: what it was sent at before counts, and the reason is the exit's trouble. */
    async notRepeated(
      { exitId, orderId, caller }: ExitRow,
      {
        at,
        sentAt,
        trouble,
      }: { readonly at: number; readonly sentAt: number; readonly trouble: NotSent['trouble'] },
    ): Promise<void> {
      await sql`
        with noted as (
          update exits set trouble = ${trouble.code}, trouble_detail = ${trouble.message}
          where exit_id = ${exitId} and status = 'firing'
        )
        update orders set sent_at = ${new Date(sentAt)} where order_id = ${orderId} and agent_id = ${caller.agentId}
          and sent_at = ${new Date(at)} and status in ('submitting', 'unknown')`;
    },

    async holding(exitId: string): Promise<ExitHolding> {
      return only(await sql<{ readonly holding: ExitHolding }[]>`select exit_holding(${exitId}) as holding`)
        .holding;
    },

    /** Adds the prices and the book of the present attempt to what sent it. */
    async note(exitId: string, evidence: ExitEvidence): Promise<void> {
      await sql`update exits set fired = ${sql.json({ ...evidence })} where exit_id = ${exitId} and status = 'firing'`;
    },

    async placed({ exitId, caller }: ExitRow, at: number): Promise<void> {
      await inTurn(caller, () => sql`select exit_placed(${exitId}, ${new Date(at)})`);
    },

    async notSent(
      { exitId, caller }: ExitRow,
      { status, because = null, trouble, at, againAt }: NotSent,
    ): Promise<void> {
      await inTurn(
        caller,
        () => sql`select exit_not_sent(${exitId}, ${status}, ${because}, ${trouble.code}, ${trouble.message},
          ${new Date(at)}, ${new Date(againAt)})`,
      );
    },

    /** @returns the row as it is then; `null`: it is not among those that may be ended so */
    end: (exitId: string, { from, to, because, at, isUnplaced = false }: Ending): Promise<ExitRow | null> =>
      transact(sql, async (tx) => {
        await tx`select 1 from safeguards where agent_id = (select agent_id from exits where exit_id = ${exitId})
          for no key update`;
        const [row] = await tx<ExitsRow[]>`
          select * from exits e where exit_id = ${exitId} and status = any(${[...from]}::text[])
            and not (${isUnplaced} and exit_is_placed(e)) for update`;
        if (row === undefined) return null;
        await tx`select end_exit(${exitId}, ${to}, ${because}, ${new Date(at)})`;
        const ended = only(await tx<ExitsRow[]>`select * from exits where exit_id = ${exitId}`);
        return exitRow(ended);
      }),

    /**
     * Arms a suspended exit again, if the agent is not paused and the day's trades have a place.
     * @param by the agent: only while it has no owner
     * @param forPause the owner's pause sends it, also one that is armed already
     */
    async resume(
      exitId: string,
      {
        at,
        by,
        forPause,
      }: { readonly at: number; readonly by: 'agent' | 'owner'; readonly forPause: boolean },
    ): Promise<Resumed> {
      return only(
        await sql<{ readonly resumed: Resumed }[]>`
          select resume_exit(${exitId}, ${by === 'owner'}, ${forPause}, ${new Date(at)}) as resumed`,
      ).resumed;
    },

    /** Exits of one owner, the oldest first, in one commit: trading goes on before them, and each is judged by itself. */
    resumeSeveral: (
      exitIds: readonly string[],
      {
        of,
        resumeTrading,
        at,
      }: { readonly of: OwnersExits; readonly resumeTrading: boolean; readonly at: number },
    ): Promise<ReadonlyMap<string, Resumed>> =>
      transact(sql, async (tx) => {
        // In the order in which groups of trades lock them.
        const agents = await tx<Pick<ExitsRow, 'agent_id'>[]>`
          select s.agent_id from safeguards s join agents a using (agent_id) where ${isOf(of)}
          order by s.agent_id for no key update of s`;
        const ids = agents.map((row) => row.agent_id);
        if (resumeTrading)
          await tx`update safeguards set ${tx(settingsColumns(ownersPause(false), at))} where agent_id = any(${ids}::uuid[])`;
        const rows = await tx<(Pick<ExitsRow, 'exit_id'> & { readonly resumed: Resumed })[]>`
          select exit_id, resume_exit(exit_id, true, false, ${new Date(at)}) as resumed from (
            select exit_id from exits where exit_id = any(${[...exitIds]}::text[]) and agent_id = any(${ids}::uuid[])
            order by created_at, exit_id offset 0) e`;
        return new Map(rows.map(({ exit_id, resumed }) => [exit_id, resumed]));
      }),

    /** @returns false where it is not open */
    async disarmForPause(exitId: string, at: number): Promise<boolean> {
      const rows = await sql<Pick<ExitsRow, 'exit_id'>[]>`
        update exits set fires_on_pause = false, updated_at = ${new Date(at)}
        where exit_id = ${exitId} and status in ('armed', 'suspended') returning exit_id`;
      return rows.length > 0;
    },

    /** Tells what has stood in the way of open exits for ten seconds. */
    async tellTroubles(at: number): Promise<void> {
      await sql`select tell_exit_troubles(${new Date(at)})`;
    },

    /** Armed and suspended exits that were not looked over since, each for one caller. */
    async takeForReview(before: number, at: number, limit: number): Promise<ExitRow[]> {
      const rows = await sql<ExitsRow[]>`
        update exits set reviewed_at = ${new Date(at)} where exit_id in (
          select exit_id from exits where status in ('armed', 'suspended') and reviewed_at <= ${new Date(before)}
          order by reviewed_at limit ${limit} for update skip locked)
        returning *`;
      return rows.map(exitRow);
    },

    async reviewed(exitId: string, trouble: ExitRow['trouble']): Promise<void> {
      await sql`update exits set trouble = ${trouble?.code ?? null}, trouble_detail = ${trouble?.message ?? null}
        where exit_id = ${exitId} and status in ('armed', 'suspended')
          and (trouble, trouble_detail) is distinct from (${trouble?.code ?? null}, ${trouble?.message ?? null})`;
    },

    /** Exits of which it is known what their orders sold; and those whose very order its agent has placed. */
    async settle(at: number): Promise<void> {
      await sql`
        select settle_exit(e.exit_id, ${new Date(at)}) from (
          select x.exit_id from exits x join orders o on o.order_id = x.order_id and o.agent_id = x.agent_id
          where x.status = 'fired' and x.settled_at is null and not order_is_open(o.status) and o.status <> 'matched'
          order by x.agent_id limit 100) e`;
      await sql`
        select end_exit(e.exit_id, 'canceled', 'order_placed', ${new Date(at)}, array['armed', 'suspended']) from (
          select x.exit_id from exits x join safeguards s using (agent_id)
          where x.status in ('armed', 'suspended') and exists (select from orders o
            where o.order_id = x.order_id and o.agent_id = x.agent_id and o.first_answer ->> 'success' = 'true')
          order by x.agent_id limit 100 for no key update of s) e`;
    },

    /** Exits that end before anything sent them. */
    async expire(at: number): Promise<void> {
      await sql`
        select end_exit(e.exit_id, 'expired', null, ${new Date(at)}, array['armed', 'suspended']) from (
          select x.exit_id from exits x join safeguards s using (agent_id)
          where x.status in ('armed', 'suspended') and least(x.expires_at, x.order_ends_at) <= ${new Date(at)}
          order by x.agent_id limit 100 for no key update of s) e`;
    },
  };
}

/** Whether a former owner's pause binds its wallet. */
const isBoundByPause = async (tx: Tx, { caller, funder, walletAddress }: NewExit): Promise<boolean> =>
  only(
    await tx<{ readonly is_bound: boolean }[]>`
      select exists (
        select 1 from agent_wallets w
        cross join lateral restricting_agents(w.signer, w.agent_id) r(agent_id)
        cross join lateral binding_settings(w.signer, r.agent_id) s
        where w.agent_id = ${caller.agentId} and w.address in (${funder}, ${walletAddress}) and s.owner_paused) as is_bound`,
  ).is_bound;

class NotLeft extends Error {
  readonly why: 'too_many' | 'no_place' | 'key_revoked' | 'other_group';

  constructor(why: NotLeft['why']) {
    super(why);
    this.why = why;
  }
}

export type ExitStore = ReturnType<typeof createExitStore>;

export interface NotSent {
  readonly status: 'armed' | 'suspended' | 'firing';
  readonly because?: string | null;
  readonly trouble: { readonly code: string; readonly message: string };
  readonly at: number;
  readonly againAt: number;
}

interface Ending {
  readonly from: readonly ExitStatus[];
  readonly to: 'canceled' | 'expired' | 'failed';
  readonly because: string | null;
  readonly at: number;
  /** Not where its order is recorded, and was not refused. */
  readonly isUnplaced?: boolean;
}

const columnsOf = ({ caller, trigger, ...exit }: NewExit, { keyId, bytes }: Sealed): ColumnValues => ({
  exit_id: exit.exitId,
  agent_id: caller.agentId,
  user_id: caller.userId.toString(),
  api_key_id: caller.keyId.toString(),
  order_id: exit.orderId,
  venue: exit.venue,
  market_id: exit.marketId,
  condition_id: exit.conditionId,
  token_id: exit.tokenId,
  outcome: exit.outcome,
  outcome_name: exit.outcomeName,
  funder: exit.funder,
  wallet_address: exit.walletAddress,
  time_in_force: exit.timeInForce,
  limit_price: exit.limit,
  shares: exit.shares.toString(),
  order_ends_at: dateOf(exit.orderEndsAt),
  key_id: keyId,
  sealed: bytes as Buffer,
  trigger_kind: trigger.kind,
  trigger_price: 'price' in trigger ? trigger.price : null,
  trigger_at: 'at' in trigger ? new Date(trigger.at) : null,
  trigger_minutes: 'minutes' in trigger ? trigger.minutes : null,
  group_name: exit.group,
  expires_at: dateOf(exit.expiresAt),
  silence_seconds: exit.silenceSeconds,
  held: exit.held === null ? null : exit.held.toString(),
  status: 'armed',
  next_attempt_at: new Date(exit.createdAt),
  reviewed_at: new Date(exit.createdAt),
  created_at: new Date(exit.createdAt),
  updated_at: new Date(exit.createdAt),
});

const dateOf = (at: number | null): Date | null => (at === null ? null : new Date(at));

interface ShownColumns {
  readonly claimed: boolean;
  readonly agent_name: string;
  readonly market_title: string | null;
  readonly lasting: string[] | null;
}

type SharedColumns = Pick<
  ExitsRow,
  | 'exit_id'
  | 'agent_id'
  | 'user_id'
  | 'api_key_id'
  | 'order_id'
  | 'venue'
  | 'condition_id'
  | 'outcome'
  | 'funder'
  | 'time_in_force'
  | 'limit_price'
  | 'shares'
  | 'order_ends_at'
  | 'trigger_kind'
  | 'trigger_price'
  | 'trigger_at'
  | 'trigger_minutes'
  | 'expires_at'
  | 'status'
  | 'trouble'
  | 'trouble_detail'
  | 'must_let_go'
  | 'attempts'
  | 'next_attempt_at'
>;

type WatchedColumns = SharedColumns & {
  readonly writer: string;
  readonly exit_distance_percent: number;
};

const watchedRow = (row: WatchedColumns): WatchedExit => ({
  ...sharedRow(row),
  writer: row.writer,
  distancePercent: row.exit_distance_percent,
});

const sharedRow = (row: SharedColumns) => ({
  exitId: row.exit_id,
  caller: { agentId: row.agent_id, userId: row.user_id, keyId: row.api_key_id },
  orderId: row.order_id,
  venue: row.venue,
  conditionId: row.condition_id,
  outcome: row.outcome as ExitRow['outcome'],
  funder: row.funder as WalletAddress,
  timeInForce: row.time_in_force,
  limit: row.limit_price,
  shares: row.shares,
  orderEndsAt: msOrNull(row.order_ends_at),
  trigger: triggerOf(row),
  expiresAt: msOrNull(row.expires_at),
  status: row.status as ExitStatus,
  trouble: row.trouble === null ? null : { code: row.trouble, message: row.trouble_detail ?? '' },
  mustLetGo: row.must_let_go,
  attempts: row.attempts,
  nextAttemptAt: ms(row.next_attempt_at),
});

function triggerOf(
  row: Pick<ExitsRow, 'trigger_kind' | 'trigger_price' | 'trigger_at' | 'trigger_minutes'>,
): ExitTrigger {
  const kind = row.trigger_kind as ExitTrigger['kind'];
  switch (kind) {
    case 'price_at_or_below':
    case 'price_at_or_above':
      return { kind, price: row.trigger_price ?? 0 };
    case 'time':
      return { kind, at: row.trigger_at === null ? 0 : ms(row.trigger_at) };
    case 'before_end':
      return { kind, minutes: row.trigger_minutes ?? 0 };
    case 'silence':
      return { kind };
  }
}

const exitRow = (row: ExitsRow): ExitRow => ({
  ...sharedRow(row),
  marketId: row.market_id,
  tokenId: row.token_id,
  outcomeName: row.outcome_name,
  walletAddress: row.wallet_address as WalletAddress,
  group: row.group_name,
  silenceSeconds: row.silence_seconds,
  held: row.held,
  createdAt: ms(row.created_at),
  because: row.because,
  firesOnPause: row.fires_on_pause,
  lastingTroubles: [],
  sealed: row.sealed === null || row.key_id === null ? null : { keyId: row.key_id, bytes: row.sealed },
  fired: row.fired as ExitEvidence | null,
  updatedAt: ms(row.updated_at),
});

// What is told of exits: what became of them, and what nothing guards any more. Written by the triggers of functions/exits.sql.

/** Who reads an alert, and may say that it was seen. */
export type AlertReader = 'agent' | 'owner';

interface ChangesQuestion {
  readonly agentId: string;
  /** `null`: of all. */
  readonly venue: string | null;
  /** Epoch milliseconds; `null`: the latest, whenever they were. */
  readonly after: number | null;
  /** Leaves out what an earlier answer's snapshot contained. */
  readonly notIn: string | null;
  /** Leaves out what this snapshot does not contain: a cursor of it tells that the next time. */
  readonly upTo: string;
  readonly limit: number;
}

/** Covers slow commits and clock differences, where a snapshot says what is new. */
const MARGIN_MS = 60_000;

const COLUMN = { agent: 'seen_at', owner: 'owner_seen_at' } as const;

const createToldExits = (sql: Sql) => ({
  /** Latest first. Where the log does not reach back to a snapshot, what comes from about its time is repeated. */
  async changes({ agentId, venue, after, notIn, upTo, limit }: ChangesQuestion): Promise<ExitChange[]> {
    const since = after === null ? null : new Date(notIn === null ? after : after - MARGIN_MS);
    const isNew = sql`not (select l.kept_since <= ${since} and pg_snapshot_xmax(${notIn}::text::pg_snapshot)
        <= pg_snapshot_xmax(pg_current_snapshot()) from fact_log l)
      or not pg_visible_in_snapshot(coalesce(f.recorded_by, f.writer), ${notIn}::text::pg_snapshot)`;
    const rows = await sql<(Pick<ExitChange, 'id' | 'type' | 'data'> & Pick<FactsRow, 'at'>)[]>`
      select v.event_id as id, v.type, f.at, v.data from (
        select f as fact, f.at, f.seq from facts f
        where f.agent_id = ${agentId} and f.kind = 'exit' ${venue === null ? sql`` : sql`and f.payload ->> 'venue' = ${venue}`}
          and pg_visible_in_snapshot(coalesce(f.recorded_by, f.writer), ${upTo}::text::pg_snapshot)
          ${since === null ? sql`` : sql`and f.at > ${since}`} ${notIn === null ? sql`` : sql`and (${isNew})`}
        order by f.at desc, f.seq desc limit ${limit}) f
      cross join lateral webhook_events(f.fact) v order by f.at desc, f.seq desc`;
    return rows.map(({ at, ...event }) => ({ ...event, createdAt: at.toISOString() }));
  },

  /** Exits that ended unsold, while shares are held that no other exit would sell: those that this reader has not seen. */
  async unguarded(agentId: string, reader: AlertReader): Promise<UnguardedExit[]> {
    const rows = await sql<
      (Pick<ExitsRow, 'exit_id' | 'market_id' | 'outcome'> &
        Record<'unsold' | 'bare', bigint> & {
          readonly because: string;
        })[]
    >`select exit_id, market_id, outcome, because, unsold, bare from unguarded_exits(${agentId}, ${reader === 'owner'})
      order by exit_id`;
    return rows.map((row) => ({
      exitId: row.exit_id,
      marketId: row.market_id,
      outcome: row.outcome as UnguardedExit['outcome'],
      because: row.because,
      unsold: row.unsold,
      bare: row.bare,
    }));
  },

  /** Notes that ended exits were seen; those that have not ended are left out. @returns which ended ones are seen now */
  async seen(
    exitIds: readonly string[],
    { agentId, by, at }: { readonly agentId: string; readonly by: AlertReader; readonly at: number },
  ): Promise<string[]> {
    const column = sql(COLUMN[by]);
    const rows = await sql<Pick<ExitsRow, 'exit_id'>[]>`
      update exits set ${column} = coalesce(${column}, ${new Date(at)})
      where agent_id = ${agentId} and exit_id = any(${[...exitIds]}::text[]) and sealed is null returning exit_id`;
    return rows.map((row) => row.exit_id);
  },
});
