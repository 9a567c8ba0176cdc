-- Orders without a receipt because they are older than the log that receipts are made of. Without this list an order that
-- somebody puts before that time would look like one of them.
create table orders_before_receipts (order_id text primary key);
insert into orders_before_receipts
select o.order_id from orders o cross join receipt_log l
where o.created_at < l.began_at and not exists (select from receipts r where r.order_id = o.order_id);
