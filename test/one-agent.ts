/** A desk's database with one agent and its owner, for what SQL does by itself. */
import { openPool } from '@bellwether/durable';
import type { Evidence } from '../packages/server/src/domain/evidence.ts';
import type { Sql } from '../packages/server/src/platform/database/connection.ts';
import { createDeskDatabase } from './postgres.ts';
import { afterFile } from './setup/clean-up.ts';

/** For tests that tell of one thing only. */
export const NO_EVIDENCE: Evidence = { outcomes: [], fills: [], markets: [], resolutions: [], deposits: [] };

export const AGENT = '00000000-0000-4000-8000-000000000001';

export async function openDeskOfOneAgent(): Promise<Sql> {
  const sql = openPool(await createDeskDatabase());
  afterFile('pools', () => sql.end({ timeout: 1 }));
  await sql`with o as (insert into owners (created_at) values (now()) returning user_id)
    insert into agents (agent_id, user_id, name, description, claim_code, created_at)
    select ${AGENT}::uuid, user_id, 'Agent', '', 'code', now() from o`;
  return sql;
}
