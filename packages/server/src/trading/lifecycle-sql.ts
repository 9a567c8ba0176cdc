/**
 * The lifecycle of orders as SQL functions. `scripts/generate-rows.ts` writes this text to functions/order-lifecycle.sql,
 * so that the database refuses every change of a status that the table in `domain/lifecycle.ts` does not allow.
 */
import {
  eventWord,
  FIRST_STATUS,
  mayFill,
  ORDER_KINDS,
  ORDER_STATUSES,
  reachable,
} from '../domain/lifecycle.ts';

const quoted = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(', ');

const moves = ORDER_KINDS.flatMap((kind) =>
  ORDER_STATUSES.flatMap((from) => {
    const to = reachable(kind, from);
    return to.length === 0 ? [] : [`    when '${kind} ${from}' then to_status in (${quoted(to)})`];
  }),
).join('\n');

const words = ORDER_STATUSES.filter((status) => eventWord(status) !== status)
  .map((status) => `    when '${status}' then '${eventWord(status)}'`)
  .join('\n');

const open = quoted(ORDER_STATUSES.filter(mayFill));

/** Kinds and statuses with which an order may begin when its venue answered in the commit of its record. */
const begun = quoted(
  ORDER_KINDS.filter((kind) => kind !== 'quoted').flatMap((kind) =>
    reachable(kind, FIRST_STATUS).map((status) => `${kind} ${status}`),
  ),
);

export const LIFECYCLE_FILE = 'order-lifecycle.sql';

export const lifecycleSql = (): string => `\
-- Made from packages/server/src/domain/lifecycle.ts. Change that, then run scripts/generate-rows.ts.

-- Whether evidence may move an order from one status to another. One piece of evidence may carry several events.
create or replace function order_may_become(kind text, from_status text, to_status text) returns boolean
language sql immutable parallel safe as $$
  select case kind || ' ' || from_status
${moves}
    else false
  end
$$;

-- Whether an order can still be filled, as far as is known. The planner writes the list into the statement, so indexes on open orders fit.
create or replace function order_is_open(status text) returns boolean language sql immutable parallel safe as $$
  select status in (${open})
$$;

-- An order's status in the words of webhooks.
create or replace function order_event_word(status text) returns text language sql immutable parallel safe as $$
  select case status
${words}
    else status
  end
$$;

-- Refuses what the lifecycle does not know, whichever statement tries it.
create or replace function refuse_status() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    raise exception 'order % cannot begin as %', new.order_id, new.status using errcode = 'check_violation';
  end if;
  -- A refused attempt of an exit was never taken: its order is sent anew.
  if old.kind = 'signed' and new.kind = old.kind and old.status = 'rejected' and old.first_answer is null
    and new.status = '${FIRST_STATUS}' then
    return new;
  end if;
  if new.kind <> old.kind or not order_may_become(old.kind, old.status, new.status) then
    raise exception '% order % cannot become % when it is %', old.kind, old.order_id, new.status, old.status
      using errcode = 'check_violation';
  end if;
  return new;
end
$$;
-- An order that its venue answered in the commit of its record begins with what the venue proved. The words stand here
-- because PostgreSQL reads a trigger's condition anew for every statement, and with it the text of every function in it.
create or replace trigger orders_first_status before insert on orders
  for each row when (new.status <> '${FIRST_STATUS}'
    and (new.first_answer is null or new.kind || ' ' || new.status not in (${begun})))
  execute function refuse_status();
create or replace trigger orders_next_status before update on orders
  for each row when (new.status <> old.status or new.kind <> old.kind) execute function refuse_status();
`;
