import {
  getClosedPositions,
  getExpiringPositions,
  getPortfolio,
  getWalletPositions,
  redeemPosition,
} from '@bellwether/contract';
import type { Deps } from '../app/deps.ts';
import { portfolio } from '../app/portfolio.ts';
import { pageOf } from '../app/position-filters.ts';
import * as positions from '../app/positions.ts';
import { redeem } from '../app/redeem.ts';
import { offsetPages, paginate } from './pagination.ts';
import type { Bind } from './routes.ts';

const DEFAULT_PAGE = 50;
const DEFAULT_HOURS = 24;

export function bindPositions(bind: Bind, deps: Deps): void {
  bind(getClosedPositions, async ({ caller, query, request, reply }) => {
    const { limit = DEFAULT_PAGE, offset = 0, ...rest } = query;
    const page = await positions.closedPositions(deps, caller, { ...rest, limit, offset });
    paginate(request, reply, page.total, offsetPages(offset, limit, page.total));
    return page.positions;
  });
  bind(getWalletPositions, ({ caller, params, query }) =>
    positions.walletPositions(deps, caller, params.address, query.venue),
  );
  bind(getExpiringPositions, async ({ caller, query, request, reply }) => {
    const { limit, offset = 0, hours = DEFAULT_HOURS, ...rest } = query;
    const found = await positions.expiringPositions(deps, caller, { ...rest, hours });
    paginate(request, reply, found.total, offsetPages(offset, limit, found.total));
    return { ...found, positions: pageOf(found.positions, offset, limit) };
  });
  bind(getPortfolio, ({ caller, query }) => portfolio(deps, caller, query));
  bind(redeemPosition, ({ caller, body }) => redeem(deps, caller, body));
}
