/**
 * Messages in the JSON form of EIP-712 that every wallet and signing library takes. They are made of the type texts that
 * the digests are computed from, so the two cannot differ.
 */
import { type Address, type Eip712Domain, hashText, signDigest, ZERO_ADDRESS } from './accounts.ts';
import {
  CLOB_AUTH_MESSAGE,
  CLOB_AUTH_TYPE,
  type ClobAuth,
  clobAuthDigest,
  clobAuthDomain,
  l2Signature,
} from './authentication.ts';
import { bytesToHex, hexToBytes } from './bytes.ts';
import {
  type ExchangeDomain,
  type ExchangeDomains,
  type ExchangeVersion,
  exchangeDomain,
  ORDER_DOMAIN_NAME,
  ORDER_TYPE,
  type OrderExtras,
  type OrderFields,
  type OrderProfile,
  type OrderVersion,
  orderDigest,
  orderStructHash,
  orderVersionOf,
  POLYMARKET_ORDER_TYPE,
  polymarketOrderStructHash,
  type SignatureType,
  saltOf,
  signsExtras,
} from './order.ts';
import {
  DEPOSIT_DOMAIN_NAME,
  DEPOSIT_DOMAIN_VERSION,
  DEPOSIT_FACTORY,
  DEPOSIT_SIGN_TYPE,
  PROXY_FACTORY,
  SAFE_FACTORY,
  typedDataSignDigest,
  type WalletKinds,
  walletKindsOf,
  wrapDepositSignature,
} from './wallets.ts';

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

// How the messages of a signing venue are made, as data: domains, structs, wallets and authentication, with a worked example
// of each form. Everything is computed by the functions that verify, so it cannot differ from what is accepted.

export interface SigningGuideTerms {
  readonly chainId: number;
  readonly domains: ExchangeDomains;
  /** Which struct version 2 signs: `interface` of 12 fields, or `polymarket` of 11. ExchangeV3 has 11 in both. */
  readonly profile: OrderProfile;
}

export interface OrderExample {
  readonly name: string;
  readonly orderVersion: OrderVersion;
  readonly exchangeVersion?: 3;
  /** `null`: any. */
  readonly negRisk: boolean | null;
  readonly signatureType: SignatureType;
  readonly typedData: TypedData;
  /** The digest of the order, also where other bytes are signed. */
  readonly orderId: string;
  /** Digest of `typedData`: the key signs it. */
  readonly digest: string;
  /** Form of `order.signature`. */
  readonly signature: string;
}

/** The first account of a mnemonic that every developer knows. It must never hold anything of value. */
export const EXAMPLE_KEY = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';
const EXAMPLE_EOA = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266' as Address;
const EXAMPLE_ORDER: OrderFields = {
  salt: 479_249_096_354n,
  maker: EXAMPLE_EOA,
  signer: EXAMPLE_EOA,
  taker: ZERO_ADDRESS,
  tokenId: 1234n,
  makerAmount: 100_000_000n,
  takerAmount: 50_000_000n,
  expiration: 0n,
  nonce: 0n,
  feeRateBps: 0n,
  side: 0,
  signatureType: 0,
};
/** First outcome of a market of Protocol V2. */
const EXAMPLE_POSITION = {
  tokenId: 663574927012476832975694178961957910328055987427402067619466963999000625152n,
  makerAmount: 5_200_000n,
  takerAmount: 10_000_000n,
};
const EXAMPLE_EXTRAS: OrderExtras = {
  timestamp: 1_780_449_126_930n,
  metadata: new Uint8Array(32),
  builder: new Uint8Array(32),
};

const signExample = (digest: Uint8Array): Uint8Array => signDigest(digest, hexToBytes(EXAMPLE_KEY));

interface ExampleForm {
  readonly name: string;
  readonly version: ExchangeVersion;
  readonly negRisk: boolean;
  readonly signatureType: SignatureType;
  readonly wrapped?: boolean;
}

