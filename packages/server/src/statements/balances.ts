/**
 * What wallets really hold, beside what the books say. A live wallet pays and receives past the desk, of which the desk learns only
 * that the balance is another one: that is the part of a statement that is not explained.
 */
import type { Micro } from '@bellwether/contract/decimals';
import type { EquityPoint, EquityStore } from '../console/index.ts';
import { familyOf, type WalletAddress } from '../domain/addresses.ts';
import { READ_PATIENCE_MS } from '../domain/patience.ts';
import { type HasVenues, venuesFor } from '../venues/asking.ts';
import type { Booked } from './replay.ts';
import type { StatementStore } from './store.ts';

export interface BalanceNeeds extends HasVenues {
  readonly statements: StatementStore;
  readonly equity: EquityStore;
  /** Of a paper wallet. */
  readonly simulationBalance: Micro;
}

/** Readings until two agree: books and balance cannot be read at the same moment, and a trade comes between them. */
const READINGS = 8;
const READ_AGAIN_MS = 60;
/** In a row. */
const AGREE = 3;

/** Wallets whose money nothing but the desk's own exchange moves. */
const isClosedSystem = (needs: HasVenues, wallet: WalletAddress): boolean =>
  venuesFor(needs, wallet).every(
    ({ paper, signedOrders }) => paper !== undefined && signedOrders !== undefined,
  );

/**
 * By how much the balance of wallets differs from their books now, `null` where it cannot be told.
 * One reading without a difference is enough; another one must be seen several times in a row, because a trade looks like it.
 */
export async function presentDrift(
  needs: BalanceNeeds,
  wallets: readonly WalletAddress[],
): Promise<Micro | null> {
  if (wallets.length === 0) return 0n;
  let last: Micro | null = null;
  let times = 0;
  for (let reading = 0; reading < READINGS; reading += 1) {
    const [balance, booked] = await Promise.all([
      presentBalance(needs, wallets),
      needs.statements.cash(wallets, needs.simulationBalance),
    ]);
    if (balance === null) return null;
    const drift = balance - booked;
    if (drift === 0n) return drift;
    times = drift === last ? times + 1 : 1;
    if (times >= AGREE) return drift;
    last = drift;
    await new Promise((resolve) => setTimeout(resolve, READ_AGAIN_MS));
  }
  return null;
}

/** @returns `null` while a venue does not answer: an older balance would look like a transfer */
async function presentBalance(
  { venues }: HasVenues,
  wallets: readonly WalletAddress[],
): Promise<Micro | null> {
  const balances = await Promise.all(
    [...venues.values()].map(({ accounts }) =>
      accounts.balances(
        wallets.filter((wallet) => familyOf(wallet) === accounts.family),
        { freshMs: 0, patienceMs: READ_PATIENCE_MS },
      ),
    ),
  );
  const isPresent = balances.every(({ ageMs }) => ageMs !== null && ageMs <= 2 * READ_PATIENCE_MS);
  return isPresent ? balances.reduce((sum, { total }) => sum + total, 0n) : null;
}

/** What was recorded of each wallet last before a time, compared with what the books said at that moment. */
export class Observed {
  readonly #points: readonly { readonly wallet: WalletAddress; readonly point: EquityPoint }[];
  readonly #isClosed: (wallet: WalletAddress) => boolean;
  #next = 0;
  /** How the balances differed from the books. */
  drift: Micro = 0n;
  /** Value of what was held. */
  value: Micro = 0n;
  /** What it had cost. */
  cost: Micro = 0n;

  private constructor(
    points: readonly { readonly wallet: WalletAddress; readonly point: EquityPoint }[],
    isClosed: (wallet: WalletAddress) => boolean,
  ) {
    this.#points = points;
    this.#isClosed = isClosed;
  }

  static async before(needs: BalanceNeeds, wallets: readonly WalletAddress[], at: number): Promise<Observed> {
    const points = [...(await needs.equity.lastBefore(wallets, at))]
      .map(([wallet, point]) => ({ wallet, point }))
      .sort((a, b) => a.point.at - b.point.at);
    return new Observed(points, (wallet) => isClosedSystem(needs, wallet));
  }

  /** The same, with nothing compared yet. */
  restarted(): Observed {
    return new Observed(this.#points, this.#isClosed);
  }

  /** Anything was ever recorded. */
  get isComplete(): boolean {
    return this.#points.length > 0;
  }

  /** Compares the points before a time; call it before each event, and once at the end. */
  compare(until: number, booked: (wallet: WalletAddress) => Booked): void {
    for (; ; this.#next += 1) {
      const { wallet, point } = this.#points[this.#next] ?? {};
      if (wallet === undefined || point === undefined || point.at >= until) return;
      const { cash, cost, netDeposits } = booked(wallet);
      const drift = this.#isClosed(wallet) ? 0n : point.deposits - netDeposits;
      this.drift += drift;
      this.value += point.equity - (cash + drift);
      this.cost += cost;
    }
  }
}
