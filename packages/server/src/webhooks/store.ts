/** Webhook endpoints, their outbox and log, and received callbacks. */
import { only, type Sql } from '../platform/database/connection.ts';
import { once } from '../platform/database/idempotency-store.ts';
import type { WebhookDeliveriesRow, WebhookEndpointsRow } from '../platform/database/rows.generated.ts';
import type { Sealed } from '../platform/secrets.ts';

/** The driver does not read the database's -infinity, "at once", as a date. */
const ms = (value: Date | null): number | null =>
  value === null || Number.isNaN(value.getTime()) ? null : value.getTime();

type EndpointWithPending = WebhookEndpointsRow & { readonly pending?: number };

const endpointRow = (row: EndpointWithPending): EndpointRow => ({
  id: row.id,
  agentId: row.agent_id,
  url: row.url,
  events: row.events,
  description: row.description,
  secret: { keyId: row.key_id, bytes: row.sealed_secret },
  createdAt: row.created_at.getTime(),
  enabled: row.enabled,
  disabledAt: ms(row.disabled_at),
  failures: row.failures,
  failingSince: ms(row.failing_since),
  lastSuccessAt: ms(row.last_success_at),
  pending: row.pending ?? 0,
});

const deliveryRow = (row: WebhookDeliveriesRow): DeliveryRow => ({
  id: row.id,
  endpointId: row.endpoint_id,
  agentId: row.agent_id,
  eventId: row.event_id,
  type: row.type,
  data: row.data,
  createdAt: row.created_at.getTime(),
  status: row.status,
  attempts: row.attempts,
  lastAttemptAt: ms(row.last_attempt_at),
  nextAttemptAt: row.status === 'pending' ? (ms(row.next_attempt_at) ?? row.created_at.getTime()) : null,
  responseStatus: row.response_status,
  error: row.error,
});

/** Queues the facts of the log for the endpoints; does nothing while another process does it. */
const queueEvents = (sql: Sql) => sql`select queue_webhook_events()`;

export function createWebhookStore(sql: Sql) {
  return { ...endpoints(sql), ...events(sql), ...outbox(sql) };
}

function endpoints(sql: Sql) {
  const withPending = sql`select e.*, (select count(*) from webhook_deliveries d
    where d.endpoint_id = e.id and d.status = 'pending')::int as pending from webhook_endpoints e`;
  return {
    /** @returns false when the agent has `limit` endpoints. */
    add: (endpoint: NewEndpoint, limit: number): Promise<boolean> =>
      once(sql, async (tx) => {
        // The lock on the agent's row serialises additions, so that the count stays exact.
        await tx`select 1 from agents where agent_id = ${endpoint.agentId} for no key update`;
        const rows = await tx<object[]>`
          insert into webhook_endpoints (id, agent_id, url, events, description, key_id, sealed_secret, created_at)
          select ${endpoint.id}::uuid, ${endpoint.agentId}::uuid, ${endpoint.url}, ${[...endpoint.events]}::text[],
            ${endpoint.description}, ${endpoint.secret.keyId}::integer, ${endpoint.secret.bytes as Buffer}::bytea,
            ${new Date(endpoint.createdAt)}::timestamptz
          where (select count(*) from webhook_endpoints where agent_id = ${endpoint.agentId}) < ${limit}
          returning 1`;
        return rows.length === 1;
      }),

    async list(agentId: string): Promise<readonly EndpointRow[]> {
      await queueEvents(sql);
      return (
        await sql<
          EndpointWithPending[]
        >`${withPending} where e.agent_id = ${agentId} order by e.created_at, e.id`
      ).map(endpointRow);
    },

    async byId(agentId: string, id: string): Promise<EndpointRow | null> {
      await queueEvents(sql);
      const [row] = await sql<
        EndpointWithPending[]
      >`${withPending} where e.agent_id = ${agentId} and e.id = ${id}`;
      return row === undefined ? null : endpointRow(row);
    },

    /** Deletes its queue and log, too. @returns false when the agent has no such endpoint */
    remove: (agentId: string, id: string): Promise<boolean> =>
      once(sql, async (tx) => {
        const [row] = await tx<object[]>`
        with gone as (delete from webhook_endpoints where agent_id = ${agentId} and id = ${id} returning id),
        log as (delete from webhook_deliveries where endpoint_id in (select id from gone))
        select 1 from gone`;
        return row !== undefined;
      }),

    /** Switches it on and makes its waiting events due at once. @returns false when the agent has no such endpoint */
    enable: (agentId: string, id: string, at: number): Promise<boolean> =>
      once(sql, async (tx) => {
        const [row] = await tx<object[]>`
        with found as (
          update webhook_endpoints set enabled = true, disabled_at = null, failures = 0, failing_since = null,
            hold_until = '-infinity', listens_since = pg_current_snapshot()
          where agent_id = ${agentId} and id = ${id} returning id
        ), again as (
          update webhook_deliveries set next_attempt_at = ${new Date(at)}
          where endpoint_id in (select id from found) and status = 'pending' and next_attempt_at > ${new Date(at)}
        )
        select 1 from found`;
        return row !== undefined;
      }),

    async deliveries(
      agentId: string,
      endpointId: string,
      { status, before, limit, offset }: DeliveryQuery,
    ): Promise<{ readonly rows: readonly DeliveryRow[]; readonly total: number }> {
      const where = sql`endpoint_id = ${endpointId} and agent_id = ${agentId}
        ${status === undefined ? sql`` : sql`and status = ${status}`}`;
      const [rows, count] = await Promise.all([
        sql<WebhookDeliveriesRow[]>`select * from webhook_deliveries where ${where}
          ${before === undefined ? sql`` : sql`and id < ${before.toString()}::bigint`}
          order by id desc limit ${limit} offset ${offset}`,
        sql<{ total: number }[]>`select count(*)::int as total from webhook_deliveries where ${where}`,
      ]);
      return { rows: rows.map(deliveryRow), total: only(count).total };
    },
  };
}

