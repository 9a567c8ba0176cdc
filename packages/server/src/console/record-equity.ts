/**
 * Notes what wallets are worth while they hold something, behind the trades. One round looks at each of these wallets, and takes at
 * least as long as the time between points; a turn takes a bounded number of them, so with more wallets the points come
 * further apart and the work stays the same.
 */
import type { Micro } from '@bellwether/contract/decimals';
import type { WalletAddress } from '../domain/addresses.ts';
import type { Clock } from '../platform/clock.ts';
import { holdings, type PositionNeeds } from '../positions/index.ts';
import type { EquityPoint, EquityStep, EquityStore, WalletPoint } from './equity-store.ts';
import { collateralOf, worthFrom } from './worth.ts';

export interface RecordEquityNeeds extends PositionNeeds {
  readonly clock: Clock;
  readonly equity: EquityStore;
}

/** Wallets of one turn. */
export const WALLETS_PER_TURN = 100;
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Between two points of a wallet, at least. */
const ROUND_MS = 5 * MINUTE_MS;
/** How long points are kept, with room beyond the time that is shown. */
const KEPT_MS: Readonly<Record<EquityStep, number>> = {
  5: 26 * 60 * MINUTE_MS,
  60: 32 * DAY_MS,
  1440: 400 * DAY_MS,
};
const FORGOTTEN_PER_TURN = 1_000;
const BALANCE_PATIENCE_MS = 1_000;
const BALANCES_AT_ONCE = 8;

export interface EquityRecorder {
  /** One turn. */
  run(): Promise<void>;
}

export function createEquityRecorder(needs: RecordEquityNeeds): EquityRecorder {
  let after = '';
  let roundSince = Number.NEGATIVE_INFINITY;
  return {
    async run() {
      const now = needs.clock.now();
      for (const step of [5, 60, 1440] as const)
        await needs.equity.forget(step, now - KEPT_MS[step], FORGOTTEN_PER_TURN);
      if (after === '') {
        // A clock that was set back begins a round, too.
        if (now >= roundSince && now - roundSince < ROUND_MS) return;
        roundSince = now;
      }
      const wallets = await needs.equity.next(after, WALLETS_PER_TURN);
      await recordEquity(needs, wallets);
      after = wallets.length < WALLETS_PER_TURN ? '' : (wallets.at(-1) ?? '');
    },
  };
}

/** Worth of a wallet by one reading of its books and its balance. */
interface Reading extends EquityPoint {
  /** Result of the books alone. */
  readonly result: Micro;
  readonly isOpen: boolean;
}

/**
 * Books and balance cannot be read at the same moment: a trade between the two looks like a deposit. So a deposit is believed
 * when two readings agree on it; until then the last one stands, and the result comes from the books alone.
 */
export async function recordEquity(
  needs: RecordEquityNeeds,
  wallets: readonly WalletAddress[],
): Promise<void> {
  if (wallets.length === 0) return;
  const [latest, first] = await Promise.all([needs.equity.latest(wallets), read(needs, wallets)]);
  const doubtful = wallets.filter((wallet) => first.get(wallet)?.deposits !== latest.get(wallet)?.deposits);
  const second = await read(needs, doubtful);
  const points = wallets.flatMap((wallet): (WalletPoint & { readonly isOpen: boolean })[] => {
    const [known, reading, again] = [latest.get(wallet), first.get(wallet), second.get(wallet)];
    if (reading === undefined) return [];
    const agreed = again === undefined || again.deposits === reading.deposits;
    const deposits = agreed ? reading.deposits : known?.deposits;
    // Nothing is known of it yet: the next round tells.
    if (deposits === undefined) return [];
    const equity = deposits + reading.result;
    // A wallet that sold all is looked at no more, so its last point must be certain.
    const isOpen = reading.isOpen || !agreed;
    const isSame = known !== undefined && known.equity === equity && known.deposits === deposits;
    return isSame && isOpen ? [] : [{ wallet, at: reading.at, equity, deposits, isOpen }];
  });
  await needs.equity.record(points);
  await needs.equity.noteFirstSeen(points.filter(({ wallet }) => !latest.has(wallet)));
}

/** Wallets of which a venue does not tell now are missing. */
async function read(
  needs: RecordEquityNeeds,
  wallets: readonly WalletAddress[],
): Promise<ReadonlyMap<WalletAddress, Reading>> {
  const readings = new Map<WalletAddress, Reading>();
  if (wallets.length === 0) return readings;
  const [{ held, silent }, results] = await Promise.all([
    holdings(needs, wallets),
    needs.equity.results(wallets),
  ]);
  const waiting = [...wallets];
  const work = async () => {
    for (let wallet = waiting.pop(); wallet !== undefined; wallet = waiting.pop()) {
      const own = wallet;
      const collateral = await collateralOf(needs, [own], {
        freshMs: 0,
        patienceMs: BALANCE_PATIENCE_MS,
      });
      const ofWallet = held.filter(({ row }) => row.wallet === own);
      const worth = worthFrom(
        {
          held: ofWallet,
          silent: new Set(ofWallet.flatMap(({ venue }) => (silent.has(venue) ? [venue] : []))),
        },
        results.get(own) ?? { realized: 0n, fees: 0n },
        collateral,
      );
      if (!worth.isCurrent) continue;
      readings.set(own, {
        at: needs.clock.now(),
        equity: worth.equity,
        deposits: worth.netDeposits,
        result: worth.equity - worth.netDeposits,
        isOpen: ofWallet.length > 0,
      });
    }
  };
  await Promise.all(Array.from({ length: BALANCES_AT_ONCE }, work));
  return readings;
}
