/**
 * What happened to the money of wallets, event by event, oldest first: balance, cost of what is held, results and fees. Pure.
 *
 * The result of a fill is the one that the fold of positions gave it, which the fill's row keeps: so a statement says to the
 * millionth what positions, days and receipts say. First in, first out takes the same fills by their lots.
 */
import type { CostMethod, StatementKind } from '@bellwether/contract';
import type { Micro, Pips } from '@bellwether/contract/decimals';
import { isTrade, Lots, type Move } from '@bellwether/contract/positions';
import type { WalletAddress } from '../domain/records.ts';

interface Happened {
  readonly at: number;
  readonly wallet: WalletAddress;
}

export interface FillEvent extends Happened, Move {
  readonly kind: 'fill';
  readonly orderId: string;
  readonly tradeId: string;
  readonly agentId: string | null;
  readonly conditionId: string;
  readonly tokenId: string;
  readonly outcome: 'YES' | 'NO';
  readonly price: Pips;
  readonly matchKind: string;
  /** Result before fees by average cost. */
  readonly realized: Micro;
  readonly source: string | null;
  readonly skillSlug: string | null;
}

export interface DepositEvent extends Happened {
  readonly kind: 'deposit';
  readonly id: string;
  readonly amount: Micro;
  readonly reason: 'deposit' | 'first_seen' | 'transfer';
}

export interface ChargeEvent extends Happened {
  readonly kind: 'charge';
  readonly id: string;
  readonly agentId: string;
  readonly amount: Micro;
}

export type MoneyEvent = FillEvent | DepositEvent | ChargeEvent;

/** An event with what it changed. Signs are those of the owner's pocket. */
export interface Entry {
  readonly event: MoneyEvent;
  readonly kind: StatementKind;
  /** Change of the holding. */
  readonly shares: Micro;
  /** Before fees. */
  readonly amount: Micro;
  readonly venueFee: Micro;
  readonly platformFee: Micro;
  readonly cash: Micro;
  readonly costBasis: Micro;
  readonly realized: Micro;
  /** For shares that came past the desk: neither a gain nor a loss. */
  readonly pastDesk: Micro;
  readonly isTrade: boolean;
}

/** What the books say of a wallet. */
export interface Booked {
  readonly cash: Micro;
  /** Of what is held. */
  readonly cost: Micro;
  /** What came in past every trade, less what the platform took. */
  readonly netDeposits: Micro;
}

const NOTHING_BOOKED: Booked = { cash: 0n, cost: 0n, netDeposits: 0n };

const KINDS: Readonly<Record<string, StatementKind>> = {
  SPLIT: 'split',
  MERGED: 'merge',
  CONVERTED: 'convert',
  REDEEM: 'payout',
  REDEEMED: 'payout',
  LOST: 'loss',
};

interface Holding {
  size: Micro;
  cost: Micro;
  readonly lots: Lots | null;
}

const max = (a: Micro, b: Micro): Micro => (a > b ? a : b);

export class Replay {
  readonly #method: CostMethod;
  readonly #holdings = new Map<string, Holding>();
  readonly #wallets = new Map<WalletAddress, Booked>();

  constructor(method: CostMethod) {
    this.#method = method;
  }

  booked(wallet: WalletAddress): Booked {
    return this.#wallets.get(wallet) ?? NOTHING_BOOKED;
  }

  /** Sum of all wallets. */
  get total(): Booked {
    let [cash, cost, netDeposits] = [0n, 0n, 0n];
    for (const booked of this.#wallets.values()) {
      cash += booked.cash;
      cost += booked.cost;
      netDeposits += booked.netDeposits;
    }
    return { cash, cost, netDeposits };
  }

  /** @param event the next one, of the same time as the last or later */
  take(event: MoneyEvent): Entry {
    const entry = this.#entryOf(event);
    const before = this.booked(event.wallet);
    const isDeposit = event.kind === 'deposit';
    this.#wallets.set(event.wallet, {
      cash: before.cash + entry.cash,
      cost: before.cost + entry.costBasis,
      netDeposits: before.netDeposits + (isDeposit ? entry.cash : 0n) - entry.platformFee + entry.pastDesk,
    });
    return entry;
  }

  #entryOf(event: MoneyEvent): Entry {
    if (event.kind === 'deposit')
      return {
        ...nothing(event, event.reason),
        amount: event.amount,
        cash: event.amount,
      };
    if (event.kind === 'charge')
      return { ...nothing(event, 'platform_fee'), platformFee: event.amount, cash: -event.amount };
    const { side, size, cost, fee, matchKind } = event;
    const kind = KINDS[matchKind] ?? (side === 'BUY' ? 'buy' : 'sell');
    const common = { ...nothing(event, kind), venueFee: fee, isTrade: isTrade(matchKind) };
    const holding = this.#holdingOf(event);
    if (side === 'BUY') {
      holding.size += size;
      holding.cost += cost;
      holding.lots?.take(event);
      return { ...common, shares: size, amount: -cost, cash: -cost - fee, costBasis: cost };
    }
    const { known, realized, gave } = this.#sell(holding, event);
    holding.size -= known;
    holding.cost -= gave;
    return {
      ...common,
      shares: -known,
      amount: cost,
      cash: cost - fee,
      costBasis: -gave,
      realized,
      pastDesk: cost - gave - realized,
    };
  }

  #sell(holding: Holding, event: FillEvent): { known: Micro; realized: Micro; gave: Micro } {
    const { size, cost } = event;
    const known = size < holding.size ? size : holding.size;
    const received = known === size ? cost : (cost * known) / size;
    const realized = holding.lots === null ? event.realized : holding.lots.take(event).gain;
    return { known, realized, gave: received - realized };
  }

  #holdingOf({ wallet, tokenId }: FillEvent): Holding {
    const key = `${wallet} ${tokenId}`;
    const known = this.#holdings.get(key);
    if (known !== undefined) return known;
    const lots = this.#method === 'fifo' ? new Lots() : null;
    const holding = { size: 0n, cost: 0n, lots };
    this.#holdings.set(key, holding);
    return holding;
  }
}

const nothing = (event: MoneyEvent, kind: StatementKind): Entry => ({
  event,
  kind,
  shares: 0n,
  amount: 0n,
  venueFee: 0n,
  platformFee: 0n,
  cash: 0n,
  costBasis: 0n,
  realized: 0n,
  pastDesk: 0n,
  isTrade: false,
});

export interface Results {
  trades: number;
  volume: Micro;
  gains: Micro;
  losses: Micro;
  venueFees: Micro;
  platformFees: Micro;
}

export const noResults = (): Results => ({
  trades: 0,
  volume: 0n,
  gains: 0n,
  losses: 0n,
  venueFees: 0n,
  platformFees: 0n,
});

export function addTo(results: Results, entry: Entry): void {
  if (entry.isTrade) {
    results.trades += 1;
    results.volume += entry.amount < 0n ? -entry.amount : entry.amount;
  }
  results.gains += max(entry.realized, 0n);
  results.losses -= max(-entry.realized, 0n);
  results.venueFees += entry.venueFee;
  results.platformFees += entry.platformFee;
}

export const netOf = ({ gains, losses, venueFees, platformFees }: Results): Micro =>
  gains + losses - venueFees - platformFees;
