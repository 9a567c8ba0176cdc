/** Splits, merges and conversions whose transactions were handed out: until they are seen on the chain, or for too long. */
import { transact } from '@bellwether/durable';
import type { Evidence } from '../domain/evidence.ts';
import type { NewSetOrder, SetOrderRow } from '../domain/records.ts';
import { ms, msOrNull, type Sql, type Tx } from '../platform/database/connection.ts';
import type { HandedOutSetsRow, OrdersRow, SetTransactionsRow } from '../platform/database/rows.generated.ts';
import {
  type MadeSet,
  type PreparedRelay,
  type RelayJson,
  type RelayState,
  relayFromJson,
  relayJson,
} from '../venues/venue.ts';
import { orderRow } from './order-store.ts';
import { recordEvidence, writeOutcomes } from './outcomes.ts';
import { isOfSets, UNSIGNED } from './set-terms.ts';

export interface HandedOutSet extends HandedOutState {
  readonly order: SetOrderRow;
}

interface HandedOutState {
  /** When the order has expired, if nothing was seen. */
  readonly endsAt: number;
  /** `null`: the owner sends transactions of its own. */
  readonly relay: PreparedRelay | null;
  /** Since when the request may be at the relayer. */
  readonly submittedAt: number | null;
  /** In the form that the relayer lists it. */
  readonly signature: string | null;
  readonly transactionId: string | null;
}

const stateOf = (row: StateRow): HandedOutState => ({
  endsAt: ms(row.ends_at),
  relay: row.relay === null ? null : relayFromJson(row.relay as RelayJson),
  submittedAt: msOrNull(row.submitted_at),
  signature: row.signature,
  transactionId: row.transaction_id,
});

const FIRST_LOOK_MS = 2_000;

export type HandedOutSets = ReturnType<typeof createHandedOutSets>;

type StateRow = Omit<HandedOutSetsRow, 'order_id' | 'due_at' | 'relay_state'>;
type DueRow = OrdersRow & StateRow;
type IdRow = Pick<HandedOutSetsRow, 'order_id'>;

const NOTHING_ELSE: Omit<Evidence, 'outcomes' | 'fills' | 'markets'> = { resolutions: [], deposits: [] };

