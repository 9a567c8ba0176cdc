/**
 * Who signed an order, and is it theirs to sign? One recovery in the usual case. When the answer is no, a diagnosis
 * says which check failed, what was recovered and what was expected: the extra work is done only then.
 */
import {
  type Address,
  bytesToHex,
  controlsWallet,
  type ExchangeDomain,
  type ExchangeDomains,
  equalBytes,
  exchangeDomain,
  extendedOrderStructHash,
  looksWrapped,
  ORDER_TYPE,
  type OrderVersion,
  orderDigest,
  orderStructHash,
  type ParsedSignature,
  POLYMARKET_ORDER_TYPE,
  parseSignature,
  parseWrappedSignature,
  polymarketOrderStructHash,
  type RecoverPublicKey,
  recoverAddress,
  type SignatureType,
  typedDataSignDigest,
  walletKindsOf,
} from '@bellwether/protocol';
import type { Denial } from './denial.ts';
import type { Draft } from './orders/draft.ts';

/** `interface`: 12 fields for both versions. `polymarket`: the venue's own 11 fields for version 2. */
export type OrderProfile = 'interface' | 'polymarket';

export interface SignatureRules {
  readonly domains: ExchangeDomains;
  readonly chainId: number;
  readonly profile: OrderProfile;
  readonly recover: RecoverPublicKey;
}

export interface VerifiedOrder {
  readonly ok: true;
  /** The EIP-712 digest, lower-case 0x hex. */
  readonly orderId: string;
  readonly version: OrderVersion;
  readonly eoa: Address;
}

type Verdict = VerifiedOrder | { readonly ok: false; readonly denial: Denial };

type Diagnosis = NonNullable<Denial['diagnosis']>;

const refuse = (diagnosis: Diagnosis, fix: string): { ok: false; denial: Denial } => ({
  ok: false,
  denial: { code: 'invalid_order_payload', detail: 'Invalid order payload', path: 'order', diagnosis, fix },
});

/** The struct that this profile signs under a version; `null` when the fields it needs were not sent. */
function structHash(draft: Draft, version: OrderVersion, profile: OrderProfile): Uint8Array | null {
  if (version === 1 || profile === 'interface') return orderStructHash(draft.fields);
  return draft.extras === null ? null : polymarketOrderStructHash({ ...draft.fields, ...draft.extras });
}

/** Every id that this order can have: one per contract that the request does not rule out. */
export function candidateOrderIds(draft: Draft, rules: SignatureRules): string[] {
  const ids: string[] = [];
  for (const domain of rules.domains) {
    if (draft.version !== null && draft.version !== domain.version) continue;
    const struct = structHash(draft, domain.version, rules.profile);
    if (struct !== null) ids.push(bytesToHex(orderDigest(domain.separator, struct)));
  }
  return ids;
}

/** @param negRisk which of the two contracts of a version the market belongs to */
export function verifyOrder(draft: Draft, negRisk: boolean, rules: SignatureRules): Verdict {
  const versions: readonly OrderVersion[] = draft.version === null ? [2, 1] : [draft.version];
  const wrapped = looksWrapped(draft.signature);
  if (wrapped && draft.signatureType !== 3) {
    return refuse(
      {
        check: 'signature_form',
        reason: 'wrong_length',
        expected: '65 bytes',
        signatureType: draft.signatureType,
      },
      'Only deposit wallets (signatureType 3) sign in the wrapped form; send the 65-byte signature of the EOA.',
    );
  }
  if (wrapped) return verifyWrapped(draft, negRisk, versions, rules);
  const parsed = parseSignature(draft.signature);
  if (!parsed.ok) {
    return refuse(
      { check: 'signature_form', reason: parsed.reason, expected: '65 bytes r‖s‖v, low s, v 27 or 28' },
      'Sign again with a current signer and send its 65 bytes unchanged.',
    );
  }
  let recovered: Address | null = null;
  for (const version of versions) {
    const struct = structHash(draft, version, rules.profile);
    if (struct === null) continue;
    const digest = orderDigest(exchangeDomain(rules.domains, version, negRisk).separator, struct);
    const answer = recoverAddress(rules.recover, digest, parsed);
    if (!answer.ok) continue;
    recovered ??= answer.address;
    if (answer.address === draft.fields.signer)
      return ownership(draft, version, bytesToHex(digest), answer.address);
  }
  return diagnose({ draft, negRisk, rules, parsed, recovered });
}

/** The signature is the signer's; is the maker's wallet too? */
function ownership(draft: Draft, version: OrderVersion, orderId: string, eoa: Address): Verdict {
  const { maker } = draft.fields;
  if (controlsWallet(eoa, draft.signatureType, maker)) return { ok: true, orderId, version, eoa };
  const kinds = walletKindsOf(eoa);
  const expected = [kinds.eoa, kinds.proxy, kinds.safe, `${kinds.deposit.beacon} or ${kinds.deposit.uups}`][
    draft.signatureType
  ];
  return refuse(
    {
      check: 'wallet',
      signatureType: draft.signatureType,
      recovered: eoa,
      maker,
      expected: expected ?? null,
    },
    draft.signatureType === 0
      ? 'For signatureType 0 maker, signer and the EOA are one address.'
      : 'For signatureType 1, 2 and 3 maker is the wallet that the factory derives from the signing EOA.',
  );
}

