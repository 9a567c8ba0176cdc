-- The schema of release 0.2.0: what migrations 1 to 100 of before made together. Functions and triggers are in functions/.

-- ── Owners, their agents, and keys ──────────────────────────────────────────────────────────────────────────────────

-- People, with passkeys. Who is made with an agent's registration has no name. Once its agent is claimed it owns
-- nothing, and says into whom it was merged.
create table owners (
  user_id bigint generated always as identity primary key,
  created_at timestamptz not null,
  name text,
  -- What authenticators know the account by: 32 random bytes, as base64url.
  passkey_handle text unique,
  merged_into bigint references owners
);

create table passkeys (
  credential_id text primary key,
  user_id bigint not null references owners,
  public_key bytea not null,
  -- Uses as the authenticator counts them; many always say 0.
  counter bigint not null,
  transports text[] not null,
  backed_up boolean not null,
  created_at timestamptz not null,
  last_used_at timestamptz not null,
  -- What routes call it by: the authenticator's own id is up to a thousand characters long.
  passkey_id bigint generated always as identity unique,
  -- The owner's word.
  name text not null default 'Passkey'
);
create index passkeys_by_owner on passkeys (user_id);

create table owner_sessions (
  -- Keyed hash of the cookie's token; the token itself is nowhere.
  token_hash bytea primary key,
  user_id bigint not null references owners,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- It ends with the passkey that opened it. Null: opened before sessions knew theirs.
  credential_id text references passkeys on delete cascade
);
create index owner_sessions_by_expiry on owner_sessions (expires_at);
create index owner_sessions_by_passkey on owner_sessions (credential_id);

-- Taken (deleted) by the first answer that names one, on whichever replica it arrives.
create table passkey_challenges (
  challenge text primary key,
  purpose text not null,
  -- Registration only: the account to be.
  passkey_handle text,
  owner_name text,
  expires_at timestamptz not null
);
create index passkey_challenges_by_expiry on passkey_challenges (expires_at);

-- At most one of an owner. It is used by deleting the row, which happens once.
create table recovery_codes (
  user_id bigint primary key references owners,
  -- Keyed hash; the code itself is nowhere.
  code_hash bytea not null unique,
  made_at timestamptz not null
);

-- The last recovery of each owner. Until ends_at the owner can do little, and a passkey of before can undo it: that
-- deletes the passkey that it made, and this row with it.
create table recoveries (
  user_id bigint primary key references owners,
  credential_id text not null unique references passkeys on delete cascade,
  began_at timestamptz not null,
  ends_at timestamptz not null
);

create table agents (
  agent_id uuid primary key,
  user_id bigint not null references owners,
  name text not null,
  description text not null,
  claim_code text not null unique,
  claimed_at timestamptz,
  -- The wallet whose credentials this agent registered last.
  wallet_address text,
  sol_address text,
  created_at timestamptz not null
);
create index agents_by_owner on agents (user_id);
create index agents_by_wallet on agents (wallet_address) where wallet_address is not null;
create index agents_by_sol_address on agents (sol_address) where sol_address is not null;

create table api_keys (
  id bigint generated always as identity primary key,
  agent_id uuid not null references agents,
  -- Keyed hash of the key; the key itself is nowhere.
  key_hash bytea not null unique,
  key_prefix text not null,
  key_suffix text not null,
  name text not null,
  status smallint not null default 1,
  create_type smallint not null,
  created_at timestamptz not null,
  last_called_at timestamptz not null,
  revoked_at timestamptz
);
create index api_keys_by_agent on api_keys (agent_id, id);

-- Names the state of everything that the callers of trades are judged by, beside figures and what quotes say:
-- settings, keys, owners, wallets and credentials of all agents. Whoever has read it under this name need not read it
-- again while the name is the same. What renames it is in functions/callers.sql.
create table callers_version (
  one boolean default true primary key check (one),
  -- A random name, not a number: after a backup was restored, a number could name another state.
  version uuid not null
) with (fillfactor = 50);
insert into callers_version (version) values (gen_random_uuid());

-- A known text sealed by the master key: a wrong key is noticed at the start. The newest row's key seals; while a
-- rotation lasts there are two.
create table master_key_check (
  key_id integer primary key,
  sealed bytea not null,
  -- Identifies a key without revealing it.
  name text
);

-- The database's first master key, sealed with the newest: what is derived from it (the hashes of API keys, the paper
-- venue's keys) stays the same when the master key is rotated.
create table master_root (
  one boolean default true primary key check (one),
  key_id integer not null,
  sealed bytea not null
);

create table retired_master_keys (
  key_id integer primary key,
  name text,
  retired_at timestamptz not null default now()
);

-- ── Wallets ─────────────────────────────────────────────────────────────────────────────────────────────────────────

create table credentials (
  wallet_address text primary key,
  user_id bigint not null,
  eoa text not null,
  funder text not null,
  signature_type smallint not null,
  api_key_hash bytea not null,
  key_id integer not null,
  sealed bytea not null,
  registered_at timestamptz not null
);
create index credentials_by_owner on credentials (user_id);
create index credentials_by_funder on credentials (funder);
create index credentials_by_eoa on credentials (eoa);

