/** Parses the query of GET /order: checks every parameter, in a fixed order, before pricing starts. */
import { parseSolanaAddress, type SolanaAddress } from '@bellwether/protocol';
import { DoorError } from './door-error.ts';

export interface OrderRequest {
  readonly inputMint: SolanaAddress;
  readonly outputMint: SolanaAddress;
  readonly amount: bigint;
  /** `null`: a quote without a transaction. */
  readonly user: SolanaAddress | null;
  readonly sponsor: SolanaAddress | null;
  /** Receives the output, and the rest of the input; by default the user. */
  readonly destinationWallet: SolanaAddress | null;
  readonly revertWallet: SolanaAddress | null;
  /** Echoed in the answer; `outcomeSlippageBps` determines the least output. */
  readonly slippageBps: number;
  readonly outcomeSlippageBps: number;
  /** Millionths of the best price. */
  readonly impactTolerance: bigint;
  readonly microLamportsPerUnit: bigint;
  readonly withLookupTables: boolean;
  /** Such orders are always asynchronous. */
  readonly allowsAsync: boolean;
}

type Query = Readonly<Record<string, unknown>>;

export const COMPUTE_UNITS = 200_000;
const AUTO_SLIPPAGE_BPS = 200;
const MOST_BPS = 10_000;
const DEFAULT_IMPACT = 100_000n;
const MILLIONTHS_PER_PERCENT = 10_000n;
const GREATEST_INT64 = 2n ** 63n - 1n;
const WHOLE = /^\d{1,19}$/;

/** Micro-lamports per compute unit, by the names of the levels. */
export const PRIORITY_PRICES = { medium: 135n, high: 1_000n, veryHigh: 10_000n } as const;

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const bad = (code: string, msg: string): DoorError => new DoorError(400, code, msg);

function key(query: Query, name: string, code: string): SolanaAddress | null {
  const value = query[name];
  if (value === undefined) return null;
  const address = isText(value) ? parseSolanaAddress(value) : null;
  if (address === null) throw bad(code, `${name} must be a base58-encoded public key`);
  return address;
}

function flag(query: Query, name: string, fallback: boolean): boolean {
  const value = query[name];
  if (value === undefined) return fallback;
  if (value === 'true' || value === 'false') return value === 'true';
  throw bad('invalid_request', `${name} must be true or false`);
}

function bps(query: Query, name: string, code: string): number | null {
  const value = query[name];
  if (value === undefined || value === 'auto') return null;
  const number = isText(value) && WHOLE.test(value) ? Number(value) : Number.NaN;
  if (!(number <= MOST_BPS)) throw bad(code, `${name} must be "auto" or 0 to ${MOST_BPS}`);
  return number;
}

/** @throws DoorError with the venue's code for the first fault */
export function readOrderRequest(query: Query): OrderRequest {
  const mints = readMints(query);
  const amount = readAmount(query);
  const user = key(query, 'userPublicKey', 'invalid_user_public_key');
  const sponsor = key(query, 'sponsor', 'invalid_sponsor');
  const revertWallet = key(query, 'revertWallet', 'invalid_revert_wallet');
  const initPayer = key(query, 'predictionMarketInitPayer', 'invalid_prediction_market_init_payer');
  const { slippageBps, outcomeSlippageBps } = readSlippage(query);
  const impactTolerance = readImpactTolerance(query);
  const microLamportsPerUnit = readPriority(query);
  refusePlatformFee(query);
  const allowsAsync = flag(query, 'allowAsyncExec', true);
  if (!allowsAsync && !flag(query, 'allowSyncExec', true))
    throw bad('cannot_disable_sync_and_async_execution', 'Cannot disable both sync and async execution');
  if (query.destinationTokenAccount !== undefined && query.destinationWallet !== undefined)
    throw bad(
      'both_destination_params_specified',
      'Specify destinationTokenAccount or destinationWallet, not both',
    );
  if (query.destinationTokenAccount !== undefined)
    throw bad('destination_token_account_not_supported', 'Use destinationWallet');
  const destinationWallet = key(query, 'destinationWallet', 'invalid_destination_wallet');
  if (sponsor !== null && initPayer !== null)
    throw bad(
      'both_sponsor_and_prediction_market_init_payer_specified',
      'Specify sponsor or predictionMarketInitPayer, not both',
    );
  return {
    ...mints,
    ...{ amount, user, sponsor, destinationWallet, revertWallet, slippageBps, outcomeSlippageBps },
    ...{ impactTolerance, microLamportsPerUnit, allowsAsync },
    withLookupTables: flag(query, 'includeAddressLookupTables', false),
  };
}

