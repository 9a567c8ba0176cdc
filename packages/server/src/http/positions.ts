import {
  getClosedPositions,
  getExpiringPositions,
  getPortfolio,
  getWalletPositions,
  redeemPosition,
} from '@bellwether/contract';
import type { Deps } from '../app/deps.ts';
import { portfolio } from '../app/portfolio.ts';
import * as positions from '../app/positions.ts';
import { redeem } from '../app/redeem.ts';
import { paginate } from './pagination.ts';
import type { Bind } from './routes.ts';

const DEFAULT_PAGE = 50;
const DEFAULT_HOURS = 24;

export function bindPositions(bind: Bind, deps: Deps): void {
  bind(getClosedPositions, async ({ caller, query, request, reply }) => {
    const { limit = DEFAULT_PAGE, offset = 0, ...rest } = query;
    const page = await positions.closedPositions(deps, caller, { ...rest, limit, offset });
    paginate(request, reply, page.total, {
      name: 'offset',
      previous: offset > 0 ? Math.max(0, offset - limit) : null,
      next: offset + limit < page.total ? offset + limit : null,
    });
    return page.positions;
  });
  bind(getWalletPositions, ({ caller, params, query }) =>
    positions.walletPositions(deps, caller, params.address, query.venue),
  );
  bind(getExpiringPositions, ({ caller, query }) =>
    positions.expiringPositions(deps, caller, { ...query, hours: query.hours ?? DEFAULT_HOURS }),
  );
  bind(getPortfolio, ({ caller, query }) => portfolio(deps, caller, query));
  bind(redeemPosition, ({ caller, body }) => redeem(deps, caller, body));
}
