/**
 * The venue's order: its structs, the exchange contracts that verify it, and the digest that is both what the agent
 * signs and the order's id. Source: the venue's contracts; layouts and vectors in the wire reference, section 5.
 *
 * Three structs carry the name `Order`:
 * - 12 fields: version 1 everywhere, and version 2 in this service's interface;
 * - 11 fields: version 2 of the venue itself, with timestamp, metadata and builder signed, and version 3 everywhere;
 * - 12 + 3 fields: no contract accepts it. Signers that include the interface's deprecated fields make it; its hash
 *   serves only to explain that mistake to them.
 */
import { type Address, domainSeparator, hashText, StructEncoder, typedDataDigest } from './accounts.ts';
import { hexToBytes } from './bytes.ts';
import { isPositionId } from './token-ids.ts';

/** 0 externally owned account, 1 proxy wallet, 2 Safe wallet, 3 deposit wallet (ERC-1271). */
export type SignatureType = 0 | 1 | 2 | 3;
/** As requests and records name it. Orders for ExchangeV3 are of version 2 there; their token says the rest. */
export type OrderVersion = 1 | 2;
/** The exchange contract's own version, which its signing domain carries. */
export type ExchangeVersion = OrderVersion | 3;

/**
 * The version that requests and records name, of an exchange contract's own.
 * @example
 * const orderVersion = orderVersionOf(3); // 2
 */
export const orderVersionOf = (version: ExchangeVersion): OrderVersion => (version === 1 ? 1 : 2);

/** The interface's struct. Amounts in millionths, expiration in epoch seconds. */
export interface OrderFields {
  readonly salt: bigint;
  /** The account that funds the order. */
  readonly maker: Address;
  readonly signer: Address;
  /** The zero address for an open order. */
  readonly taker: Address;
  readonly tokenId: bigint;
  readonly makerAmount: bigint;
  readonly takerAmount: bigint;
  readonly expiration: bigint;
  readonly nonce: bigint;
  readonly feeRateBps: bigint;
  readonly side: 0 | 1;
  readonly signatureType: SignatureType;
}

/** The fields that the venue's own struct adds. */
export interface OrderExtras {
  /** Epoch milliseconds; only makes the order unique. */
  readonly timestamp: bigint;
  /** 32 bytes. */
  readonly metadata: Uint8Array;
  /** 32 bytes. */
  readonly builder: Uint8Array;
}

/** The venue's own struct, of versions 2 and 3. */
export type PolymarketOrderFields = Omit<OrderFields, 'taker' | 'expiration' | 'nonce' | 'feeRateBps'> &
  OrderExtras;

export const ORDER_TYPE =
  'Order(uint256 salt,address maker,address signer,address taker,uint256 tokenId,uint256 makerAmount,' +
  'uint256 takerAmount,uint256 expiration,uint256 nonce,uint256 feeRateBps,uint8 side,uint8 signatureType)';
export const POLYMARKET_ORDER_TYPE =
  'Order(uint256 salt,address maker,address signer,uint256 tokenId,uint256 makerAmount,uint256 takerAmount,' +
  'uint8 side,uint8 signatureType,uint256 timestamp,bytes32 metadata,bytes32 builder)';
export const EXTENDED_ORDER_TYPE = ORDER_TYPE.replace(
  /\)$/,
  ',uint256 timestamp,bytes32 metadata,bytes32 builder)',
);

// keccak256 of the three type texts; a test recomputes them.
export const ORDER_TYPE_HASH = '0xa852566c4e14d00869b6db0220888a9090a13eccdaea03713ff0a3d27bf9767c';
export const POLYMARKET_ORDER_TYPE_HASH =
  '0xbb86318a2138f5fa8ae32fbe8e659f8fcf13cc6ae4014a707893055433818589';
export const EXTENDED_ORDER_TYPE_HASH = '0x2bde9ffaa0c32f3162778a09bad5aac37e8b0ff3d35a0529ee0e571a7bfcfdb4';

