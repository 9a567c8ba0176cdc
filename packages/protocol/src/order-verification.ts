/**
 * Checks who signed an order and whether that signer may sign it. One recovery in the usual case. Only a refused
 * signature gets a diagnosis: which check failed, what was recovered and what was expected.
 */
import type { Address } from './address.ts';
import { bytesToHex, equalBytes } from './bytes.ts';
import {
  looksWrapped,
  parseWrappedSignature,
  typedDataSignDigest,
  type WrappedSignature,
} from './deposit-signature.ts';
import {
  type ExchangeVersion,
  exchangeDomain,
  ORDER_TYPE,
  type OrderVersion,
  orderDigest,
  orderVersionOf,
  POLYMARKET_ORDER_TYPE,
  signsExtras,
} from './order.ts';
import {
  describeDomain,
  type SentOrder,
  type SignatureRules,
  type SigningTerms,
  structHash,
} from './order-signing-terms.ts';
import { isPositionId } from './position-ids.ts';
import { type ParsedSignature, parseSignature, recoverAddress } from './signature.ts';
import {
  culpritOf,
  culpritOfWrapped,
  expectation,
  isExtendedType,
  type Subject,
} from './signature-diagnosis.ts';
import { controlsWallet, walletKindsOf } from './wallets.ts';

export interface VerifiedOrder {
  readonly ok: true;
  /** The EIP-712 digest, lower-case 0x hex. */
  readonly orderId: string;
  readonly version: OrderVersion;
  /** Version of the contract that it is signed for. */
  readonly exchangeVersion: ExchangeVersion;
  readonly eoa: Address;
}

/** Which check failed, what was recovered, and what was expected. */
export type SignatureDiagnosis = Readonly<Record<string, unknown>> & { readonly check: string };

export interface RefusedOrder {
  readonly ok: false;
  readonly diagnosis: SignatureDiagnosis;
  /** The next step. */
  readonly fix: string;
}

const refuse = (diagnosis: SignatureDiagnosis, fix: string): RefusedOrder => ({ ok: false, diagnosis, fix });

/** The contracts' versions that the order may be signed for, most likely first: its token decides between Protocol V1 and V2. */
function versionsOf({ fields, version }: SentOrder): readonly ExchangeVersion[] {
  if (isPositionId(fields.tokenId)) return [3];
  return version === null ? [2, 1] : [version];
}

/**
 * Every possible id of this order: one per contract that the request does not exclude.
 * @example
 * const ids = candidateOrderIds(sent, { domains: exchangeDomains(137), chainId: 137, profile: 'interface' });
 */
export function candidateOrderIds(sent: SentOrder, rules: SigningTerms): string[] {
  const ids: string[] = [];
  const versions = versionsOf(sent);
  for (const domain of rules.domains) {
    if (!versions.includes(domain.version)) continue;
    const struct = structHash(sent, domain.version, rules.profile);
    if (struct !== null) ids.push(bytesToHex(orderDigest(domain.separator, struct)));
  }
  return ids;
}

/** The order's digest under a version; `null` when the request lacks that version's fields. */
function plainDigest(
  sent: SentOrder,
  version: ExchangeVersion,
  negRisk: boolean,
  rules: SigningTerms,
): Uint8Array | null {
  const struct = structHash(sent, version, rules.profile);
  return struct === null
    ? null
    : orderDigest(exchangeDomain(rules.domains, version, negRisk).separator, struct);
}

/** The order's digest and the one that a deposit wallet signs around it; `null` when the parts are another order's. */
function wrappedMessage(
  sent: SentOrder,
  version: ExchangeVersion,
  negRisk: boolean,
  { rules, parts }: { readonly rules: SigningTerms; readonly parts: WrappedSignature },
): { readonly plain: Uint8Array; readonly signed: Uint8Array } | null {
  const struct = structHash(sent, version, rules.profile);
  if (struct === null) return null;
  const { separator } = exchangeDomain(rules.domains, version, negRisk);
  if (!equalBytes(separator, parts.separator) || !equalBytes(struct, parts.contentsHash)) return null;
  const signed = typedDataSignDigest({
    separator,
    contentsHash: struct,
    orderType: signsExtras(version, rules.profile) ? POLYMARKET_ORDER_TYPE : ORDER_TYPE,
    wallet: sent.fields.maker,
    chainId: rules.chainId,
  });
  return { plain: orderDigest(separator, struct), signed };
}

