-- When the desk cancels an order that is not filled by then, and when it looks at it next; `null`: no more.
alter table orders add column cancel_at timestamptz, add column cancel_due_at timestamptz;

create index orders_cancel_due on orders (cancel_due_at) where cancel_due_at is not null;
