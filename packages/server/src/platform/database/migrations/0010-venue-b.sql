-- Venue B: quotes, the transactions that were signed for them, and orders that are such transactions.

alter table orders
  -- Null: an order of venue B, which is a Solana transaction, not a signed message.
  alter column signature_type drop not null,
  alter column version drop not null,
  -- Venue B pays a settled market out by an order. That is no trade: it takes no budget and gives none back.
  add column is_redemption boolean not null default false;

alter table traded_markets
  -- Venue B's name on its markets; null on those of venue A, which tells of their resolution by itself.
  add column venue text;
create index traded_markets_to_resolve on traded_markets (end_date) where venue is not null and payout is null;

-- Every quote that was given, also those without a transaction: submitting one says why it cannot be.
create table quotes (
  quote_id text primary key,
  agent_id uuid not null,
  ticker text not null,
  title text not null,
  end_date timestamptz,
  outcome text not null,
  side text not null,
  -- What was asked for: collateral for a BUY, contracts for a SELL.
  asked bigint not null,
  wallet text,
  -- Who receives, when that is not the wallet.
  destination text,
  -- [YES, NO]
  mints text[],
  input_mint text,
  output_mint text,
  in_amount bigint,
  out_amount bigint,
  min_out_amount bigint,
  is_redemption boolean not null default false,
  -- The exact bytes that are to be signed; null when there is nothing to sign.
  message bytea,
  last_valid_block_height bigint,
  -- When the blockhash is expected to be too old.
  dead_at timestamptz,
  error_code text,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  withdrawn_at timestamptz
);
create index quotes_by_expiry on quotes (expires_at);

-- The signed transaction of a quote that was submitted, written before any node is given it. The order's id is the
-- quote's.
create table chain_orders (
  order_id text primary key references quotes,
  agent_id uuid not null,
  -- Base58; the transaction's id on the chain.
  signature text not null unique,
  wire bytea not null,
  -- sending: until it is seen on the chain or dead. landed: until the venue has filled or reverted all of it. done.
  stage text not null,
  -- Sends that were begun. While there is none, no node can have it.
  attempts integer not null default 0,
  sent_at timestamptz,
  landed_at timestamptz,
  -- When somebody is to look after it next; whoever takes it moves this on first, as a lease.
  due_at timestamptz not null,
  -- Signatures of the venue's fills that are recorded; the n-th is trade n.
  fills text[] not null default '{}',
  reverts jsonb not null default '[]'
) with (fillfactor = 70);
create index chain_orders_due on chain_orders (due_at) where stage <> 'done';

-- Takes fills (and what else changes a position) in their order: writes each, moves the position's cost basis, and adds
-- up the agents' days and results, once for the whole batch. A position's cost is cut by the sold share of it, rounded
-- down, so the last share takes the rest. A redemption belongs to the agent that asked for it, else to the one that
-- traded the token last; other fills to the agent of their order, if it is one of the desk's. A wallet of venue B also
-- holds what came to it past the desk: selling that is no gain and no loss, for what it cost is not known.
create or replace function apply_fills(batch jsonb) returns void language plpgsql as $$
declare
  f record;
  placed record;
  held positions%rowtype;
  gave bigint;
  gain bigint;
  outcome_net bigint;
  who uuid;
  label_source text;
  label_skill text;
  is_trade boolean;
  is_on_chain boolean;
  known bigint;
  agents uuid[] := '{}';
  sources text[] := '{}';
  skills text[] := '{}';
  days date[] := '{}';
  volumes bigint[] := '{}';
  gains bigint[] := '{}';
  fees_paid bigint[] := '{}';
  nets bigint[] := '{}';
