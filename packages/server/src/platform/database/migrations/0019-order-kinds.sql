-- What an order is: a signed order (a message of a known form, which a venue executes) or a quoted one (a transaction that
-- was quoted and then signed). So far an order without a signature type was a quoted one.
alter table orders
  -- signed: a message that a venue executes; quoted: a transaction that a venue quoted and the agent signed.
  add column kind text not null default 'signed';
update orders set kind = 'quoted' where signature_type is null;
alter table orders
  -- From now on whoever inserts an order says what it is.
  alter column kind drop default,
  add constraint orders_kind_fits check (
    case kind
      when 'signed' then signature_type is not null and version is not null and not is_redemption
      when 'quoted' then signature_type is null and version is null
      else false
    end);
