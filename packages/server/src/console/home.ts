/**
 * All agents of an owner at a glance. What an agent has is counted over the wallets within its reach; two agents may reach
 * the same wallet, so the sums beside them count wallets, each once.
 */
import { OWNER_LIMITS, type OwnerHome } from '@bellwether/contract';
import { microToNumber } from '@bellwether/contract/decimals';
import { exposure } from '../briefing/index.ts';
import type { Owner } from '../domain/records.ts';
import { plainText } from '../domain/untrusted-text.ts';
import { TITLE_CHARS } from '../markets/index.ts';
import type { PositionNeeds, Valued } from '../positions/index.ts';
import {
  dayResults,
  daysSince,
  equityOf,
  homeAgent,
  type OwnedState,
  type OwnedStateNeeds,
  ownedState,
} from './agents.ts';
import { recentEquity } from './equity.ts';
import type { EquityStore } from './equity-store.ts';
import { type Worth, worthOf } from './worth.ts';

export type OwnerHomeNeeds = OwnedStateNeeds & PositionNeeds & { readonly equity: EquityStore };

/** Agents that are read at the same time: their facts then share statements. */
const READ_AT_ONCE = 32;

export async function ownerHome(needs: OwnerHomeNeeds, owner: Owner): Promise<OwnerHome> {
  const now = needs.clock.now();
  const [{ rows, total, paused }, days, worth] = await Promise.all([
    needs.ownerReads.agents(owner.userId, OWNER_LIMITS.agentsShown),
    needs.ownerReads.days(owner.userId, null, daysSince(now)),
    ownersWorth(needs, owner),
  ]);
  const states: OwnedState[] = [];
  for (let from = 0; from < rows.length; from += READ_AT_ONCE) {
    const group = rows.slice(from, from + READ_AT_ONCE);
    states.push(
      ...(await Promise.all(
        group.map(({ agentId }) => ownedState(needs, { agentId, userId: owner.userId })),
      )),
    );
  }
  const recent = await recentEquity(
    needs,
    owner,
    new Map(rows.map(({ agentId }, i) => [agentId, equityOf(states[i] as OwnedState)])),
  );
  return {
    timestamp: new Date(now).toISOString(),
    agentsTotal: total,
    agents: rows.map((row, i) =>
      homeAgent(row, {
        state: states[i] as OwnedState,
        days: days.filter(({ agentId }) => agentId === row.agentId),
        recentEquity: recent.get(row.agentId) ?? [],
        now,
      }),
    ),
    allPaused: total > 0 && paused === total,
    equity: microToNumber(worth.equity),
    unrealizedPnl: microToNumber(worth.held.reduce((sum, { value, row }) => sum + value - row.cost, 0n)),
    isCurrent: worth.isCurrent,
    days: dayResults(days, now),
    exposure: exposureRecord(worth.held),
  };
}

async function ownersWorth(needs: OwnerHomeNeeds, owner: Owner): Promise<Worth> {
  const { evm, solana } = await needs.ownerReads.wallets(owner.userId);
  return worthOf(needs, [...evm, ...solana]);
}

function grouped(held: readonly Valued[], keyOf: (one: Valued) => string): [string, Valued[]][] {
  const groups = new Map<string, Valued[]>();
  for (const one of held) {
    const group = groups.get(keyOf(one));
    if (group === undefined) groups.set(keyOf(one), [one]);
    else group.push(one);
  }
  return [...groups];
}

const figuresOf = (held: readonly Valued[]) => ({
  value: microToNumber(held.reduce((sum, { value }) => sum + value, 0n)),
  exposure: microToNumber(exposure(held.map(({ row }) => row))),
  positionsCount: held.length,
});

function exposureRecord(held: readonly Valued[]): OwnerHome['exposure'] {
  const byMarket = grouped(held, ({ venue, row }) => `${venue.id} ${row.conditionId}`).flatMap(
    ([, group]) => {
      const [first] = group;
      if (first === undefined) return [];
      const { venue, row, market } = first;
      return [
        {
          venue: venue.id,
          marketId: market?.id ?? row.market?.marketId ?? row.conditionId,
          marketConditionId: row.conditionId,
          title: plainText(market?.question ?? row.market?.question ?? '', TITLE_CHARS),
          ...figuresOf(group),
        },
      ];
    },
  );
  return {
    total: microToNumber(exposure(held.map(({ row }) => row))),
    byVenue: grouped(held, ({ venue }) => venue.id).map(([venue, group]) => ({ venue, ...figuresOf(group) })),
    byMarket: byMarket
      .sort((a, b) => b.exposure - a.exposure || b.value - a.value)
      .slice(0, OWNER_LIMITS.marketsShown),
  };
}
