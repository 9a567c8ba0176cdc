/** Splits and merges whose transactions were handed out: until they are seen on the chain, or for too long. */
import { transact } from '@bellwether/durable';
import type { Evidence } from '../domain/evidence.ts';
import type { NewSetOrder, SetOrderRow } from '../domain/records.ts';
import type { Sql, Tx } from '../platform/database/connection.ts';
import type { OrdersRow } from '../platform/database/rows.generated.ts';
import { ms } from '../platform/database/rows.ts';
import type { MadeSet } from '../venues/venue.ts';
import { recordEvidence, writeOutcomes } from './evidence.ts';
import { orderRow } from './order-rows.ts';
import { UNSIGNED } from './set-terms.ts';

export interface HandedOutSet {
  readonly order: SetOrderRow;
  readonly endsAt: number;
}

export type HandedOutSets = ReturnType<typeof createHandedOutSets>;

type DueRow = OrdersRow & { readonly ends_at: Date };

const NOTHING_ELSE: Omit<Evidence, 'outcomes' | 'fills' | 'markets'> = { resolutions: [], deposits: [] };

export function createHandedOutSets(sql: Sql) {
  /** @returns `null`: it has ended meanwhile */
  const locked = async (tx: Tx, orderId: string): Promise<SetOrderRow | null> => {
    const [row] = await tx<OrdersRow[]>`
      select * from orders where order_id = ${orderId} and status = 'live' for no key update`;
    const order = row === undefined ? null : orderRow(row);
    return order !== null && (order.kind === 'split' || order.kind === 'merge') ? order : null;
  };
  const forget = (tx: Tx, orderId: string) => tx`delete from handed_out_sets where order_id = ${orderId}`;

  return {
    /**
     * Records that the transactions of an order may be given to its sender.
     * @returns false: the order was ended before, so that they must not be
     */
    handOut: (
      { orderId }: Pick<NewSetOrder, 'orderId'>,
      { at, endsAt, dueAt }: { readonly at: number; readonly endsAt: number; readonly dueAt: number },
    ): Promise<boolean> =>
      transact(sql, async (tx) => {
        const journal = [{ at, event: 'handed_out', status: 'live' as const }];
        const outcome = { ...UNSIGNED, orderId, status: 'live' as const, first: UNSIGNED, journal, at };
        await writeOutcomes(tx, { outcomes: [outcome] });
        const rows = await tx`
          insert into handed_out_sets (order_id, ends_at, due_at)
          select order_id, ${new Date(endsAt)}, ${new Date(dueAt)} from orders
          where order_id = ${orderId} and status = 'live' on conflict do nothing returning order_id`;
        return rows.length === 1;
      }),

    async endsAt(orderId: string): Promise<number | null> {
      const [row] = await sql<{ readonly ends_at: Date }[]>`
        select ends_at from handed_out_sets where order_id = ${orderId}`;
      return row === undefined ? null : ms(row.ends_at);
    },

    /** Orders to look for now, each given to one replica; they are due again later. */
    async due(now: number, most: number): Promise<readonly HandedOutSet[]> {
      const at = sql`${new Date(now)}::timestamptz`;
      const rows = await sql<DueRow[]>`
        with due as materialized (
          select h.order_id, h.ends_at, o.created_at from handed_out_sets h join orders o using (order_id)
          where h.due_at <= ${at} order by h.due_at limit ${most} for update of h skip locked
        ), later as (
          update handed_out_sets h
          set due_at = ${at} + least(greatest((${at} - due.created_at) / 4, interval '5 seconds'), interval '5 minutes')
          from due where h.order_id = due.order_id
        )
        select o.*, due.ends_at from orders o join due using (order_id) order by o.created_at, o.order_id`;
      return rows.flatMap((row) => {
        const order = orderRow(row);
        const isSet = order.kind === 'split' || order.kind === 'merge';
        return isSet ? [{ order, endsAt: ms(row.ends_at) }] : [];
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
        const taken = await tx`
          insert into set_transactions (wallet, transaction_hash, condition_id, kind, order_id)
          values (${order.funder}, ${made.transactionHash}, ${made.conditionId}, ${made.kind}, ${orderId})
          on conflict do nothing returning order_id`;
        if (taken.length === 0) return false;
        await recordEvidence(tx, { ...NOTHING_ELSE, ...evidenceOf(order) });
        await forget(tx, orderId);
        return true;
      }),

    /** Ends an order of which nothing was seen. */
    expire: (orderId: string, at: number): Promise<void> =>
      transact(sql, async (tx) => {
        if ((await locked(tx, orderId)) !== null) {
          const journal = [{ at, event: 'expired', status: 'expired' as const }];
          const outcome = { ...UNSIGNED, orderId, status: 'expired' as const, first: null, journal, at };
          await writeOutcomes(tx, { outcomes: [outcome] });
        }
        await forget(tx, orderId);
      }),
  };
}
