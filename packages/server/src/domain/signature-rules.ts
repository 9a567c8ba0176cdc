/** What the signature of an order is judged by. */
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

/** What orders of a venue are signed for. */
export interface SigningTerms {
  readonly domains: ExchangeDomains;
  readonly chainId: number;
  readonly profile: OrderProfile;
}

export interface SignatureRules extends SigningTerms {
  readonly recover: RecoverPublicKey;
}

/** The struct that this profile signs under a version; `null` when the fields it needs were not sent. */
export function structHash(draft: Draft, version: OrderVersion, profile: OrderProfile): Uint8Array | null {
  if (version === 1 || profile === 'interface') return orderStructHash(draft.fields);
  return draft.extras === null ? null : polymarketOrderStructHash({ ...draft.fields, ...draft.extras });
}

export const describeDomain = (domain: ExchangeDomain): string =>
  `version ${domain.version}${domain.negRisk ? ' neg-risk' : ''} ${domain.verifyingContract}`;