/** Note on orders for ExchangeV3, beside their orderVersion. */
const saysExchange = (version: ExchangeVersion): { readonly exchangeVersion?: 3 } =>
  version === 3 ? { exchangeVersion: 3 } : {};

const walletOf = (kinds: WalletKinds, type: SignatureType): Address =>
  [kinds.eoa, kinds.proxy, kinds.safe, kinds.deposit.beacon][type] as Address;

function orderExample({ chainId, domains, profile }: SigningGuideTerms, form: ExampleForm): OrderExample {
  const { name, version, negRisk, signatureType, wrapped = false } = form;
  const maker = walletOf(walletKindsOf(EXAMPLE_EOA), signatureType);
  const fields = {
    ...EXAMPLE_ORDER,
    ...(version === 3 ? EXAMPLE_POSITION : {}),
    ...{ maker, signer: wrapped ? maker : EXAMPLE_EOA, signatureType },
  };
  const extras = signsExtras(version, profile) ? EXAMPLE_EXTRAS : null;
  const domain = exchangeDomain(domains, version, negRisk);
  const { separator } = domain;
  const contentsHash =
    extras === null ? orderStructHash(fields) : polymarketOrderStructHash({ ...fields, ...extras });
  const plain = orderDigest(separator, contentsHash);
  const message = { domain, chainId, fields, extras };
  const common = {
    ...{ name, orderVersion: orderVersionOf(version), ...saysExchange(version) },
    ...{ negRisk: domain.negRisk, signatureType, orderId: bytesToHex(plain) },
  };
  if (!wrapped)
    return {
      ...common,
      typedData: orderTypedData(message),
      digest: common.orderId,
      signature: bytesToHex(signExample(plain)),
    };
  const orderType = extras === null ? ORDER_TYPE : POLYMARKET_ORDER_TYPE;
  const digest = typedDataSignDigest({ separator, contentsHash, orderType, wallet: maker, chainId });
  return {
    ...common,
    typedData: wrappedOrderTypedData(message, maker),
    digest: bytesToHex(digest),
    signature: wrapDepositSignature({ inner: signExample(digest), separator, contentsHash, orderType }),
  };
}

const EXAMPLE_FORMS: readonly ExampleForm[] = [
  { name: 'Version 2', version: 2, negRisk: false, signatureType: 0 },
  { name: 'Version 2, neg-risk market', version: 2, negRisk: true, signatureType: 0 },
  { name: 'Version 1', version: 1, negRisk: false, signatureType: 0 },
  { name: 'Version 1, neg-risk market', version: 1, negRisk: true, signatureType: 0 },
  { name: 'Version 2 by a proxy wallet', version: 2, negRisk: false, signatureType: 1 },
  { name: 'Version 2 by a Safe', version: 2, negRisk: false, signatureType: 2 },
  { name: 'Version 2 by a deposit wallet, signed plainly', version: 2, negRisk: false, signatureType: 3 },
  {
    name: 'Version 2 by a deposit wallet, wrapped by ERC-7739',
    version: 2,
    negRisk: false,
    signatureType: 3,
    wrapped: true,
  },
  { name: 'ExchangeV3 (market of version v2)', version: 3, negRisk: false, signatureType: 0 },
  { name: 'ExchangeV3 by a proxy wallet', version: 3, negRisk: false, signatureType: 1 },
  { name: 'ExchangeV3 by a Safe', version: 3, negRisk: false, signatureType: 2 },
  {
    name: 'ExchangeV3 by a deposit wallet, wrapped by ERC-7739',
    version: 3,
    negRisk: false,
    signatureType: 3,
    wrapped: true,
  },
];

