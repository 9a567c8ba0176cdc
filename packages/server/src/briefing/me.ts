/** Reads of an agent about itself: profile, settings, today's numbers, results. */

import type { Me } from '@bellwether/contract';
import type { Micro } from '@bellwether/contract/decimals';
import { microToNumber } from '@bellwether/contract/decimals';
import type { AgentStore } from '../agents/index.ts';
import { agentRecord, DAY_MS, settingsRecord } from '../agents/index.ts';
import type { WalletAddress } from '../domain/addresses.ts';
import type { Caller } from '../domain/records.ts';
import { tradesLeft } from '../domain/safeguards.ts';
import type { Clock } from '../platform/clock.ts';
import type { PositionStore } from '../positions/index.ts';
import { holdings, positionRecords } from '../positions/index.ts';
import type { OrderStore } from '../trading/index.ts';
import type { HasVenues } from '../venues/asking.ts';
import { currentBalance, venueRecord } from '../venues/asking.ts';
import type { Venues } from '../venues/venue.ts';
import type { WalletStore } from '../wallets/index.ts';

export interface MeNeeds {
  readonly clock: Clock;
  readonly agents: AgentStore;
  readonly wallets: WalletStore;
  readonly orders: OrderStore;
  readonly positions: PositionStore;
  readonly venues: Venues;
  readonly simulationBalance: Micro;
}

/** Balance of the wallets on the default venue. @throws Refusal service_unavailable */
const accountOf = async ({ venues }: HasVenues, wallets: readonly WalletAddress[]): Promise<Micro> =>
  (await currentBalance(venues.default, wallets)).total;

export async function me(needs: MeNeeds, caller: Caller): Promise<Me> {
  const now = needs.clock.now();
  const [wallets, { proved }] = await Promise.all([
    needs.wallets.wallets(caller),
    needs.wallets.solanaWallets(caller),
  ]);
  const [row, settings, open, { held }, results, tradesCounted, balance] = await Promise.all([
    needs.agents.byId(caller.agentId),
    needs.agents.settings(caller.agentId),
    needs.orders.open(caller.agentId, { limit: 1, offset: 0 }),
    holdings(needs, [...wallets, ...proved]),
    needs.positions.results([...wallets, ...proved], { except: [] }),
    needs.orders.countsOfDay(caller.agentId, now),
    wallets.length === 0 ? needs.simulationBalance : accountOf(needs, wallets),
  ]);
  if (row === null) throw new Error('the calling agent has no row');
  const positions = positionRecords(held);
  const unrealized = positions.reduce((sum, position) => sum + position.unrealizedPnl, 0);
  const resetsAt = new Date((Math.floor(now / DAY_MS) + 1) * DAY_MS).toISOString();
  const record = agentRecord({ ...row, lastCalledAt: now }, now);
  return {
    ...record,
    agentId: row.agentId,
    name: row.name,
    description: row.description,
    claimed: row.claimed,
    venues: [...needs.venues.values()].map((venue) => venueRecord(venue)),
    simulationBalance: microToNumber(balance),
    tradesToday: settings.usage.trades,
    maxTradesPerDay: settings.maxTradesPerDay,
    tradesRemaining: tradesLeft(settings.usage, settings.maxTradesPerDay),
    quotaResetsAt: resetsAt,
    tradesCounted,
    openOrderCount: open.total,
    currentPositionCount: positions.length,
    totalPnl: round6(microToNumber(results.realized - results.fees) + unrealized),
    winRate: results.closed === 0 ? null : round6(results.won / results.closed),
    settings: settingsRecord(settings),
  };
}

/** Sums of exact micro amounts as JSON numbers: cuts the noise of the last binary digits. */
const round6 = (value: number): number => Math.round(value * 1e6) / 1e6;
