/** Changes of an account's collateral and tokens that are no trades, folded from the journal's entries. Pure. */
import type { EngineEvent } from '../paper-exchange.ts';
import type { AccountMove } from '../trade-history.ts';

type Amounts = Pick<AccountMove, 'kind' | 'conditionId' | 'yes' | 'no' | 'collateral'>;

/** A conversion is a move in each of its markets; what is used up comes first. */
function amountsOf(event: EngineEvent): readonly Amounts[] {
  switch (event.kind) {
    case 'deposited':
      return [{ kind: 'deposit', yes: 0n, no: 0n, collateral: event.amount }];
    case 'split':
      return [{ kind: 'split', yes: event.amount, no: event.amount, collateral: event.amount }];
    case 'merged':
      return [{ kind: 'merge', yes: event.amount, no: event.amount, collateral: event.amount }];
    case 'converted': {
      const { conditionId, amount, worth, made } = event;
      const kind = 'convert';
      return [
        { kind, conditionId, yes: 0n, no: amount, collateral: worth },
        ...made.map(
          (one) =>
            ({ kind, conditionId: one.conditionId, yes: amount, no: 0n, collateral: one.worth }) as const,
        ),
      ];
    }
    case 'redeemed':
      return [{ kind: 'redeem', yes: event.yes, no: event.no, collateral: event.payout }];
    default:
      return [];
  }
}

/** The moves of one command. The house's own are no part of entries. */
export function movesOf(
  events: readonly EngineEvent[],
  { seq, at }: { seq: number; at: number },
): AccountMove[] {
  const moves: AccountMove[] = [];
  for (const event of events) {
    if (!('account' in event)) continue;
    const market = 'conditionId' in event ? { conditionId: event.conditionId } : {};
    for (const amounts of amountsOf(event))
      moves.push({ account: event.account, at, seq, part: moves.length, ...market, ...amounts });
  }
  return moves;
}
