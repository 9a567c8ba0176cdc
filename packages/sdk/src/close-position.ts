/**
 * Closes a position: what rests in the market is canceled, what is held of one outcome is sold within a named worst price, and the answer
 * says what remains and what still guards it. Each step is one that `BellwetherClient` has, so calling it again goes on where it stands.
 */
import type { CancelMarketResponse, GuardedExit, Position, TradeResponse } from '@bellwether/contract';
import { randomSalt } from './build-order.ts';
import type { BellwetherClient } from './client.ts';
import { BellwetherApiError, BellwetherUsageError, NEED, needOptions, provesNoEffect } from './errors.ts';
import {
  type PreparedPins,
  signPrepared,
  tradeIntent,
  type VerifiedPrepared,
  verifyPrepared,
} from './prepared-order.ts';
import type { Signer } from './signer.ts';

/** What is known beside the desk, as for `verifyPrepared`; the signer signs. */
export interface ClosePosition extends Omit<PreparedPins, 'signer'> {
  readonly client: BellwetherClient;
  readonly signer: Signer;
  /** Side to sell; may be left out where only one is held. */
  readonly outcome?: 'YES' | 'NO';
  /** The least to take for a share, on the tick. */
  readonly worstPrice: number;
  readonly reasoning?: string;
  readonly source?: string;
  /** Asked before anything is done. Default: it goes on. */
  readonly agree?: (sale: PlannedSale) => Promise<boolean> | boolean;
}

/** What would be sold; `verified` was computed here. */
export interface PlannedSale {
  readonly outcome: 'YES' | 'NO' | null;
  /** Shares held; 0: nothing. */
  readonly size: number;
  readonly verified: VerifiedPrepared | null;
}

export interface ClosedPosition {
  /** The orders that rested; `null`: nothing was agreed to, and nothing done. */
  readonly canceled: CancelMarketResponse | null;
  /** `null`: nothing is held, or it was not agreed to. */
  readonly sale:
    | { readonly status: 'placed'; readonly orderId: string; readonly trade: TradeResponse }
    | {
        readonly status: 'refused';
        readonly orderId: string;
        /** By the desk or by the venue: a code of the registry, a sentence, and what to do next. */
        readonly refusal: {
          readonly code: string;
          readonly message: string;
          readonly fix: string | undefined;
        };
      }
    /** No answer says what became of it: look the order up. Calling again sells what is held then. */
    | { readonly status: 'unknown'; readonly orderId: string }
    | null;
  /** What is held in the market now. */
  readonly remains: readonly Pick<Position, 'outcome' | 'outcomeName' | 'size'>[];
  /** Exits that have not ended. */
  readonly guards: readonly GuardedExit[];
}

const NEEDS = {
  client: NEED.client,
  signer: NEED.signer,
  market: NEED.market,
  agentId: NEED.text('the agentId of the registration'),
  worstPrice: NEED.number,
};

/** Exits that the desk answers at a time: more than an agent can have. */
const EXITS = 100;

/**
 * @throws BellwetherUsageError where both outcomes are held and none is named; PreparedOrderError where the desk prepares another sale
 * @example
 * const closed = await closePosition({ client, signer, agentId, market, worstPrice: 0.4 });
 * if (closed.sale?.status === 'refused') console.log(closed.sale.refusal.fix);
 */
export async function closePosition(options: ClosePosition): Promise<ClosedPosition> {
  needOptions('closePosition', options, NEEDS);
  const { client, signer, market, agree = () => true } = options;
  const held = await heldIn(options);
  const [side, ...others] = held.filter(({ outcome }) => outcome === (options.outcome ?? outcome));
  if (others.length > 0)
    throw new BellwetherUsageError(
      'closePosition needs outcome: "YES" or "NO", because both are held. Merging both pays collateral without a sale.',
    );
  const planned = side === undefined ? null : await prepared(options, side.outcome, side.size);
  const outcome = (side?.outcome ?? null) as PlannedSale['outcome'];
  if (!(await agree({ outcome, size: side?.size ?? 0, verified: planned })))
    return { canceled: null, sale: null, ...(await standing(options)) };
  const canceled = await client.cancelMarket({ marketConditionId: market.conditionId });
  if (side === undefined || planned === null) return { canceled, sale: null, ...(await standing(options)) };
  // What rested may have sold a part before it was canceled. Never more than was agreed to.
  const now = (await heldIn(options)).find((one) => one.outcome === side.outcome)?.size ?? 0;
  const verified = now >= side.size ? planned : now > 0 ? await prepared(options, side.outcome, now) : null;
  const sale = verified === null ? null : await sell(client, verified, signer);
  return { canceled, sale, ...(await standing(options)) };
}

/** Of this signer's wallet. */
async function heldIn({ client, market, signer, signatureType = 0, depositKind }: ClosePosition) {
  const wallet = signer.wallet(signatureType, depositKind).toLowerCase();
  const positions = await client.getCurrentPositions({ market: market.conditionId, venue: market.venue });
  return positions.filter((one) => one.walletAddress.toLowerCase() === wallet && one.size > 0);
}

async function prepared(options: ClosePosition, outcome: string, size: number): Promise<VerifiedPrepared> {
  const { client, signer, market, worstPrice, reasoning, source } = options;
  const { signatureType = 0, depositKind, profile } = options;
  const isDated = profile === 'polymarket' || market.version === 'v2';
  const intent = tradeIntent({
    clientOrderId: `close-${Date.now()}-${randomSalt()}`,
    ...{ venue: market.venue, marketId: market.conditionId, outcome, side: 'SELL', worstPrice, size },
    ...{ reasoning, source, signatureType, signer: signer.address },
    walletAddress: signer.wallet(signatureType, depositKind),
    timestamp: isDated ? Date.now() : undefined,
  });
  return verifyPrepared(await client.prepareTrade(intent), intent, options);
}

async function sell(
  client: BellwetherClient,
  verified: VerifiedPrepared,
  signer: Signer,
): Promise<NonNullable<ClosedPosition['sale']>> {
  const { orderId } = verified;
  const body = await signPrepared(verified, signer);
  try {
    const trade = await client.placeTrade(body);
    if (trade.success) return { status: 'placed', orderId, trade };
    const { errorCode: code = 'venue_refused', errorMessage: message = 'The venue refused it.', fix } = trade;
    return { status: 'refused', orderId, refusal: { code, message, fix } };
  } catch (error) {
    if (!(error instanceof BellwetherApiError) || !provesNoEffect(error))
      return { status: 'unknown', orderId };
    const { code, detail: message, fix } = error;
    return { status: 'refused', orderId, refusal: { code, message, fix } };
  }
}

async function standing(options: ClosePosition): Promise<Pick<ClosedPosition, 'remains' | 'guards'>> {
  const { client, market } = options;
  const query = { marketConditionId: market.conditionId, status: 'open', limit: EXITS };
  const [held, guards] = await Promise.all([heldIn(options), client.listExits(query)]);
  const remains = held.map(({ outcome, outcomeName, size }) => ({ outcome, outcomeName, size }));
  return { remains, guards };
}
