/** What an agent can do about its state, as requests that it can send. Pure. */
import { formatMicro, type Micro, microToNumber } from '@bellwether/contract/decimals';
import type { HeldInMarket } from './risk-alerts.ts';

/** An account with less has nothing to trade with. */
const EMPTY_BELOW: Micro = 1_000_000n;
/** Of each kind; the alerts count the rest. */
const MAX_OF_A_KIND = 20;

export interface NextStep {
  readonly code: string;
  readonly message: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: Readonly<Record<string, string | number>>;
}

export interface StepFacts {
  /** A credential of the owner stands behind the wallet. */
  readonly hasCredentials: boolean;
  readonly isPaper: boolean;
  readonly autoRedeem: boolean;
  readonly balance: Micro;
  /** The account that pays. */
  readonly account: string | null;
  readonly positions: readonly HeldInMarket[];
  readonly staleOrders: readonly string[];
  readonly ordersInDoubt: readonly string[];
  /** Market ids in which a take-profit or stop-loss is reached. */
  readonly exits: readonly string[];
}

/** Won on venue B, in tokens. */
export interface Winnings {
  readonly ticker: string;
  readonly outcome: 'YES' | 'NO';
  readonly size: Micro;
  readonly value: Micro;
}

export interface VenueBStepFacts {
  readonly venue: string;
  /** A wallet is named for quotes, or was traded with. */
  readonly hasWallet: boolean;
  readonly winnings: readonly Winnings[];
  readonly staleOrders: readonly string[];
  readonly ordersInDoubt: readonly string[];
  /** Tickers in which a take-profit or stop-loss is reached. */
  readonly exits: readonly string[];
}

/** The same on venue B, where an order cannot be called back and a redemption is a SELL. */
export function nextStepsOnVenueB(facts: VenueBStepFacts): NextStep[] {
  const steps: NextStep[] = [];
  if (!facts.hasWallet) {
    steps.push({
      code: 'set_solana_wallet',
      message:
        'Name the Solana wallet that signs, or link it by a signed challenge; until then quotes are previews.',
      method: 'POST',
      path: '/wallet/update-sol-address',
    });
  }
  const look = (code: string, message: string) => (orderId: string) =>
    steps.push({ code, message, method: 'GET', path: `/venueb/agent/orders/${orderId}` });
  facts.ordersInDoubt
    .slice(0, MAX_OF_A_KIND)
    .forEach(look('check_order', 'See what became of this order; until it is known send no replacement.'));
  for (const ticker of [...new Set(facts.exits)].slice(0, MAX_OF_A_KIND)) {
    steps.push({
      code: 'review_exit',
      message: 'A take-profit or stop-loss is reached: look at the market and sign an exit.',
      method: 'GET',
      path: `/markets/context/${encodeURIComponent(ticker)}?venue=${encodeURIComponent(facts.venue)}`,
    });
  }
  for (const { ticker, outcome, size, value } of facts.winnings.slice(0, MAX_OF_A_KIND)) {
    steps.push({
      code: 'redeem',
      message: `Ask for the SELL quote that pays ${formatMicro(value)} for the winning outcome, then sign and submit it.`,
      method: 'POST',
      path: '/venueb/agent/quote',
      body: { marketTicker: ticker, side: outcome, action: 'SELL', shares: microToNumber(size) },
    });
  }
  facts.staleOrders
    .slice(0, MAX_OF_A_KIND)
    .forEach(look('check_stale_order', 'This order has been with the venue for long: see where it stands.'));
  return steps;
}

export function nextSteps(facts: StepFacts): NextStep[] {
  const steps: NextStep[] = [];
  if (!facts.hasCredentials) {
    steps.push({
      code: 'register_credentials',
      message: "Register a wallet's venue credentials; without them no trade is taken.",
      method: 'POST',
      path: '/wallet/credentials',
    });
  }
  for (const orderId of facts.ordersInDoubt.slice(0, MAX_OF_A_KIND)) {
    steps.push({
      code: 'check_order',
      message: 'See whether this order has its answer; until then send no replacement.',
      method: 'GET',
      path: `/markets/orders/${orderId}`,
    });
  }
  for (const marketId of [...new Set(facts.exits)].slice(0, MAX_OF_A_KIND)) {
    steps.push({
      code: 'review_exit',
      message: 'A take-profit or stop-loss is reached: look at the market and sign an exit.',
      method: 'GET',
      path: `/markets/context/${marketId}`,
    });
  }
  if (!facts.autoRedeem) steps.push(...redemptions(facts.positions));
  for (const orderId of facts.staleOrders.slice(0, MAX_OF_A_KIND)) {
    steps.push({
      code: 'cancel_stale_order',
      message: 'Cancel this order, or decide to keep it: it has been open for long.',
      method: 'POST',
      path: '/markets/orders/cancel',
      body: { orderId },
    });
  }
  if (facts.isPaper && facts.hasCredentials && facts.account !== null && facts.balance < EMPTY_BELOW) {
    steps.push({
      code: 'draw_paper_money',
      message: `${formatMicro(facts.balance)} collateral is left: draw some more from the faucet.`,
      method: 'POST',
      path: '/paper/faucet',
      body: { address: facts.account },
    });
  }
  return steps;
}

function redemptions(positions: readonly HeldInMarket[]): NextStep[] {
  const byMarket = new Map<string, Micro>();
  for (const { market, value } of positions) {
    if (market.status !== 'resolved' || value === 0n) continue;
    byMarket.set(market.id, (byMarket.get(market.id) ?? 0n) + value);
  }
  return [...byMarket].slice(0, MAX_OF_A_KIND).map(([marketId, value]) => ({
    code: 'redeem',
    message: `Redeem ${formatMicro(value)} of a resolved market.`,
    method: 'POST',
    path: '/markets/redeem',
    body: { marketId },
  }));
}
