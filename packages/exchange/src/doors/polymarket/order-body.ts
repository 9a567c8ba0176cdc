/** Reads the body of an order (wire reference 2.4). Every struct of the venue is read into the same fields. */
import {
  type Address,
  type OrderExtras,
  type OrderFields,
  parseAddress,
  parseHex,
  type SignatureType,
  ZERO_ADDRESS,
} from '@bellwether/protocol';
import type { TimeInForce } from '../../paper-exchange.ts';

export interface PostedBody {
  /** The order's fields; those that the 11-field struct lacks are zero. */
  readonly fields: OrderFields;
  /** Fields that only the 11-field struct has; `null` when one of them is missing. */
  readonly extras: OrderExtras | null;
  readonly signature: string;
  /** Lower-case. */
  readonly owner: string;
  readonly timeInForce: TimeInForce;
  readonly postOnly: boolean;
}

type Json = Readonly<Record<string, unknown>>;

const DIGITS = /^[0-9]{1,78}$/;
const MAX_UINT256 = 2n ** 256n - 1n;
/** Amounts of the engine are below it, and salts are JSON numbers. */
const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER);
const MAX_SIGNATURE_CHARS = 2_000;
const MAX_OWNER_CHARS = 100;
const BYTES32 = 32;
const TIMES_IN_FORCE: ReadonlySet<unknown> = new Set<TimeInForce>(['GTC', 'GTD', 'FOK', 'FAK']);

const isRecord = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Thrown inside this file for a field that no order may have. */
class Malformed extends Error {}

function uint(value: unknown, most = MAX_UINT256): bigint {
  const text = typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? String(value) : value;
  if (typeof text !== 'string' || !DIGITS.test(text)) throw new Malformed();
  const number = BigInt(text);
  if (number > most) throw new Malformed();
  return number;
}

const optionalUint = (value: unknown): bigint => (value === undefined ? 0n : uint(value));

function address(value: unknown): Address {
  const found = parseAddress(value);
  if (found === null) throw new Malformed();
  return found;
}

function bytes32(value: unknown): Uint8Array {
  const bytes = typeof value === 'string' ? parseHex(value) : null;
  if (bytes?.length !== BYTES32) throw new Malformed();
  return bytes;
}

function flag(value: unknown): boolean {
  if (value !== undefined && typeof value !== 'boolean') throw new Malformed();
  return value === true;
}

function sideOf(value: unknown): 0 | 1 {
  if (value === 'BUY' || value === 0) return 0;
  if (value === 'SELL' || value === 1) return 1;
  throw new Malformed();
}

function signatureTypeOf(value: unknown): SignatureType {
  if (value === 0 || value === 1 || value === 2 || value === 3) return value;
  throw new Malformed();
}

const extrasOf = ({ timestamp, metadata, builder }: Json): OrderExtras | null =>
  timestamp === undefined || metadata === undefined || builder === undefined
    ? null
    : { timestamp: uint(timestamp), metadata: bytes32(metadata), builder: bytes32(builder) };

/** @returns `null` for what is no order. Unknown fields are ignored, as at the venue */
export function parseOrderBody(body: unknown): PostedBody | null {
  try {
    return orderOf(body);
  } catch (error) {
    if (error instanceof Malformed) return null;
    throw error;
  }
}

function orderOf(body: unknown): PostedBody {
  if (!isRecord(body) || !isRecord(body.order)) throw new Malformed();
  const { order, owner, orderType } = body;
  const { signature } = order;
  if (typeof owner !== 'string' || owner.length > MAX_OWNER_CHARS) throw new Malformed();
  if (!TIMES_IN_FORCE.has(orderType)) throw new Malformed();
  if (typeof signature !== 'string' || signature.length > MAX_SIGNATURE_CHARS) throw new Malformed();
  const amount = (value: unknown): bigint => {
    const micro = uint(value, MAX_SAFE);
    if (micro === 0n) throw new Malformed();
    return micro;
  };
  // The vendor's own page uses it; the exchange executes at once either way.
  flag(body.deferExec);
  return {
    fields: {
      salt: uint(order.salt, MAX_SAFE),
      maker: address(order.maker),
      signer: address(order.signer),
      taker: order.taker === undefined ? ZERO_ADDRESS : address(order.taker),
      tokenId: uint(order.tokenId),
      makerAmount: amount(order.makerAmount),
      takerAmount: amount(order.takerAmount),
      expiration: optionalUint(order.expiration),
      nonce: optionalUint(order.nonce),
      feeRateBps: optionalUint(order.feeRateBps),
      side: sideOf(order.side),
      signatureType: signatureTypeOf(order.signatureType),
    },
    extras: extrasOf(order),
    signature,
    owner: owner.toLowerCase(),
    timeInForce: orderType as TimeInForce,
    postOnly: flag(body.postOnly),
  };
}