/**
 * @param negRisk which of the two contracts of a version the market belongs to; ExchangeV3 is one for all of its markets
 * @example
 * const verdict = verifyOrder(sent, false, {
 *   ...{ domains: exchangeDomains(137), chainId: 137, profile: 'interface' },
 *   recover: nobleRecover,
 * });
 */
export function verifyOrder(
  sent: SentOrder,
  negRisk: boolean,
  rules: SignatureRules,
): VerifiedOrder | RefusedOrder {
  const versions = versionsOf(sent);
  const unfit = versions[0] === 3 ? unfitForV3(sent, { negRisk, rules, versions }) : null;
  if (unfit !== null) return unfit;
  const wrapped = looksWrapped(sent.signature);
  if (wrapped && sent.fields.signatureType !== 3) {
    return refuse(
      {
        check: 'signature_form',
        reason: 'wrong_length',
        expected: '65 bytes',
        signatureType: sent.fields.signatureType,
      },
      'Only deposit wallets (signatureType 3) sign in the wrapped form; send the 65-byte signature of the EOA.',
    );
  }
  if (wrapped) return verifyWrapped(sent, negRisk, versions, rules);
  const parsed = parseSignature(sent.signature);
  if (!parsed.ok) {
    return refuse(
      { check: 'signature_form', reason: parsed.reason, expected: '65 bytes r‖s‖v, low s, v 27 or 28' },
      'Sign again with a current signer and send its 65 bytes unchanged.',
    );
  }
  let recovered: Address | null = null;
  for (const version of versions) {
    const digest = plainDigest(sent, version, negRisk, rules);
    if (digest === null) continue;
    const answer = recoverAddress(rules.recover, digest, parsed);
    if (!answer.ok) continue;
    recovered ??= answer.address;
    if (answer.address === sent.fields.signer)
      return ownership(sent, version, bytesToHex(digest), answer.address);
  }
  return diagnose({ sent, negRisk, rules, versions }, parsed, recovered);
}

/**
 * What `verifyOrder` finds of an order that is not signed yet, once this key has signed it.
 * @param eoa whose key will sign; `null`: not known, of a deposit wallet that signs by ERC-7739
 * @example
 * const rules = { domains: exchangeDomains(137), chainId: 137, profile: 'interface' } as const;
 * const found = unsignedOrder(sent, false, rules, sent.fields.signer);
 */
export function unsignedOrder(
  sent: SentOrder,
  negRisk: boolean,
  rules: SigningTerms,
  eoa: Address | null,
): VerifiedOrder | RefusedOrder {
  const versions = versionsOf(sent);
  const unfit = versions[0] === 3 ? unfitForV3(sent, { negRisk, rules, versions }) : null;
  if (unfit !== null) return unfit;
  for (const version of versions) {
    const digest = plainDigest(sent, version, negRisk, rules);
    if (digest === null) continue;
    const orderId = bytesToHex(digest);
    if (eoa !== null) return ownership(sent, version, orderId, eoa);
    return {
      ok: true,
      orderId,
      version: orderVersionOf(version),
      exchangeVersion: version,
      eoa: sent.fields.maker,
    };
  }
  return refuse(
    { check: 'order_profile', expectedContract: contractsOf({ negRisk, rules, versions }) },
    'This venue signs the 11-field version 2 struct: send its timestamp, metadata and builder.',
  );
}

/** The reason why an order cannot be for ExchangeV3, independent of its signer. */
function unfitForV3(
  { version, extras }: SentOrder,
  subject: Parameters<typeof contractsOf>[0],
): RefusedOrder | null {
  if (version === 1)
    return refuse(
      { check: 'order_version', culprit: 'orderVersion', expectedContract: contractsOf(subject) },
      'This market trades on ExchangeV3: send orderVersion 2 with the order, or leave it out.',
    );
  if (extras === null)
    return refuse(
      {
        check: 'order_fields',
        culprit: 'order.timestamp, order.metadata, order.builder',
        expectedContract: contractsOf(subject),
      },
      'This market trades on ExchangeV3, whose order has 11 fields in every profile: send the timestamp, metadata and builder that were signed.',
    );
  return null;
}

