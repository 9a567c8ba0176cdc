import {
  getClosedPositions,
  getExpiringPositions,
  getPortfolio,
  getWalletPositions,
  redeemPosition,
} from '@bellwether/contract';
import { type PortfolioNeeds, portfolio } from '../app/portfolio.ts';
import { pageOf } from '../app/position-filters.ts';
import * as positions from '../app/positions.ts';
import { type RedeemNeeds, redeem } from '../app/redeem.ts';
import { offsetPages, paginate } from './pagination.ts';
import type { Bind } from './routes.ts';

const DEFAULT_PAGE = 50;
const DEFAULT_HOURS = 24;

export function bindPositions(
  bind: Bind,
  needs: positions.PositionNeeds & PortfolioNeeds & RedeemNeeds,
): void {
  bind(getClosedPositions, async ({ caller, query, request, reply }) => {
    const { limit = DEFAULT_PAGE, offset = 0, ...rest } = query;
    const page = await positions.closedPositions(needs, caller, { ...rest, limit, offset });
    paginate(request, reply, page.total, offsetPages(offset, limit, page.total));
    return page.positions;
  });
  bind(getWalletPositions, ({ caller, params, query }) =>
    positions.walletPositions(needs, caller, params.address, query.venue),
  );
  bind(getExpiringPositions, async ({ caller, query, request, reply }) => {
    const { limit, offset = 0, hours = DEFAULT_HOURS, ...rest } = query;
    const found = await positions.expiringPositions(needs, caller, { ...rest, hours });
    paginate(request, reply, found.total, offsetPages(offset, limit, found.total));
    return { ...found, positions: pageOf(found.positions, offset, limit) };
  });
  bind(getPortfolio, ({ caller, query }) => portfolio(needs, caller, query));
  bind(redeemPosition, ({ caller, body }) => redeem(needs, caller, body));
}
