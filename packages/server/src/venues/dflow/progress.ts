/**
 * Reads the progress of a landed order from DFlow, as fills and reverts. Only `closed` is final: the chain, not DFlow,
 * proves that a transaction is dead. Fills of other tokens, or of more than the transaction gave, prove nothing. Never throws.
 */
import type { Micro } from '@bellwether/contract/decimals';
import { parseSolanaAddress } from '@bellwether/protocol';
import { wordOf } from '../../domain/untrusted-text.ts';
import type { LandedOrder, OrderProgress, TickerMarket, VenueFill, VenueRevert } from '../quotes.ts';
import type { DflowClient, WireOrderStatus } from './client.ts';

const MAX_FEES_KEPT = 5_000;
const UNKNOWN: OrderProgress = { kind: 'unknown' };

interface ProgressContext {
  readonly client: DflowClient;
  readonly byMint: (mint: string) => Promise<TickerMarket | null>;
  /** Logs each message once. */
  readonly note: (context: object, message: string) => void;
}

type Fill = NonNullable<WireOrderStatus['fills']>[number];

type Progress = (order: LandedOrder) => Promise<OrderProgress>;

export function createProgress(context: ProgressContext): Progress {
  const { client, note } = context;
  const feeOf = createFees(context);

  /** `null`: it cannot be of this order. */
  const fillsOf = (status: WireOrderStatus, order: LandedOrder): readonly Fill[] | null => {
    // A leg without any amount is none.
    const fills = (status.fills ?? []).filter(
      ({ inAmount, outAmount }) => BigInt(inAmount) > 0n || BigInt(outAmount) > 0n,
    );
    const isOther = ({ inputMint, outputMint }: Fill) =>
      inputMint !== order.inputMint || outputMint !== order.outputMint;
    const taken = fills.reduce((sum, { inAmount }) => sum + BigInt(inAmount), 0n);
    const fault = fills.some(isOther)
      ? 'DFlow lists fills of other tokens than the order has'
      : taken > order.inAmount
        ? 'DFlow lists fills of more than the order gave'
        : null;
    if (fault === null) return fills;
    note({ signature: order.signature }, fault);
    return null;
  };

  const partsOf = async (status: WireOrderStatus, own: readonly Fill[]) => ({
    fills: await Promise.all(
      own.map(
        async (fill): Promise<VenueFill> => ({
          signature: fill.signature,
          inAmount: BigInt(fill.inAmount),
          outAmount: BigInt(fill.outAmount),
          fee: await feeOf(fill),
        }),
      ),
    ),
    reverts: (status.reverts ?? []).map(
      ({ signature, mint, amount }): VenueRevert => ({ signature, mint, amount: BigInt(amount) }),
    ),
  });

  return async (order) => {
    try {
      const status = await client.orderStatus(order.signature, order.lastValidBlockHeight);
      const fills = status === null ? null : fillsOf(status, order);
      if (status === null || fills === null) return UNKNOWN;
      switch (wordOf(status.status)) {
        case 'pending':
        case 'expired':
        case 'failed':
          return UNKNOWN;
        case 'open':
        case 'pendingclose':
          return { kind: 'open', ...(await partsOf(status, fills)) };
        case 'closed': {
          const parts = await partsOf(status, fills);
          if (parts.fills.length > 0 || parts.reverts.length > 0) return { kind: 'closed', ...parts };
          note({ signature: order.signature }, 'DFlow closed an order without a fill or a revert');
          return UNKNOWN;
        }
        default:
          note({ status: status.status }, 'DFlow says a state of an order that is not known');
          return UNKNOWN;
      }
    } catch {
      // Not answered: the desk asks again.
      return UNKNOWN;
    }
  };
}

/**
 * DFlow's fee in a fill, which only the list of on-chain trades contains; 0n until the fill appears there. Found fees are
 * cached, because an order's progress may be polled every second.
 */
function createFees({ client, byMint }: ProgressContext): (fill: Fill) => Promise<Micro> {
  const known = new Map<string, Micro>();

  const look = async (fill: Fill): Promise<Micro | null> => {
    const market = (await byMint(fill.outputMint)) ?? (await byMint(fill.inputMint));
    if (market === null) return null;
    const trades = await client.onchainTrades(market.id);
    // One transaction may fill orders of many wallets.
    const trade = trades.find(
      (one) =>
        one.transactionSignature === fill.signature &&
        one.inputMint === fill.inputMint &&
        one.outputMint === fill.outputMint &&
        BigInt(one.inputAmount) === BigInt(fill.inAmount) &&
        BigInt(one.outputAmount) === BigInt(fill.outAmount),
    );
    return trade === undefined ? null : BigInt(trade.feeAmount ?? 0);
  };

  return async (fill) => {
    const key = `${fill.signature}:${fill.inAmount}:${fill.outAmount}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    const isMint =
      parseSolanaAddress(fill.outputMint) !== null && parseSolanaAddress(fill.inputMint) !== null;
    const fee = isMint ? await look(fill).catch(() => null) : null;
    if (fee === null) return 0n;
    if (known.size >= MAX_FEES_KEPT) known.delete(known.keys().next().value!);
    known.set(key, fee);
    return fee;
  };
}