-- Wallets whose keys have signed a link challenge for an owner. A link is proof, so the latest one holds.
create table linked_wallets (
  address text primary key,
  user_id bigint not null,
  -- evm or solana.
  kind text not null,
  -- The EOA that signed; the address itself for Solana.
  signer text not null,
  linked_at timestamptz not null
);
create index linked_wallets_by_owner on linked_wallets (user_id);
create index linked_wallets_by_signer on linked_wallets (signer);

-- Challenges carry their own proof of origin; only that one was used has to be remembered, until it expires.
create table used_link_challenges (
  nonce text primary key,
  expires_at timestamptz not null
);
create index used_link_challenges_by_expiry on used_link_challenges (expires_at);

create sequence agent_wallet_turns;

-- Of its owner's wallets (credentials, linked_wallets, order_wallets) an agent reaches those that it registered,
-- linked or traded with, and those that the owner granted it. Rows outlive the ownership: a wallet that went to
-- another owner is bound there by the locks of the agents that had it.
create table agent_wallets (
  agent_id uuid,
  address text,
  -- The key that signs for the wallet: the EOA that it is derived from, or the Solana address itself.
  signer text not null,
  -- Registered, linked or traded with by this agent; false: only granted.
  is_own boolean not null,
  granted boolean not null default false,
  -- The owner, or the operator, has freed the key from this agent's locks; until the agent has it again.
  lifted boolean not null default false,
  since timestamptz not null,
  -- Who had the key last: times can be equal.
  turn bigint not null default nextval('agent_wallet_turns'),
  primary key (agent_id, address)
);
create index agent_wallets_by_signer on agent_wallets (signer);
create index agent_wallets_by_address on agent_wallets (address);

-- Solana wallets that have signed an order of an agent: a signature that was checked is proof of the key. Every
-- heartbeat asks for them, so they are not looked for in an agent's past orders.
create table order_wallets (
  agent_id uuid,
  address text,
  user_id bigint not null,
  primary key (agent_id, address)
);
create index order_wallets_by_owner on order_wallets (user_id, address);

-- Wallets for whose keys the desk keeps up the venue's own heartbeat, because their owner wants it. The word holds
-- while the wallet is this owner's.
create table wallet_heartbeats (
  wallet_address text primary key references credentials on delete cascade,
  user_id bigint not null,
  since timestamptz not null
);

-- Which replica sends the heartbeats of a venue, and until when.
create table heartbeat_senders (
  venue text primary key,
  holder text not null,
  leased_until timestamptz not null
);

-- ── What an owner allows ────────────────────────────────────────────────────────────────────────────────────────────

-- One row per agent: its limits and what it has reserved of today's budget. Every trade locks it.
create table safeguards (
  agent_id uuid primary key,
  trading_paused boolean not null default false,
  trade_limit_enabled boolean not null default true,
  max_trades_per_day integer not null,
  max_trade_amount bigint not null,
  daily_trade_amount_limit bigint not null,
  max_position_value bigint,
  daily_loss_limit bigint,
  auto_redeem_enabled boolean not null default false,
  risk_control_enabled boolean not null default false,
  take_profit_percent double precision,
  stop_loss_percent double precision,
  updated_at timestamptz not null,
  usage_day date not null,
  used_trades integer not null default 0,
  used_amount bigint not null default 0,
  owner_paused boolean not null default false,
  -- What the owner locked: ceilings that the agent's key cannot raise, null for none.
  locked_max_trades_per_day integer,
  locked_max_trade_amount bigint,
  locked_daily_trade_amount_limit bigint,
  locked_max_position_value bigint,
  locked_daily_loss_limit bigint,
  locked_trade_limit boolean not null default false,
  -- Most orders that an agent may have open at a time, on all venues, in doubt or not. Null: no limit.
  max_open_orders integer,
  locked_max_open_orders integer,
  -- Collateral of a trade above which its owner approves each order. Null: none.
  approval_above bigint,
  locked_approval_above bigint,
  -- Seconds without a request of the agent after which the desk cancels its open orders. Null: never.
  silence_seconds integer check (silence_seconds between 30 and 86400),
  locked_silence_seconds integer check (locked_silence_seconds between 30 and 86400),
  -- Whether caps bind exits, and how near the believed bid an exit must sell to pass them. The owner's alone, by
  -- passkey.
  caps_bind_exits boolean not null default true,
  exit_distance_percent integer not null default 10 check (exit_distance_percent between 1 and 50),
  -- Places of the day's trades that armed exits hold, and the exits that have not ended.
  reserved_exits integer not null default 0,
  open_exits integer not null default 0
) with (fillfactor = 50);
create index safeguards_silence on safeguards (agent_id) where silence_seconds is not null;

-- Budget that came back: written with the evidence, without touching the locked row, and folded into it by the
-- agent's next trade.
create table budget_returns (
  agent_id uuid,
  order_id text,
  day date not null,
  trades integer not null,
  amount bigint not null,
  primary key (agent_id, order_id)
);

