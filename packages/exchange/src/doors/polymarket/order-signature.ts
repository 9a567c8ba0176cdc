/**
 * Who signed an order, and under which of the venue's structs and contracts. Wire reference 5.2 and 5.3. The doors accept the
 * 12-field struct under the contracts of versions 1 and 2, and the 11-field struct under those of version 2.
 */
import {
  type Address,
  bytesToHex,
  controlsWallet,
  domainSeparator,
  type ExchangeDomains,
  equalBytes,
  exchangeDomain,
  looksWrapped,
  ORDER_DOMAIN_NAME,
  ORDER_TYPE,
  orderDigest,
  orderStructHash,
  POLYMARKET_ORDER_TYPE,
  parseSignature,
  parseWrappedSignature,
  polymarketOrderStructHash,
  type RecoverPublicKey,
  recoverAddress,
  typedDataSignDigest,
} from '@bellwether/protocol';
import type { PostedBody } from './order-body.ts';

export interface SignatureTerms {
  readonly domains: ExchangeDomains;
  readonly chainId: number;
  readonly recover: RecoverPublicKey;
}

export type SignatureVerdict =
  | { readonly ok: true; readonly orderId: string }
  /** `order_version_mismatch`: it is signed for the contract of the third version. */
  | { readonly ok: false; readonly fault: 'invalid signature' | 'order_version_mismatch' };

/** The contract of the venue's third version. */
const EXCHANGE_V3 = '0xe3333700ca9d93003f00f0f71f8515005f6c00aa' as Address;
const INVALID: SignatureVerdict = { ok: false, fault: 'invalid signature' };

/** A struct that the order may have been signed as, under a contract. */
interface Candidate {
  readonly separator: Uint8Array;
  readonly struct: Uint8Array;
  readonly orderType: string;
}

/** The one that clients of today sign comes first. */
function candidatesOf(
  { fields, extras }: PostedBody,
  negRisk: boolean,
  domains: ExchangeDomains,
): Candidate[] {
  const v2 = exchangeDomain(domains, 2, negRisk).separator;
  const twelve = { struct: orderStructHash(fields), orderType: ORDER_TYPE };
  const versions = [
    { ...twelve, separator: v2 },
    { ...twelve, separator: exchangeDomain(domains, 1, negRisk).separator },
  ];
  if (extras === null) return versions;
  const struct = polymarketOrderStructHash({ ...fields, ...extras });
  return [{ separator: v2, struct, orderType: POLYMARKET_ORDER_TYPE }, ...versions];
}

const separatorsOfV3 = new Map<number, Uint8Array>();

function separatorOfV3(chainId: number): Uint8Array {
  const known = separatorsOfV3.get(chainId);
  if (known !== undefined) return known;
  const terms = { name: ORDER_DOMAIN_NAME, version: '3', chainId, verifyingContract: EXCHANGE_V3 };
  const separator = domainSeparator(terms);
  separatorsOfV3.set(chainId, separator);
  return separator;
}

/** @param eoa the address that has to have signed: the API key's owner */
export function verifyPostedOrder(
  body: PostedBody,
  negRisk: boolean,
  eoa: Address,
  terms: SignatureTerms,
): SignatureVerdict {
  const { fields, extras } = body;
  if (!controlsWallet(eoa, fields.signatureType, fields.maker)) return INVALID;
  const isSignedBy = signatureCheck(body, eoa, terms);
  if (isSignedBy === null) return INVALID;
  for (const candidate of candidatesOf(body, negRisk, terms.domains))
    if (isSignedBy(candidate))
      return { ok: true, orderId: bytesToHex(orderDigest(candidate.separator, candidate.struct)) };
  if (extras === null) return INVALID;
  const struct = polymarketOrderStructHash({ ...fields, ...extras });
  const third = { separator: separatorOfV3(terms.chainId), struct, orderType: POLYMARKET_ORDER_TYPE };
  return isSignedBy(third) ? { ok: false, fault: 'order_version_mismatch' } : INVALID;
}

/** @returns `null` for a signature that no key can have made of any order */
function signatureCheck(
  { fields, signature }: PostedBody,
  eoa: Address,
  { recover, chainId }: SignatureTerms,
): ((candidate: Candidate) => boolean) | null {
  const isWrapped = looksWrapped(signature);
  // A wrapped signature is the wallet's own; a plain one is its owner's.
  if (isWrapped && (fields.signatureType !== 3 || fields.signer !== fields.maker)) return null;
  const wrapped = isWrapped ? parseWrappedSignature(signature) : null;
  if (wrapped?.ok === false) return null;
  const parsed = parseSignature(wrapped === null ? signature : wrapped.inner);
  if (!parsed.ok) return null;
  const isOf = (digest: Uint8Array): boolean => {
    const answer = recoverAddress(recover, digest, parsed);
    return answer.ok && answer.address === eoa;
  };
  if (wrapped === null) return ({ separator, struct }) => isOf(orderDigest(separator, struct));
  return ({ separator, struct, orderType }) =>
    orderType === wrapped.orderType &&
    equalBytes(separator, wrapped.separator) &&
    equalBytes(struct, wrapped.contentsHash) &&
    isOf(typedDataSignDigest({ separator, contentsHash: struct, orderType, wallet: fields.maker, chainId }));
}
