/**
 * The venue's trades, folded from the journal's entries. One trade is one taker order against one or several makers in one
 * command; its number is that of its first match, so numbers increase and every match belongs to the trade with the
 * greatest number that is not above it. Pure.
 */
import type { EngineEvent, Outcome, Side } from '../paper-exchange.ts';
import type { Taker, Trade, TradeMatch } from '../trade-history.ts';

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

/**
 * As one text, without what the row's columns say: the taker, then every match, by `|`; their parts by spaces. No id contains
 * either, and no part needs to be quoted on its way to the database.
 */
export const encodeTrade = ({ taker, matches }: Pick<Trade, 'taker' | 'matches'>): string => {
  let text = `${taker.orderId} ${taker.account} ${taker.outcome} ${taker.side}`;
  for (const { orderId, account, outcome, side, price, size, cost, takerCost, takerFee } of matches)
    text += `|${orderId} ${account} ${outcome} ${side} ${price} ${size} ${cost} ${takerCost} ${takerFee}`;
  return text;
};

export function decodeTrade(text: string): Pick<Trade, 'taker' | 'matches'> {
  const [taker = '', ...matches] = text.split('|');
  return { taker: partyOf(taker.split(' ')), matches: matches.map(matchOf) };
}

const partyOf = ([orderId, account, outcome, side]: readonly string[]): Taker => ({
  ...{ orderId: orderId!, account: account! },
  ...{ outcome: outcome as Outcome, side: side as Side },
});

function matchOf(text: string): TradeMatch {
  const parts = text.split(' ');
  const [price, size, cost, takerCost, takerFee] = parts.slice(4);
  return {
    ...partyOf(parts),
    price: Number(price),
    ...{ size: BigInt(size!), cost: BigInt(cost!) },
    ...{ takerCost: BigInt(takerCost!), takerFee: BigInt(takerFee!) },
  };
}