function readMints(query: Query): Pick<OrderRequest, 'inputMint' | 'outputMint'> {
  const inputMint = key(query, 'inputMint', 'invalid_input_mint');
  if (inputMint === null) throw bad('invalid_input_mint', 'inputMint is required');
  const outputMint = key(query, 'outputMint', 'invalid_output_mint');
  if (outputMint === null) throw bad('invalid_output_mint', 'outputMint is required');
  if (inputMint === outputMint)
    throw bad('same_input_and_output_mint', 'inputMint and outputMint must be different');
  return { inputMint, outputMint };
}

function readAmount({ amount }: Query): bigint {
  if (!isText(amount) || !WHOLE.test(amount) || BigInt(amount) > GREATEST_INT64)
    throw bad('invalid_request', 'amount must be a whole number of atoms');
  if (BigInt(amount) === 0n) throw bad('requested_input_amount_is_zero', 'amount must be more than zero');
  return BigInt(amount);
}

function readSlippage(query: Query): Pick<OrderRequest, 'slippageBps' | 'outcomeSlippageBps'> {
  const asked = bps(query, 'slippageBps', 'invalid_slippage_bps');
  const slippageBps = asked ?? AUTO_SLIPPAGE_BPS;
  const own = bps(query, 'predictionMarketSlippageBps', 'prediction_slippage_bps_above_max');
  if (own !== null && own < slippageBps && asked !== null)
    throw bad(
      'prediction_slippage_bps_below_routing_slippage',
      'predictionMarketSlippageBps must not be less than slippageBps',
    );
  return { slippageBps, outcomeSlippageBps: own ?? slippageBps };
}

function readImpactTolerance({ priceImpactTolerancePct: value }: Query): bigint {
  if (value === undefined) return DEFAULT_IMPACT;
  if (!isText(value) || !WHOLE.test(value) || Number(value) > 100)
    throw bad('invalid_price_impact_tolerance_pct', 'priceImpactTolerancePct must be 0 to 100');
  return BigInt(value) * MILLIONTHS_PER_PERCENT;
}

function readPriority(query: Query): bigint {
  const { prioritizationFeeLamports: fee, computeUnitPriceMicroLamports: price } = query;
  if (fee !== undefined && price !== undefined)
    throw bad(
      'both_priority_fee_params_specified',
      'Specify prioritizationFeeLamports or computeUnitPriceMicroLamports, not both',
    );
  if (price !== undefined) {
    if (!isText(price) || !WHOLE.test(price))
      throw bad('invalid_request', 'computeUnitPriceMicroLamports must be a whole number');
    return BigInt(price);
  }
  if (fee === undefined || fee === 'auto') return PRIORITY_PRICES.medium;
  if (fee === 'disabled') return 0n;
  if (fee === 'medium' || fee === 'high' || fee === 'veryHigh') return PRIORITY_PRICES[fee];
  if (!isText(fee) || !/^\d{1,10}$/.test(fee))
    throw bad('invalid_request', 'prioritizationFeeLamports must be a number, a level or "disabled"');
  return (BigInt(fee) * 1_000_000n) / BigInt(COMPUTE_UNITS);
}

/** The sandbox does not support custom platform fees. */
function refusePlatformFee({ platformFeeBps, platformFeeScale, feeAccount }: Query): void {
  const isSet = (value: unknown): boolean => value !== undefined && value !== '0';
  if (isSet(platformFeeBps))
    throw feeAccount === undefined
      ? bad('platform_fee_account_not_specified', 'feeAccount is required with platformFeeBps')
      : bad('invalid_platform_fee_bps', 'The sandbox charges no platform fees');
  if (isSet(platformFeeScale))
    throw feeAccount === undefined
      ? bad('platform_fee_account_not_specified_for_platform_fee_scale', 'feeAccount is required')
      : bad('invalid_platform_fee_scale', 'The sandbox charges no platform fees');
}
