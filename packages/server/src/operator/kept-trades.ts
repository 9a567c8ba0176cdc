/** Trades that a venue says and no order can have: they count nothing until the venue explains them, or the operator decides. */
import type { KeptTrade, KeptTradeDecided, KeptTradeDecision, KeptTrades } from '@bellwether/contract';
import { formatMicro, pipsToNumber } from '@bellwether/contract/decimals';
import { statusWord } from '../domain/status-words.ts';
import { type HasVenues, venuesWith } from '../venues/asking.ts';
import type { HeldTrade } from '../venues/live-orders.ts';

const recordOf = ({ order, trade }: HeldTrade): KeptTrade => ({
  venue: order.venue,
  orderId: order.orderId,
  tradeId: trade.tradeId,
  agentId: order.agentId,
  walletAddress: order.walletAddress,
  side: order.side,
  signed: { shares: formatMicro(order.shares), collateral: formatMicro(order.money) },
  said: {
    status: trade.status,
    size: formatMicro(trade.aside.said.size),
    cost: formatMicro(trade.aside.said.cost),
    fee: formatMicro(trade.aside.said.fee),
    price: pipsToNumber(trade.aside.said.price),
  },
  why: trade.aside.why,
  since: new Date(trade.aside.since).toISOString(),
});

export async function listKeptTrades(needs: HasVenues): Promise<KeptTrades> {
  const found = await Promise.all(venuesWith(needs, 'keptAside').map((venue) => venue.keptAside.trades()));
  return { trades: found.flat().map(recordOf) };
}

export async function decideKeptTrade(needs: HasVenues, given: KeptTradeDecision): Promise<KeptTradeDecided> {
  const wanted = { ...given, orderId: given.orderId.toLowerCase() };
  for (const venue of venuesWith(needs, 'keptAside')) {
    const order = await venue.keptAside.decide(wanted);
    if (order !== null) return { ...wanted, decided: true, orderStatus: statusWord(order) };
  }
  return { ...wanted, decided: false, orderStatus: null };
}
