-- What a live venue has said of an order that it settles on a chain. The order itself is in `orders`; its row here begins with
-- the venue's first answer.
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

-- The parts that an order has in the venue's trades, each once.
create table venue_trades (
  order_id text not null,
  trade_id text not null,
  -- The fill's trade_id.
  nth bigint not null,
  status text not null check (status in ('matched', 'mined', 'retrying', 'confirmed', 'failed')),
  size bigint not null,
  cost bigint not null,
  fee bigint not null,
  -- It is among the fills.
  is_counted boolean not null,
  primary key (order_id, trade_id)
);

-- Which replica follows a wallet's orders at a live venue, and until when.
create table venue_followers (
  venue text not null,
  wallet_address text not null,
  holder text not null,
  leased_until timestamptz not null,
  primary key (venue, wallet_address)
);

-- What stands behind a venue's name. One database never mixes real and simulated money of one venue.
create table venue_backends (
  venue text primary key,
  backend text not null check (backend in ('paper', 'live')),
  since timestamptz not null default now()
);
