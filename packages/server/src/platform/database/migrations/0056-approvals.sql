-- Trades above approvalAbove wait until the agent's owner has decided.
alter table safeguards
  -- Collateral of a trade above which its owner approves each order. Null: none.
  add column approval_above bigint,
  add column locked_approval_above bigint;

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

-- The whole transaction of a quote, where its agent may not have it before the owner approves.
alter table quotes add column withheld bytea;
