/**
 * Gathers the planner's statistics when tables grow. A session keeps its plans, and a plan that was made while its table
 * was nearly empty may read the whole table or index: then everything costs the same. Gathering statistics makes every
 * session plan again. The server's own autovacuum does it, too, but not before a minute has passed, and a busy service
 * fills a table in less.
 */

import type { Job } from '../scheduler.ts';
import type { Sql } from './connection.ts';

/** A smaller table may be read as a whole. */
const LEAST_PAGES = 16;
/** Times that a table must have grown since its rows were counted, in pages or in rows. */
const GROWTH = 4;
const LEAST_ROWS = 50;

interface Statistics {
  /** @returns the tables whose statistics were gathered */
  gather(): Promise<string[]>;
}

export const createStatistics = (sql: Sql): Statistics => ({
  async gather() {
    // Rows, because those of an open transaction are not counted though their pages are; pages, because a crash of the
    // database forgets how many rows there are.
    const grown = await sql<{ name: string; columns: string[] }[]>`
      select c.relname as name, array(
          -- Those of the indexes and of their conditions: plans are chosen by them.
          select a.attname::text from pg_attribute a where a.attrelid = c.oid and a.attnum in (
            select unnest(i.indkey) from pg_index i where i.indrelid = c.oid
            union
            select d.refobjsubid from pg_depend d join pg_index i on i.indexrelid = d.objid
            where d.classid = 'pg_class'::regclass and d.refclassid = 'pg_class'::regclass and d.refobjid = c.oid)
          and a.attnum > 0 order by 1) as columns
      from pg_class c cross join lateral (
        select pg_relation_size(c.oid) / current_setting('block_size')::int as pages,
          pg_stat_get_live_tuples(c.oid) as rows offset 0) now
      where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace and pg_has_role(c.relowner, 'usage')
        and now.pages >= ${LEAST_PAGES}::int
        and (now.pages >= c.relpages * ${GROWTH}::int
          or now.rows >= greatest(c.reltuples, ${LEAST_ROWS}::int) * ${GROWTH}::int)`;
    // A table that is being vacuumed or analysed has its turn later.
    for (const { name, columns } of grown) {
      const named = columns.length === 0 ? '' : ` (${columns.map((column) => `"${column}"`).join(', ')})`;
      await sql.unsafe(`analyze (skip_locked) "${name}"${named}`);
    }
    return grown.map(({ name }) => name);
  },
});

export const databaseJobs = ({
  clock,
  idempotencyKeys,
  statistics,
  timelines,
}: {
  readonly clock: { now(): number };
  readonly idempotencyKeys: { sweep(at: number): Promise<unknown> };
  readonly statistics: { gather(): Promise<unknown> };
  readonly timelines: { tell(): Promise<unknown> };
}): readonly Job[] => [
  { name: 'sweep', everyMs: 3_600_000, run: () => idempotencyKeys.sweep(clock.now()) },
  { name: 'tell timelines', everyMs: 5_000, run: () => timelines.tell() },
  { name: 'gather statistics', everyMs: 1_000, run: () => statistics.gather() },
];
