/** An exchange on a separate database with a controlled clock, and orders to trade on it. */
import { MICRO } from '@bellwether/contract/decimals';
import { openPool, type Sql } from '@bellwether/durable';
import { expect, onTestFinished } from 'vitest';
import { createDeskDatabase } from '../../../test/postgres.ts';
import {
  type EngineEvent,
  type Entry,
  type ExchangeOptions,
  type JournalledExchange,
  type JournalTurn,
  migrateExchange,
  type NewOrder,
  openExchange,
} from '../src/index.ts';

const START = Date.UTC(2026, 10, 21, 12);

class ManualClock {
  time = START;
  now = (): number => this.time;
  every(): { stop(): void } {
    throw new Error('tests call step themselves');
  }
}

interface Stage {
  readonly sql: Sql;
  readonly url: string;
  readonly clock: ManualClock;
  open(options?: Partial<ExchangeOptions>): Promise<JournalledExchange>;
}

export async function stage(): Promise<Stage> {
  const url = await createDeskDatabase();
  const sql = openPool(url);
  onTestFinished(() => sql.end({ timeout: 1 }));
  await migrateExchange(sql);
  const clock = new ManualClock();
  const open = (options: Partial<ExchangeOptions> = {}) =>
    openExchange({ sql, seed: 'test', clock, autoStep: false, ...options });
  return { sql, url, clock, open };
}

export const ALICE = '0x00000000000000000000000000000000000a11ce';

export const orderId = (number: number): string => `0x${number.toString(16).padStart(64, '0')}`;

export function marketBuy(exchange: JournalledExchange, number: number, spend = 5n * MICRO): NewOrder {
  const market = [...exchange.markets()].find((one) => one.status === 'open' && one.tickSize === 100)!;
  return {
    orderId: orderId(number),
    account: ALICE,
    conditionId: market.conditionId,
    outcome: 'YES',
    side: 'BUY',
    limit: 9900,
    size: 5n * MICRO,
    spend,
    timeInForce: 'FAK',
    postOnly: false,
  };
}

export const restingBid = (exchange: JournalledExchange, number: number): NewOrder => {
  const { spend: _, ...order } = marketBuy(exchange, number);
  return { ...order, limit: 100, timeInForce: 'GTC' };
};

export async function someTrading(
  exchange: JournalledExchange,
  clock: ManualClock,
  rounds = 20,
): Promise<void> {
  await exchange.execute({ kind: 'deposit', account: ALICE, amount: 10_000n * MICRO });
  for (let i = 0; i < rounds; i += 1) {
    clock.time += 1_000;
    await Promise.all([
      exchange.step(),
      exchange.execute({ kind: 'place', order: marketBuy(exchange, 1_000 + i) }),
      exchange.execute({ kind: 'place', order: restingBid(exchange, 2_000 + i) }),
    ]);
  }
}

/** Ends the backend that holds the journal's lock, as a crash or a failover would. */
export const cutJournal = (sql: Sql) =>
  sql`select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted
    and database = (select oid from pg_database where datname = current_database())`;

export async function untilOpen(exchange: JournalledExchange): Promise<void> {
  await expect.poll(() => exchange.status, { interval: 25 }).toBe('open');
}

/** Work that the holder of a turn does with it. */
export interface Holder {
  readonly read: (tx: JournalTurn['tx']) => PromiseLike<unknown>;
  readonly decide: (place: (order: NewOrder) => readonly EngineEvent[]) => void;
  readonly record: (tx: JournalTurn['tx'], entries: readonly Entry[]) => readonly PromiseLike<unknown>[];
  readonly sent: () => void;
}

/** Takes the next turn. */
export async function inTurn(
  exchange: JournalledExchange,
  { read = async () => {}, decide = () => {}, record = () => [], sent = () => {} }: Partial<Holder>,
): Promise<void> {
  const turn = await exchange.nextTurn();
  try {
    await Promise.all([turn.begin(), read(turn.tx)]);
  } catch (error) {
    await turn.giveUp(error);
    throw error;
  }
  decide((order) => turn.place({ kind: 'place', order }));
  for (const statement of record(turn.tx, turn.entries())) statement.then(undefined, () => {});
  const durable = turn.commit();
  sent();
  await durable;
}