function events(sql: Sql) {
  return {
    /** Queues an event for one endpoint, regardless of its subscriptions. */
    tellEndpoint: (endpointId: string, eventId: string, event: NewEvent): Promise<DeliveryRow> =>
      once(sql, async (tx) => {
        const rows = await tx<WebhookDeliveriesRow[]>`
        insert into webhook_deliveries (endpoint_id, agent_id, event_id, type, data, created_at)
        values (${endpointId}, ${event.agentId}, ${eventId}, ${event.type}, ${tx.json(event.data as never)},
          ${new Date(event.at)}) returning *`;
        return deliveryRow(only(rows));
      }),

    /** Stores a callback; a duplicate is ignored. */
    async receive({
      source,
      signature,
      body,
      at,
    }: {
      readonly source: string;
      readonly signature: Uint8Array;
      readonly body: Uint8Array;
      readonly at: number;
    }): Promise<void> {
      await sql`insert into inbound_webhooks (source, signature, body_hash, body, received_at)
        select ${source}, ${signature as Buffer}, sha256(t.body), t.body, ${new Date(at)}
        from (select ${body as Buffer}::bytea as body) t on conflict do nothing`;
    },
  };
}

function outbox(sql: Sql) {
  return {
    /**
     * Endpoints with due events, least recently served first, leased to the caller until `at + leaseMs`; no other caller
     * gets them before that. At most `perAgent` endpoints of an agent are leased at any time.
     */
    async claim({
      at,
      leaseMs,
      limit,
      perAgent,
    }: {
      readonly at: number;
      readonly leaseMs: number;
      readonly limit: number;
      readonly perAgent: number;
    }): Promise<readonly LeasedEndpoint[]> {
      await queueEvents(sql);
      const now = new Date(at);
      // Concurrent callers select the same endpoints first; the row lock keeps them apart.
      const rows = await sql<WebhookEndpointsRow[]>`
        with leased as (
          select agent_id, count(*) as held from webhook_endpoints where lease_until > ${now} group by agent_id
        ), waiting as (
          select e.id, e.agent_id, e.served_at, row_number() over (
            partition by e.agent_id order by e.served_at, e.hold_until, e.id) as nth
          from webhook_endpoints e
          where e.enabled and e.hold_until <= ${now} and e.lease_until <= ${now} and (
            -- A limit, not "exists": the planner would walk the whole queue to join it.
            select true from webhook_deliveries d
            where d.endpoint_id = e.id and d.status = 'pending' and d.next_attempt_at <= ${now} limit 1)
        ), next as (
          select w.id from waiting w left join leased l using (agent_id)
          where w.nth + coalesce(l.held, 0) <= ${perAgent} order by w.served_at, w.id limit ${limit}
        )
        update webhook_endpoints set lease_until = ${new Date(at + leaseMs)}, served_at = ${now} where id in (
          select e.id from webhook_endpoints e where e.id = any(array(select id from next)) and e.lease_until <= ${now}
          for update skip locked)
        returning *`;
      return rows.map((row) => ({ ...endpointRow(row), leaseUntil: at + leaseMs }));
    },

    /** Gives up the oldest events of each endpoint that has more than `most` waiting. */
    async trim(most: number, at: number): Promise<void> {
      await sql`
        with full_ones as (
          select endpoint_id from webhook_deliveries where status = 'pending' group by 1 having count(*) > ${most}
        ), old as (
          select id from (
            select id, row_number() over (partition by endpoint_id order by id desc) as nth
            from webhook_deliveries join full_ones using (endpoint_id) where status = 'pending') d
          where nth > ${most}
        )
        update webhook_deliveries d set status = 'failed', finished_at = ${new Date(at)},
          error = ${`given up: more than ${most} events were waiting`}
        from old where d.id = old.id and d.status = 'pending'`;
    },

    /** An endpoint's due events, in the order of recording. */
    async due(endpointId: string, at: number, limit: number): Promise<readonly DeliveryRow[]> {
      const rows = await sql<WebhookDeliveriesRow[]>`select * from webhook_deliveries
        where endpoint_id = ${endpointId} and status = 'pending' and next_attempt_at <= ${new Date(at)}
        order by id limit ${limit}`;
      return rows.map(deliveryRow);
    },

    async delivered(delivery: DeliveryRow, responseStatus: number, at: number): Promise<void> {
      const now = new Date(at);
      await sql`
        with endpoint as (
          update webhook_endpoints set failures = 0, failing_since = null, last_success_at = ${now}
          where id = ${delivery.endpointId}
        )
        update webhook_deliveries set status = 'delivered', attempts = attempts + 1, last_attempt_at = ${now},
          finished_at = ${now}, response_status = ${responseStatus}, error = null
        where id = ${delivery.id.toString()}::bigint and status = 'pending'`;
    },

    /** An event that another process has delivered meanwhile stays so, and is no failure of its endpoint. */
    async failed(delivery: DeliveryRow, setback: Setback): Promise<void> {
      const at = new Date(setback.at);
      const next = setback.nextAttemptAt === null ? null : new Date(setback.nextAttemptAt);
      const hold = setback.holdUntil === null ? null : new Date(setback.holdUntil);
      // Queues what happened before the endpoint is switched off.
      if (setback.switchOff) await sql`select queue_webhook_events(true)`;
      await sql`
        with endpoint as (
          update webhook_endpoints set failures = failures + 1, failing_since = coalesce(failing_since, ${at}),
            hold_until = coalesce(${hold}::timestamptz, hold_until), enabled = enabled and not ${setback.switchOff},
            disabled_at = case when ${setback.switchOff} then ${at} else disabled_at end
          where id = ${delivery.endpointId}
            and not exists (select from webhook_deliveries
              where id = ${delivery.id.toString()}::bigint and status = 'delivered')
        )
        update webhook_deliveries set attempts = attempts + 1, last_attempt_at = ${at},
          status = case when ${next}::timestamptz is null then 'failed' else status end,
          finished_at = case when ${next}::timestamptz is null then ${at}::timestamptz end,
          next_attempt_at = coalesce(${next}::timestamptz, next_attempt_at),
          response_status = ${setback.responseStatus}, error = ${setback.error}
        where id = ${delivery.id.toString()}::bigint and status = 'pending'`;
    },

    /** Ends the lease; leaves the one that another process took after this one ran out. */
    async release({ id, leaseUntil }: LeasedEndpoint): Promise<void> {
      await sql`update webhook_endpoints set lease_until = '-infinity'
        where id = ${id} and lease_until = ${new Date(leaseUntil)}`;
    },

    /** Gives up events older than `giveUpBefore`; deletes events that ended, and callbacks received, before `keepAfter`. */
    async sweep(at: number, giveUpBefore: number, keepAfter: number): Promise<void> {
      const old = new Date(keepAfter);
      await sql`update webhook_deliveries set status = 'failed', finished_at = ${new Date(at)},
        error = coalesce(error, 'not delivered within 24 hours')
        where status = 'pending' and created_at < ${new Date(giveUpBefore)}`;
      await sql`delete from webhook_deliveries where status <> 'pending' and finished_at < ${old}`;
      await sql`delete from webhook_deliveries d where status = 'pending'
        and not exists (select 1 from webhook_endpoints e where e.id = d.endpoint_id)`;
      await sql`delete from inbound_webhooks where received_at < ${old}`;
    },
  };
}

