/** The rules for the signature of an order. */
import {
  type ExchangeDomain,
  type ExchangeDomains,
  type OrderVersion,
  orderStructHash,
  polymarketOrderStructHash,
  type RecoverPublicKey,
} from '@bellwether/protocol';
import type { Draft } from './orders/draft.ts';

/** `interface`: 12 fields for both versions. `polymarket`: the venue's own 11 fields for version 2. */
export type OrderProfile = 'interface' | 'polymarket';

/** The contracts and the struct that a venue's orders are signed for. */
export interface SigningTerms {
  readonly domains: ExchangeDomains;
  readonly chainId: number;
  readonly profile: OrderProfile;
}

export interface SignatureRules extends SigningTerms {
  readonly recover: RecoverPublicKey;
}

/** The hash of the struct that this profile signs under a version; `null` when the request lacks its fields. */
export function structHash(draft: Draft, version: OrderVersion, profile: OrderProfile): Uint8Array | null {
  if (version === 1 || profile === 'interface') return orderStructHash(draft.fields);
  return draft.extras === null ? null : polymarketOrderStructHash({ ...draft.fields, ...draft.extras });
}

export const describeDomain = (domain: ExchangeDomain): string =>
  `version ${domain.version}${domain.negRisk ? ' neg-risk' : ''} ${domain.verifyingContract}`;
