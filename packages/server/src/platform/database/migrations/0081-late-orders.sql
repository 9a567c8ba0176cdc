-- When the desk cancels what is not filled of an order by then.
alter table orders add column cancel_at timestamptz;

-- Orders with such a time that have not ended, and when the desk looks at each next.
create table late_orders (
  order_id text primary key,
  due_at timestamptz not null
);

create index late_orders_due on late_orders (due_at);
