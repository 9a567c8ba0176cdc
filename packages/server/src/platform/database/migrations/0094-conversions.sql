-- A conversion turns NO shares of one market into YES shares of the others of its event: an order of sets, and an entry.
alter table orders
  drop constraint orders_kind_fits,
  add constraint orders_kind_fits check (
    case kind
      when 'signed' then signature_type is not null and version is not null and not is_redemption
      when 'quoted' then signature_type is null and version is null
      when 'split' then signature_type is null and version is null and not is_redemption
      when 'merge' then signature_type is null and version is null and is_redemption
      when 'convert' then signature_type is null and version is null and not is_redemption
      else false
    end);
