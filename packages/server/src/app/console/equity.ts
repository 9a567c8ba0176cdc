/** Equity over time: of one agent over the wallets within its reach, or of all wallets of an owner. */
import { type AgentEquity, type EquityInterval, type EquitySeries, LIMITS } from '@bellwether/contract';
import { microToNumber } from '@bellwether/contract/decimals';
import type { OwnerReads } from '../../ports/owner-reads.ts';
import type { AgentStore } from '../../ports/stores.ts';
import { type ListOrdersNeeds, listFills } from '../orders/read-orders.ts';
import { ownedAgent } from '../owned-agents.ts';
import type { Owner } from '../owners.ts';
import { type PositionNeeds, walletsOf } from '../positions.ts';
import { scopeOf } from '../venues.ts';
import { type Worth, worthOf } from '../worth.ts';

export interface EquityNeeds extends PositionNeeds {
  readonly ownerReads: OwnerReads;
}

export interface AgentEquityNeeds extends EquityNeeds, ListOrdersNeeds {
  readonly agents: AgentStore;
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const INTERVALS: Readonly<Record<EquityInterval, { readonly ms: number; readonly stepMs: number }>> = {
  '1d': { ms: DAY_MS, stepMs: 5 * MINUTE_MS },
  '1w': { ms: 7 * DAY_MS, stepMs: HOUR_MS },
  '1m': { ms: 30 * DAY_MS, stepMs: HOUR_MS },
  '1y': { ms: 365 * DAY_MS, stepMs: DAY_MS },
};

export async function ownerEquity(
  needs: EquityNeeds,
  owner: Owner,
  interval: EquityInterval = '1d',
): Promise<EquitySeries> {
  const { evm, solana } = await needs.ownerReads.wallets(owner.userId);
  return seriesOf(needs.clock.now(), interval, await worthOf(needs, [...evm, ...solana]));
}

/** @throws Refusal agent_not_found */
export async function agentEquity(
  needs: AgentEquityNeeds,
  owner: Owner,
  agentId: string,
  interval: EquityInterval = '1d',
): Promise<AgentEquity> {
  const agent = await ownedAgent(needs, owner, agentId);
  const now = needs.clock.now();
  const [worth, { items }] = await Promise.all([
    walletsOf(needs, agent, scopeOf(needs, {})).then((wallets) => worthOf(needs, wallets)),
    listFills(needs, agent, { limit: LIMITS.ordersPerPage }),
  ]);
  const series = seriesOf(now, interval, worth);
  const fills = items.filter(({ filledAt }) => filledAt >= series.from);
  return { ...series, fills, fillsTruncated: fills.length === LIMITS.ordersPerPage };
}

function seriesOf(now: number, interval: EquityInterval, worth: Worth): EquitySeries {
  const { ms, stepMs } = INTERVALS[interval];
  return {
    from: new Date(now - ms).toISOString(),
    to: new Date(now).toISOString(),
    stepSeconds: stepMs / SECOND_MS,
    points: [
      {
        t: Math.floor(now / SECOND_MS),
        equity: microToNumber(worth.equity),
        netDeposits: microToNumber(worth.netDeposits),
      },
    ],
  };
}
