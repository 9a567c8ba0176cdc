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
import type { AgentStore } from '../agents/index.ts';
import type { WalletAddress } from '../domain/addresses.ts';
import type { Owner } from '../domain/records.ts';
import { type ListOrdersNeeds, listFills } from '../orders/index.ts';
import { ownedAgent } from '../owners/index.ts';
import { type PositionNeeds, walletsOf } from '../positions/index.ts';
import { scopeOf } from '../venues/asking.ts';
import type { EquityStep, EquityStore, WalletPoint } from './equity-store.ts';
import type { OwnerReads, Reach } from './owner-reads.ts';
import { type Worth, worthOf } from './worth.ts';

export interface EquityNeeds extends PositionNeeds {
  readonly ownerReads: OwnerReads;
  readonly equity: EquityStore;
}

export interface AgentEquityNeeds extends EquityNeeds, ListOrdersNeeds {
  readonly agents: AgentStore;
}

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
  needs: EquityNeeds,
  owner: Owner,
  interval: EquityInterval = '1d',
): Promise<EquitySeries> {
  const { evm, solana } = await needs.ownerReads.wallets(owner.userId);
  return series(needs, { wallets: [...evm, ...solana], owner, agentId: null, interval });
}

/** @throws Refusal agent_not_found */
export async function agentEquity(
  needs: AgentEquityNeeds,
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
  const fills = items.filter(({ filledAt }) => filledAt >= shown.from);
  return { ...shown, fills, fillsTruncated: fills.length === LIMITS.ordersPerPage };
}

interface Question {
  readonly wallets: readonly WalletAddress[];
  readonly owner: Owner;
  readonly agentId: string | null;
  readonly interval: EquityInterval;
}

async function series(
  needs: EquityNeeds,
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
  needs: Pick<EquityNeeds, 'clock' | 'ownerReads' | 'equity'>,
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