-- What an agent realised on a UTC day: P&L before fees, and the fees.
create table daily_results (
  agent_id uuid,
  day date,
  realized bigint not null,
  fees bigint not null,
  primary key (agent_id, day)
) with (fillfactor = 70);

create table approvals (
  approval_id uuid primary key,
  agent_id uuid not null,
  -- The one order that it is for. An order that asked in vain may ask again, in another row.
  order_id text not null,
  asked_at timestamptz not null,
  -- Until when it can be decided.
  waits_until timestamptz not null,
  -- The order's own end, if it has one.
  order_ends_at timestamptz,
  -- What the owner judges by, as it is shown.
  terms jsonb not null,
  decision text check (decision in ('approved', 'declined')),
  decided_at timestamptz,
  -- The owner who decided. Not user_id: an approval does not follow the agent to another owner.
  decided_by bigint,
  approved_until timestamptz,
  decline_reason text,
  -- Pushed out by newer ones before it was decided.
  superseded_at timestamptz
);
create index approvals_of_agent on approvals (agent_id, asked_at desc);
create index approvals_of_order on approvals (order_id, asked_at desc);

-- Exit orders that an agent signed ahead and left with the desk, each with the trigger that sends it. The order is
-- sealed for its exit, and the seal is deleted when the exit ends.
create table exits (
  exit_id text primary key,
  agent_id uuid not null references agents,
  user_id bigint not null references owners,
  -- The API key that it was left with.
  api_key_id bigint not null,
  order_id text not null,
  venue text not null,
  market_id text not null,
  condition_id text not null,
  token_id text not null,
  outcome text not null check (outcome in ('YES', 'NO')),
  funder text not null,
  wallet_address text not null,
  time_in_force text not null,
  limit_price integer not null,
  shares bigint not null check (shares > 0),
  order_ends_at timestamptz,
  -- The master key of the seal; both are null once the exit has ended.
  key_id integer,
  sealed bytea,
  trigger_kind text not null check (trigger_kind in ('price_at_or_below', 'price_at_or_above', 'time', 'before_end', 'silence')),
  trigger_price integer check (trigger_price between 1 and 9999),
  trigger_at timestamptz,
  trigger_minutes integer,
  group_name text,
  expires_at timestamptz,
  -- Armed by the owner's passkey: a pause by the owner sends it.
  fires_on_pause boolean not null default false,
  -- It was resumed: a trigger that held meanwhile must let go before it counts.
  must_let_go boolean not null default false,
  status text not null check (status in ('armed', 'suspended', 'firing', 'fired', 'canceled', 'expired', 'failed')),
  because text,
  -- Why it could not be sent at the last attempt, or could not be now.
  trouble text,
  trouble_detail text,
  -- What sent it, with prices and book.
  fired jsonb,
  attempts integer not null default 0,
  next_attempt_at timestamptz not null,
  reviewed_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((trigger_kind like 'price%') = (trigger_price is not null)),
  check ((trigger_kind = 'time') = (trigger_at is not null)),
  check ((trigger_kind = 'before_end') = (trigger_minutes is not null)),
  check ((sealed is null) = (key_id is null)),
  check ((sealed is null) = (status in ('fired', 'canceled', 'expired', 'failed')))
);
create unique index exits_open_order on exits (agent_id, order_id) where sealed is not null;
create index exits_watched on exits (next_attempt_at) where status in ('armed', 'firing');
create index exits_sealed on exits (key_id) where sealed is not null;
create index exits_of_agent on exits (agent_id, created_at desc);
create index exits_of_order on exits (order_id);
create index exits_of_owner on exits (user_id);

-- When the desk looked for silent agents last, by any replica, and since when it has done so without a gap: time in
-- which the desk was down is no silence of an agent.
create table desk_watch (
  one boolean default true primary key check (one),
  seen_at timestamptz not null,
  since timestamptz not null,
  -- The database that the desk saw last: another one was restored from a backup.
  database_name text
);

-- The last silence of each agent that was acted on, named by the request after which it began.
create table silences (
  agent_id uuid primary key,
  called_at timestamptz not null,
  fired_at timestamptz not null,
  orders integer not null
);

-- Attempts that the desk refused, newest kept: each agent has a ring of rows.
create table refusals (
  agent_id uuid,
  slot integer,
  refused_at timestamptz not null,
  code text not null,
  detail text not null,
  venue text not null,
  condition_id text not null,
  question text not null,
  outcome text not null,
  side text not null,
  shares bigint not null,
  money bigint not null,
  wallet_address text not null,
  reasoning text,
  source text,
  skill_slug text,
  request_id text not null,
  primary key (agent_id, slot)
);

create table refusal_counts (
  agent_id uuid primary key,
  total bigint not null
) with (fillfactor = 50);

-- ── Orders ──────────────────────────────────────────────────────────────────────────────────────────────────────────

