/** All that moved the money of wallets before a time, merged: oldest first, and among events of one moment money in first. */
import type { Micro } from '@bellwether/contract/decimals';
import type { WalletAddress } from '../domain/addresses.ts';
import type { DepositEvent, MoneyEvent } from './replay.ts';
import type { StatementStore } from './store.ts';

/** Deposits, purchases, sales, fees: nothing is sold before it is there. */
const rankOf = (event: MoneyEvent): number => {
  if (event.kind === 'deposit') return 0;
  if (event.kind === 'charge') return 3;
  return event.side === 'BUY' ? 1 : 2;
};

const isBefore = (a: MoneyEvent, b: MoneyEvent): boolean =>
  a.at < b.at || (a.at === b.at && rankOf(a) <= rankOf(b));

interface EventTerms {
  readonly until: number;
  readonly simulationBalance: Micro;
  /** A deposit that is not recorded yet. */
  readonly firstSeen: DepositEvent | null;
}

export async function* moneyEvents(
  store: StatementStore,
  wallets: readonly WalletAddress[],
  { until, simulationBalance, firstSeen }: EventTerms,
): AsyncGenerator<MoneyEvent> {
  const [moved, deposits, transfers, charges] = await Promise.all([
    store.moved(wallets, until),
    store.deposits(wallets, until, simulationBalance),
    store.transfers(wallets, until),
    store.charges(wallets, until),
  ]);
  const others: MoneyEvent[] = [...deposits, ...transfers, ...moved, ...charges];
  if (firstSeen !== null && firstSeen.at < until) others.push(firstSeen);
  others.sort((a, b) => a.at - b.at || rankOf(a) - rankOf(b));
  let next = 0;
  for await (const piece of store.fills(wallets, until))
    for (const fill of piece) {
      for (; next < others.length && isBefore(others[next] as MoneyEvent, fill); next += 1)
        yield others[next] as MoneyEvent;
      yield fill;
    }
  for (; next < others.length; next += 1) yield others[next] as MoneyEvent;
}
