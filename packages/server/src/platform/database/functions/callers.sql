-- A change of what callers of trades are judged by gives its state another name, in the same commit. The columns are those
-- that the statement of admission-reads.ts reads.
create or replace function rename_callers_version() returns trigger language plpgsql as $$
begin
  -- Once for a transaction.
  update callers_version set version = gen_random_uuid() where xmin <> pg_current_xact_id()::xid;
  return null;
end
$$;

-- All of them run at the commit, when their transaction waits for no other lock any more: two that wait for the same row
-- cannot wait for each other. PostgreSQL does not replace such triggers.
drop trigger if exists api_keys_rename_version on api_keys;
create constraint trigger api_keys_rename_version after update of status or delete on api_keys
  deferrable initially deferred for each row execute function rename_callers_version();

drop trigger if exists agents_rename_version on agents;
create constraint trigger agents_rename_version after update of user_id, claimed_at or delete on agents
  deferrable initially deferred for each row execute function rename_callers_version();

drop trigger if exists agent_wallets_rename_version on agent_wallets;
create constraint trigger agent_wallets_rename_version after insert or update or delete on agent_wallets
  deferrable initially deferred for each row execute function rename_callers_version();

-- A credential that is sealed with another key is the same.
drop trigger if exists credentials_rename_version on credentials;
create constraint trigger credentials_rename_version
  after insert or update of wallet_address, user_id, signature_type, api_key_hash or delete on credentials
  deferrable initially deferred for each row execute function rename_callers_version();

-- Every setting; trades change other columns.
drop trigger if exists safeguards_rename_version on safeguards;
create constraint trigger safeguards_rename_version after update of trading_paused, owner_paused, trade_limit_enabled,
    max_trades_per_day, max_trade_amount, daily_trade_amount_limit, max_position_value, daily_loss_limit, max_open_orders,
    approval_above, auto_redeem_enabled, risk_control_enabled, take_profit_percent, stop_loss_percent, updated_at,
    locked_trade_limit, locked_max_trades_per_day, locked_max_trade_amount, locked_daily_trade_amount_limit,
    locked_max_position_value, locked_daily_loss_limit, locked_max_open_orders, locked_approval_above,
    silence_seconds, locked_silence_seconds, caps_bind_exits, exit_distance_percent or delete
  on safeguards deferrable initially deferred for each row execute function rename_callers_version();
