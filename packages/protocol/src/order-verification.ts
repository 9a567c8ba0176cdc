/**
 * Checks who signed an order and whether that signer may sign it. One recovery in the usual case. Only a refused
 * signature gets a diagnosis: which check failed, what was recovered and what was expected.
 */
import {
  type Address,
  domainSeparator,
  type ParsedSignature,
  parseSignature,
  type RecoverPublicKey,
  recoverAddress,
} from './accounts.ts';
import { bytesToHex, equalBytes } from './bytes.ts';
import {
  EXTENDED_ORDER_TYPE,
  type ExchangeDomain,
  type ExchangeDomains,
  type ExchangeVersion,
  exchangeDomain,
  extendedOrderStructHash,
  ORDER_TYPE,
  type OrderExtras,
  type OrderFields,
  type OrderProfile,
  type OrderVersion,
  orderDigest,
  orderStructHash,
  orderStructHashWithTextSide,
  orderVersionOf,
  POLYMARKET_ORDER_TYPE,
  polymarketOrderStructHash,
  type SignatureType,
  signsExtras,
} from './order.ts';
import { isPositionId } from './token-ids.ts';
import { exchangeTypedDomain, orderTypedData } from './typed-data.ts';
import {
  controlsWallet,
  looksWrapped,
  parseWrappedSignature,
  typedDataSignDigest,
  type WrappedSignature,
  walletKindsOf,
} from './wallets.ts';

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

// Input of the judgement on an order's signature: the order as it was sent, and the terms of its venue.

export interface SentOrder {
  readonly fields: OrderFields;
  /** timestamp, metadata and builder, if any of them was sent. */
  readonly extras: OrderExtras | null;
  /** As it was sent: hex. */
  readonly signature: string;
  /** `null` when the sender did not say. */
  readonly version: OrderVersion | null;
}

/** The contracts and the struct that a venue's orders are signed for. */
export interface SigningTerms {
  readonly domains: ExchangeDomains;
  readonly chainId: number;
  readonly profile: OrderProfile;
}

export interface SignatureRules extends SigningTerms {
  readonly recover: RecoverPublicKey;
}

/**
 * The hash of the struct that this profile signs under a version; `null` when the request lacks its fields.
 * @example
 * const contentsHash = structHash({ fields, extras: null }, 2, 'interface');
 */
export function structHash(
  sent: Pick<SentOrder, 'fields' | 'extras'>,
  version: ExchangeVersion,
  profile: OrderProfile,
): Uint8Array | null {
  if (!signsExtras(version, profile)) return orderStructHash(sent.fields);
  return sent.extras === null ? null : polymarketOrderStructHash({ ...sent.fields, ...sent.extras });
}

/**
 * @example
 * describeDomain(exchangeDomain(exchangeDomains(137), 2, true));
 */
export const describeDomain = (domain: ExchangeDomain): string =>
  `version ${domain.version}${domain.negRisk ? ' neg-risk' : ''} ${domain.verifyingContract}`;

// Finds out why a signature is not the signer's. Tries common mistakes one at a time, most frequent first, and names the
// one that explains the signature. Only for orders that are refused anyway, with at most `MOST_RECOVERIES`
// recoveries, so that an attacker cannot use it to load the service.

const MOST_RECOVERIES = 32;

/** Chains that signers have, or had, as their default. */
const OTHER_CHAINS = [137, 80_002, 1, 31_337, 80_001];
const OTHER_NAMES = [
  'CTF Exchange',
  'Polymarket',
  'ClobAuthDomain',
  'Polymarket CTF Exchange V2',
  'Polymarket Neg Risk CTF Exchange',
  'CTFExchange',
];
const sideOf = ({ fields }: SentOrder): 'BUY' | 'SELL' => (fields.side === 0 ? 'BUY' : 'SELL');
const NO_EXTRAS: OrderExtras = { timestamp: 0n, metadata: new Uint8Array(32), builder: new Uint8Array(32) };

interface Culprit {
  readonly check: string;
  /** The mistake as text. */
  readonly culprit: string;
  readonly fix: string;
  readonly facts?: Readonly<Record<string, unknown>>;
}

/** A message that the signer may have signed by mistake. */
interface Candidate extends Culprit {
  readonly separator: Uint8Array;
  readonly struct: Uint8Array;
}

/** The order, the market's contract, and the possible versions of the contract, most likely first. */
interface Subject {
  readonly sent: SentOrder;
  readonly negRisk: boolean;
  readonly rules: SignatureRules;
  readonly versions: readonly ExchangeVersion[];
}

function* candidates(subject: Subject): Generator<Candidate> {
  yield* contracts(subject);
  for (const version of subject.versions) {
    const wanted = exchangeDomain(subject.rules.domains, version, subject.negRisk);
    yield* structs(subject, wanted);
    yield* signatureTypes(subject, wanted);
    yield* sides(subject, wanted);
    yield* domains(subject, wanted);
  }
}