begin
  for f in
    select * from jsonb_to_recordset(batch) as t(
      wallet text, order_id text, trade_id bigint, condition_id text, token_id text, outcome text, side text,
      price integer, size bigint, cost bigint, fee bigint, liquidity text, match_kind text, at timestamptz)
  loop
    gain := 0;
    outcome_net := 0;
    is_trade := f.match_kind not in ('SPLIT', 'MERGED', 'REDEEMED', 'REDEEM');
    is_on_chain := f.match_kind in ('DFLOW', 'REDEEM');
    select agent_id, source, skill_slug into placed from orders where order_id = f.order_id;
    who := placed.agent_id;
    label_source := placed.source;
    label_skill := placed.skill_slug;
    if f.side = 'BUY' then
      insert into positions as p (wallet, token_id, condition_id, outcome, size, cost, realized, fees, updated_at,
                                  bought_size, bought_cost, agent_id, source, skill_slug)
      values (f.wallet, f.token_id, f.condition_id, f.outcome, f.size, f.cost, 0, f.fee, f.at,
              f.size, f.cost, who, label_source, label_skill)
      on conflict (wallet, token_id) do update
        set size = p.size + excluded.size, cost = p.cost + excluded.cost, fees = p.fees + excluded.fees,
            updated_at = excluded.updated_at, bought_size = p.bought_size + excluded.bought_size,
            bought_cost = p.bought_cost + excluded.bought_cost, closed_at = null,
            agent_id = coalesce(excluded.agent_id, p.agent_id),
            source = case when excluded.agent_id is null then p.source else excluded.source end,
            skill_slug = case when excluded.agent_id is null then p.skill_slug else excluded.skill_slug end;
    else
      if is_on_chain then
        insert into positions (wallet, token_id, condition_id, outcome, size, cost, realized, fees, updated_at, closed_at)
        values (f.wallet, f.token_id, f.condition_id, f.outcome, 0, 0, 0, 0, f.at, f.at)
        on conflict (wallet, token_id) do nothing;
      end if;
      select * into held from positions where wallet = f.wallet and token_id = f.token_id for update;
      if not found then
        raise exception 'a fill sells % of token %, of which wallet % has no position', f.size, f.token_id, f.wallet;
      end if;
      if f.match_kind = 'REDEEMED' then
        select agent_id into who from redemption_requests
          where wallet = f.wallet and condition_id = f.condition_id;
        who := coalesce(who, held.agent_id);
        if who = held.agent_id then
          label_source := held.source;
          label_skill := held.skill_slug;
        end if;
      end if;
      gave := case when f.size >= held.size then held.cost
                   else floor(held.cost::numeric * f.size / held.size)::bigint end;
      known := case when is_on_chain then least(f.size, held.size) else f.size end;
      gain := case when known = f.size then f.cost else floor(f.cost::numeric * known / f.size)::bigint end - gave;
      -- What was closed before cannot be won or lost again.
      if f.size >= held.size and (held.size > 0 or not is_on_chain) then
        outcome_net := held.realized + gain - held.fees - f.fee - held.settled;
      end if;
      update positions
        set size = held.size - known, cost = held.cost - gave, realized = held.realized + gain,
            fees = held.fees + f.fee, updated_at = f.at,
            closed_at = case when f.size >= held.size then f.at end,
            settled = case when f.size >= held.size then held.realized + gain - held.fees - f.fee
                           else held.settled end,
            agent_id = case when is_trade then coalesce(who, held.agent_id) else held.agent_id end,
            source = case when is_trade and who is not null then label_source else held.source end,
            skill_slug = case when is_trade and who is not null then label_skill else held.skill_slug end
        where wallet = f.wallet and token_id = f.token_id;
    end if;
    insert into fills (wallet, order_id, trade_id, agent_id, condition_id, token_id, outcome, side, price, size, cost,
                       fee, liquidity, match_kind, realized, filled_at)
    values (f.wallet, f.order_id, f.trade_id, who, f.condition_id, f.token_id, f.outcome, f.side, f.price,
            f.size, f.cost, f.fee, f.liquidity, f.match_kind, gain, f.at);
    if who is not null then
      agents := agents || who;
      sources := sources || coalesce(label_source, '');
      skills := skills || coalesce(label_skill, '');
      days := days || (f.at at time zone 'UTC')::date;
      volumes := volumes || case when is_trade then f.cost else 0 end;
      gains := gains || gain;
      fees_paid := fees_paid || f.fee;
      nets := nets || outcome_net;
    end if;
  end loop;
  if cardinality(agents) = 0 then
    return;
  end if;
  insert into daily_results as d (agent_id, day, realized, fees)
  select t.agent, t.day, sum(t.gain), sum(t.fee)
  from unnest(agents, days, gains, fees_paid) as t(agent, day, gain, fee)
  group by 1, 2 having sum(t.gain) <> 0 or sum(t.fee) <> 0
  on conflict (agent_id, day) do update
    set realized = d.realized + excluded.realized, fees = d.fees + excluded.fees;
  insert into agent_results as r (agent_id, source, skill_slug, volume, fees, realized, wins, losses)
  select t.agent, t.source, t.skill, sum(t.volume), sum(t.fee), sum(t.gain),
    count(*) filter (where t.net > 0), count(*) filter (where t.net < 0)
  from unnest(agents, sources, skills, volumes, fees_paid, gains, nets)
    as t(agent, source, skill, volume, fee, gain, net)
  group by 1, 2, 3
  on conflict (agent_id, source, skill_slug) do update
    set volume = r.volume + excluded.volume, fees = r.fees + excluded.fees, realized = r.realized + excluded.realized,
        wins = r.wins + excluded.wins, losses = r.losses + excluded.losses;
end
$$;
