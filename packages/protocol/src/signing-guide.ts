/**
 * How the messages of a signing venue are made, as data: domains, structs, wallets and authentication, with a worked example
 * of each form. Everything is computed by the functions that verify, so it cannot differ from what is accepted.
 */
import type { Address } from './address.ts';
import { bytesToHex, hexToBytes } from './bytes.ts';
import { CLOB_AUTH_MESSAGE, CLOB_AUTH_TYPE, clobAuthDigest } from './clob-auth.ts';
import {
  DEPOSIT_DOMAIN_NAME,
  DEPOSIT_DOMAIN_VERSION,
  DEPOSIT_SIGN_TYPE,
  typedDataSignDigest,
  wrapDepositSignature,
} from './deposit-signature.ts';
import { type Eip712Domain, hashText } from './eip712.ts';
import { l2Signature } from './l2.ts';
import {
  type ExchangeDomains,
  type ExchangeVersion,
  exchangeDomain,
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
  signsExtras,
} from './order.ts';
import { saltOf } from './order-salt.ts';
import { signDigest } from './signature.ts';
import {
  clobAuthTypedData,
  exchangeTypedDomain,
  orderTypedData,
  type TypedData,
  typeFields,
  wrappedOrderTypedData,
} from './typed-data.ts';
import { DEPOSIT_FACTORY, PROXY_FACTORY, SAFE_FACTORY, type WalletKinds, walletKindsOf } from './wallets.ts';

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
const ZERO = '0x0000000000000000000000000000000000000000' as Address;

const EXAMPLE_ORDER: OrderFields = {
  salt: 479_249_096_354n,
  maker: EXAMPLE_EOA,
  signer: EXAMPLE_EOA,
  taker: ZERO,
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

const sign = (digest: Uint8Array): Uint8Array => signDigest(digest, hexToBytes(EXAMPLE_KEY));

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
      signature: bytesToHex(sign(plain)),
    };
  const orderType = extras === null ? ORDER_TYPE : POLYMARKET_ORDER_TYPE;
  const digest = typedDataSignDigest({ separator, contentsHash, orderType, wallet: maker, chainId });
  return {
    ...common,
    typedData: wrappedOrderTypedData(message, maker),
    digest: bytesToHex(digest),
    signature: wrapDepositSignature({ inner: sign(digest), separator, contentsHash, orderType }),
  };
}

const FORMS: readonly ExampleForm[] = [
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
      signature: bytesToHex(sign(digest)),
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
    examples: FORMS.map((form) => orderExample(terms, form)),
  };
}

export type OrderSigningGuide = ReturnType<typeof orderSigningGuide>;
