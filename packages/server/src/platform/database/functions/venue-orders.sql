-- Locks orders of which nothing was heard since they were recorded. Anything else, and one that is not there, is an error, so that what follows
-- in the transaction is refused with it. The second question sees what the lock waited for.
create or replace function require_unanswered(order_ids text[]) returns void language plpgsql as $$
declare
  found_orders integer;
begin
  perform from orders where order_id = any(order_ids) and status = 'submitting' order by order_id for no key update;
  get diagnostics found_orders = row_count;
  if found_orders <> cardinality(order_ids) or exists (select from venue_orders where order_id = any(order_ids)) then
    raise exception 'an order was answered meanwhile' using errcode = 'BW003';
  end if;
end
$$;