/** The same order for another of the exchange's contracts. */
function* contracts(subject: Subject): Generator<Candidate> {
  const { sent, negRisk, rules, versions } = subject;
  for (const domain of rules.domains) {
    // Already tried by the verification.
    if (
      domain === exchangeDomain(rules.domains, domain.version, negRisk) &&
      versions.includes(domain.version)
    )
      continue;
    const isOtherProtocol = (domain.version === 3) !== (versions[0] === 3);
    const profiles = isOtherProtocol && domain.version === 2 ? BOTH_PROFILES : [rules.profile];
    for (const profile of profiles) {
      const struct = structHash({ ...sent, extras: sent.extras ?? NO_EXTRAS }, domain.version, profile);
      if (struct === null) continue;
      const mistake = isOtherProtocol ? otherProtocol(subject, domain) : otherContract(subject, domain);
      yield { separator: domain.separator, struct, ...mistake };
    }
  }
}

const BOTH_PROFILES = ['polymarket', 'interface'] as const;

const wantedContracts = ({ negRisk, rules, versions }: Subject): string =>
  versions.map((version) => describeDomain(exchangeDomain(rules.domains, version, negRisk))).join(' or ');

/** Signed for a contract of Protocol V1 in a market of Protocol V2, or the reverse. */
function otherProtocol(subject: Subject, domain: ExchangeDomain): Culprit {
  const [wanted = 2] = subject.versions;
  return {
    check: 'market_version',
    culprit: 'domain.verifyingContract',
    facts: { signedFor: describeDomain(domain) },
    fix: `The order is signed for the V${domain.version} exchange; this market trades on V${wanted}: sign with version "${wanted}" in the domain, for ${wantedContracts(subject)}.`,
  };
}

function otherContract(subject: Subject, domain: ExchangeDomain): Culprit {
  const { sent, negRisk } = subject;
  const isVersion = sent.version !== null && domain.version !== sent.version;
  const signedFor = describeDomain(domain);
  return {
    check: isVersion ? 'order_version' : 'verifying_contract',
    culprit: isVersion ? 'orderVersion' : 'domain.verifyingContract',
    facts: { signedFor },
    fix: isVersion
      ? `The order verifies for version ${domain.version}: send orderVersion ${domain.version}, or sign for version ${sent.version}.`
      : `The order is signed for ${signedFor}; this market's negRisk is ${negRisk}: sign for ${wantedContracts(subject)}.`,
  };
}

/** Another struct of the same name. */
function* structs({ sent, rules }: Subject, wanted: ExchangeDomain): Generator<Candidate> {
  const extras = sent.extras ?? NO_EXTRAS;
  const eleven = polymarketOrderStructHash({ ...sent.fields, ...extras });
  const fifteen = extendedOrderStructHash(sent.fields, extras);
  const isOwn = signsExtras(wanted.version, rules.profile);
  const expected = isOwn ? 'the 11-field struct' : 'the 12-field struct';
  const forms = isOwn
    ? ([['12 fields', orderStructHash(sent.fields), 'order_profile']] as const)
    : ([['11 fields', eleven, 'deprecated_fields']] as const);
  for (const [fields, struct, check] of [...forms, ['15 fields', fifteen, 'deprecated_fields'] as const]) {
    yield {
      separator: wanted.separator,
      struct,
      check,
      culprit: `struct of ${fields}`,
      facts: { signedFor: describeDomain(wanted), signedStruct: fields },
      fix: isOwn
        ? `The signed struct has ${fields}; this market's orders have ${expected}: salt, maker, signer, tokenId, makerAmount, takerAmount, side, signatureType, timestamp, metadata, builder.`
        : `The signed struct has ${fields}: timestamp, metadata and builder are part of the signed digest; sign the 12-field struct without them.`,
    };
  }
}

function* signatureTypes({ sent, rules }: Subject, wanted: ExchangeDomain): Generator<Candidate> {
  for (const signatureType of [0, 1, 2, 3] as const satisfies readonly SignatureType[]) {
    if (signatureType === sent.fields.signatureType) continue;
    const struct = structHash(
      { ...sent, fields: { ...sent.fields, signatureType } },
      wanted.version,
      rules.profile,
    );
    if (struct === null) continue;
    yield {
      separator: wanted.separator,
      struct,
      check: 'signature_type',
      culprit: 'order.signatureType',
      facts: { signedAs: signatureType, sent: sent.fields.signatureType },
      fix: `The order was signed as signatureType ${signatureType} and sent as ${sent.fields.signatureType}: send what was signed.`,
    };
  }
}

