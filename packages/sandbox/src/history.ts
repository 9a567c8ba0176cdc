/**
 * Forgets old transactions, as a node does: the chain's history and the venue's ended orders are kept for two days of
 * blocks. What somebody may still ask for is kept longer: the last blocks before a stop, open orders, and every signature
 * that the desk has not settled. It deletes in small steps, so that it delays no request.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '@bellwether/durable';
import { RECENT_SLOTS, SLOT_MS } from './solana/index.ts';

export const HISTORY_SLOTS = (2 * 86_400_000) / SLOT_MS;
const ROWS_PER_STEP = 500;
/** Between two steps: at most some thousand rows a second. */
const STEP_PAUSE_MS = 100;

export interface HistoryOptions {
  readonly sql: Sql;
  /** A query of the signatures that the embedder still asks for, as its only column. */
  readonly awaited: string | null;
  /** Ends it between two steps. */
  readonly signal: AbortSignal;
}

/** @param slot the newest one. @returns the number of transactions that were forgotten */
export async function forgetHistory(options: HistoryOptions, slot: number): Promise<number> {
  let forgotten = 0;
  while (!options.signal.aborted) {
    const some = await forgetSome(options, slot - HISTORY_SLOTS);
    forgotten += some;
    if (some < ROWS_PER_STEP) break;
    await sleep(STEP_PAUSE_MS);
  }
  return forgotten;
}

async function forgetSome({ sql, awaited }: HistoryOptions, before: number): Promise<number> {
  const isAwaited =
    awaited === null
      ? sql``
      : sql`and not exists (select 1 from (${sql.unsafe(awaited)}) a (signature) where a.signature = t.signature)`;
  const [row] = await sql`
    with old as (
      select signature from sandbox_transactions t
      where slot < least(${before}::bigint, (select max(slot) from sandbox_transactions) - ${RECENT_SLOTS}::bigint)
        and not exists (select 1 from sandbox_orders o where o.signature = t.signature and o.status = 'open')
        ${isAwaited}
      order by slot limit ${ROWS_PER_STEP}
    ), gone as (
      delete from sandbox_transactions where signature in (select signature from old) returning signature
    ), orders as (
      delete from sandbox_orders where signature in (select signature from gone) and status <> 'open'
    )
    update sandbox_chain set forgotten = forgotten + (select count(*) from gone)
    returning (select count(*)::int from gone) as gone`;
  return row?.gone ?? 0;
}
