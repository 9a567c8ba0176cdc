/**
 * Signs an order for one of the venue's exchange contracts. Which struct is signed is the connection's *profile*:
 * `interface` (12 fields in versions 1 and 2, the service's default) or `polymarket` (the venue's own 11-field version 2;
 * a service connected to the live venue says so in its start-up and documentation). Orders in markets of Protocol V2 are for
 * ExchangeV3 and have 11 fields in both.
 */
import type { OrderSide, SignedOrder, TradeRequest } from '@bellwether/contract';
import {
  asAddress,
  bytesToHex,
  type ExchangeContracts,
  type ExchangeVersion,
  exchangeDomain,
  exchangeDomains,
  exchangeVersionOf,
  hexToBytes,
  ORDER_TYPE,
  type OrderFields,
  type OrderVersion,
  orderDigest,
  orderStructHash,
  POLYGON_CHAIN_ID,
  POLYGON_EXCHANGES,
  POLYMARKET_ORDER_TYPE,
  polymarketOrderStructHash,
  type SignatureType,
  signsExtras,
  typedDataSignDigest,
  wrapDepositSignature,
  ZERO_ADDRESS,
} from '@bellwether/protocol';
import type { DepositKind, Signer } from './signer.ts';
import { NEED, needOptions } from './usage-error.ts';

export type OrderProfile = 'interface' | 'polymarket';

/** How an order is signed; every field has a default that fits the service as it comes. */
export interface OrderConnection {
  /** Default 2. Of no effect in markets of version v2: their tokens name the contract ExchangeV3. */
  readonly version?: OrderVersion;
  /** Default 0: the key's own account funds the order. */
  readonly signatureType?: SignatureType;
  /** For signature type 3. Default `beacon`. */
  readonly depositKind?: DepositKind;
  /** Default `interface`. */
  readonly profile?: OrderProfile;
  /**
   * For signature type 3: sign by ERC-7739 with the wallet as signer, as the live venue wants it, instead of plainly
   * with the key's account as signer. Default: only in the `polymarket` profile.
   */
  readonly wrapped?: boolean;
  /** Default 137. */
  readonly chainId?: number;
  /** Default: the venue's contracts on Polygon. */
  readonly contracts?: ExchangeContracts;
  /** At most 2^53−1; default random. */
  readonly salt?: number;
}

export interface OrderTerms {
  readonly tokenId: bigint;
  readonly side: OrderSide;
  readonly makerAmount: bigint;
  readonly takerAmount: bigint;
  /** Epoch seconds, 0n for none. */
  readonly expiration: bigint;
  readonly negRisk: boolean;
}

const ZERO_BYTES32 = new Uint8Array(32);

/** 53 random bits: JSON carries the salt as a number. */
export function randomSalt(): number {
  const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2));
  return (high >>> 11) * 2 ** 32 + low;
}

export async function signOrder(
  signer: Signer,
  terms: OrderTerms,
  connection: OrderConnection,
): Promise<SignedOrder> {
  const { signatureType = 0, profile = 'interface', salt = randomSalt() } = connection;
  const version = exchangeVersionOf(terms.tokenId, connection.version);
  const maker = signer.wallet(signatureType, connection.depositKind);
  const wrapped = signatureType === 3 && (connection.wrapped ?? profile === 'polymarket');
  const fields: OrderFields = {
    salt: BigInt(salt),
    maker,
    signer: wrapped ? maker : signer.address,
    taker: ZERO_ADDRESS,
    tokenId: terms.tokenId,
    makerAmount: terms.makerAmount,
    takerAmount: terms.takerAmount,
    expiration: terms.expiration,
    nonce: 0n,
    feeRateBps: 0n,
    side: terms.side === 'BUY' ? 0 : 1,
    signatureType,
  };
  const extras = signsExtras(version, profile)
    ? { timestamp: BigInt(Date.now()), metadata: ZERO_BYTES32, builder: ZERO_BYTES32 }
    : null;
  const structHash =
    extras === null ? orderStructHash(fields) : polymarketOrderStructHash({ ...fields, ...extras });
  const { separator } = domainFor(connection, version, terms.negRisk);
  const signature = wrapped
    ? await signWrapped(signer, {
        separator,
        contentsHash: structHash,
        orderType: extras === null ? ORDER_TYPE : POLYMARKET_ORDER_TYPE,
        wallet: maker,
        chainId: connection.chainId ?? POLYGON_CHAIN_ID,
      })
    : await signer.signDigest(orderDigest(separator, structHash));
  return {
    maker,
    signer: fields.signer,
    taker: fields.taker,
    tokenId: String(fields.tokenId),
    makerAmount: String(fields.makerAmount),
    takerAmount: String(fields.takerAmount),
    side: terms.side,
    expiration: String(fields.expiration),
    nonce: '0',
    feeRateBps: '0',
    signature,
    salt,
    signatureType,
    ...(extras === null
      ? {}
      : {
          timestamp: String(extras.timestamp),
          metadata: bytesToHex(extras.metadata),
          builder: bytesToHex(extras.builder),
        }),
  };
}

async function signWrapped(
  signer: Signer,
  order: Parameters<typeof typedDataSignDigest>[0],
): Promise<string> {
  const inner = await signer.signDigest(typedDataSignDigest(order));
  return wrapDepositSignature({ ...order, inner: hexToBytes(inner) });
}

function domainFor(connection: OrderConnection, version: ExchangeVersion, negRisk: boolean) {
  const { chainId = POLYGON_CHAIN_ID, contracts = POLYGON_EXCHANGES } = connection;
  return exchangeDomain(exchangeDomains(chainId, contracts), version, negRisk);
}

/**
 * The order's id, known before it is sent: what the service answers as `orderId` and by which the order is found
 * after a timeout. Takes a body made by the builders (with `orderVersion` and `negRisk`).
 * @example
 * const orderId = orderIdOf(order); // known before the order is sent
 */
export function orderIdOf(
  trade: TradeRequest,
  connection: Pick<OrderConnection, 'chainId' | 'contracts'> = {},
): `0x${string}` {
  needOptions('orderIdOf', trade, {
    order: NEED.object('the signed order of a body that the builders made', 'maker', 'tokenId', 'salt'),
  });
  const { order } = trade;
  const fields: OrderFields = {
    salt: BigInt(order.salt),
    maker: asAddress(order.maker),
    signer: asAddress(order.signer),
    taker: asAddress(order.taker ?? ZERO_ADDRESS),
    tokenId: BigInt(order.tokenId),
    makerAmount: BigInt(order.makerAmount),
    takerAmount: BigInt(order.takerAmount),
    expiration: BigInt(order.expiration ?? 0),
    nonce: BigInt(order.nonce ?? 0),
    feeRateBps: BigInt(order.feeRateBps ?? 0),
    side: order.side === 'BUY' || order.side === 0 ? 0 : 1,
    signatureType: order.signatureType,
  };
  const version = exchangeVersionOf(fields.tokenId, trade.orderVersion);
  // The builders send the three deprecated fields only where they are signed.
  const structHash =
    version !== 1 && order.timestamp !== undefined
      ? polymarketOrderStructHash({
          ...fields,
          timestamp: BigInt(order.timestamp),
          metadata: order.metadata === undefined ? ZERO_BYTES32 : hexToBytes(order.metadata),
          builder: order.builder === undefined ? ZERO_BYTES32 : hexToBytes(order.builder),
        })
      : orderStructHash(fields);
  const { separator } = domainFor(connection, version, trade.negRisk ?? false);
  return bytesToHex(orderDigest(separator, structHash));
}
