/**
 * Messages in the JSON form of EIP-712 that every wallet and signing library takes. They are made of the type texts that
 * the digests are computed from, so the two cannot differ.
 */
import type { Address } from './address.ts';
import { bytesToHex } from './bytes.ts';
import { CLOB_AUTH_MESSAGE, CLOB_AUTH_TYPE, type ClobAuth, clobAuthDomain } from './clob-auth.ts';
import { DEPOSIT_DOMAIN_NAME, DEPOSIT_DOMAIN_VERSION, DEPOSIT_SIGN_TYPE } from './deposit-signature.ts';
import type { Eip712Domain } from './eip712.ts';
import {
  type ExchangeDomain,
  ORDER_DOMAIN_NAME,
  ORDER_TYPE,
  type OrderExtras,
  type OrderFields,
  POLYMARKET_ORDER_TYPE,
} from './order.ts';

export interface TypedDataField {
  readonly name: string;
  readonly type: string;
}

/** Numbers of more than 8 bits are decimal texts, bytes are hex. */
export type TypedDataMessage = { readonly [field: string]: string | number | TypedDataMessage };

export interface TypedData {
  readonly domain: Eip712Domain;
  readonly primaryType: string;
  readonly types: Readonly<Record<string, readonly TypedDataField[]>>;
  readonly message: TypedDataMessage;
}

/**
 * The fields of a type text such as `Order(uint256 salt,address maker)`.
 * @example
 * typeFields('Mail(address from,string text)'); // [{ name: 'from', type: 'address' }, { name: 'text', type: 'string' }]
 */
export const typeFields = (type: string): readonly TypedDataField[] =>
  type
    .slice(type.indexOf('(') + 1, -1)
    .split(',')
    .map((field) => {
      const [kind = '', name = ''] = field.split(' ');
      return { name, type: kind };
    });

const DOMAIN_FIELDS: readonly (TypedDataField & { readonly name: keyof Eip712Domain })[] = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
];

const domainFields = (domain: Eip712Domain): readonly TypedDataField[] =>
  DOMAIN_FIELDS.filter(({ name }) => domain[name] !== undefined);

/**
 * @example
 * const { verifyingContract } = exchangeTypedDomain(exchangeDomain(exchangeDomains(137), 2, false), 137);
 */
export const exchangeTypedDomain = (
  { version, verifyingContract }: ExchangeDomain,
  chainId: number,
): Eip712Domain => ({ name: ORDER_DOMAIN_NAME, version: String(version), chainId, verifyingContract });

const plain = (value: unknown): string | number => {
  if (value instanceof Uint8Array) return bytesToHex(value);
  return typeof value === 'number' ? value : String(value);
};

function messageOf(fields: readonly TypedDataField[], values: object): TypedDataMessage {
  const known = values as Readonly<Record<string, unknown>>;
  return Object.fromEntries(fields.map(({ name }) => [name, plain(known[name])]));
}

export interface OrderMessage {
  readonly domain: ExchangeDomain;
  readonly chainId: number;
  readonly fields: OrderFields;
  /** `null`: the struct of 12 fields. */
  readonly extras: OrderExtras | null;
}

/**
 * @example
 * orderTypeOf(null); // 'Order(uint256 salt,…)', of 12 fields
 */
export const orderTypeOf = (extras: OrderExtras | null): string =>
  extras === null ? ORDER_TYPE : POLYMARKET_ORDER_TYPE;

/**
 * @example
 * const domain = exchangeDomain(exchangeDomains(137), 2, false);
 * const typedData = orderTypedData({ domain, chainId: 137, fields, extras: null });
 */
export function orderTypedData({ domain, chainId, fields, extras }: OrderMessage): TypedData {
  const typed = exchangeTypedDomain(domain, chainId);
  const orderFields = typeFields(orderTypeOf(extras));
  return {
    domain: typed,
    primaryType: 'Order',
    types: { EIP712Domain: domainFields(typed), Order: orderFields },
    message: messageOf(orderFields, { ...fields, ...extras }),
  };
}

/**
 * Typed data that the key of a deposit wallet signs around its order, by ERC-7739: still in the domain of the exchange.
 * @example
 * const domain = exchangeDomain(exchangeDomains(137), 2, false);
 * const order = { domain, chainId: 137, fields, extras: null };
 * const typedData = wrappedOrderTypedData(order, deriveDepositWallets(owner).beacon);
 */
export function wrappedOrderTypedData(order: OrderMessage, wallet: Address): TypedData {
  const inner = orderTypedData(order);
  const { EIP712Domain = [], Order = [] } = inner.types;
  return {
    domain: inner.domain,
    primaryType: 'TypedDataSign',
    types: { EIP712Domain, TypedDataSign: typeFields(DEPOSIT_SIGN_TYPE), Order },
    message: {
      contents: inner.message,
      name: DEPOSIT_DOMAIN_NAME,
      version: DEPOSIT_DOMAIN_VERSION,
      chainId: String(order.chainId),
      verifyingContract: wallet,
      salt: bytesToHex(new Uint8Array(32)),
    },
  };
}

/**
 * @example
 * const typedData = clobAuthTypedData({ address: owner, timestamp: '1764000000', nonce: 0n, chainId: 137 });
 */
export function clobAuthTypedData(auth: ClobAuth): TypedData {
  const domain = clobAuthDomain(auth.chainId);
  const fields = typeFields(CLOB_AUTH_TYPE);
  return {
    domain,
    primaryType: 'ClobAuth',
    types: { EIP712Domain: domainFields(domain), ClobAuth: fields },
    message: messageOf(fields, { ...auth, message: CLOB_AUTH_MESSAGE }),
  };
}