create table orders (
  agent_id uuid not null,
  -- The EIP-712 digest.
  order_id text primary key,
  user_id bigint not null,
  venue text not null,
  market_id text not null,
  condition_id text not null,
  question text not null,
  token_id text not null,
  outcome text not null,
  side text not null,
  is_limit boolean not null,
  time_in_force text not null,
  post_only boolean not null,
  defer_exec boolean not null,
  price integer not null,
  limit_price integer not null,
  shares bigint not null,
  money bigint not null,
  funder text not null,
  wallet_address text not null,
  -- Null, like the version, where no message of a known form is signed: quoted orders and those of sets.
  signature_type smallint,
  version smallint,
  expiration timestamptz,
  fee_amount bigint not null,
  reasoning text,
  source text,
  skill_slug text,
  request_id text not null,
  created_at timestamptz not null,
  status text not null,
  filled bigint not null default 0,
  cost bigint not null default 0,
  fees bigint not null default 0,
  error_code text,
  -- What the agent was told first; replays say it again.
  first_answer jsonb,
  journal jsonb not null default '[]',
  reserved_day date not null,
  reserved_amount bigint not null,
  updated_at timestamptz not null,
  -- An exit that is no trade: it takes no budget and gives none back.
  is_redemption boolean not null default false,
  -- Agents of other owners in whose budgets the order was reserved, too: its wallet had been theirs.
  restricted_by uuid[],
  -- signed: a message that a venue executes. quoted: a transaction that a venue quoted and the agent signed. split,
  -- merge and convert: full sets, executed at once or refused.
  kind text not null,
  journal_lines text not null default '',
  -- The agent's own name for an order. An agent's trades are judged one after another, so its index need not be
  -- unique.
  client_order_id text,
  -- When the desk cancels what is not filled of the order by then.
  cancel_at timestamptz,
  -- Why; null: the order said so.
  cancel_cause text check (cancel_cause = 'silence'),
  constraint orders_kind_fits check (
    case kind
      when 'signed' then signature_type is not null and version is not null and not is_redemption
      when 'quoted' then signature_type is null and version is null
      when 'split' then signature_type is null and version is null and not is_redemption
      when 'merge' then signature_type is null and version is null and is_redemption
      when 'convert' then signature_type is null and version is null and not is_redemption
      else false
    end
  )
) with (fillfactor = 80);
-- No condition selects by columns without statistics, and sampling them was most of the work of gathering any.
alter table orders alter question set statistics 0, alter is_limit set statistics 0, alter post_only set statistics 0,
  alter defer_exec set statistics 0, alter price set statistics 0, alter limit_price set statistics 0,
  alter shares set statistics 0, alter money set statistics 0, alter signature_type set statistics 0,
  alter version set statistics 0, alter fee_amount set statistics 0, alter reasoning set statistics 0,
  alter request_id set statistics 0, alter filled set statistics 0, alter cost set statistics 0,
  alter fees set statistics 0, alter first_answer set statistics 0, alter journal set statistics 0,
  alter reserved_amount set statistics 0;
comment on column orders.journal is 'Entries as releases before journal_lines wrote them: objects.';
comment on column orders.journal_lines is
  'Lines of JSON, one for each entry: [milliseconds, event, status, detail, what the order was judged by].';
create index orders_open on orders (agent_id, condition_id) where status in ('submitting', 'unknown', 'live', 'delayed', 'unmatched', 'partially_filled');
create index orders_in_doubt on orders (created_at) where status in ('submitting', 'unknown');
create index orders_open_restricted on orders (condition_id) where (restricted_by is not null and (status in ('submitting', 'unknown', 'live', 'delayed', 'unmatched', 'partially_filled')));
-- Looked at only where locks of another owner's agents bind a wallet.
create index orders_open_by_restriction on orders using gin (restricted_by) where (restricted_by is not null and (status in ('submitting', 'unknown', 'live', 'delayed', 'unmatched', 'partially_filled')));
-- An order's id is unique by itself; lists are found by agent and time, and the few rows of one moment are sorted
-- when they are read.
create index orders_history on orders (agent_id, created_at desc);
create index orders_changed on orders (agent_id, updated_at desc);
-- For resolutions only: while few orders are open, walking it costs the same as finding an agent's, and a session
-- keeps such a plan. The planner uses a partial index for a statement that repeats its condition, and only
-- log_resolutions says `length(condition_id) > 0`.
create index orders_open_of_market on orders (condition_id) where ((status in ('submitting', 'unknown', 'live', 'delayed', 'unmatched', 'partially_filled')) and (length(condition_id) > 0));
create index orders_client_order_ids on orders (agent_id, client_order_id) where client_order_id is not null;

-- Orders with a `cancel_at` that have not ended, and when the desk looks at each next.
create table late_orders (
  order_id text primary key,
  due_at timestamptz not null
);
create index late_orders_due on late_orders (due_at);

create table idempotency_keys (
  scope text,
  route text,
  key text,
  body_hash bytea not null,
  -- While in flight; a crash holds the key no longer than this.
  lease_until timestamptz,
  status smallint,
  -- With a status the answer, null when it carried a secret; without one the result of the effect, once there is one.
  body text,
  expires_at timestamptz not null,
  primary key (scope, route, key)
);
alter table idempotency_keys alter body_hash set statistics 0, alter body set statistics 0;
create index idempotency_keys_by_expiry on idempotency_keys (expires_at);

