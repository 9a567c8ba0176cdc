/**
 * Finds out why a signature is not the signer's. Tries common mistakes one at a time, most frequent first, and names the
 * one that explains the signature. Only for orders that are refused anyway, with at most {@link MOST_RECOVERIES}
 * recoveries, so that an attacker cannot use it to load the service.
 */

import { bytesToHex, equalBytes } from './bytes.ts';
import { domainSeparator } from './eip712.ts';
import type { SignatureType } from './order.ts';
import {
  EXTENDED_ORDER_TYPE,
  type ExchangeDomain,
  type ExchangeVersion,
  exchangeDomain,
  extendedOrderStructHash,
  type OrderExtras,
  orderDigest,
  orderStructHash,
  orderStructHashWithTextSide,
  polymarketOrderStructHash,
  signsExtras,
} from './order.ts';
import { describeDomain, type SentOrder, type SignatureRules, structHash } from './order-signing-terms.ts';
import { type ParsedSignature, recoverAddress } from './signature.ts';
import { exchangeTypedDomain, orderTypedData } from './typed-data.ts';

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

export interface Culprit {
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
export interface Subject {
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
export function culpritOf(subject: Subject, parsed: ParsedSignature, spent: number): Culprit | null {
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
export function culpritOfWrapped(
  subject: Subject,
  parts: { readonly separator: Uint8Array; readonly contentsHash: Uint8Array },
): Culprit | null {
  for (const candidate of candidates(subject))
    if (equalBytes(candidate.separator, parts.separator) && equalBytes(candidate.struct, parts.contentsHash))
      return candidate;
  return null;
}

/** The expected message: the digest, and its typed data for any EIP-712 signer. */
export function expectation({ sent, negRisk, rules, versions }: Subject): Readonly<Record<string, unknown>> {
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
export const isExtendedType = (signature: string): boolean =>
  signature.toLowerCase().includes(bytesToHex(new TextEncoder().encode(EXTENDED_ORDER_TYPE)).slice(2));
