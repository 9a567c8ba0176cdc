/**
 * The orders that were posted at a door of the exchange: what the doors show of them, and their ids. Only a commit with such
 * an order writes here.
 */
import type { Tag, Tx } from '@bellwether/durable';
import type { EngineEvent, NewOrder, OrderId, PostedLabel } from '../engine/types.ts';
import type { Entry, PostedOrder } from '../paper-exchange.ts';

type PostedTerms = readonly [
  ...key: readonly [address: string, nonce: string],
  expiration: number,
  ...market: readonly [account: string, conditionId: string, outcome: NewOrder['outcome']],
  ...ask: readonly [side: NewOrder['side'], limit: number, size: string, spend: string | null],
  ...manner: readonly [timeInForce: NewOrder['timeInForce'], postOnly: boolean],
];

const encode = (order: NewOrder, { key, expiration }: PostedLabel): string => {
  const { account, conditionId, outcome, side, limit, size, spend, timeInForce, postOnly } = order;
  const amounts = [size.toString(), spend === undefined ? null : spend.toString()] as const;
  const terms: PostedTerms = [
    ...([key.address, key.nonce, expiration] as const),
    ...([account, conditionId, outcome, side, limit, ...amounts, timeInForce, postOnly] as const),
  ];
  return JSON.stringify(terms);
};

function decode(orderId: OrderId, text: string): PostedOrder['order'] {
  const terms = JSON.parse(text) as PostedTerms;
  const [address, nonce, expiration, account, conditionId, outcome, side, limit, size, spend] = terms;
  const [, , , , , , , , , , timeInForce, postOnly] = terms;
  return {
    ...{ orderId, account, conditionId, outcome, side, limit, timeInForce, postOnly },
    size: BigInt(size),
    ...(spend === null ? {} : { spend: BigInt(spend) }),
    posted: { key: { address, nonce }, expiration },
  };
}

/**
 * A posted order that was refused has no effect and leaves no record, and its id stays free: refusals cost their sender
 * nothing, so they must not fill the database.
 */
export const isRefused = ({ orderId }: NewOrder, events: readonly EngineEvent[]): boolean =>
  events.some((event) => event.kind === 'order_rejected' && event.orderId === orderId);

/** @returns undefined when no entry placed such an order */
export function insertPosted(tx: Tx, entries: readonly Entry[]): PromiseLike<unknown> | undefined {
  const rows = entries.flatMap(({ command, at, events }) => {
    if (command.kind !== 'place' || command.order.posted === undefined) return [];
    const { order } = command;
    return isRefused(order, events)
      ? []
      : [{ orderId: order.orderId, at, terms: encode(order, command.order.posted) }];
  });
  if (rows.length === 0) return undefined;
  return tx`
    insert into exchange_posted (order_id, at_ms, terms)
    select * from unnest(
      ${rows.map((row) => row.orderId)}::text[],
      ${rows.map((row) => String(row.at))}::bigint[],
      ${rows.map((row) => row.terms)}::text[])`;
}

export async function readPosted(
  sql: Tag,
  orderIds: readonly OrderId[],
): Promise<ReadonlyMap<OrderId, PostedOrder>> {
  if (orderIds.length === 0) return new Map();
  const rows = await sql`
    select order_id, at_ms, terms from exchange_posted where order_id = any(${[...orderIds]}::text[])`;
  return new Map(
    rows.map((row) => {
      const orderId = row.order_id as OrderId;
      return [orderId, { order: decode(orderId, row.terms as string), at: Number(row.at_ms) }];
    }),
  );
}

const ROWS_PER_READ = 50_000;

/**
 * The ids of all posted orders, as numbers of 52 bits: thirty bytes for each in memory instead of a hundred. Two different
 * ids have the same number once in 2^52 pairs; what that costs is one order refused as a duplicate.
 */
export class PostedIds {
  readonly #numbers = new Set<number>();

  add(orderId: OrderId): void {
    this.#numbers.add(numberOf(orderId));
  }

  /** False is proof. */
  mayHave(orderId: OrderId): boolean {
    return this.#numbers.size > 0 && this.#numbers.has(numberOf(orderId));
  }

  async load(sql: Tag): Promise<void> {
    for (let after = ''; ; ) {
      const rows = await sql`
        select order_id from exchange_posted where order_id > ${after} order by order_id limit ${ROWS_PER_READ}`;
      for (const row of rows) this.add(row.order_id as OrderId);
      if (rows.length < ROWS_PER_READ) return;
      after = rows.at(-1)!.order_id as string;
    }
  }
}

const HEX_DIGITS = 13;

const numberOf = (orderId: OrderId): number => Number.parseInt(orderId.slice(2, 2 + HEX_DIGITS), 16);
