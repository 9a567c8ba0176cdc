/** An agent's standing on one venue, and what it can do about it. */
import type { BriefingAction, VenueBrief } from '@bellwether/contract';
import { microToNumber } from '@bellwether/contract/decimals';
import { nextSteps, nextStepsOnVenueB } from '../domain/next-steps.ts';
import type { Alert } from '../domain/risk-alerts.ts';
import type { BriefingFacts } from '../ports/agent-facts.ts';
import type { WalletAddress } from '../ports/stores.ts';
import type { VenueState } from './briefing.ts';
import type { Deps } from './deps.ts';

export interface BriefParts {
  readonly facts: BriefingFacts;
  /** The wallet asked for. */
  readonly user: WalletAddress | null;
  readonly state: VenueState;
  /** Of both venues. */
  readonly alerts: readonly Alert[];
}

const EXITS = new Set(['stop_loss_reached', 'take_profit_reached']);

/** Ids of the venue's markets in which a limit of risk control is reached. */
function exitsOf({ positions }: VenueState, alerts: readonly Alert[]): string[] {
  const held = new Set(positions.map(({ market }) => market.id));
  return alerts.flatMap(({ code, marketId }) =>
    EXITS.has(code) && marketId !== undefined && held.has(marketId) ? [marketId] : [],
  );
}

const figures = (state: VenueState): Omit<VenueBrief, 'walletAddress' | 'actions'> => ({
  openOrdersCount: state.openOrders.reduce((sum, { count }) => sum + count, 0),
  currentPositionsCount: state.positionsCount,
  balance: microToNumber(state.balance),
  availableBalance: microToNumber(state.available),
  positionsValue: microToNumber(state.positionsValue),
});

export function venueBriefOfA(deps: Deps, { facts, user, state, alerts }: BriefParts): VenueBrief {
  const walletAddress = user ?? facts.walletAddress;
  return {
    walletAddress,
    ...figures(state),
    actions: nextSteps({
      hasCredentials: facts.hasCredentials,
      isPaper: deps.venueA.backend === 'paper',
      autoRedeem: facts.limits.autoRedeemEnabled,
      balance: state.balance,
      account: facts.wallets.find((wallet) => wallet !== walletAddress) ?? walletAddress,
      positions: state.positions,
      staleOrders: state.openOrders.flatMap(({ stale }) => stale),
      ordersInDoubt: state.openOrders.flatMap(({ inDoubt }) => inDoubt),
      exits: exitsOf(state, alerts),
    }) as BriefingAction[],
  };
}

export function venueBriefOfB(deps: Deps, { facts, user, state, alerts }: BriefParts): VenueBrief {
  const walletAddress = user ?? facts.solAddress ?? facts.solanaWallets[0] ?? null;
  return {
    walletAddress,
    ...figures(state),
    actions: nextStepsOnVenueB({
      venue: deps.venueB.name,
      hasWallet: walletAddress !== null,
      winnings: state.positions.flatMap(({ market, row, value }) =>
        market.status === 'resolved' && value > 0n
          ? [{ ticker: market.id, outcome: row.outcome, size: row.size, value }]
          : [],
      ),
      staleOrders: state.openOrders.flatMap(({ stale }) => stale),
      ordersInDoubt: state.openOrders.flatMap(({ inDoubt }) => inDoubt),
      exits: exitsOf(state, alerts),
    }) as BriefingAction[],
  };
}