-- ── The quote venue ─────────────────────────────────────────────────────────────────────────────────────────────────

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
  withdrawn_at timestamptz,
  -- The whole transaction, where its agent may not have it before the owner approves.
  withheld bytea
);
create index quotes_by_expiry on quotes (expires_at);
-- Purchases whose tokens another wallet received than the one that paid.
create index quotes_for_others on quotes (wallet) where destination is not null;
create index quotes_from_others on quotes (destination) where destination is not null;

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

-- Fees charged by a wallet's delegation. A row is there before anybody signs, and the signed bytes before any node is
-- given them, so that a charge with a key happens once whatever fails in between.
create table fee_charges (
  id uuid primary key,
  agent_id uuid not null,
  -- Null: every such charge is one of its own.
  idempotency_key text,
  venue text not null,
  amount bigint not null check (amount > 0),
  from_address text not null,
  to_address text not null,
  request_id text not null,
  -- signing, unsigned, signed, unknown, broadcast, landed, refused, failed, dropped
  status text not null,
  -- Only the latest attempt may be recorded.
  attempt integer not null default 1,
  lease_until timestamptz not null,
  provider_id text,
  signature text unique,
  wire bytea,
  last_valid_block_height bigint,
  -- Signatures of attempts that had no effect and can have none.
  dead_signatures text[] not null default '{}',
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index fee_charges_by_key on fee_charges (agent_id, idempotency_key) where idempotency_key is not null;
create index fee_charges_unsettled on fee_charges (created_at) where status in ('signed', 'unknown', 'broadcast');

-- ── Live venues ─────────────────────────────────────────────────────────────────────────────────────────────────────

-- What stands behind a venue's name. One database never mixes real and simulated money of one venue.
create table venue_backends (
  venue text primary key,
  backend text not null check (backend in ('paper', 'live')),
  since timestamptz not null default now()
);

-- What a live venue has said of an order that it settles on a chain. The order itself is in `orders`; its row here
-- begins with the venue's first answer.
create table venue_orders (
  order_id text primary key,
  venue text not null,
  -- The wallet whose credential asks the venue.
  wallet_address text not null,
  -- Shares that the venue has matched, as far as it has said. Its trades say which.
  matched bigint not null default 0,
  -- Why nothing of it rests any more; null while it may.
  ended text check (ended in ('filled', 'killed', 'canceled', 'expired', 'market_resolved')),
  -- The figure of `matched` cannot grow any more.
  is_counted boolean not null default false,
  -- Since when the venue has not listed it.
  missing_since timestamptz,
  -- Nothing about it can change any more.
  is_final boolean not null default false
);
create index venue_orders_followed on venue_orders (venue, wallet_address) where not is_final;

-- The parts that an order has in the venue's trades, each once. One that would have spent or given more than its order
-- signed counts as nothing until it is explained: its row has no amounts, and what the venue said stands beside it.
create table venue_trades (
  order_id text,
  trade_id text,
  -- The fill's trade_id.
  nth bigint not null,
  status text not null check (status in ('matched', 'mined', 'retrying', 'confirmed', 'failed')),
  size bigint not null,
  cost bigint not null,
  fee bigint not null,
  -- It is among the fills.
  is_counted boolean not null,
  aside_state text check (aside_state in ('held', 'explained', 'released', 'discarded')),
  aside jsonb,
  primary key (order_id, trade_id)
);
comment on column venue_trades.aside_state is
  'Held: kept aside. Then the venue explained it, or an operator released or discarded it. Null: never kept aside.';
comment on column venue_trades.aside is 'What the venue said of it, why it was kept aside, and when.';
create index venue_trades_held on venue_trades (order_id) where aside_state = 'held';

-- Which replica follows a wallet's orders at a live venue, and until when.
create table venue_followers (
  venue text,
  wallet_address text,
  holder text not null,
  leased_until timestamptz not null,
  primary key (venue, wallet_address)
);

-- ── Sets and redemptions ────────────────────────────────────────────────────────────────────────────────────────────

-- Splits and merges whose transactions the owner of a wallet has to sign and send: the desk looks for them on the
-- chain.
create table handed_out_sets (
  order_id text primary key,
  -- After this time the order has expired, if nothing was seen.
  ends_at timestamptz not null,
  due_at timestamptz not null,
  -- What the owner signs for the venue's relayer; null: the owner sends transactions of its own.
  relay jsonb,
  signature text,
  -- Since when it may have been forwarded.
  submitted_at timestamptz,
  transaction_id text,
  relay_state text
);
create index handed_out_sets_due on handed_out_sets (due_at);

-- Which transaction was proof of which order, so that each is proof of one.
create table set_transactions (
  wallet text,
  transaction_hash text,
  condition_id text,
  kind text,
  order_id text not null unique,
  primary key (wallet, transaction_hash, condition_id, kind)
);

-- Who asked for a redemption: the venue's evidence names only the account. One row per wallet and market.
create table redemption_requests (
  wallet text,
  condition_id text,
  agent_id uuid not null,
  automatic boolean not null,
  requested_at timestamptz not null,
  primary key (wallet, condition_id)
);

-- When an account was last asked about that holds something redeemable at a venue where its owner redeems.
create table redemption_checks (
  venue text,
  wallet text,
  checked_at timestamptz not null,
  primary key (venue, wallet)
);

-- Redemptions that the venue's relayer makes, by what the owner signs. Kept for a day: the venue's list of
-- redemptions is their proof.
create table relayed_redemptions (
  digest text primary key,
  agent_id uuid not null,
  venue text not null,
  wallet text not null,
  market_id text not null,
  condition_id text not null,
  relay jsonb not null,
  created_at timestamptz not null,
  -- Recorded before it is forwarded, once.
  submitted_at timestamptz,
  transaction_id text,
  refused text
);
create index relayed_redemptions_created on relayed_redemptions (created_at);

-- ── Fills, positions and money ──────────────────────────────────────────────────────────────────────────────────────

create table fills (
  wallet text,
  order_id text,
  trade_id bigint,
  agent_id uuid,
  condition_id text not null,
  token_id text not null,
  outcome text not null,
  side text not null,
  price integer not null,
  size bigint not null,
  cost bigint not null,
  fee bigint not null,
  liquidity text not null,
  match_kind text not null,
  -- P&L of what this fill sold, before fees; 0 for a BUY.
  realized bigint not null,
  filled_at timestamptz not null,
  counts_at timestamptz,
  primary key (wallet, order_id, trade_id)
);
alter table fills alter price set statistics 0, alter size set statistics 0, alter cost set statistics 0,
  alter fee set statistics 0, alter liquidity set statistics 0, alter realized set statistics 0;
comment on column fills.counts_at is 'When it counts among the fills of its position; null: when it happened.';
create index fills_by_time on fills (wallet, filled_at desc);
-- An agent's fills on all venues, newest first.
create index fills_by_agent on fills (agent_id, filled_at desc) where agent_id is not null;

create table positions (
  wallet text,
  token_id text,
  condition_id text not null,
  outcome text not null,
  size bigint not null,
  -- Cost of what is held, before fees.
  cost bigint not null,
  realized bigint not null,
  fees bigint not null,
  updated_at timestamptz not null,
  -- Everything ever bought of the token, fees apart: what the average price of a closed position is made of.
  bought_size bigint not null default 0,
  bought_cost bigint not null default 0,
  -- When the size last came to zero.
  closed_at timestamptz,
  -- realized - fees at that time, so that a position that is opened again is won or lost by its second life alone.
  settled bigint not null default 0,
  -- The agent that traded the token last, and under which labels.
  agent_id uuid,
  source text,
  skill_slug text,
  is_held boolean generated always as (size > 0) stored,
  -- The account has split in this market: then what it lost there counts as position, too (position_value).
  has_sets boolean not null default false,
  primary key (wallet, token_id)
) with (fillfactor = 70);
alter table positions alter cost set statistics 0, alter realized set statistics 0, alter fees set statistics 0,
  alter bought_size set statistics 0, alter bought_cost set statistics 0, alter settled set statistics 0;
-- The flag, not the size, is indexed: a fill that only changes the size stays in place.
create index positions_held on positions (wallet, token_id) where is_held;
create index positions_by_market on positions (condition_id, agent_id);
-- Without the market: else it could be read for a market alone, agent by agent, and a session keeps such a plan.
create index positions_by_agent on positions (agent_id);

-- Every market that an account of the desk has traded. Written with the evidence of the first fill, because a venue
-- forgets its old markets and the desk's history must not.
create table traded_markets (
  condition_id text primary key,
  market_id text not null,
  slug text not null,
  question text not null,
  end_date timestamptz not null,
  -- YES, NO or HALF once resolved.
  payout text,
  resolved_at timestamptz,
  -- Null on a resolved market: the automatic redemption has still to go through it.
  swept_at timestamptz,
  -- Null where no order of the desk tells: counted with the first venue that understands the wallet's address.
  venue text,
  -- What a venue sorts a market under; asked for behind the trades, because a venue forgets its old markets. Null:
  -- not known yet.
  category text
);
create index traded_markets_to_sweep on traded_markets (resolved_at) where payout is not null and swept_at is null;
create index traded_markets_by_market_id on traded_markets (market_id);
create index traded_markets_to_resolve on traded_markets (venue, end_date) where payout is null;
create index traded_markets_without_category on traded_markets (condition_id) where category is null;

-- What an agent has made of each of its strategies, added up with the evidence: the leaderboard and the report by
-- strategy read nothing else. '' stands for no label.
create table agent_results (
  agent_id uuid,
  source text,
  skill_slug text,
  -- Orders that the venue took.
  trades bigint not null default 0,
  -- Collateral that changed hands, both ways, fees apart.
  volume bigint not null default 0,
  fees bigint not null default 0,
  -- P&L of what was sold or redeemed, before fees.
  realized bigint not null default 0,
  -- Positions that came to zero with a gain or a loss, fees counted.
  wins bigint not null default 0,
  losses bigint not null default 0,
  last_trade_at timestamptz,
  primary key (agent_id, source, skill_slug)
) with (fillfactor = 50);

create table simulation_credits (
  wallet text primary key,
  amount bigint not null,
  credited_at timestamptz not null
);

create table faucet_draws (
  address text,
  day date,
  amount bigint not null,
  primary key (address, day)
);

-- Money that came to wallets past every trade, kept for ever, so that a statement can say what a balance is made of:
-- paper money, and what a live wallet had when the desk saw it first. Its other deposits are not known; they follow
-- from what is left unexplained.
create table wallet_deposits (
  id bigint generated always as identity primary key,
  wallet text not null,
  at timestamptz not null,
  -- Null: the simulation balance, given by a release that did not note how much it was.
  amount bigint,
  -- simulation, faucet or first_seen
  reason text not null
);
create index wallet_deposits_by_wallet on wallet_deposits (wallet, at);
create unique index wallet_deposits_first_seen on wallet_deposits (wallet) where reason = 'first_seen';

-- What wallets were worth over time, for their owners' pages. Of each step (minutes between points: 5, 60, 1440) a
-- wallet has one row for every span in which something had changed, with the last figures of that span. A job writes
-- them, behind trades.
create table equity_points (
  wallet text,
  step smallint,
  span timestamptz,
  at timestamptz not null,
  equity bigint not null,
  deposits bigint not null,
  primary key (wallet, step, span)
) with (fillfactor = 80);
create index equity_points_by_age on equity_points (step, span);

-- Wallets whose last point was taken while they held something: they are looked at until one was taken after.
create table equity_open_wallets (
  wallet text primary key
);

-- ── The log of facts, and who reads it ──────────────────────────────────────────────────────────────────────────────

-- The present text of this function is in functions/facts.sql.
create function place_in_log() returns xid8 language plpgsql as $$
begin
  return greatest(pg_current_xact_id(), (pg_snapshot_xmax(pg_current_snapshot())::text::bigint - 1)::text::xid8);
end
$$;

create table facts (
  seq bigint generated always as identity primary key,
  writer xid8 not null default place_in_log(),
  agent_id uuid not null,
  -- order, fill, fee, position, balance, risk, resolution, wallet
  kind text not null,
  -- What it is about: an order's, a token's or a market's id, a wallet, an alert, a charge's signature.
  subject text not null,
  at timestamptz not null,
  -- Money as text in micro-units, prices in pips.
  payload jsonb not null,
  recorded_by xid8 default pg_current_xact_id()
);
alter table facts alter payload set statistics 0;
comment on column facts.writer is
  'The place in the log, with seq: the transaction that wrote it, or a later one that had ended before.';
comment on column facts.recorded_by is
  'The transaction that wrote it, by which a reader with a snapshot sees whether it has read it. Null: writer.';
create index facts_by_writer on facts (writer);
create index facts_of_orders on facts (agent_id, at desc) where kind = 'order';
create index facts_of_agent on facts (agent_id, writer);

create table fact_log (
  one boolean default true primary key check (one),
  -- Every fact since then is in the log; older ones may have been deleted.
  kept_since timestamptz not null,
  -- What webhooks have seen.
  webhooks_seen pg_snapshot not null,
  -- The last fact, in the order of streams, that was deleted: a cursor before it may have missed something.
  forgotten_writer xid8 not null default '0',
  forgotten_seq bigint not null default 0
);
insert into fact_log (kept_since, webhooks_seen) values ('-infinity', pg_current_snapshot());

-- Risk alerts that stand, so that each is told once when it is raised.
create table raised_alerts (
  agent_id uuid,
  alert text,
  raised_at timestamptz not null,
  primary key (agent_id, alert)
);

-- Agents whose risk alerts are looked at, because somebody may read of them: a stream of theirs was open and may be
-- resumed, or a webhook wants them. Whichever replica comes first looks at an agent.
create table risk_watches (
  agent_id uuid primary key references agents,
  -- A stream may be resumed until then.
  listened_until timestamptz not null,
  watched_at timestamptz not null default '-infinity'
);
create index risk_watches_due on risk_watches (watched_at);

create table webhook_endpoints (
  id uuid primary key,
  agent_id uuid not null,
  url text not null,
  events text[] not null,
  description text not null,
  key_id integer not null,
  sealed_secret bytea not null,
  created_at timestamptz not null,
  -- Switched off after repeated failure.
  enabled boolean not null default true,
  disabled_at timestamptz,
  -- Attempts that failed since the last that succeeded.
  failures integer not null default 0,
  failing_since timestamptz,
  last_success_at timestamptz,
  -- Nothing is sent before: an event that failed holds back those behind it.
  hold_until timestamptz not null default '-infinity',
  -- The replica that sends to it does so until then; one at a time, so that the order is kept.
  lease_until timestamptz not null default '-infinity',
  -- Whose turn it is: the one that was served longest ago.
  served_at timestamptz not null default '-infinity',
  -- It hears of what is recorded after it was made or enabled.
  listens_since pg_snapshot not null default pg_current_snapshot()
) with (fillfactor = 70);
create index webhook_endpoints_by_agent on webhook_endpoints (agent_id);
create index webhook_endpoints_by_event on webhook_endpoints using gin (events) where enabled;

-- One row per event and endpoint, written in the transaction of what it tells of. Nothing here may make that
-- transaction fail or wait: no foreign keys, no locks. Rows of deleted endpoints are swept.
create table webhook_deliveries (
  id bigint generated always as identity primary key,
  endpoint_id uuid not null,
  agent_id uuid not null,
  event_id uuid not null,
  type text not null,
  data jsonb not null,
  -- Of the event.
  created_at timestamptz not null,
  -- pending, delivered, or failed: given up.
  status text not null default 'pending',
  attempts integer not null default 0,
  next_attempt_at timestamptz not null default '-infinity',
  last_attempt_at timestamptz,
  finished_at timestamptz,
  response_status integer,
  error text
) with (fillfactor = 70);
alter table webhook_deliveries alter data set statistics 0, alter error set statistics 0;
create index webhook_deliveries_pending on webhook_deliveries (endpoint_id, id) where status = 'pending';
create index webhook_deliveries_log on webhook_deliveries (endpoint_id, id desc);
create index webhook_deliveries_finished on webhook_deliveries (finished_at) where status <> 'pending';

create table inbound_webhooks (
  id bigint generated always as identity primary key,
  source text not null,
  signature bytea not null,
  body_hash bytea not null,
  body bytea not null,
  received_at timestamptz not null,
  unique (source, signature, body_hash)
);
create index inbound_webhooks_by_time on inbound_webhooks (received_at);

-- ── Receipts ────────────────────────────────────────────────────────────────────────────────────────────────────────

-- Receipts: one chain per agent, made behind the trades from the log of facts.
create table receipts (
  agent_id uuid,
  sequence bigint,
  kind text not null,
  -- Of an order's entries; null where an entry is about no order.
  order_id text,
  recorded_at timestamptz not null,
  -- Canonical JSON; the hash covers it with the columns before it and the hash of the entry before.
  body text not null,
  hash bytea not null,
  primary key (agent_id, sequence)
);
create index receipts_of_order on receipts (order_id) where order_id is not null;

-- The last entry of each chain.
create table receipt_heads (
  agent_id uuid primary key,
  sequence bigint not null,
  hash bytea not null,
  -- The UTC day on which the chain's head was told last.
  told_on date
);

-- The place in the log of facts up to which receipts are made. Orders from before have none.
create table receipt_log (
  one boolean default true primary key check (one),
  writer xid8 not null,
  seq bigint not null,
  began_at timestamptz not null,
  uncorrected_after text
);
comment on column receipt_log.uncorrected_after is
  'Receipts of orders behind this id have not been looked at yet. Null: all have been.';
insert into receipt_log (writer, seq, began_at) values (pg_snapshot_xmin(pg_current_snapshot()), 0, now());

-- Orders without a receipt because they are older than the log that receipts are made of. Without this list an order
-- that somebody puts before that time would look like one of them.
create table orders_before_receipts (
  order_id text primary key
);

-- ── The desk itself ─────────────────────────────────────────────────────────────────────────────────────────────────

create table skills (
  skill_code uuid primary key,
  -- What trades name in skillSlug.
  slug text not null,
  skill_name text not null,
  -- Who submitted it; 0 for the service itself.
  user_id bigint not null,
  agent_id uuid,
  category smallint not null,
  version text not null,
  author text not null,
  description text not null,
  difficulty_level smallint not null,
  install_count integer not null default 0,
  how_it_works text not null,
  hub_url text not null,
  github_url text not null,
  -- 1 came with the service, 2 was submitted by an agent.
  create_source smallint not null,
  -- 1 pending, 2 approved, 3 refused.
  review_status smallint not null,
  review_remark text not null,
  is_visible boolean not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index skills_listed on skills (category, created_at, skill_code) where (review_status = 2) and is_visible;
create index skills_by_owner on skills (user_id);
create index skills_by_review on skills (review_status, created_at, skill_code);

-- Token buckets, dealt out in slices. `tokens` is what is not leased, as of `at` (the database's clock).
create unlogged table rate_buckets (
  name text primary key,
  tokens double precision not null,
  at timestamptz not null
) with (fillfactor = 50);

-- Where the paper exchange is led from: followers send it their orders and reads. One row.
create table exchange_leader (
  one boolean default true primary key check (one),
  replica_id text not null,
  url text not null,
  since timestamptz not null
);

-- What the probe of the database writes: that it can be read says little about whether it takes a trade.
create table pulse (
  one boolean default true primary key check (one),
  at timestamptz not null
);
insert into pulse (at) values (now());

-- Which files of functions/ this database has, and of which release: an older release leaves a newer one's alone.
create table sql_functions (
  file text primary key,
  hash text not null,
  release integer not null,
  applied_at timestamptz not null
);