export function createHandedOutSets(sql: Sql) {
  /** @returns `null`: it has ended meanwhile */
  const locked = async (tx: Tx, orderId: string): Promise<SetOrderRow | null> => {
    const [row] = await tx<OrdersRow[]>`
      select * from orders where order_id = ${orderId} and status = 'live' for no key update`;
    const order = row === undefined ? null : orderRow(row);
    return order !== null && isOfSets(order) ? order : null;
  };
  const forget = (tx: Tx, orderId: string) => tx`delete from handed_out_sets where order_id = ${orderId}`;

  return {
    /**
     * Records that the transactions of an order may be given to its sender.
     * @returns false: the order was ended before, so that they must not be
     */
    handOut: (
      { orderId }: Pick<NewSetOrder, 'orderId'>,
      {
        at,
        endsAt,
        dueAt,
        relay = null,
      }: {
        readonly at: number;
        readonly endsAt: number;
        readonly dueAt: number;
        readonly relay?: PreparedRelay | null;
      },
    ): Promise<boolean> =>
      transact(sql, async (tx) => {
        const journal = [{ at, event: 'handed_out', status: 'live' as const }];
        const outcome = { ...UNSIGNED, orderId, status: 'live' as const, first: UNSIGNED, journal, at };
        await writeOutcomes(tx, [outcome]);
        const rows = await tx<IdRow[]>`
          insert into handed_out_sets (order_id, ends_at, due_at, relay)
          select order_id, ${new Date(endsAt)}, ${new Date(dueAt)},
            ${relay === null ? null : tx.json(relayJson(relay) as never)}::jsonb from orders
          where order_id = ${orderId} and status = 'live' on conflict do nothing returning order_id`;
        return rows.length === 1;
      }),

    async find(orderId: string): Promise<HandedOutState | null> {
      const [row] = await sql<StateRow[]>`select * from handed_out_sets where order_id = ${orderId}`;
      return row === undefined ? null : stateOf(row);
    },

    /** @returns false: it was before, or has ended */
    async markSubmitted(
      orderId: string,
      { signature, at, endsAt }: { readonly signature: string; readonly at: number; readonly endsAt: number },
    ): Promise<boolean> {
      const rows = await sql<IdRow[]>`
        update handed_out_sets h set submitted_at = ${new Date(at)}, signature = ${signature},
          ends_at = ${new Date(endsAt)}, due_at = ${new Date(at + FIRST_LOOK_MS)}
        from orders o where h.order_id = ${orderId} and o.order_id = h.order_id and o.status = 'live'
          and h.relay is not null and h.submitted_at is null returning h.order_id`;
      return rows.length === 1;
    },

    /** The relayer has provably not taken it: it may be sent again. */
    async takeBack(orderId: string): Promise<void> {
      await sql`update handed_out_sets
        set submitted_at = null, signature = null, ends_at = to_timestamp((relay ->> 'deadlineS')::bigint)
        where order_id = ${orderId} and transaction_id is null`;
    },

    async noteRelayed(
      orderId: string,
      {
        transactionId = null,
        state = null,
        endsAt = null,
      }: {
        readonly transactionId?: string | null;
        readonly state?: RelayState | null;
        readonly endsAt?: number | null;
      },
    ): Promise<void> {
      await sql`update handed_out_sets set transaction_id = coalesce(${transactionId}::text, transaction_id),
        relay_state = coalesce(${state}::text, relay_state),
        ends_at = coalesce(${endsAt === null ? null : new Date(endsAt)}::timestamptz, ends_at)
        where order_id = ${orderId}`;
    },

    /** The relayer refused it, or it failed on the chain: nothing was executed. */
    reject: (
      orderId: string,
      {
        errorCode,
        words,
        at,
      }: { readonly errorCode: string; readonly words: string | null; readonly at: number },
    ): Promise<void> =>
      transact(sql, async (tx) => {
        if ((await locked(tx, orderId)) !== null) {
          const detail = words === null ? {} : { detail: words };
          const journal = [{ at, event: 'rejected', status: 'rejected' as const, ...detail }];
          const outcome = { ...UNSIGNED, orderId, status: 'rejected' as const, errorCode, first: null };
          await writeOutcomes(tx, [{ ...outcome, journal, at }]);
        }
        await forget(tx, orderId);
      }),

    /** Orders to look for now, each given to one replica; they are due again later. */
    async due(now: number, most: number): Promise<readonly HandedOutSet[]> {
      const at = sql`${new Date(now)}::timestamptz`;
      const rows = await sql<DueRow[]>`
        with due as materialized (
          select h.*, o.created_at from handed_out_sets h join orders o using (order_id)
          where h.due_at <= ${at} order by h.due_at limit ${most} for update of h skip locked
        ), later as (
          update handed_out_sets h
          set due_at = ${at} + case
            when due.submitted_at is null
              then least(greatest((${at} - due.created_at) / 4, interval '5 seconds'), interval '5 minutes')
            else least(greatest((${at} - due.submitted_at) / 4, interval '2 seconds'), interval '1 minute') end
          from due where h.order_id = due.order_id
        )
        select o.*, due.ends_at, due.relay, due.submitted_at, due.signature, due.transaction_id from orders o join due using (order_id) order by o.created_at, o.order_id`;
      return rows.flatMap((row) => {
        const order = orderRow(row);
        return isOfSets(order) ? [{ order, ...stateOf(row) }] : [];
      });
    },

    /** @returns false: the order has ended, or the transaction is the proof of another one */
    recordMade: (
      orderId: string,
      made: MadeSet,
      evidenceOf: (order: SetOrderRow) => Pick<Evidence, 'outcomes' | 'fills' | 'markets'>,
    ): Promise<boolean> =>
      transact(sql, async (tx) => {
        const order = await locked(tx, orderId);
        if (order === null) return false;
        const taken = await tx<IdRow[]>`
          insert into set_transactions (wallet, transaction_hash, condition_id, kind, order_id)
          values (${order.funder}, ${made.transactionHash}, ${made.conditionId}, ${made.kind}, ${orderId})
          on conflict do nothing returning order_id`;
        if (taken.length === 0) return false;
        await recordEvidence(tx, { ...NOTHING_ELSE, ...evidenceOf(order) });
        await forget(tx, orderId);
        return true;
      }),

    /** Whether a transaction is the proof of another order. @param hash `null`: the relayer does not say it */
    async isOfAnother(
      { orderId, funder, conditionId, kind }: SetOrderRow,
      hash: string | null,
    ): Promise<boolean> {
      const rows = await sql<Pick<SetTransactionsRow, 'order_id'>[]>`
        select order_id from set_transactions where wallet = ${funder} and transaction_hash = ${hash}::text
          and condition_id = ${conditionId} and kind = ${kind} and order_id <> ${orderId}`;
      return rows.length > 0;
    },

    /** Ends an order of which nothing was seen, if its time is over: another process may have forwarded it meanwhile. */
    expire: (orderId: string, at: number): Promise<void> =>
      transact(sql, async (tx) => {
        const due = await tx<IdRow[]>`select order_id from handed_out_sets
          where order_id = ${orderId} and ends_at <= ${new Date(at)} for update`;
        if (due.length === 0) return;
        if ((await locked(tx, orderId)) !== null) {
          const journal = [{ at, event: 'expired', status: 'expired' as const }];
          const outcome = { ...UNSIGNED, orderId, status: 'expired' as const, first: null, journal, at };
          await writeOutcomes(tx, [outcome]);
        }
        await forget(tx, orderId);
      }),
  };
}
