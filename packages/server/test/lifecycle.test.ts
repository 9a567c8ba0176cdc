/** The life of an order: the table of its statuses. Only one statement changes one, and the database refuses what the table forbids. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { transact } from '@bellwether/durable';
import { beforeAll, describe, expect, test } from 'vitest';
import { openDeskDatabase } from '../../../test/postgres.ts';
import {
  eventWord,
  isInDoubt,
  isOpen,
  isSettling,
  isTerminal,
  mayFill,
  ORDER_EVENTS,
  ORDER_KINDS,
  ORDER_STATUSES,
  type OrderKind,
  type OrderStatus,
  reachable,
  requireTransition,
  transition,
} from '../src/domain/lifecycle.ts';
import type { Sql } from '../src/platform/database/connection.ts';
import { FUNCTIONS_FOLDER } from '../src/platform/database/migrate.ts';
import { LIFECYCLE_FILE, lifecycleSql } from '../src/trading/lifecycle-sql.ts';

/** Stated independently of the table, one line per transition: a transition that is not here is impossible. */
const ALLOWED = `
signed submitting accepted → live
signed submitting held_back → delayed
signed submitting rejected → rejected
signed submitting no_answer → unknown
signed unknown accepted → live
signed unknown held_back → delayed
signed unknown rejected → rejected
signed live filled_partly → partially_filled
signed live matched → matched
signed live filled_completely → filled
signed live rest_killed → partially_filled_closed
signed live canceled → canceled
signed live expired → expired
signed live market_resolved → market_resolved
signed delayed filled_partly → partially_filled
signed delayed matched → matched
signed delayed filled_completely → filled
signed delayed rest_killed → partially_filled_closed
signed delayed canceled → canceled
signed delayed expired → expired
signed delayed market_resolved → market_resolved
signed delayed rejected → rejected
signed delayed accepted → live
signed unmatched filled_partly → partially_filled
signed unmatched matched → matched
signed unmatched filled_completely → filled
signed unmatched rest_killed → partially_filled_closed
signed unmatched canceled → canceled
signed unmatched expired → expired
signed unmatched market_resolved → market_resolved
signed partially_filled filled_partly → partially_filled
signed partially_filled matched → matched
signed partially_filled filled_completely → filled
signed partially_filled rest_killed → partially_filled_closed
signed partially_filled canceled → canceled
signed partially_filled expired → expired
signed partially_filled market_resolved → market_resolved
signed partially_filled fills_reversed → partially_filled
signed partially_filled all_fills_reversed → live
signed matched filled_partly → matched
signed matched fills_reversed → matched
signed matched all_fills_reversed → matched
signed matched filled_completely → filled
signed matched rest_killed → partially_filled_closed
signed matched canceled → canceled
signed matched expired → expired
signed matched market_resolved → market_resolved
signed matched settlement_failed → settlement_failed
split submitting handed_out → live
split live filled_completely → filled
split live expired → expired
split live rejected → rejected
split submitting filled_completely → filled
split submitting rejected → rejected
split submitting no_answer → unknown
split unknown filled_completely → filled
split unknown rejected → rejected
convert submitting filled_completely → filled
convert submitting rejected → rejected
convert submitting no_answer → unknown
convert unknown filled_completely → filled
convert unknown rejected → rejected
convert submitting handed_out → live
convert live filled_completely → filled
convert live expired → expired
convert live rejected → rejected
merge submitting handed_out → live
merge live filled_completely → filled
merge live expired → expired
merge live rejected → rejected
merge submitting filled_completely → filled
merge submitting rejected → rejected
merge submitting no_answer → unknown
merge unknown filled_completely → filled
merge unknown rejected → rejected
quoted submitting landed → delayed
quoted submitting rejected → rejected
quoted submitting canceled → canceled
quoted delayed filled_partly → partially_filled
quoted delayed filled_completely → filled
quoted delayed rest_reverted → partially_filled_closed
quoted delayed reverted → rejected
quoted partially_filled filled_partly → partially_filled
quoted partially_filled filled_completely → filled
quoted partially_filled rest_reverted → partially_filled_closed
`
  .trim()
  .split('\n');

