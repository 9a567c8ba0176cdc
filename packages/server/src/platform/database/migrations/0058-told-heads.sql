-- The UTC day on which the chain's head was told last.
alter table receipt_heads add column told_on date;
