/**
 * What the journal keeps of orders, permanently: their ids, which stay unique, what the doors show of those that were
 * posted there, and their events.
 *
 * The engine has the open orders, exchange_orders every order that ever existed. Calls with the same id run one after
 * another. A sender may prove that an id is new, by a unique key of its own. Its proof does not cover orders that
 * others posted at a door: those are compared in memory, so that an order with proof costs no query.
 */
import type { Sql, Tag, Tx } from '@bellwether/durable';
import type {
  AccountId,
  ConditionId,
  EngineEvent,
  NewOrder,
  OrderId,
  PostedLabel,
} from '../engine/commands.ts';
import type { Entry, OrderRecord, PostedOrder } from '../paper-exchange.ts';
import { isHouse } from '../world/house.ts';

/** Many more than are refused while one of them can still arrive. */
const MOST_REFUSED = 10_000;

/**
 * Orders that this process refused before they arrived, in any of its terms: a late call reaches the process that it was sent
 * to. Their rows are what forbids them; this only saves the look-up of all others.
 */
export class RefusedIds {
  readonly #ids = new Set<OrderId>();

  add(orderId: OrderId): void {
    this.#ids.add(orderId);
    if (this.#ids.size <= MOST_REFUSED) return;
    for (const oldest of this.#ids) {
      this.#ids.delete(oldest);
      return;
    }
  }

  has(orderId: OrderId): boolean {
    return this.#ids.has(orderId);
  }
}

export class OrderIds {
  readonly #sql: Sql;
  readonly #posted = new PostedIds();
  readonly #inFlight = new Map<OrderId, Promise<void>>();
  /** Placed in a joined commit that is not durable yet. */
  readonly #joined = new Set<OrderId>();
  readonly #refused: RefusedIds;

  constructor(sql: Sql, refused: RefusedIds) {
    this.#sql = sql;
    this.#refused = refused;
  }

  /** Reads the ids that were posted in earlier terms; to be called before any other method. */
  load(): Promise<void> {
    return this.#posted.load(this.#sql);
  }

  isInFlight(orderId: OrderId): boolean {
    return this.#inFlight.has(orderId);
  }

  /** Whether it may have been posted at a door; false is proof. */
  mayBePosted(orderId: OrderId): boolean {
    return this.#posted.mayHave(orderId);
  }

  /** Notes an order that is refused although it never arrived. */
  refuse(orderId: OrderId): void {
    this.#refused.add(orderId);
  }

  /** Notes an order that was posted at a door, when it is placed. */
  post(orderId: OrderId): void {
    this.#posted.add(orderId);
  }

  /**
   * Takes an id that its sender proves to be new, for an order that is placed at once in a joined commit.
   * @returns false when an order with this id was posted at a door
   */
  join(orderId: OrderId): boolean {
    if (this.#posted.mayHave(orderId) || this.#inFlight.has(orderId)) return false;
    this.#joined.add(orderId);
    return true;
  }

  /** To be called when the joined commit is durable. */
  joinedIsDurable(): void {
    this.#joined.clear();
  }

  /**
   * Runs `place` while no other call with this id runs, and only if the id was never used.
   * @param isNew the caller has proof that the id is new, and the table is queried only where the id may have been posted.
   *   Its primary key still refuses a second order with the same id, and the whole commit fails.
   * @returns undefined when the id was used.
   */
  async once<T>(orderId: OrderId, isNew: boolean, place: () => Promise<T>): Promise<T | undefined> {
    for (let twin = this.#inFlight.get(orderId); twin !== undefined; twin = this.#inFlight.get(orderId))
      await twin;
    let done: () => void = () => {};
    this.#inFlight.set(orderId, new Promise((resolve) => (done = resolve)));
    try {
      const isProved = isNew && !this.#posted.mayHave(orderId) && !this.#refused.has(orderId);
      return isProved || !(await this.#isUsed(orderId)) ? await place() : undefined;
    } finally {
      this.#inFlight.delete(orderId);
      done();
    }
  }

  /** From the time that the id is in flight, no joined commit takes it: one before shows here, or in the table. */
  async #isUsed(orderId: OrderId): Promise<boolean> {
    if (this.#joined.has(orderId)) return true;
    const known = await this.#sql`select 1 from exchange_orders where order_id = ${orderId}`;
    return known.length > 0;
  }
}

// The orders that were posted at a door of the exchange: what the doors show of them, and their ids. Only a commit with such
// an order writes here.

type PostedTerms = readonly [
  ...key: readonly [address: string, nonce: string],
  expiration: number,
  ...market: readonly [account: string, conditionId: string, outcome: NewOrder['outcome']],
  ...ask: readonly [side: NewOrder['side'], limit: number, size: string, spend: string | null],
  ...manner: readonly [timeInForce: NewOrder['timeInForce'], postOnly: boolean],
];

const encodeTerms = (order: NewOrder, { key, expiration }: PostedLabel): string => {
  const { account, conditionId, outcome, side, limit, size, spend, timeInForce, postOnly } = order;
  const amounts = [size.toString(), spend === undefined ? null : spend.toString()] as const;
  const terms: PostedTerms = [
    ...([key.address, key.nonce, expiration] as const),
    ...([account, conditionId, outcome, side, limit, ...amounts, timeInForce, postOnly] as const),
  ];
  return JSON.stringify(terms);
};

function decodeTerms(orderId: OrderId, text: string): PostedOrder['order'] {
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
      : [{ orderId: order.orderId, at, terms: encodeTerms(order, command.order.posted) }];
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
      return [orderId, { order: decodeTerms(orderId, row.terms as string), at: Number(row.at_ms) }];
    }),
  );
}

const ROWS_PER_READ = 50_000;

/**
 * The ids of all posted orders, as numbers of 52 bits: thirty bytes for each in memory instead of a hundred. Two different
 * ids have the same number once in 2^52 pairs; what that costs is one order refused as a duplicate.
 */
class PostedIds {
  readonly #numbers = new Set<number>();