/** Every possible (kind, status, event) → status, in the format of the lines above. */
const HAPPENING = ORDER_KINDS.flatMap((kind) =>
  ORDER_STATUSES.flatMap((status) =>
    ORDER_EVENTS.flatMap((event) => {
      const next = transition(kind, status, event);
      return next === null ? [] : [{ next, line: `${kind} ${status} ${event} → ${next}` }];
    }),
  ),
);

test('the table covers every kind, status and event', () => {
  expect(HAPPENING.map(({ line }) => line).sort()).toEqual([...ALLOWED].sort());
});

const ENDS: readonly OrderStatus[] = [
  'partially_filled_closed',
  'filled',
  'canceled',
  'expired',
  'rejected',
  'market_resolved',
  'settlement_failed',
];

test('a final status never changes', () => {
  for (const kind of ORDER_KINDS)
    for (const status of ENDS)
      for (const event of ORDER_EVENTS) expect(transition(kind, status, event)).toBeNull();
});

test('every status is exactly one of in doubt, open, settling and final', () => {
  const doubtful: readonly OrderStatus[] = ['submitting', 'unknown'];
  for (const status of ORDER_STATUSES) {
    expect(isTerminal(status)).toBe(ENDS.includes(status));
    expect(isInDoubt(status)).toBe(doubtful.includes(status));
    const is = [isTerminal(status), isInDoubt(status), isOpen(status), isSettling(status)];
    expect(is.filter(Boolean)).toHaveLength(1);
    expect(mayFill(status)).toBe(isInDoubt(status) || isOpen(status));
  }
});

test('every status except the first can be reached', () => {
  const reached = new Set(HAPPENING.map(({ next }) => next));
  // A live venue may answer a submission with `unmatched`.
  for (const status of ORDER_STATUSES)
    if (!['submitting', 'unmatched'].includes(status)) expect(reached).toContain(status);
});

test('evidence with several events leads where the events in sequence lead', () => {
  expect(reachable('signed', 'live')).toEqual([
    // All of its fills may be reversed.
    'live',
    'partially_filled',
    'matched',
    'partially_filled_closed',
    'filled',
    'canceled',
    'expired',
    'market_resolved',
    'settlement_failed',
  ]);
  expect(reachable('signed', 'matched')).not.toContain('live');
  expect(reachable('quoted', 'submitting')).toEqual([
    'delayed',
    'partially_filled',
    'partially_filled_closed',
    'filled',
    'canceled',
    'rejected',
  ]);
  expect(reachable('signed', 'filled')).toEqual([]);
});

test('an impossible event throws', () => {
  expect(() => requireTransition('quoted', 'delayed', 'canceled')).toThrow(
    'a quoted order that is delayed cannot be canceled',
  );
});

/** The order of an exit that its venue refused, of which its agent was answered nothing. */
const isSentAnew = (kind: string, from: string, to: string): boolean =>
  kind === 'signed' && from === 'rejected' && to === 'submitting';

