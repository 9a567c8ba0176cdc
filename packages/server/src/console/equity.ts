/**
 * Equity over time: of one agent over the wallets within its reach, or of all wallets of an owner, from the points that are
 * recorded while wallets hold something. Before its first point a wallet had what was paid in.
 */
import {
  type AgentEquity,
  type EquityInterval,
  type EquitySeries,
  LIMITS,
  OWNER_LIMITS,
  type EquityPoint as Shown,
} from '@bellwether/contract';
import { type Micro, microToNumber } from '@bellwether/contract/decimals';
import type { BriefingNeeds } from '../briefing/index.ts';
import { familyOf, type Owner, type WalletAddress } from '../domain/records.ts';
import { READ_PATIENCE_MS } from '../domain/unavailable.ts';
import { listFills, type OrderNeeds } from '../orders/index.ts';
import { type OwnerNeeds, ownedAgent } from '../owners/index.ts';
import type { Job } from '../platform/scheduler.ts';
import { type Holdings, holdings, type PositionNeeds, type Valued, walletsOf } from '../positions/index.ts';
import { type HasVenues, scopeOf } from '../venues/asking.ts';
import type { Patience } from '../venues/venue.ts';
import type { EquityPoint, EquityStep, EquityStore, OwnerReads, Reach, WalletPoint } from './store.ts';

/** What an owner's pages read. */
export type ConsoleNeeds = BriefingNeeds &
  OrderNeeds &
  OwnerNeeds & { readonly ownerReads: OwnerReads; readonly equity: EquityStore };

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

const INTERVALS: Readonly<Record<EquityInterval, { readonly ms: number; readonly step: EquityStep }>> = {
  '1d': { ms: DAY_MS, step: 5 },
  '1w': { ms: 7 * DAY_MS, step: 60 },
  '1m': { ms: 30 * DAY_MS, step: 60 },
  '1y': { ms: 365 * DAY_MS, step: 1440 },
};

export async function ownerEquity(
  needs: ConsoleNeeds,
  owner: Owner,
  interval: EquityInterval = '1d',
): Promise<EquitySeries> {
  const { evm, solana } = await needs.ownerReads.wallets(owner.userId);
  return series(needs, { wallets: [...evm, ...solana], owner, agentId: null, interval });
}

/** @throws Refusal agent_not_found */
export async function agentEquity(
  needs: ConsoleNeeds,
  owner: Owner,
  agentId: string,
  interval: EquityInterval = '1d',
): Promise<AgentEquity> {
  const agent = await ownedAgent(needs, owner, agentId);
  const [shown, { items }] = await Promise.all([
    walletsOf(needs, agent, scopeOf(needs, {})).then((wallets) =>
      series(needs, { wallets: [...new Set(wallets)], owner, agentId: agent.agentId, interval }),
    ),
    listFills(needs, agent, { limit: LIMITS.ordersPerPage }),
  ]);
  const trades = items
    .filter(({ filledAt }) => filledAt >= shown.from)
    .map(({ filledAt, side }) => ({ t: Math.floor(Date.parse(filledAt) / SECOND_MS), side }));
  return { ...shown, trades, tradesTruncated: trades.length === LIMITS.ordersPerPage };
}

interface Question {
  readonly wallets: readonly WalletAddress[];
  readonly owner: Owner;
  readonly agentId: string | null;
  readonly interval: EquityInterval;
}

async function series(
  needs: ConsoleNeeds,
  { wallets, owner, agentId, interval }: Question,
): Promise<EquitySeries> {
  const now = needs.clock.now();
  const { ms, step } = INTERVALS[interval];
  const from = now - ms;
  const [worth, points, reach] = await Promise.all([
    worthOf(needs, wallets),
    needs.equity.since(wallets, step, from),
    needs.ownerReads.reach(owner.userId, agentId),
  ]);
  const since = sinceOf(reach);
  // A wallet's worth of before is none of its present owner's business.
  const own = points.filter(({ wallet, at }) => at >= (since.get(wallet) ?? now));
  return {
    from: new Date(from).toISOString(),
    to: new Date(now).toISOString(),
    stepSeconds: (step * MINUTE_MS) / SECOND_MS,
    points: sumOf({ wallets, points: own, since, worth, from, now, stepMs: step * MINUTE_MS }),
  };
}

/** When each wallet came within reach of the first of the agents. */
function sinceOf(reach: readonly Reach[]): ReadonlyMap<WalletAddress, number> {
  const since = new Map<WalletAddress, number>();
  for (const { wallet, since: at } of reach) since.set(wallet, Math.min(at, since.get(wallet) ?? at));
  return since;
}

