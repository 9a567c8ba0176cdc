/** The sources of rows: trades of one market each, or of all, and the other moves of an account. */
import type { AccountId, ConditionId, MarketView, Side } from '../../paper-exchange.ts';
import type { MoveQuery, TradeHistory, TradeQuery } from '../../trade-history.ts';
import type { Source } from './history-pages.ts';
import { type HistoryRow, isShown, moveRows, tradeRows } from './history-rows.ts';

export interface Wanted {
  /** `null`: of all. */
  readonly conditions: readonly ConditionId[] | null;
  readonly account: AccountId | undefined;
  readonly takerOnly: boolean;
  readonly side: Side | undefined;
  readonly since: number | undefined;
  readonly until: number | undefined;
  readonly oldestFirst: boolean;
  /** Further conditions on a row. */
  readonly fits: (row: HistoryRow) => boolean;
}

interface Reads {
  readonly history: Pick<TradeHistory, 'trades' | 'moves'>;
  readonly find: (conditionId: string) => MarketView | undefined;
}

const windowOf = ({ since, until, oldestFirst }: Wanted) => ({
  oldestFirst,
  ...(since === undefined ? {} : { since }),
  ...(until === undefined ? {} : { until }),
});

const perCondition = (wanted: Wanted, make: (conditionId: ConditionId | undefined) => Source): Source[] =>
  wanted.conditions === null ? [make(undefined)] : wanted.conditions.map(make);

export function tradeSources({ history, find }: Reads, wanted: Wanted): Source[] {
  const { account, takerOnly, side, fits } = wanted;
  return perCondition(wanted, (conditionId) => {
    const query: Omit<TradeQuery, 'limit'> = {
      ...windowOf(wanted),
      ...(conditionId === undefined ? {} : { conditionId }),
      ...(account === undefined ? {} : { account }),
      ...(account === undefined || side === undefined ? {} : { side }),
      ...(account === undefined || !takerOnly ? {} : { role: 'taker' }),
    };
    return {
      placeLength: 2,
      async read(after, limit) {
        const [at, number] = after ?? [];
        const behind = at === undefined || number === undefined ? {} : { after: { at, number } };
        const trades = await history.trades({ ...query, ...behind, limit });
        return trades.map((trade) => ({
          at: trade.at,
          place: [trade.at, trade.number],
          rows: isShown(trade)
            ? tradeRows(trade, find, { account, takerOnly }).filter(
                (row) => (side === undefined || row.side === side) && fits(row),
              )
            : [],
        }));
      },
    };
  });
}

export function moveSources(
  { history, find }: Reads,
  wanted: Wanted & { readonly account: AccountId },
  kinds: NonNullable<MoveQuery['kinds']>,
): Source[] {
  if (kinds.length === 0 || wanted.side !== undefined) return [];
  return perCondition(wanted, (conditionId) => {
    const query: Omit<MoveQuery, 'limit'> = {
      ...windowOf(wanted),
      account: wanted.account,
      kinds,
      ...(conditionId === undefined ? {} : { conditionId }),
    };
    return {
      placeLength: 3,
      async read(after, limit) {
        const [at, seq, part] = after ?? [];
        const isBehind = at !== undefined && seq !== undefined && part !== undefined;
        const moves = await history.moves({
          ...query,
          ...(isBehind ? { after: { at, seq, part } } : {}),
          limit,
        });
        return moves.map((move) => ({
          at: move.at,
          place: [move.at, move.seq, move.part],
          rows: moveRows(move, find).filter(wanted.fits),
        }));
      },
    };
  });
}