// One buffer per struct for the life of the process: encoding is synchronous, so no other code sees it half filled.
const order = new StructEncoder(hexToBytes(ORDER_TYPE_HASH), 12);
const polymarketOrder = new StructEncoder(hexToBytes(POLYMARKET_ORDER_TYPE_HASH), 11);
const extendedOrder = new StructEncoder(hexToBytes(EXTENDED_ORDER_TYPE_HASH), 15);

function encodeTwelve(encoder: StructEncoder, fields: OrderFields): StructEncoder {
  return encoder
    .begin()
    .uint(fields.salt)
    .address(fields.maker)
    .address(fields.signer)
    .address(fields.taker)
    .uint(fields.tokenId)
    .uint(fields.makerAmount)
    .uint(fields.takerAmount)
    .uint(fields.expiration)
    .uint(fields.nonce)
    .uint(fields.feeRateBps)
    .small(fields.side)
    .small(fields.signatureType);
}

/**
 * Struct hash of the interface's order, 32 bytes.
 * @throws RangeError when a number is negative or over 256 bits.
 * @example
 * const contentsHash = orderStructHash(fields);
 */
export const orderStructHash = (fields: OrderFields): Uint8Array => encodeTwelve(order, fields).hash();

/**
 * Struct hash of the venue's own order, 32 bytes. Same errors.
 * @example
 * const contentsHash = polymarketOrderStructHash({ ...fields, ...extras });
 */
export const polymarketOrderStructHash = (fields: PolymarketOrderFields): Uint8Array =>
  polymarketOrder
    .begin()
    .uint(fields.salt)
    .address(fields.maker)
    .address(fields.signer)
    .uint(fields.tokenId)
    .uint(fields.makerAmount)
    .uint(fields.takerAmount)
    .small(fields.side)
    .small(fields.signatureType)
    .uint(fields.timestamp)
    .bytes32(fields.metadata)
    .bytes32(fields.builder)
    .hash();

/**
 * The hash when a signer includes the deprecated fields. Only for the diagnosis; never accepts an order.
 * @example
 * const contentsHash = extendedOrderStructHash(fields, extras);
 */
export const extendedOrderStructHash = (fields: OrderFields, extras: OrderExtras): Uint8Array =>
  encodeTwelve(extendedOrder, fields)
    .uint(extras.timestamp)
    .bytes32(extras.metadata)
    .bytes32(extras.builder)
    .hash();

const TEXT_SIDE_TYPE = ORDER_TYPE.replace('uint8 side', 'string side');

/**
 * The hash when a signer encodes the side as a text. Only for the diagnosis; never accepts an order.
 * @example
 * const contentsHash = orderStructHashWithTextSide(fields, 'BUY');
 */
export const orderStructHashWithTextSide = (fields: OrderFields, side: 'BUY' | 'SELL'): Uint8Array =>
  new StructEncoder(hashText(TEXT_SIDE_TYPE), 12)
    .uint(fields.salt)
    .address(fields.maker)
    .address(fields.signer)
    .address(fields.taker)
    .uint(fields.tokenId)
    .uint(fields.makerAmount)
    .uint(fields.takerAmount)
    .uint(fields.expiration)
    .uint(fields.nonce)
    .uint(fields.feeRateBps)
    .bytes32(hashText(side))
    .small(fields.signatureType)
    .hash();

/**
 * The order's id and what is signed: the EIP-712 digest, 32 bytes.
 * @example
 * const { separator } = exchangeDomain(exchangeDomains(137), 2, false);
 * const orderId = bytesToHex(orderDigest(separator, orderStructHash(fields)));
 */
export const orderDigest: (separator: Uint8Array, structHash: Uint8Array) => Uint8Array = typedDataDigest;

export const ORDER_DOMAIN_NAME = 'Polymarket CTF Exchange';

export interface ExchangeContracts {
  readonly v1: Address;
  readonly v1NegRisk: Address;
  readonly v2: Address;
  readonly v2NegRisk: Address;
  /** One for all markets of Protocol V2. Default: the one on Polygon. */
  readonly v3?: Address;
}

