import {
  getExpiringPositions,
  getWalletPositions,
  listVenueBPositions,
  listVenueBPositionsByPost,
  redeemPosition,
} from '@bellwether/contract';
import { sliceOf } from '../domain/market-search.ts';
import { offsetPages, paginate } from '../platform/http/page.ts';
import type { Bind } from '../platform/http/routes.ts';
import * as positions from './positions.ts';
import { chainPositions } from './quoted-positions.ts';
import { type RedeemNeeds, redeem } from './redeem.ts';

const DEFAULT_HOURS = 24;

export function bindPositions(bind: Bind, needs: RedeemNeeds): void {
  bind(getWalletPositions, ({ caller, params, query }) =>
    positions.walletPositions(needs, caller, params.address, query.venue),
  );
  bind(getExpiringPositions, async ({ caller, query, request, reply }) => {
    const { limit, offset = 0, hours = DEFAULT_HOURS, ...rest } = query;
    const found = await positions.expiringPositions(needs, caller, { ...rest, hours });
    paginate(request, reply, found.total, offsetPages(offset, limit, found.total));
    return { ...found, positions: [...sliceOf(found.positions, { offset, limit })] };
  });
  bind(redeemPosition, ({ caller, body }) => redeem(needs, caller, body));
}

export function bindChainPositions(bind: Bind, needs: positions.PositionNeeds): void {
  bind(listVenueBPositions, async ({ caller, query, request, reply }) => {
    const positions = await chainPositions(needs, caller, query.userPublicKey);
    paginate(request, reply, positions.length);
    return positions;
  });
  bind(listVenueBPositionsByPost, async ({ caller, body, request, reply }) => {
    const positions = await chainPositions(needs, caller, body.userPublicKey);
    paginate(request, reply, positions.length);
    return positions;
  });
}