const RECENT_MS = DAY_MS;

/**
 * The last day of each agent in a few values, for a small curve, by one statement for all of them. A wallet has its first
 * point's worth before it; what has no point has not changed.
 * @param equityNow of each agent, by its id
 */
export async function recentEquity(
  needs: Pick<ConsoleNeeds, 'clock' | 'ownerReads' | 'equity'>,
  owner: Owner,
  equityNow: ReadonlyMap<string, Micro>,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const now = needs.clock.now();
  const from = now - RECENT_MS;
  const [only] = equityNow.size === 1 ? equityNow.keys() : [];
  const reach = await needs.ownerReads.reach(owner.userId, only ?? null);
  const wallets = [...new Set(reach.map(({ wallet }) => wallet))];
  const points = await needs.equity.since(wallets, INTERVALS['1d'].step, from);
  const byWallet = Map.groupBy(points, ({ wallet }) => wallet);
  return new Map(
    [...equityNow].map(([agentId, equity]) => {
      // A wallet's worth of before is none of its present owner's business.
      const own = reach
        .filter((one) => one.agentId === agentId)
        .flatMap(({ wallet, since }) => (byWallet.get(wallet) ?? []).filter(({ at }) => at >= since))
        .sort((a, b) => a.at - b.at);
      return [agentId, curveOf(own, equity, from, now)];
    }),
  );
}

/** @param points oldest first; at equal distances, the value that held then */
function curveOf(points: readonly WalletPoint[], equity: Micro, from: number, now: number): number[] {
  const first = new Map<WalletAddress, Micro>();
  const last = new Map<WalletAddress, Micro>();
  for (const point of points) {
    if (!first.has(point.wallet)) first.set(point.wallet, point.equity);
    last.set(point.wallet, point.equity);
  }
  if (first.size === 0) return [];
  const total = (values: Iterable<Micro>) => [...values].reduce((sum, value) => sum + value, 0n);
  // What has no point, for example a wallet that never held anything, is as it is now.
  const others = equity - total(last.values());
  const held = new Map(first);
  let next = 0;
  const count = OWNER_LIMITS.recentPoints;
  return Array.from({ length: count }, (_, i) => {
    if (i === count - 1) return microToNumber(equity);
    const at = from + ((now - from) * i) / (count - 1);
    for (; next < points.length && (points[next] as WalletPoint).at <= at; next++) {
      const point = points[next] as WalletPoint;
      held.set(point.wallet, point.equity);
    }
    return microToNumber(total(held.values()) + others);
  });
}

interface Parts {
  readonly wallets: readonly WalletAddress[];
  /** Oldest first. */
  readonly points: readonly WalletPoint[];
  /** When each wallet came within reach. */
  readonly since: ReadonlyMap<WalletAddress, number>;
  readonly worth: Worth;
  readonly from: number;
  readonly now: number;
  readonly stepMs: number;
}

/** The sum of all wallets, each as it was at its last point; the last sum of every step. */
function sumOf({ wallets, points, since, worth, from, now, stepMs }: Parts): Shown[] {
  const changes = [
    ...beginnings(wallets, points, since, worth, now),
    ...points.map(({ wallet, at, equity, deposits }) => ({ key: wallet as string, at, equity, deposits })),
  ].sort((a, b) => a.at - b.at);
  const shown = new Map<number, Shown>();
  const known = new Map<string, { readonly equity: Micro; readonly deposits: Micro }>();
  let [equity, deposits] = [0n, 0n];
  for (const change of changes) {
    const before = known.get(change.key);
    known.set(change.key, change);
    equity += change.equity - (before?.equity ?? 0n);
    deposits += change.deposits - (before?.deposits ?? 0n);
    const at = Math.max(change.at, from);
    shown.set(Math.floor(at / stepMs), shownPoint(at, equity, deposits));
  }
  shown.set(Math.floor(now / stepMs), shownPoint(now, worth.equity, worth.netDeposits));
  return [...shown.values()];
}

const shownPoint = (at: number, equity: Micro, deposits: Micro): Shown => ({
  t: Math.floor(at / SECOND_MS),
  equity: microToNumber(equity),
  netDeposits: microToNumber(deposits),
});

/**
 * Values of wallets before their first point. Those without a point have never held anything, so together they have what is left
 * of the deposits of all.
 */