/** The venue's contracts on Polygon. */
export const POLYGON_CHAIN_ID = 137;
export const POLYGON_EXCHANGES: Required<ExchangeContracts> = {
  v1: '0x4bfb41d5b3570defd03c39a9a4d8de6bd8b8982e' as Address,
  v1NegRisk: '0xc5d563a36ae78145c45a50134d48a1215220f80a' as Address,
  v2: '0xe111180000d2663c0091e4f400237545b87b996b' as Address,
  v2NegRisk: '0xe2222d279d744050d28e00520010520000310f59' as Address,
  v3: '0xe3333700ca9d93003f00f0f71f8515005f6c00aa' as Address,
};

export interface ExchangeDomain {
  readonly version: ExchangeVersion;
  /** `null`: the contract takes orders of all its markets. */
  readonly negRisk: boolean | null;
  readonly verifyingContract: Address;
  /** EIP-712 domain separator, 32 bytes. */
  readonly separator: Uint8Array;
}

/** Version 2 first: it is the current default, so a search over all of them usually ends at once. */
export type ExchangeDomains = readonly [
  v2: ExchangeDomain,
  v2NegRisk: ExchangeDomain,
  v1: ExchangeDomain,
  v1NegRisk: ExchangeDomain,
  v3: ExchangeDomain,
];

/**
 * The contracts that may verify an order. Compute it once per configuration.
 * @example
 * const domains = exchangeDomains(137);
 */
export function exchangeDomains(
  chainId: number = POLYGON_CHAIN_ID,
  contracts: ExchangeContracts = POLYGON_EXCHANGES,
): ExchangeDomains {
  const domain = (
    version: ExchangeVersion,
    negRisk: boolean | null,
    verifyingContract: Address,
  ): ExchangeDomain => ({
    version,
    negRisk,
    verifyingContract,
    separator: domainSeparator({
      name: ORDER_DOMAIN_NAME,
      version: String(version),
      chainId,
      verifyingContract,
    }),
  });
  return [
    domain(2, false, contracts.v2),
    domain(2, true, contracts.v2NegRisk),
    domain(1, false, contracts.v1),
    domain(1, true, contracts.v1NegRisk),
    domain(3, null, contracts.v3 ?? POLYGON_EXCHANGES.v3),
  ];
}

/**
 * @param negRisk of no effect for version 3
 * @example
 * const { separator } = exchangeDomain(exchangeDomains(137), 2, market.negRisk);
 */
export function exchangeDomain(
  domains: ExchangeDomains,
  version: ExchangeVersion,
  negRisk: boolean,
): ExchangeDomain {
  if (version === 3) return domains[4];
  return domains[(version === 2 ? 0 : 2) + (negRisk ? 1 : 0)]!;
}

/**
 * The contract's version that an order of this token is for; `version` as the sender says, or the default.
 * @example
 * const version = exchangeVersionOf(fields.tokenId);
 */
export const exchangeVersionOf = (tokenId: bigint, version: OrderVersion = 2): ExchangeVersion =>
  isPositionId(tokenId) ? 3 : version;

/**
 * Whether the struct of an order is the venue's own of 11 fields, with timestamp, metadata and builder.
 * @example
 * const hasElevenFields = signsExtras(3, 'interface'); // true
 */
export const signsExtras = (version: ExchangeVersion, profile: OrderProfile): boolean =>
  version === 3 || (version === 2 && profile === 'polymarket');

/** `interface`: 12 fields for versions 1 and 2. `polymarket`: the venue's own 11 fields for version 2. Version 3 has 11 in both. */
export type OrderProfile = 'interface' | 'polymarket';

// The salt that makes of a client's own order id always the same order, so that a retry cannot become a second one.

/** JSON carries the salt as a number. */
const SALT_BITS = 53n;

/**
 * The first 53 bits of keccak256 over the UTF-8 text `bellwether order salt v1`, the agent's id and the client's order id,
 * joined by line breaks. Another agent that uses the same id has another salt.
 * @example
 * saltOf(agentId, 'entry-17'); // the same two always give the same number
 */
export function saltOf(agentId: string, clientOrderId: string): number {
  const digest = hashText(`bellwether order salt v1\n${agentId}\n${clientOrderId}`);
  return Number(new DataView(digest.buffer, digest.byteOffset).getBigUint64(0) >> (64n - SALT_BITS));
}
