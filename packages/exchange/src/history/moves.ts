/** Changes of an account's collateral and tokens that are no trades, folded from the journal's entries. Pure. */
import type { EngineEvent } from '../paper-exchange.ts';
import type { AccountMove } from '../trade-history.ts';

type Amounts = Pick<AccountMove, 'kind' | 'yes' | 'no' | 'collateral'>;

function amountsOf(event: EngineEvent): Amounts | undefined {
  switch (event.kind) {
    case 'deposited':
      return { kind: 'deposit', yes: 0n, no: 0n, collateral: event.amount };
    case 'split':
      return { kind: 'split', yes: event.amount, no: event.amount, collateral: event.amount };
    case 'merged':
      return { kind: 'merge', yes: event.amount, no: event.amount, collateral: event.amount };
    case 'redeemed':
      return { kind: 'redeem', yes: event.yes, no: event.no, collateral: event.payout };
    default:
      return undefined;
  }
}

/** The moves of one command. The house's own are no part of entries. */
export function movesOf(
  events: readonly EngineEvent[],
  { seq, at }: { seq: number; at: number },
): AccountMove[] {
  const moves: AccountMove[] = [];
  for (const event of events) {
    const amounts = amountsOf(event);
    if (amounts === undefined || !('account' in event)) continue;
    const market = 'conditionId' in event ? { conditionId: event.conditionId } : {};
    moves.push({ account: event.account, at, seq, part: moves.length, ...amounts, ...market });
  }
  return moves;
}