function beginnings(
  wallets: readonly WalletAddress[],
  points: readonly WalletPoint[],
  since: ReadonlyMap<WalletAddress, number>,
  worth: Worth,
  now: number,
) {
  const first = new Map<WalletAddress, WalletPoint>();
  const last = new Map<WalletAddress, WalletPoint>();
  for (const point of points) {
    if (!first.has(point.wallet)) first.set(point.wallet, point);
    last.set(point.wallet, point);
  }
  const beginnings = [...first.values()].map(({ wallet, at, deposits }) => ({
    key: wallet as string,
    at: Math.min(at, since.get(wallet) ?? now),
    equity: deposits,
    deposits,
  }));
  const others = wallets.flatMap((wallet) => (first.has(wallet) ? [] : [since.get(wallet) ?? now]));
  const rest = [...last.values()].reduce((left, { deposits }) => left - deposits, worth.netDeposits);
  if (others.length === 0 || rest <= 0n) return beginnings;
  return [...beginnings, { key: 'others', at: Math.min(...others), equity: rest, deposits: rest }];
}

// Computes what wallets are worth, and how much of it was paid in. Deposits are not recorded everywhere (money comes to a live wallet past
// the desk), but they follow from the books: collateral, plus what the held tokens cost, less what was won and plus the
// fees is what was ever paid in, less what was taken out.

export interface Worth {
  /** Collateral and positions. */
  readonly equity: Micro;
  readonly netDeposits: Micro;
  readonly held: readonly Valued[];
  /** False: a venue did not answer, and older figures are in it. */
  readonly isCurrent: boolean;
}

/** P&L before fees, and the fees, of all that wallets ever traded. */
interface Booked {
  readonly realized: Micro;
  readonly fees: Micro;
}

const BALANCE_FRESH_MS = 5_000;
const BALANCE_OLD_MS = 60_000;

export async function worthOf(needs: PositionNeeds, wallets: readonly WalletAddress[]): Promise<Worth> {
  const [held, booked, collateral] = await Promise.all([
    holdings(needs, wallets),
    needs.positions.results(wallets, { except: [] }),
    collateralOf(needs, wallets, { freshMs: BALANCE_FRESH_MS, patienceMs: READ_PATIENCE_MS }),
  ]);
  return worthFrom(held, booked, collateral);
}

interface Collateral {
  readonly total: Micro;
  readonly isCurrent: boolean;
}

/** On every venue that understands the wallets' addresses. */
async function collateralOf(
  { venues }: HasVenues,
  wallets: readonly WalletAddress[],
  patience: Patience,
): Promise<Collateral> {
  const balances = await Promise.all(
    [...venues.values()].map(({ accounts }) =>
      accounts.balances(
        wallets.filter((wallet) => familyOf(wallet) === accounts.family),
        patience,
      ),
    ),
  );
  return {
    total: balances.reduce((sum, { total }) => sum + total, 0n),
    isCurrent: balances.every(({ ageMs }) => ageMs !== null && ageMs <= BALANCE_OLD_MS),
  };
}

function worthFrom({ held, silent }: Holdings, booked: Booked, collateral: Collateral): Worth {
  const cost = held.reduce((sum, { row }) => sum + row.cost, 0n);
  return {
    equity: held.reduce((sum, { value }) => sum + value, collateral.total),
    netDeposits: collateral.total + cost - booked.realized + booked.fees,
    held,
    isCurrent: silent.size === 0 && collateral.isCurrent,
  };
}

// Notes what wallets are worth while they hold something, behind the trades. One round looks at each of these wallets, and takes at
// least as long as the time between points; a turn takes a bounded number of them, so with more wallets the points come
// further apart and the work stays the same.

/** Wallets of one turn. */
export const WALLETS_PER_TURN = 100;
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

interface EquityRecorder {
  /** One turn. */
  run(): Promise<void>;
}

export function createEquityRecorder(needs: ConsoleNeeds): EquityRecorder {
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
export async function recordEquity(needs: ConsoleNeeds, wallets: readonly WalletAddress[]): Promise<void> {
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
  needs: ConsoleNeeds,
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

/** @param leads one replica writes for all */
export const consoleJobs = (needs: ConsoleNeeds, leads: () => boolean): readonly Job[] => {
  const recorder = createEquityRecorder(needs);
  return [
    {
      name: 'record equity',
      // Twenty wallets a second, at most.
      everyMs: 5_000,
      run: async () => {
        if (leads()) await recorder.run();
      },
    },
  ];
};
