-- What only ends of positions need is a function of its own: as a part of the statement it would be started with each batch.

-- Who asked for the redemption of a wallet's tokens.
create or replace function redeemer(account text, market text) returns uuid language plpgsql stable as $$
begin
  return (select r.agent_id from redemption_requests r where r.wallet = account and r.condition_id = market limit 1);
end
$$;

-- Agents of other owners whose locks bind the wallet of an agent.
create or replace function bound_by_wallet(account text, agent uuid) returns uuid[] language plpgsql stable as $$
begin
  return array(select r from agent_wallets w cross join lateral restricting_agents(w.signer, agent) r
    where w.address = account and w.agent_id = agent);
end
$$;
