-- As the wire writes times.
create or replace function iso_time(at timestamptz) returns text language sql stable as $$
  select to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

-- Where an approval stands at a time. `used` needs nothing to be written when the order is placed.
create or replace function approval_status(a approvals, at timestamptz) returns text language sql stable as $$
  select case
    when a.decision = 'declined' then 'declined'
    when a.decision = 'approved' then case
      when exists (select 1 from orders o where o.order_id = a.order_id and o.agent_id = a.agent_id) then 'used'
      when at < a.approved_until then 'approved' else 'expired' end
    when a.superseded_at is null and at < a.waits_until then 'waiting'
    else 'expired' end
$$;

-- What is told of an approval: the same to webhooks, streams and the briefing.
create or replace function approval_told(a approvals, status text) returns jsonb language sql stable as $$
  select jsonb_build_object('approvalId', a.approval_id, 'orderId', a.order_id, 'status', status,
    'venue', a.terms -> 'venue', 'marketId', a.terms -> 'marketId', 'marketConditionId', a.terms -> 'marketConditionId',
    'outcome', a.terms -> 'outcome', 'outcomeName', a.terms -> 'outcomeName', 'side', a.terms -> 'side', 'amount', a.terms -> 'amount',
    'waitsUntil', iso_time(a.waits_until), 'approvedUntil', iso_time(a.approved_until))
$$;

-- The approval that counts for an order with these terms. One that declined the order with any terms comes first: other terms
-- must not undo the owner's decision.
create or replace function approval_of_order(agent uuid, id text, binds jsonb) returns uuid language sql stable as $$
  select a.approval_id from approvals a
  where a.order_id = id and a.agent_id = agent and (a.decision is not distinct from 'declined' or a.terms -> 'binds' = binds)
  order by a.decision is not distinct from 'declined' desc, a.asked_at desc, a.approval_id desc limit 1
$$;

-- Asks for an approval, and returns its id; an order that waits already, or is decided, keeps its row. One agent asks at a time.
-- Null: the agent has as many waiting approvals as it may have; a new one never replaces one that waits. The bounds limit what an
-- agent can fill: waiting rows, kept rows, and messages about new rows.
create or replace function ask_approval(asked approvals, bounds jsonb) returns uuid language plpgsql as $$
declare
  found_id uuid;
begin
  perform pg_advisory_xact_lock(hashtextextended('approvals ' || asked.agent_id, 0));
  select a.approval_id into found_id from approvals a
    where a.approval_id = approval_of_order(asked.agent_id, asked.order_id, asked.terms -> 'binds')
      and approval_status(a, asked.asked_at) <> 'expired';
  if found_id is not null then
    return found_id;
  end if;
  if (select count(*) from approvals a where a.agent_id = asked.agent_id and a.decision is null and a.superseded_at is null
      and a.waits_until > asked.asked_at) >= (bounds ->> 'waiting')::integer then
    return null;
  end if;
  insert into approvals select asked.*;
  -- What an owner has declined stays declined; its number grows only with an owner's decisions. What waits, or can still be sent, stays, too.
  delete from approvals where approval_id in (
    select a.approval_id from approvals a where a.agent_id = asked.agent_id and a.decision is distinct from 'declined'
      and not (a.decision is null and a.superseded_at is null and a.waits_until > asked.asked_at)
      and not coalesce(a.approved_until > asked.asked_at, false)
    order by a.asked_at desc, a.approval_id desc offset (bounds ->> 'kept')::integer);
  if (select count(*) from approvals a where a.agent_id = asked.agent_id
      and a.asked_at > asked.asked_at - interval '10 minutes') <= (bounds ->> 'told')::integer then
    insert into facts (agent_id, kind, subject, at, payload)
      values (asked.agent_id, 'approval', asked.approval_id, asked.asked_at, approval_told(asked, 'waiting'));
  end if;
  return asked.approval_id;
end
$$;

-- Decides once: whoever comes second changes nothing. Only the agent's present owner.
create or replace function decide_approval(about uuid, owner bigint, verdict text, decided timestamptz, until timestamptz,
  reason text) returns boolean language plpgsql as $$
declare
  decided_row approvals;
begin
  update approvals a set decision = verdict, decided_at = decided, decided_by = owner, decline_reason = reason,
    approved_until = case when verdict = 'approved' then least(until, a.order_ends_at) end
  from agents g
  where a.approval_id = about and g.agent_id = a.agent_id and g.user_id = owner and g.claimed_at is not null
    and a.decision is null and a.superseded_at is null and a.waits_until > decided
  returning a.* into decided_row;
  if decided_row.approval_id is null then
    return false;
  end if;
  insert into facts (agent_id, kind, subject, at, payload)
    values (decided_row.agent_id, 'approval', about, decided, approval_told(decided_row, verdict));
  return true;
end
$$;

-- Declines everything of an agent that waits, and says how many that were.
create or replace function decline_waiting(of_agent uuid, owner bigint, decided timestamptz, reason text)
returns integer language sql as $$
  select count(*) filter (where decide_approval(a.approval_id, owner, 'declined', decided, decided, reason))::integer
  from approvals a
  where a.agent_id = of_agent and a.decision is null and a.superseded_at is null and a.waits_until > decided
$$;