  add(orderId: OrderId): void {
    this.#numbers.add(numberOfId(orderId));
  }

  /** False is proof. */
  mayHave(orderId: OrderId): boolean {
    return this.#numbers.size > 0 && this.#numbers.has(numberOfId(orderId));
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

const numberOfId = (orderId: OrderId): number => Number.parseInt(orderId.slice(2, 2 + HEX_DIGITS), 16);

// exchange_orders: the events of all orders except the house's, grouped by order: what a batch adds, and what there is.

export interface OrderAddition {
  readonly orderId: OrderId;
  readonly account: AccountId;
  /** Journal position of the first of these events. */
  readonly seq: number;
  /** True when the order starts in this batch: it has no row yet. */
  readonly isNew: boolean;
  /** Encoded events. */
  readonly lines: string[];
}

/**
 * A refused order is recorded like any other: its id is used up, so that its record stays correct. Not recorded is
 * `duplicate_order`, because the id's record describes the first order, and a refused order that was posted at a door.
 */
export function gatherOrders(entries: Iterable<Pick<Entry, 'seq' | 'command' | 'events'>>): OrderAddition[] {
  const additions = new Map<OrderId, OrderAddition>();
  for (const { seq, command, events } of entries) {
    const posted =
      command.kind === 'place' && command.order.posted !== undefined ? command.order.orderId : null;
    for (const event of events) {
      if (!isOfOrder(event) || isHouse(event.account)) continue;
      if (event.kind === 'order_rejected') {
        if (event.reason === 'duplicate_order' || event.orderId === posted) continue;
      }
      const { orderId, account } = event;
      let addition = additions.get(orderId);
      if (addition === undefined) {
        const isNew = BEGINS.has(event.kind);
        addition = { orderId, account, seq, isNew, lines: [] };
        additions.set(orderId, addition);
      }
      addition.lines.push(encodeOrderEvent(event));
    }
  }
  return [...additions.values()];
}

const BEGINS: ReadonlySet<OrderEvent['kind']> = new Set([
  ...(['order_accepted', 'order_rejected', 'split', 'merged', 'converted', 'deposited'] as const),
]);

export async function readRecords(
  sql: Tag,
  orderIds: readonly OrderId[],
): Promise<ReadonlyMap<OrderId, OrderRecord>> {
  if (orderIds.length === 0) return new Map();
  const rows = await sql`
    select order_id, account, events from exchange_orders where order_id = any(${[...orderIds]}::text[])`;
  return new Map(
    rows.map((row) => {
      const order = { orderId: row.order_id as OrderId, account: row.account as AccountId };
      return [order.orderId, { ...order, events: decodeOrderEvents(row.events as string, order) }];
    }),
  );
}

// Converts the events of one order to lines and back. The row has the order's and the account's id, and the first line the
// market's, so a line holds only what its event adds: an array that begins with the event's letter. Amounts are decimal
// strings. Rows of earlier releases hold whole events as objects, also above lines of this form.

type Named = { readonly orderId: OrderId };

/** An event about one order that names its account; sets and deposits of a command that has such an id are among them. */
export type OrderEvent =
  | Extract<EngineEvent, Named & { readonly account: AccountId }>
  | (Extract<EngineEvent, { readonly kind: 'split' | 'merged' | 'converted' | 'deposited' }> & Named);
type Of<Kind> = Extract<OrderEvent, { readonly kind: Kind }>;

const isOfOrder = (event: EngineEvent): event is OrderEvent =>
  'account' in event && 'orderId' in event && event.orderId !== undefined;

const lineOf = (amount: bigint): string => amount.toString();

export function encodeOrderEvent(event: OrderEvent): string {
  switch (event.kind) {
    case 'order_accepted':
      return JSON.stringify(['a', event.conditionId]);
    case 'order_rejected': {
      const { conditionId, reason, needed, available } = event;
      const money =
        needed === undefined || available === undefined ? [] : [lineOf(needed), lineOf(available)];
      return JSON.stringify(['r', conditionId, reason, ...money]);
    }
    case 'fill': {
      const { matchId, matchKind, liquidity, outcome, side, price, size, cost, fee } = event;
      const amounts = [lineOf(size), lineOf(cost), lineOf(fee)];
      return JSON.stringify(['f', matchId, matchKind, liquidity, outcome, side, price, ...amounts]);
    }
    case 'order_done': {
      const { reason, filled, remaining, cost, fees } = event;
      return JSON.stringify(['d', reason, lineOf(filled), lineOf(remaining), lineOf(cost), lineOf(fees)]);
    }
    case 'split':
    case 'merged':
      return JSON.stringify([
        ...([SET_LETTERS[event.kind], event.conditionId, lineOf(event.amount)] as const),
        ...(event.yesPrice === undefined ? [] : [event.yesPrice]),
      ]);
    case 'converted': {
      const { conditionId, amount, worth, made } = event;
      const parts = made.map((one) => [one.conditionId, lineOf(one.worth)]);
      return JSON.stringify(['c', conditionId, lineOf(amount), lineOf(worth), parts]);
    }
    case 'deposited':
      return JSON.stringify(['p', lineOf(event.amount)]);
  }
}

const SET_LETTERS = { split: 's', merged: 'm' } as const;

type EventLine =
  | readonly ['s' | 'm', ConditionId, amount: string, yesPrice?: number]
  | readonly [
      'c',
      ConditionId,
      amount: string,
      worth: string,
      made: readonly (readonly [ConditionId, string])[],
    ]
  | readonly ['p', amount: string]
  | readonly ['a', ConditionId]
  | readonly ['r', ConditionId, Of<'order_rejected'>['reason'], needed?: string, available?: string]
  | readonly [
      'f',
      matchId: number,
      Of<'fill'>['matchKind'],
      Of<'fill'>['liquidity'],
      Of<'fill'>['outcome'],
      Of<'fill'>['side'],
      price: number,
      size: string,
      cost: string,
      fee: string,
    ]
  | readonly ['d', Of<'order_done'>['reason'], filled: string, remaining: string, cost: string, fees: string];

/** @throws Error for a line that no release has written */
export function decodeOrderEvents(
  lines: string,
  order: { readonly orderId: OrderId; readonly account: AccountId },
): OrderEvent[] {
  let conditionId: ConditionId | undefined;
  return lines.split('\n').map((line) => {
    const parsed: unknown = JSON.parse(line, asAmount);
    const event = Array.isArray(parsed)
      ? eventOf(parsed as unknown as EventLine, { ...order, conditionId: conditionId ?? '' })
      : (parsed as OrderEvent);
    if ('conditionId' in event) conditionId ??= event.conditionId;
    return event;
  });
}

const AMOUNTS: ReadonlySet<string> = new Set(
  'size cost fee fees filled remaining needed available'.split(' '),
);
/** In an object, as earlier releases wrote it, an amount is recognised by its field. */
const asAmount = (name: string, part: unknown): unknown =>
  typeof part === 'string' && AMOUNTS.has(name) ? BigInt(part) : part;

function eventOf(
  line: EventLine,
  ref: { readonly orderId: OrderId; readonly account: AccountId; readonly conditionId: ConditionId },
): OrderEvent {
  switch (line[0]) {
    case 'a':
      return { kind: 'order_accepted', ...ref, conditionId: line[1] };
    case 'r': {
      const [, conditionId, reason, needed, available] = line;
      const refused = { kind: 'order_rejected', ...ref, conditionId, reason } as const;
      if (needed === undefined || available === undefined) return refused;
      return { ...refused, needed: BigInt(needed), available: BigInt(available) };
    }
    case 'f': {
      const [, matchId, matchKind, liquidity, outcome, side, price, size, cost, fee] = line;
      const amounts = { size: BigInt(size), cost: BigInt(cost), fee: BigInt(fee) };
      return { kind: 'fill', ...ref, matchId, matchKind, liquidity, outcome, side, price, ...amounts };
    }
    case 'd': {
      const [, reason, filled, remaining, cost, fees] = line;
      return {
        ...{ kind: 'order_done', ...ref, reason },
        ...{ filled: BigInt(filled), remaining: BigInt(remaining), cost: BigInt(cost), fees: BigInt(fees) },
      };
    }
    case 's':
    case 'm': {
      const [letter, conditionId, amount, yesPrice] = line;
      return {
        ...{ kind: letter === 's' ? 'split' : 'merged', ...ref, conditionId, amount: BigInt(amount) },
        ...(yesPrice === undefined ? {} : { yesPrice }),
      };
    }
    case 'c': {
      const [, conditionId, amount, worth, made] = line;
      return {
        ...{ kind: 'converted', ...ref, conditionId, amount: BigInt(amount), worth: BigInt(worth) },
        made: made.map(([other, part]) => ({ conditionId: other, worth: BigInt(part) })),
      };
    }
    case 'p':
      return { kind: 'deposited', orderId: ref.orderId, account: ref.account, amount: BigInt(line[1]) };
    default:
      throw new Error(`an order's record has an unknown line: ${JSON.stringify(line)}`);
  }
}