describe('in the database', () => {
  let sql: Sql;
  beforeAll(async () => {
    sql = await openDeskDatabase();
  });

  let orders = 0;
  async function insertOrder(
    kind: OrderKind,
    status = 'submitting',
    firstAnswer: object | null = null,
  ): Promise<string> {
    orders += 1;
    const orderId = `order ${orders}`;
    const signed = kind === 'signed';
    await sql`insert into orders (agent_id, order_id, user_id, venue, market_id, condition_id, question, token_id, outcome,
      kind, signature_type, version, is_redemption, side, is_limit, time_in_force, post_only, defer_exec, price, limit_price, shares,
      money, funder, wallet_address, fee_amount, request_id, created_at, status, journal, reserved_day, reserved_amount,
      updated_at, first_answer)
    values (gen_random_uuid(), ${orderId}, 1, 'v', 'm', 'c', 'q', 't', 'YES', ${kind}, ${signed ? 0 : null},
      ${signed ? 2 : null}, ${kind === 'merge'}, 'BUY', true, 'GTC', false, false, 5000, 5000, 1, 1, 'w', 'w', 0, 'r', now(), ${status}, '[]',
      current_date, 1, now(), ${firstAnswer === null ? null : sql.json(firstAnswer)})`;
    return orderId;
  }

  /** Sets an order's status, bypassing the lifecycle. */
  const place = (orderId: string, status: string) =>
    transact(sql, async (tx) => {
      await tx`alter table orders disable trigger orders_next_status`;
      await tx`update orders set status = ${status} where order_id = ${orderId}`;
      await tx`alter table orders enable trigger orders_next_status`;
    });

  test('the SQL functions are generated from the lifecycle: node scripts/generate-rows.ts', () => {
    expect(readFileSync(join(FUNCTIONS_FOLDER, LIFECYCLE_FILE), 'utf8')).toBe(lifecycleSql());
  });

  test('the database refuses exactly the updates that the lifecycle forbids', async () => {
    for (const kind of ORDER_KINDS) {
      const orderId = await insertOrder(kind);
      for (const from of ORDER_STATUSES)
        for (const to of ORDER_STATUSES) {
          await place(orderId, from);
          const moved = await sql`update orders set status = ${to} where order_id = ${orderId}`.then(
            () => true,
            (error: { code?: string }) => {
              expect(error.code).toBe('23514');
              return false;
            },
          );
          expect([kind, from, to, moved]).toEqual([
            kind,
            from,
            to,
            from === to || reachable(kind, from).includes(to) || isSentAnew(kind, from, to),
          ]);
        }
    }
  });

  test('a refusal that its agent was answered with stays one', async () => {
    const orderId = await insertOrder('signed', 'rejected', { success: false });
    await expect(
      sql`update orders set status = 'submitting' where order_id = ${orderId}`,
    ).rejects.toMatchObject({ code: '23514' });
  });

  test('an order starts as submitting, or as what its venue answered in the same commit; it never changes its kind', async () => {
    for (const kind of ORDER_KINDS)
      for (const status of ORDER_STATUSES.filter((one) => one !== 'submitting')) {
        await expect(insertOrder(kind, status)).rejects.toThrow(`cannot begin as ${status}`);
        const begun = insertOrder(kind, status, { success: true });
        if (kind !== 'quoted' && reachable(kind, 'submitting').includes(status)) await begun;
        else await expect(begun).rejects.toThrow(`cannot begin as ${status}`);
      }
    const orderId = await insertOrder('signed');
    await expect(
      sql`update orders set kind = 'quoted', signature_type = null, version = null where order_id = ${orderId}`,
    ).rejects.toThrow('cannot become');
  });

  test('webhooks and records use the same status words', async () => {
    for (const status of ORDER_STATUSES) {
      const [row] = await sql`select order_event_word(${status}) as word`;
      expect(row?.word).toBe(eventWord(status));
    }
  });

  test('only the statement for evidence writes statuses', () => {
    const PACKAGES = join(import.meta.dirname, '../..');
    const sources = readdirSync(PACKAGES, { recursive: true, encoding: 'utf8' })
      .filter((path) => /^[\w-]+\/src\/.*\.(ts|sql)$/.test(path) && !path.includes('migrations/'))
      .map((path) => ({ path, text: readFileSync(join(PACKAGES, path), 'utf8') }));
    const writers = (pattern: RegExp) =>
      sources
        .filter(({ text }) => pattern.test(text))
        .map(({ path }) => path)
        .sort();
    expect(writers(/\b(update|merge into)\s+(only\s+)?("?public"?\.)?"?orders\b/i)).toEqual([
      // When an order in doubt is sent again: no status.
      'server/src/exits/store.ts',
      // Which outcome, by its name: no status.
      'server/src/platform/database/functions/outcome-names.sql',
      // When the desk cancels, and why: no status.
      'server/src/platform/database/functions/silence.sql',
      // The order of an exit that its venue refused is sent anew: it is recorded as a new one is.
      'server/src/trading/outcomes.ts',
    ]);
    expect(writers(/\binsert\s+into\s+("?public"?\.)?"?orders\b/i)).toEqual([
      'server/src/trading/outcomes.ts',
    ]);
  });
});
