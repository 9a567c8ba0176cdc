/** The public tape of a market, as the venue's pages show it. */
import { formatMicro } from '@bellwether/contract/decimals';
import type { FastifyInstance } from 'fastify';
import type { TradeRecord } from '../../trade-history.ts';
import type { DoorExchange, PolymarketDoorOptions } from './door-options.ts';
import { commanded, openHere } from './open-here.ts';
import { wireAddress, wireTrade } from './wire-trade.ts';

const MOST_EVENTS = 100;
const NOBODY = { accounts: new Set<string>(), apiKey: '' };

export function liveActivityRoutes(
  door: FastifyInstance,
  options: Pick<PolymarketDoorOptions, 'exchange' | 'guard'>,
): void {
  type OfMarket = { Params: { conditionId: string } };
  // Each generation of the clients asks another path.
  for (const path of ['/live-activity/events/:conditionId', '/markets/live-activity/:conditionId'])
    door.get<OfMarket>(path, async (request) => {
      const exchange = openHere(options);
      const conditionId = request.params.conditionId.toLowerCase();
      const trades = await commanded(() => exchange.history.trades({ conditionId, limit: MOST_EVENTS }));
      return trades.map((trade) => activityOf(exchange, trade));
    });
}

/** Names and pictures are empty: accounts of the paper venue have none. */
function activityOf(exchange: Pick<DoorExchange, 'market'>, trade: TradeRecord) {
  const { taker, matches, market, at, settlement, conditionId } = trade;
  const wire = wireTrade(trade, NOBODY);
  return {
    event_type: 'trade',
    market: {
      condition_id: conditionId,
      asset_id: wire.asset_id,
      question: market.question,
      icon: '',
      slug: exchange.market(conditionId)?.slug ?? market.slug,
    },
    user: {
      address: wireAddress(taker.account),
      username: '',
      profile_picture: '',
      optimized_profile_picture: '',
      pseudonym: '',
    },
    side: taker.side,
    size: formatMicro(matches.reduce((sum, match) => sum + match.size, 0n)),
    fee_rate_bps: wire.fee_rate_bps,
    price: wire.price,
    outcome: wire.outcome,
    outcome_index: taker.outcome === 'YES' ? 0 : 1,
    transaction_hash: settlement.transactionHash ?? '',
    timestamp: String(Math.floor(at / 1000)),
  };
}
