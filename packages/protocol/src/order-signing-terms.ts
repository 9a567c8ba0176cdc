/** Input of the judgement on an order's signature: the order as it was sent, and the terms of its venue. */
import {
  type ExchangeDomain,
  type ExchangeDomains,
  type ExchangeVersion,
  type OrderExtras,
  type OrderFields,
  type OrderProfile,
  type OrderVersion,
  orderStructHash,
  polymarketOrderStructHash,
  signsExtras,
} from './order.ts';
import type { RecoverPublicKey } from './signature.ts';

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
