/** The useful next requests for an agent's state. They depend on the capabilities of its venues. Pure. */
import { formatMicro, type Micro, microToNumber } from '@bellwether/contract/decimals';
import type { HeldInMarket, RedeemsBy, Trading } from '../domain/risk-alerts.ts';

/** An account with less cannot trade. */
const EMPTY_BELOW: Micro = 1_000_000n;
/** Per kind of step; the alerts count the rest. */
const MAX_OF_A_KIND = 20;

export interface NextStep {
  readonly code: string;
  readonly message: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: Readonly<Record<string, string | number>>;
}

/** One venue, and the agent's state on it. */
export interface StepFacts {
  readonly venue: string;
  /** Requests may leave its name out. */
  readonly isDefault: boolean;
  readonly trading: Trading;
  readonly canCancel: boolean;
  readonly redeemsBy: RedeemsBy;
  readonly hasFaucet: boolean;
  /** The venue makes credentials for who signs a text. */
  readonly credentialsBySignature: boolean;
  /** Signed orders: the owner has a credential for the wallet. Quotes: the agent names a wallet, or has traded with one. */
  readonly canTrade: boolean;
  readonly autoRedeem: boolean;
  readonly balance: Micro;
  /** The account that pays. */
  readonly account: string | null;
  readonly positions: readonly (HeldInMarket & { readonly size: Micro })[];
  readonly staleOrders: readonly string[];
  readonly ordersInDoubt: readonly string[];
  /** Ids of markets where a take-profit or stop-loss is reached. */
  readonly exits: readonly string[];
}

/** The texts and paths for one way of trading. */
interface Wording {
  readonly toTrade: NextStep;
  readonly orderPath: (orderId: string) => string;
  readonly inDoubt: string;
}

const WORDING: Readonly<Record<Trading, Wording>> = {
  signed_orders: {
    toTrade: {
      code: 'register_credentials',
      message: "Register a wallet's venue credentials; without them no trade is taken.",
      method: 'POST',
      path: '/wallet/credentials',
    },
    orderPath: (orderId) => `/markets/orders/${orderId}`,
    inDoubt: 'See whether this order has its answer; until then send no replacement.',
  },
  quotes: {
    toTrade: {
      code: 'set_solana_wallet',
      message:
        'Name the Solana wallet that signs, or link it by a signed challenge; until then quotes are previews.',
      method: 'POST',
      path: '/wallet/update-sol-address',
    },
    orderPath: (orderId) => `/venueb/agent/orders/${orderId}`,
    inDoubt: 'Check the outcome of this order; send no replacement before it is known.',
  },
};

const PAPER_CREDENTIALS: NextStep = {
  code: 'register_credentials',
  message:
    'Sign the message of GET /wallet/credentials/challenge?address=<your EOA> and send address, nonce and signature; without credentials no trade is taken.',
  method: 'POST',
  path: '/wallet/credentials/paper',
};

export function nextSteps(facts: StepFacts): NextStep[] {
  const words = WORDING[facts.trading];
  const some = <T>(items: readonly T[]) => items.slice(0, MAX_OF_A_KIND);
  const look = (code: string, message: string, orderId: string): NextStep => ({
    code,
    message,
    method: 'GET',
    path: words.orderPath(orderId),
  });
  const venue = facts.isDefault ? '' : `?venue=${encodeURIComponent(facts.venue)}`;
  return [
    ...(facts.canTrade ? [] : [facts.credentialsBySignature ? PAPER_CREDENTIALS : words.toTrade]),
    ...some(facts.ordersInDoubt).map((orderId) => look('check_order', words.inDoubt, orderId)),
    ...some([...new Set(facts.exits)]).map(
      (marketId): NextStep => ({
        code: 'review_exit',
        message: 'A take-profit or stop-loss is reached: look at the market and sign an exit.',
        method: 'GET',
        path: `/markets/context/${encodeURIComponent(marketId)}${venue}`,
      }),
    ),
    ...redemptions(facts),
    ...some(facts.staleOrders).map((orderId) =>
      facts.canCancel
        ? cancelStep(orderId)
        : look(
            'check_stale_order',
            'This order has been with the venue for long: see where it stands.',
            orderId,
          ),
    ),
    ...faucet(facts),
  ];
}

const cancelStep = (orderId: string): NextStep => ({
  code: 'cancel_stale_order',
  message: 'Cancel this order, or decide to keep it: it has been open for long.',
  method: 'POST',
  path: '/markets/orders/cancel',
  body: { orderId },
});

function redemptions({ redeemsBy, autoRedeem, positions }: StepFacts): NextStep[] {
  const won = positions.filter(({ market, value }) => market.status === 'resolved' && value > 0n);
  if (redeemsBy === 'quote') {
    return won.slice(0, MAX_OF_A_KIND).map(({ market, outcome, size, value }) => ({
      code: 'redeem',
      message: `Ask for the SELL quote that pays ${formatMicro(value)} for ${outcome}, then sign and submit it.`,
      method: 'POST',
      path: '/venueb/agent/quote',
      body: { marketTicker: market.id, side: outcome, action: 'SELL', shares: microToNumber(size) },
    }));
  }
  if (redeemsBy === null || autoRedeem) return [];
  const byMarket = new Map<string, Micro>();
  for (const {
    market: { conditionId },
    value,
  } of won)
    byMarket.set(conditionId, (byMarket.get(conditionId) ?? 0n) + value);
  return [...byMarket].slice(0, MAX_OF_A_KIND).map(([marketConditionId, value]) => ({
    code: 'redeem',
    message: `Redeem ${formatMicro(value)} of a resolved market.`,
    method: 'POST',
    path: '/markets/redeem',
    body: { marketConditionId },
  }));
}

function faucet({ hasFaucet, canTrade, account, balance }: StepFacts): NextStep[] {
  if (!hasFaucet || !canTrade || account === null || balance >= EMPTY_BELOW) return [];
  return [
    {
      code: 'draw_paper_money',
      message: `${formatMicro(balance)} collateral is left: draw some more from the faucet.`,
      method: 'POST',
      path: '/paper/faucet',
      body: { address: account },
    },
  ];
}