/** ERC-7739: maker and signer are the deposit wallet, and the EOA signed a message around the order. */
function verifyWrapped(
  draft: Draft,
  negRisk: boolean,
  versions: readonly OrderVersion[],
  rules: SignatureRules,
): Verdict {
  const { maker, signer } = draft.fields;
  const parts = parseWrappedSignature(draft.signature);
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
    const struct = structHash(draft, version, rules.profile);
    if (struct === null) continue;
    const { separator } = exchangeDomain(rules.domains, version, negRisk);
    if (!equalBytes(separator, parts.separator) || !equalBytes(struct, parts.contentsHash)) continue;
    const digest = typedDataSignDigest({
      separator,
      contentsHash: struct,
      orderType: version === 2 && rules.profile === 'polymarket' ? POLYMARKET_ORDER_TYPE : ORDER_TYPE,
      wallet: maker,
      chainId: rules.chainId,
    });
    const answer = recoverAddress(rules.recover, digest, inner);
    if (answer.ok)
      return ownership(draft, version, bytesToHex(orderDigest(separator, struct)), answer.address);
  }
  const named = rules.domains.find((domain) => equalBytes(domain.separator, parts.separator));
  return refuse(
    {
      check: named === undefined ? 'verifying_contract' : 'order_hash',
      signedFor: named === undefined ? null : describe(named),
      expected: versions
        .map((version) => describe(exchangeDomain(rules.domains, version, negRisk)))
        .join(' or '),
    },
    'Sign exactly the order that is sent, for the exchange contract of this market.',
  );
}

const describe = (domain: ExchangeDomain): string =>
  `version ${domain.version}${domain.negRisk ? ' neg-risk' : ''} ${domain.verifyingContract}`;

interface Case {
  readonly draft: Draft;
  readonly negRisk: boolean;
  readonly rules: SignatureRules;
  readonly parsed: ParsedSignature;
  readonly recovered: Address | null;
}

/** Tries the mistakes that signers make, most common first. */
function diagnose(subject: Case): { ok: false; denial: Denial } {
  const { draft, negRisk, rules, recovered } = subject;
  const expected = draft.fields.signer;
  const wanted = (draft.version === null ? ([2, 1] as const) : ([draft.version] as const))
    .map((version) => describe(exchangeDomain(rules.domains, version, negRisk)))
    .join(' or ');
  const base = { recovered, expected, expectedContract: wanted };

  const other = signedFor(subject, (domain) => structHash(draft, domain.version, rules.profile));
  if (other !== null) {
    const versionFault = draft.version !== null && other.version !== draft.version;
    return refuse(
      {
        check: versionFault ? 'order_version' : 'verifying_contract',
        ...base,
        recovered: expected,
        signedFor: describe(other),
      },
      versionFault
        ? `The order verifies for version ${other.version}: send orderVersion ${other.version}, or sign for version ${draft.version}.`
        : `The order is signed for ${describe(other)}; this market's negRisk is ${negRisk}: sign for ${wanted}.`,
    );
  }
  const { extras } = draft;
  if (extras !== null && rules.profile === 'interface') {
    const fifteen = signedFor(subject, () => extendedOrderStructHash(draft.fields, extras));
    const eleven =
      fifteen ?? signedFor(subject, () => polymarketOrderStructHash({ ...draft.fields, ...extras }));
    if (eleven !== null) {
      return refuse(
        { check: 'deprecated_fields', ...base, recovered: expected, signedFor: describe(eleven) },
        'timestamp, metadata and builder are part of the signed digest; sign the 12-field struct without them.',
      );
    }
  }
  if (rules.profile === 'polymarket' && extras === null && draft.version !== 1) {
    return refuse(
      { check: 'order_profile', ...base },
      'This venue signs the 11-field version 2 struct: send the timestamp, metadata and builder that were signed.',
    );
  }
  for (const signatureType of [0, 1, 2, 3] as const satisfies readonly SignatureType[]) {
    if (signatureType === draft.signatureType) continue;
    const as = signedFor(subject, () => orderStructHash({ ...draft.fields, signatureType }));
    if (as !== null) {
      return refuse(
        {
          check: 'signature_type',
          ...base,
          recovered: expected,
          signedAs: signatureType,
          sent: draft.signatureType,
        },
        `The order was signed as signatureType ${signatureType} and sent as ${draft.signatureType}: send what was signed.`,
      );
    }
  }
  return refuse(
    { check: 'signer', ...base },
    'Sign exactly the order that is sent, with the key of order.signer, for the contract named in the diagnosis.',
  );
}

/** The contract under which the signature is the signer's, when its struct is made so. */
function signedFor(
  subject: Case,
  struct: (domain: ExchangeDomain) => Uint8Array | null,
): ExchangeDomain | null {
  const { draft, rules, parsed } = subject;
  for (const domain of rules.domains) {
    const hash = struct(domain);
    if (hash === null) continue;
    const answer = recoverAddress(rules.recover, orderDigest(domain.separator, hash), parsed);
    if (answer.ok && answer.address === draft.fields.signer) return domain;
  }
  return null;
}
