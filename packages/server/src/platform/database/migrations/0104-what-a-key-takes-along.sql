alter table agent_wallets
  -- The owner's pause and locks on this agent when the key went to another owner, less what the owner has loosened since: what
  -- binds the key there. Null while it has not left.
  add column taken_along jsonb;

update agent_wallets w set taken_along = (
  select jsonb_object_agg(t.key, t.value) from safeguards s cross join lateral jsonb_each(to_jsonb(s)) t
  where s.agent_id = w.agent_id and (t.key = 'owner_paused' or t.key ~ '^locked_'))
from agents a
where a.agent_id = w.agent_id and w.is_own and a.user_id <> (
  select b.user_id from agent_wallets l join agents b using (agent_id)
  where l.signer = w.signer and l.is_own order by l.turn desc limit 1);
