-- Takes up to `want` whole tokens from a bucket; a negative `want` gives them back. Refills by the time that has
-- passed first, and never above the burst.
create or replace function lease_tokens(bucket text, burst double precision, per_second double precision, want integer)
returns table (granted integer, remaining double precision) language plpgsql as $$
declare
  moment timestamptz := clock_timestamp();
  full_now double precision;
begin
  insert into rate_buckets as b (name, tokens, at) values (bucket, burst, moment) on conflict (name) do nothing;
  select least(burst, b.tokens + greatest(0, extract(epoch from moment - b.at)) * per_second) into full_now
    from rate_buckets b where b.name = bucket for update;
  granted := least(want, floor(full_now)::integer);
  remaining := least(burst, full_now - granted);
  update rate_buckets b set tokens = remaining, at = greatest(b.at, moment) where b.name = bucket;
  return next;
end
$$;
