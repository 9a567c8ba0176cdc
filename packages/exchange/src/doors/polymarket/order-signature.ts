/**
 * Who signed an order, and under which of the venue's structs and contracts. Wire reference 5.2 and 5.3. In markets of Protocol V1 the
 * doors accept the 12-field struct under the contracts of versions 1 and 2, and the 11-field struct under those of version 2; in markets
 * of Protocol V2 the 11-field struct under ExchangeV3.
 */
import {
  type Address,
  bytesToHex,
  controlsWallet,
  type ExchangeDomain,
  type ExchangeDomains,
  equalBytes,
  exchangeDomain,
  isPositionId,
  looksWrapped,
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
  /** `order_version_mismatch`: it is signed for a contract of the other protocol. */
  | { readonly ok: false; readonly fault: 'invalid signature' | 'order_version_mismatch' };

const INVALID: SignatureVerdict = { ok: false, fault: 'invalid signature' };

/** A struct that the order may have been signed as, under a contract. */
interface Candidate {
  readonly separator: Uint8Array;
  readonly struct: Uint8Array;
  readonly orderType: string;
}

/** The one that clients of today sign comes first. */
function candidatesOfV1({ fields, extras }: PostedBody, domains: readonly ExchangeDomain[]): Candidate[] {
  const twelve = { struct: orderStructHash(fields), orderType: ORDER_TYPE };
  const candidates = domains.map(({ separator }) => ({ ...twelve, separator }));
  if (extras === null) return candidates;
  const struct = polymarketOrderStructHash({ ...fields, ...extras });
  const ofV2 = domains.filter(({ version }) => version === 2);
  return [
    ...ofV2.map(({ separator }) => ({ separator, struct, orderType: POLYMARKET_ORDER_TYPE })),
    ...candidates,
  ];
}

function candidatesOfV3({ fields, extras }: PostedBody, { separator }: ExchangeDomain): Candidate[] {
  if (extras === null) return [];
  const struct = polymarketOrderStructHash({ ...fields, ...extras });
  return [{ separator, struct, orderType: POLYMARKET_ORDER_TYPE }];
}

/**
 * @param negRisk of the order's market; its token says which protocol the market is of
 * @param eoa the address that has to have signed: the API key's owner
 */
export function verifyPostedOrder(
  body: PostedBody,
  negRisk: boolean,
  eoa: Address,
  terms: SignatureTerms,
): SignatureVerdict {
  const { fields } = body;
  const { domains } = terms;
  if (!controlsWallet(eoa, fields.signatureType, fields.maker)) return INVALID;
  const isSignedBy = signatureCheck(body, eoa, terms);
  if (isSignedBy === null) return INVALID;
  const third = exchangeDomain(domains, 3, negRisk);
  const isOfV2 = isPositionId(fields.tokenId);
  const own = isOfV2
    ? candidatesOfV3(body, third)
    : candidatesOfV1(body, [exchangeDomain(domains, 2, negRisk), exchangeDomain(domains, 1, negRisk)]);
  for (const candidate of own)
    if (isSignedBy(candidate))
      return { ok: true, orderId: bytesToHex(orderDigest(candidate.separator, candidate.struct)) };
  const others = isOfV2
    ? candidatesOfV1(
        body,
        domains.filter((domain) => domain !== third),
      )
    : candidatesOfV3(body, third);
  return others.some(isSignedBy) ? { ok: false, fault: 'order_version_mismatch' } : INVALID;
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
