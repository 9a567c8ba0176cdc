-- Writes a batch of refusals, oldest first, into the rings of their agents.
create or replace function record_refusals(batch jsonb, ring integer) returns void language sql as $$
  with incoming as (
    select *, row_number() over (partition by agent_id order by ordinality) as nth
    from rows from (jsonb_to_recordset(batch) as (
      agent_id uuid, refused_at timestamptz, code text, detail text, venue text, condition_id text, question text,
      outcome text, side text, shares bigint, money bigint, wallet_address text, reasoning text, source text,
      skill_slug text, request_id text)) with ordinality
  ), counted as (
    insert into refusal_counts as c (agent_id, total)
    select agent_id, count(*) from incoming group by agent_id order by agent_id
    on conflict (agent_id) do update set total = c.total + excluded.total
    returning agent_id, total
  ), placed as (
    -- Of a batch larger than the ring only the newest have a place.
    select ((c.total - s.size + i.nth) % ring)::integer as slot, i.*
    from incoming i join counted c using (agent_id)
    join (select agent_id, count(*) as size from incoming group by agent_id) s using (agent_id)
    where i.nth > s.size - ring
  )
  insert into refusals as r (agent_id, slot, refused_at, code, detail, venue, condition_id, question, outcome, side,
    shares, money, wallet_address, reasoning, source, skill_slug, request_id)
  select agent_id, slot, refused_at, code, detail, venue, condition_id, question, outcome, side, shares, money,
    wallet_address, reasoning, source, skill_slug, request_id
  from placed
  on conflict (agent_id, slot) do update set refused_at = excluded.refused_at, code = excluded.code,
    detail = excluded.detail, venue = excluded.venue, condition_id = excluded.condition_id,
    question = excluded.question, outcome = excluded.outcome, side = excluded.side, shares = excluded.shares,
    money = excluded.money, wallet_address = excluded.wallet_address, reasoning = excluded.reasoning,
    source = excluded.source, skill_slug = excluded.skill_slug, request_id = excluded.request_id
$$;

-- What the desk refused of an agent ten times within a minute, in the last ten minutes: the same market, side and code. By all replicas.
-- No row where nothing was. Its ring is short, so the agent's key alone finds it.
create or replace function repeated_refusal(agent uuid, at timestamptz)
returns table (condition_id text, side text, code text, count integer) language sql stable as $$
  select t.condition_id, t.side, t.code, max(t.within)::integer from (
    select r.condition_id, r.side, r.code, count(*) over (
      partition by r.condition_id, r.side, r.code order by r.refused_at
      range between interval '1 minute' preceding and current row) as within
    from refusals r where r.agent_id = agent and r.refused_at > at - interval '10 minutes') t
  group by t.condition_id, t.side, t.code having max(t.within) >= 10
  order by max(t.within) desc, t.condition_id limit 1
$$;
