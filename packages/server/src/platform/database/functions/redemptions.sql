-- Whoever switches autoRedeemEnabled on, by whichever way, has what is already resolved redeemed too: in the same
-- transaction the markets concerned become due again. Trades write other columns of the row and pass by.
create or replace function requeue_redemptions() returns trigger language plpgsql as $$
begin
  update traded_markets set swept_at = null
  where payout is not null and swept_at is not null and condition_id in (
    select condition_id from positions where agent_id = new.agent_id and is_held
    union
    select p.condition_id from agents a
      join credentials c on c.wallet_address = a.wallet_address and c.user_id = a.user_id
      join positions p on p.wallet in (c.wallet_address, c.funder) and p.is_held
      where a.agent_id = new.agent_id);
  return null;
end
$$;
create or replace trigger auto_redeem_switched_on after update of auto_redeem_enabled on safeguards
  for each row when (new.auto_redeem_enabled and not old.auto_redeem_enabled)
  execute function requeue_redemptions();
