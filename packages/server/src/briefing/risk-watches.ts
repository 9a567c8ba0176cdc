/** Whose risk alerts are looked at, and which of them stand. */

import type { ActingAgent } from '../domain/records.ts';
import type { Sql } from '../platform/database/connection.ts';
import type { AgentsRow } from '../platform/database/rows.generated.ts';

/** A stream that stays open is noted again this much later: most turns write nothing. */
const NOTE_AGAIN_AFTER_MS = 3_600_000;

export const createRiskWatches = (sql: Sql) => ({
  /** Streams of these agents are open, and may be resumed until then. */
  async listen(agents: readonly string[], until: number): Promise<void> {
    if (agents.length === 0) return;
    await sql`insert into risk_watches as w (agent_id, listened_until)
      select agent_id, ${new Date(until)} from unnest(${agents as string[]}::uuid[]) as t(agent_id) order by agent_id
      on conflict (agent_id) do update set listened_until = excluded.listened_until
      where w.listened_until < ${new Date(until - NOTE_AGAIN_AFTER_MS)}`;
  },

  /**
   * At most `limit` agents whose risks were last checked before `dueBefore`, the one that waited longest first. Another caller gets
   * others.
   */
  async claim({
    at,
    dueBefore,
    limit,
  }: {
    readonly at: number;
    readonly dueBefore: number;
    readonly limit: number;
  }): Promise<readonly ActingAgent[]> {
    await sql`insert into risk_watches (agent_id, listened_until)
      select distinct e.agent_id, '-infinity'::timestamptz from webhook_endpoints e
      where e.enabled and e.events && array['*', 'risk']
        and not exists (select 1 from risk_watches w where w.agent_id = e.agent_id)
      on conflict do nothing`;
    const rows = await sql<Pick<AgentsRow, 'agent_id' | 'user_id'>[]>`
      update risk_watches w set watched_at = ${new Date(at)} from agents a
      where a.agent_id = w.agent_id and w.agent_id = any(array(
        select agent_id from risk_watches where watched_at <= ${new Date(dueBefore)}
        order by watched_at limit ${limit} for update skip locked))
      returning a.agent_id, a.user_id`;
    return rows.map((row) => ({ agentId: row.agent_id, userId: row.user_id }));
  },

  /** Records which alerts of an agent stand, by name, and logs those that were not there the last time. */
  async raise(
    agentId: string,
    alerts: ReadonlyMap<string, Readonly<Record<string, unknown>>>,
    at: number,
  ): Promise<void> {
    const batch = [...alerts].map(([alert, data]) => ({ alert, data }));
    await sql`
      with standing as (
        select alert, data from jsonb_to_recordset(${sql.json(batch as never)}) as t(alert text, data jsonb)
      ), gone as (
        delete from raised_alerts where agent_id = ${agentId} and alert not in (select alert from standing)
      ), fresh as (
        insert into raised_alerts (agent_id, alert, raised_at)
        select ${agentId}, alert, ${new Date(at)} from standing on conflict do nothing returning alert
      )
      insert into facts (agent_id, kind, subject, at, payload)
      select ${agentId}::uuid, 'risk', alert, ${new Date(at)}, s.data from fresh join standing s using (alert)`;
  },

  /** Forgets agents without a listener. */
  async sweep(at: number): Promise<void> {
    await sql`delete from risk_watches w where w.listened_until < ${new Date(at)} and not exists (
      select 1 from webhook_endpoints e where e.agent_id = w.agent_id and e.enabled and e.events && array['*', 'risk'])`;
    await sql`delete from raised_alerts r where not exists (select 1 from risk_watches w where w.agent_id = r.agent_id)`;
  },
});

export type RiskWatches = ReturnType<typeof createRiskWatches>;