function structs(profile: OrderProfile) {
  const struct = (versions: readonly ExchangeVersion[], type: string) => ({
    orderVersions: versions.map(orderVersionOf),
    ...saysExchange(versions[0] ?? 2),
    type,
    typeHash: bytesToHex(hashText(type)),
    fields: typeFields(type),
  });
  const third = struct([3], POLYMARKET_ORDER_TYPE);
  return profile === 'interface'
    ? [struct([1, 2], ORDER_TYPE), third]
    : [struct([1], ORDER_TYPE), struct([2], POLYMARKET_ORDER_TYPE), third];
}

const L1_EXAMPLE = { address: EXAMPLE_EOA, timestamp: '1700000000', nonce: 0n };
const L2_EXAMPLE = {
  secret: `${'A'.repeat(43)}=`,
  timestamp: '1000000',
  method: 'test-sign',
  path: '/orders',
  body: '{"hash": "0x123"}',
};

function authentication(chainId: number) {
  const auth = { ...L1_EXAMPLE, chainId };
  const digest = clobAuthDigest(auth);
  return {
    l1: {
      type: CLOB_AUTH_TYPE,
      message: CLOB_AUTH_MESSAGE,
      headers: ['POLY_ADDRESS', 'POLY_SIGNATURE', 'POLY_TIMESTAMP', 'POLY_NONCE'],
      typedData: clobAuthTypedData(auth),
      digest: bytesToHex(digest),
      signature: bytesToHex(signExample(digest)),
    },
    l2: {
      algorithm:
        'base64url(HMAC-SHA256(base64-decoded secret, timestamp + METHOD + path + body)), with padding',
      headers: ['POLY_ADDRESS', 'POLY_SIGNATURE', 'POLY_TIMESTAMP', 'POLY_API_KEY', 'POLY_PASSPHRASE'],
      example: { ...L2_EXAMPLE, signature: l2Signature(L2_EXAMPLE.secret, L2_EXAMPLE) },
    },
  };
}

const SALT_EXAMPLE = {
  agentId: '01980000-0000-7000-8000-000000000000',
  clientOrderId: 'my-first-order',
};

/**
 * @returns plain data: every number of more than 53 bits is a text
 * @example
 * const guide = orderSigningGuide({ chainId: 137, domains: exchangeDomains(137), profile: 'interface' });
 */
export function orderSigningGuide(terms: SigningGuideTerms) {
  const { chainId, domains, profile } = terms;
  const { agentId, clientOrderId } = SALT_EXAMPLE;
  return {
    chainId,
    orderProfile: profile,
    domains: domains.map((domain) => ({
      orderVersion: orderVersionOf(domain.version),
      ...saysExchange(domain.version),
      negRisk: domain.negRisk,
      domain: exchangeTypedDomain(domain, chainId) as Eip712Domain,
      separator: bytesToHex(domain.separator),
    })),
    structs: structs(profile),
    factories: { proxy: PROXY_FACTORY, safe: SAFE_FACTORY, deposit: DEPOSIT_FACTORY },
    wrapped: {
      type: DEPOSIT_SIGN_TYPE,
      name: DEPOSIT_DOMAIN_NAME,
      version: DEPOSIT_DOMAIN_VERSION,
      layout: [
        'the 65 bytes of the key over the digest of TypedDataSign, in the domain of the exchange',
        "32 bytes: the exchange's domain separator",
        "32 bytes: the order's struct hash",
        "the order's type text as ASCII",
        '2 bytes, big-endian: the length of that text',
      ],
    },
    salt: {
      rule: 'first 53 bits of keccak256 of "bellwether order salt v1", agentId and clientOrderId, joined by line feeds',
      example: { ...SALT_EXAMPLE, salt: saltOf(agentId, clientOrderId) },
    },
    authentication: authentication(chainId),
    exampleKey: EXAMPLE_KEY,
    exampleWallets: walletKindsOf(EXAMPLE_EOA),
    examples: EXAMPLE_FORMS.map((form) => orderExample(terms, form)),
  };
}

export type OrderSigningGuide = ReturnType<typeof orderSigningGuide>;
