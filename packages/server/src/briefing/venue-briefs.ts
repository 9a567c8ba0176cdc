/** An agent's standing on one venue, and what it can do about it. */
import type { BriefingAction, VenueBrief } from '@bellwether/contract';
import { microToNumber } from '@bellwether/contract/decimals';
import type { WalletAddress } from '../domain/addresses.ts';
import type { Alert } from '../domain/risk-alerts.ts';
import { faucetVenue, type HasVenues, redeemsBy, tradingOf } from '../venues/asking.ts';
import type { BriefingFacts } from './facts.ts';
import { nextSteps } from './next-steps.ts';
import type { VenueState } from './venue-state.ts';

export interface BriefParts {
  readonly facts: BriefingFacts;
  /** The wallet asked for. */
  readonly user: WalletAddress | null;
  readonly state: VenueState;
  /** Alerts of all venues. */
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

export function venueBrief(needs: HasVenues, { facts, user, state, alerts }: BriefParts): VenueBrief {
  const { venue } = state;
  const { walletAddress, account } = walletsOf(facts, user, state);
  return {
    walletAddress,
    openOrdersCount: state.openOrders.reduce((sum, { count }) => sum + count, 0),
    currentPositionsCount: state.positionsCount,
    balance: microToNumber(state.balance),
    availableBalance: microToNumber(state.available),
    positionsValue: microToNumber(state.positionsValue),
    actions: nextSteps({
      venue: venue.id,
      isDefault: venue === needs.venues.default,
      trading: tradingOf(venue),
      canCancel: venue.cancel !== undefined,
      redeemsBy: redeemsBy(venue),
      hasFaucet: venue === faucetVenue(needs),
      credentialsBySignature: venue.paper?.credentials !== undefined,
      canTrade: venue.signedOrders === undefined ? walletAddress !== null : facts.hasCredentials,
      autoRedeem: facts.limits.autoRedeemEnabled,
      balance: state.balance,
      account,
      positions: state.positions,
      staleOrders: state.openOrders.flatMap(({ stale }) => stale),
      ordersInDoubt: state.openOrders.flatMap(({ inDoubt }) => inDoubt),
      exits: exitsOf(state, alerts),
    }) as BriefingAction[],
  };
}

/** The wallet that stands for the agent on the venue, and the account that pays for it. */
function walletsOf(facts: BriefingFacts, user: WalletAddress | null, { venue }: VenueState) {
  if (venue.accounts.family === 'solana') {
    const walletAddress = user ?? facts.solAddress ?? facts.wallets.solana[0] ?? null;
    return { walletAddress, account: walletAddress };
  }
  const walletAddress = user ?? facts.walletAddress;
  return {
    walletAddress,
    account: facts.wallets.evm.find((wallet) => wallet !== walletAddress) ?? walletAddress,
  };
}
