-- No condition selects by these columns, so no plan depends on how their values are distributed. They are what makes a row
-- wide, and sorting samples of them was most of the work of gathering statistics.
alter table orders
  alter question set statistics 0, alter reasoning set statistics 0, alter journal set statistics 0,
  alter first_answer set statistics 0, alter request_id set statistics 0,
  alter price set statistics 0, alter limit_price set statistics 0, alter shares set statistics 0,
  alter money set statistics 0, alter filled set statistics 0, alter cost set statistics 0, alter fees set statistics 0,
  alter fee_amount set statistics 0, alter reserved_amount set statistics 0, alter post_only set statistics 0,
  alter defer_exec set statistics 0, alter is_limit set statistics 0, alter signature_type set statistics 0,
  alter version set statistics 0;
alter table facts alter payload set statistics 0;
alter table fills
  alter price set statistics 0, alter size set statistics 0, alter cost set statistics 0, alter fee set statistics 0,
  alter realized set statistics 0, alter liquidity set statistics 0;
alter table positions
  alter cost set statistics 0, alter realized set statistics 0, alter fees set statistics 0,
  alter bought_size set statistics 0, alter bought_cost set statistics 0, alter settled set statistics 0;
alter table webhook_deliveries alter data set statistics 0, alter error set statistics 0;
alter table idempotency_keys alter body set statistics 0, alter body_hash set statistics 0;
