-- Splits and merges are orders: of full sets, executed at once or refused. A merge is an exit and no trade, like a redemption.
alter table orders
  drop constraint orders_kind_fits,
  add constraint orders_kind_fits check (
    case kind
      when 'signed' then signature_type is not null and version is not null and not is_redemption
      when 'quoted' then signature_type is null and version is null
      when 'split' then signature_type is null and version is null and not is_redemption
      when 'merge' then signature_type is null and version is null and is_redemption
      else false
    end);

-- The account has split in this market: then what it lost there counts as position, too (position_value).
alter table positions add column has_sets boolean not null default false;
