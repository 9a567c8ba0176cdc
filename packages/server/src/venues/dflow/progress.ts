/**
 * Reads the progress of a landed order from DFlow, as fills and reverts. Only `closed` is final: the chain, not DFlow,
 * proves that a transaction is dead. Never throws.
 */
import type { Micro } from '@bellwether/contract/decimals';
import { parseSolanaAddress } from '@bellwether/protocol';
import type { OrderProgress, TickerMarket, VenueFill, VenueRevert } from '../quotes.ts';
import type { DflowClient } from './client.ts';
import type { WireOrderStatus } from './wire.ts';

const MAX_FEES_KEPT = 5_000;
const UNKNOWN: OrderProgress = { kind: 'unknown' };

export interface ProgressContext {
  readonly client: DflowClient;
  readonly byMint: (mint: string) => Promise<TickerMarket | null>;
  /** Logs each message once. */
  readonly note: (context: object, message: string) => void;
}

type Fill = NonNullable<WireOrderStatus['fills']>[number];

export type Progress = (signature: string, lastValidBlockHeight: number) => Promise<OrderProgress>;

export function createProgress(context: ProgressContext): Progress {
  const { client, note } = context;
  const feeOf = createFees(context);

  const partsOf = async (status: WireOrderStatus) => ({
    fills: await Promise.all(
      (status.fills ?? []).map(
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

  return async (signature, lastValidBlockHeight) => {
    try {
      const status = await client.orderStatus(signature, lastValidBlockHeight);
      if (status === null) return UNKNOWN;
      switch (status.status) {
        case 'pending':
        case 'expired':
        case 'failed':
          return UNKNOWN;
        case 'open':
        case 'pendingClose':
          return { kind: 'open', ...(await partsOf(status)) };
        case 'closed': {
          const parts = await partsOf(status);
          if (parts.fills.length > 0 || parts.reverts.length > 0) return { kind: 'closed', ...parts };
          note({ signature }, 'DFlow closed an order without a fill or a revert');
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
    const same = trades.filter(({ transactionSignature }) => transactionSignature === fill.signature);
    const trade = same.find(({ outputAmount }) => BigInt(outputAmount) === BigInt(fill.outAmount)) ?? same[0];
    return trade === undefined ? null : BigInt(trade.feeAmount ?? 0);
  };

  return async (fill) => {
    const key = `${fill.signature}:${fill.outAmount}`;
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
