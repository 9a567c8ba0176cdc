/**
 * The venue's trades, folded from the journal's entries. One trade is one taker order against one or several makers in one
 * command; its number is that of its first match, so numbers increase and every match belongs to the trade with the
 * greatest number that is not above it. Pure.
 */
import type { Micro, Pips } from '@bellwether/contract/decimals';
import type { AccountId, EngineEvent, OrderId, Outcome, Side } from '../paper-exchange.ts';
import type { Trade, TradeMatch } from '../trade-history.ts';

type Fill = Extract<EngineEvent, { readonly kind: 'fill' }>;

/** The trades of one command. */
export function tradesOf(events: readonly EngineEvent[], at: number): Trade[] {
  const trades: (Trade & { readonly matches: TradeMatch[] })[] = [];
  let taking: Fill | undefined;
  for (const event of events) {
    if (event.kind !== 'fill') continue;
    if (event.liquidity === 'taker') {
      taking = event;
      continue;
    }
    // A match's two fills follow each other, the taker's first.
    if (taking?.matchId !== event.matchId)
      throw new Error(`match ${event.matchId} has a maker's fill without the taker's`);
    let trade = trades.at(-1);
    if (trade?.taker.orderId !== taking.orderId) {
      const { orderId, account, outcome, side, conditionId } = taking;
      trade = {
        number: event.matchId,
        at,
        conditionId,
        taker: { orderId, account, outcome, side },
        matches: [],
      };
      trades.push(trade);
    }
    const { orderId, account, outcome, side, price, size, cost } = event;
    trade.matches.push({
      ...{ orderId, account, outcome, side, price, size, cost },
      takerCost: taking.cost,
      takerFee: taking.fee,
    });
  }
  return trades;
}

const sumOf = (trade: Pick<Trade, 'matches'>, part: 'size' | 'takerCost' | 'takerFee'): Micro =>
  trade.matches.reduce((sum, match) => sum + match[part], 0n);

/** The taker's part over all matches. */
export const takerTotals = (
  trade: Pick<Trade, 'matches'>,
): { readonly size: Micro; readonly cost: Micro; readonly fee: Micro } => ({
  size: sumOf(trade, 'size'),
  cost: sumOf(trade, 'takerCost'),
  fee: sumOf(trade, 'takerFee'),
});

/** As one text, without what the row's columns say. Amounts are below 2^53 (units.ts of the engine). */
export const encodeTrade = ({ taker, matches }: Pick<Trade, 'taker' | 'matches'>): string =>
  JSON.stringify([
    ...[taker.orderId, taker.account, taker.outcome, taker.side],
    matches.map((match) => [
      ...[match.orderId, match.account, match.outcome, match.side, match.price],
      ...[match.size, match.cost, match.takerCost, match.takerFee].map(Number),
    ]),
  ]);

type EncodedMatch = [OrderId, AccountId, Outcome, Side, Pips, number, number, number, number];
type EncodedTrade = [OrderId, AccountId, Outcome, Side, readonly EncodedMatch[]];

export function decodeTrade(text: string): Pick<Trade, 'taker' | 'matches'> {
  const [orderId, account, outcome, side, matches] = JSON.parse(text) as EncodedTrade;
  return {
    taker: { orderId, account, outcome, side },
    matches: matches.map(([order, of, token, way, price, size, cost, takerCost, takerFee]) => ({
      ...{ orderId: order, account: of, outcome: token, side: way, price },
      ...{ size: BigInt(size), cost: BigInt(cost) },
      ...{ takerCost: BigInt(takerCost), takerFee: BigInt(takerFee) },
    })),
  };
}