/** The signature is the signer's; checks that the maker's wallet is, too. */
function ownership(
  sent: SentOrder,
  version: ExchangeVersion,
  orderId: string,
  eoa: Address,
): VerifiedOrder | RefusedOrder {
  const { maker } = sent.fields;
  if (controlsWallet(eoa, sent.fields.signatureType, maker))
    return { ok: true, orderId, version: orderVersionOf(version), exchangeVersion: version, eoa };
  const kinds = walletKindsOf(eoa);
  const expected = [kinds.eoa, kinds.proxy, kinds.safe, `${kinds.deposit.beacon} or ${kinds.deposit.uups}`][
    sent.fields.signatureType
  ];
  return refuse(
    {
      check: 'wallet',
      signatureType: sent.fields.signatureType,
      recovered: eoa,
      maker,
      expected: expected ?? null,
    },
    sent.fields.signatureType === 0
      ? 'For signatureType 0 maker, signer and the EOA are one address.'
      : 'For signatureType 1, 2 and 3 maker is the wallet that the factory derives from the signing EOA.',
  );
}

/** ERC-7739: maker and signer are the deposit wallet, and the EOA signed a message around the order. */
function verifyWrapped(
  sent: SentOrder,
  negRisk: boolean,
  versions: readonly ExchangeVersion[],
  rules: SignatureRules,
): VerifiedOrder | RefusedOrder {
  const { maker, signer } = sent.fields;
  const parts = parseWrappedSignature(sent.signature);
  if (!parts.ok && parts.reason === 'unknown_order_type' && isExtendedType(sent.signature)) {
    return refuse(
      {
        check: 'deprecated_fields',
        culprit: 'struct of 15 fields',
        ...expectation({ sent, negRisk, rules, versions }),
      },
      'The signed struct has 15 fields: sign the 12-field struct without timestamp, metadata and builder.',
    );
  }
  if (!parts.ok) {
    return refuse(
      { check: 'signature_form', reason: parts.reason, expected: 'a wrapped ERC-7739 signature' },
      'Send inner signature, domain separator, struct hash, type text and its length, as the deposit wallet expects them.',
    );
  }
  const inner = parseSignature(parts.inner);
  if (!inner.ok) {
    return refuse(
      { check: 'signature_form', reason: inner.reason, expected: 'an inner signature of 65 bytes, low s' },
      'Sign again with a current signer.',
    );
  }
  if (maker !== signer) {
    return refuse(
      { check: 'signer', expected: maker, got: signer },
      'A wrapped signature goes with maker = signer = the deposit wallet; else send the plain 65 bytes of the EOA.',
    );
  }
  for (const version of versions) {
    const message = wrappedMessage(sent, version, negRisk, { rules, parts });
    if (message === null) continue;
    const answer = recoverAddress(rules.recover, message.signed, inner);
    if (answer.ok) return ownership(sent, version, bytesToHex(message.plain), answer.address);
  }
  const subject = { sent, negRisk, rules, versions };
  const base = { expectedContract: contractsOf(subject), ...expectation(subject) };
  const found = culpritOfWrapped(subject, parts);
  if (found !== null)
    return refuse({ check: found.check, culprit: found.culprit, ...base, ...found.facts }, found.fix);
  const named = rules.domains.find((domain) => equalBytes(domain.separator, parts.separator));
  return refuse(
    {
      check: named === undefined ? 'verifying_contract' : 'order_hash',
      signedFor: named === undefined ? null : describeDomain(named),
      expected: base.expectedContract,
      ...base,
    },
    'Sign exactly the order that is sent, for the exchange contract of this market.',
  );
}

/** Always names the expected message, and the signed one where it can be determined. */
function diagnose(subject: Subject, parsed: ParsedSignature, recovered: Address | null): RefusedOrder {
  const { sent } = subject;
  const base = {
    recovered,
    expected: sent.fields.signer,
    expectedContract: contractsOf(subject),
    ...expectation(subject),
  };
  const found = culpritOf(subject, parsed, subject.versions.length);
  if (found !== null) {
    const { check, culprit, facts, fix } = found;
    return refuse({ check, culprit, ...base, recovered: sent.fields.signer, ...facts }, fix);
  }
  if (subject.rules.profile === 'polymarket' && sent.extras === null && sent.version !== 1) {
    return refuse(
      { check: 'order_profile', ...base },
      'This venue signs the 11-field version 2 struct: send the timestamp, metadata and builder that were signed.',
    );
  }
  return refuse(
    { check: 'signer', ...base },
    'Sign exactly the order that is sent, with the key of order.signer: "typedData" in the diagnosis is what to sign.',
  );
}

const contractsOf = ({
  rules,
  negRisk,
  versions,
}: Pick<Subject, 'negRisk' | 'versions'> & { readonly rules: SigningTerms }): string =>
  versions.map((version) => describeDomain(exchangeDomain(rules.domains, version, negRisk))).join(' or ');
