import { getExpiringPositions, getWalletPositions, redeemPosition } from '@bellwether/contract';
import { offsetPages, paginate } from '../platform/http/pagination.ts';
import type { Bind } from '../platform/http/routes.ts';
import { pageOf } from './position-filters.ts';
import * as positions from './positions.ts';
import { type RedeemNeeds, redeem } from './redeem.ts';

const DEFAULT_HOURS = 24;

export function bindPositions(bind: Bind, needs: positions.PositionNeeds & RedeemNeeds): void {
  bind(getWalletPositions, ({ caller, params, query }) =>
    positions.walletPositions(needs, caller, params.address, query.venue),
  );
  bind(getExpiringPositions, async ({ caller, query, request, reply }) => {
    const { limit, offset = 0, hours = DEFAULT_HOURS, ...rest } = query;
    const found = await positions.expiringPositions(needs, caller, { ...rest, hours });
    paginate(request, reply, found.total, offsetPages(offset, limit, found.total));
    return { ...found, positions: pageOf(found.positions, offset, limit) };
  });
  bind(redeemPosition, ({ caller, body }) => redeem(needs, caller, body));
}