/** The other side, or the side as text. */
function* sides({ sent, rules }: Subject, wanted: ExchangeDomain): Generator<Candidate> {
  const side = sent.fields.side === 0 ? 1 : 0;
  const flipped = structHash({ ...sent, fields: { ...sent.fields, side } }, wanted.version, rules.profile);
  const common = { separator: wanted.separator, check: 'side', culprit: 'order.side' };
  if (flipped !== null) {
    yield {
      ...common,
      struct: flipped,
      facts: { signedAs: side === 0 ? 'BUY' : 'SELL', sent: sideOf(sent) },
      fix: `The order was signed as ${side === 0 ? 'BUY (0)' : 'SELL (1)'} and sent as ${sideOf(sent)}: send what was signed. BUY is 0 and SELL is 1.`,
    };
  }
  yield {
    ...common,
    struct: orderStructHashWithTextSide(sent.fields, sideOf(sent)),
    facts: { signedAs: 'string side', sent: sideOf(sent) },
    fix: 'side was signed as a text: in the struct it is uint8 side, 0 for BUY and 1 for SELL.',
  };
}

/** The same order under a domain that differs in one field. */
function* domains({ sent, rules }: Subject, wanted: ExchangeDomain): Generator<Candidate> {
  const struct = structHash(sent, wanted.version, rules.profile);
  if (struct === null) return;
  const right = exchangeTypedDomain(wanted, rules.chainId);
  const { verifyingContract: _left, ...bare } = right;
  for (const chainId of OTHER_CHAINS.filter((id) => id !== rules.chainId)) {
    yield {
      separator: domainSeparator({ ...right, chainId }),
      struct,
      check: 'chain_id',
      culprit: 'domain.chainId',
      facts: { signedChainId: chainId, expectedChainId: rules.chainId },
      fix: `The order is signed for chain ${chainId}: sign it with chainId ${rules.chainId} in the domain.`,
    };
  }
  for (const otherVersion of ['2', '1', '3'].filter((version) => version !== right.version)) {
    yield {
      separator: domainSeparator({ ...right, version: otherVersion }),
      struct,
      check: 'domain_version',
      culprit: 'domain.version',
      facts: { signedVersion: otherVersion, expectedVersion: right.version },
      fix: `The domain was signed with version "${otherVersion}" for the contract of version ${right.version}: sign it with version "${right.version}".`,
    };
  }
  for (const name of OTHER_NAMES) {
    yield {
      separator: domainSeparator({ ...right, name }),
      struct,
      check: 'domain_name',
      culprit: 'domain.name',
      facts: { signedName: name, expectedName: right.name },
      fix: `The domain was signed with the name "${name}": sign it with "${right.name}".`,
    };
  }
  yield {
    separator: domainSeparator(bare),
    struct,
    check: 'verifying_contract',
    culprit: 'domain.verifyingContract',
    facts: { signedFor: null },
    fix: `The domain was signed without verifyingContract: sign for ${describeDomain(wanted)}.`,
  };
}

/** @param spent recoveries used for this refusal so far */
function culpritOf(subject: Subject, parsed: ParsedSignature, spent: number): Culprit | null {
  const { sent, rules } = subject;
  let left = MOST_RECOVERIES - spent;
  for (const candidate of candidates(subject)) {
    if (left === 0) return null;
    left -= 1;
    const digest = orderDigest(candidate.separator, candidate.struct);
    const answer = recoverAddress(rules.recover, digest, parsed);
    if (answer.ok && answer.address === sent.fields.signer) return candidate;
  }
  return null;
}

/** A wrapped signature contains the signed message, so no recovery is necessary. */
function culpritOfWrapped(
  subject: Subject,
  parts: { readonly separator: Uint8Array; readonly contentsHash: Uint8Array },
): Culprit | null {
  for (const candidate of candidates(subject))
    if (equalBytes(candidate.separator, parts.separator) && equalBytes(candidate.struct, parts.contentsHash))
      return candidate;
  return null;
}

/** The expected message: the digest, and its typed data for any EIP-712 signer. */
function expectation({ sent, negRisk, rules, versions }: Subject): Readonly<Record<string, unknown>> {
  const version = versions[0] ?? 2;
  const wanted = exchangeDomain(rules.domains, version, negRisk);
  const isOwn = signsExtras(version, rules.profile);
  const whole = { ...sent, extras: sent.extras ?? NO_EXTRAS };
  const struct = structHash(whole, version, rules.profile);
  if (struct === null) return {};
  return {
    expectedDigest: bytesToHex(orderDigest(wanted.separator, struct)),
    typedData: orderTypedData({
      domain: wanted,
      chainId: rules.chainId,
      fields: sent.fields,
      extras: isOwn ? whole.extras : null,
    }),
  };
}

/** The message of a wrapped signature with an unknown type text, if it can be determined. */
const isExtendedType = (signature: string): boolean =>
  signature.toLowerCase().includes(bytesToHex(new TextEncoder().encode(EXTENDED_ORDER_TYPE)).slice(2));
