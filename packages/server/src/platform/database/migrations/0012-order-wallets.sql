-- Solana wallets that have signed an order of an agent: a signature that was checked is proof of the key. Every
-- heartbeat asks for them, so they are not looked for in an agent's past orders.
create table order_wallets (
  agent_id uuid not null,
  address text not null,
  user_id bigint not null,
  primary key (agent_id, address)
);
create index order_wallets_by_owner on order_wallets (user_id, address);

-- Orders of venue B are those without a signature type; for others the trigger is not even called.
create function note_order_wallet() returns trigger language plpgsql as $$
begin
  insert into order_wallets (agent_id, address, user_id) values (new.agent_id, new.wallet_address, new.user_id)
  on conflict do nothing;
  return null;
end
$$;
create trigger orders_note_wallet after insert on orders
  for each row when (new.signature_type is null) execute function note_order_wallet();

insert into order_wallets (agent_id, address, user_id)
select distinct agent_id, wallet_address, user_id from orders where signature_type is null
on conflict do nothing;
