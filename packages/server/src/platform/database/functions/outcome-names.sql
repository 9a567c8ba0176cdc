-- What the venue calls an outcome of a market that was traded here; null: not known.
create or replace function outcome_name(condition text, outcome text) returns text language sql stable as $$
  select case outcome when 'YES' then m.outcomes[1] when 'NO' then m.outcomes[2] end
  from traded_markets m where m.condition_id = condition
$$;

-- The side of a token; what was said of it, where it is none of these.
create or replace function side_of_token(token text, yes_token text, no_token text, said text)
returns text language sql immutable parallel safe as $$
  select case token when yes_token then 'YES' when no_token then 'NO' else said end
$$;

-- Writes names into what earlier releases stored of markets, and computes each outcome anew from its token: where the venue lists No first,
-- they had called it YES. What a signature covers, and what was told already, stays. To be called before anything reads these markets.
create or replace function name_outcomes(batch jsonb) returns void language plpgsql as $$
declare
  turned text[];
begin
  create temporary table named on commit drop as
    select n.* from jsonb_to_recordset(batch) as n(condition_id text, yes_token text, no_token text, yes_name text, no_name text)
    join unnamed_markets using (condition_id);
  -- Whoever names them at the same time waits here, and finds them named.
  perform from unnamed_markets join named using (condition_id) for update of unnamed_markets;
  select coalesce(array_agg(distinct t.condition_id), '{}') into turned from (
    select n.condition_id from named n join orders o using (condition_id)
      where side_of_token(o.token_id, n.yes_token, n.no_token, o.outcome) <> o.outcome
    union all
    select n.condition_id from named n join positions p using (condition_id)
      where side_of_token(p.token_id, n.yes_token, n.no_token, p.outcome) <> p.outcome
    union all
    select n.condition_id from named n join exits e using (condition_id)
      where side_of_token(e.token_id, n.yes_token, n.no_token, e.outcome) <> e.outcome) t;

  update orders o set outcome = side_of_token(o.token_id, n.yes_token, n.no_token, o.outcome),
      outcome_name = case side_of_token(o.token_id, n.yes_token, n.no_token, o.outcome) when 'YES' then n.yes_name
        when 'NO' then n.no_name end
    from named n where o.condition_id = n.condition_id;
  update exits e set outcome = side_of_token(e.token_id, n.yes_token, n.no_token, e.outcome),
      outcome_name = case side_of_token(e.token_id, n.yes_token, n.no_token, e.outcome) when 'YES' then n.yes_name
        else n.no_name end
    from named n where e.condition_id = n.condition_id;
  update approvals a set terms = a.terms || (
      select jsonb_build_object('outcome', t.outcome,
        'outcomeName', case t.outcome when 'YES' then n.yes_name when 'NO' then n.no_name end)
      from side_of_token(a.terms ->> 'tokenId', n.yes_token, n.no_token, a.terms ->> 'outcome') as t(outcome))
    from named n where a.terms ->> 'marketConditionId' = n.condition_id;
  if turned <> '{}' then
    update fills f set outcome = side_of_token(f.token_id, n.yes_token, n.no_token, f.outcome)
      from named n where f.condition_id = n.condition_id and f.condition_id = any(turned);
    update positions p set outcome = side_of_token(p.token_id, n.yes_token, n.no_token, p.outcome)
      from named n where p.condition_id = n.condition_id and p.condition_id = any(turned);
    update refusals set outcome = case outcome when 'YES' then 'NO' when 'NO' then 'YES' else outcome end
      where condition_id = any(turned);
    update traded_markets set payout = case when payout in ('YES', 'NO') then case payout when 'YES' then 'NO' else 'YES' end
        when payout like '0.%' then trim_scale(1 - payout::numeric)::text else payout end
      where condition_id = any(turned);
  end if;
  update traded_markets m set outcomes = array[n.yes_name, n.no_name] from named n where m.condition_id = n.condition_id;
  delete from unnamed_markets u using named n where u.condition_id = n.condition_id;
  drop table named;
end
$$;