interface NewEndpoint {
  readonly id: string;
  readonly agentId: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly description: string;
  readonly secret: Sealed;
  readonly createdAt: number;
}

/** An endpoint that one process serves alone, until then. */
export interface LeasedEndpoint extends EndpointRow {
  readonly leaseUntil: number;
}

export interface EndpointRow extends NewEndpoint {
  readonly enabled: boolean;
  readonly disabledAt: number | null;
  readonly failures: number;
  readonly failingSince: number | null;
  readonly lastSuccessAt: number | null;
  readonly pending: number;
}

export interface DeliveryRow {
  readonly id: bigint;
  readonly endpointId: string;
  readonly agentId: string;
  readonly eventId: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly createdAt: number;
  readonly status: 'pending' | 'delivered' | 'failed';
  readonly attempts: number;
  readonly lastAttemptAt: number | null;
  /** `null`: no further attempt; at most `lastAttemptAt`: due at once. */
  readonly nextAttemptAt: number | null;
  readonly responseStatus: number | null;
  readonly error: string | null;
}

interface NewEvent {
  readonly agentId: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly at: number;
}

interface DeliveryQuery {
  readonly status?: DeliveryRow['status'];
  readonly before?: bigint;
  readonly limit: number;
  readonly offset: number;
}

/** The consequence of a failed attempt. */
interface Setback {
  readonly at: number;
  /** `null`: given up. */
  readonly nextAttemptAt: number | null;
  /** Holds back the endpoint's other events until then; `null`: they are sent. */
  readonly holdUntil: number | null;
  readonly switchOff: boolean;
  readonly responseStatus: number | null;
  readonly error: string;
}

export type WebhookStore = ReturnType<typeof createWebhookStore>;
