/** The signature of a draft, judged by the venue's rules; a refusal in the terms of every other refusal. */
import {
  type Address,
  SIGNATURE_BYTES,
  type SignatureRules,
  unsignedOrder,
  type VerifiedOrder,
  verifyOrder,
} from '@bellwether/protocol';
import type { Denial } from '../domain/denial.ts';
import type { Draft } from '../domain/draft.ts';

/** Stands where an order is not signed yet: nothing looks at it. */
export const UNSIGNED = `0x${'00'.repeat(SIGNATURE_BYTES)}`;

/** Whose key will sign an order that is only checked; `null`: not known. */
export interface UnsignedBy {
  readonly eoa: Address | null;
}

/**
 * @param negRisk which of the two contracts of a version the market belongs to
 * @param unsigned of an order without a signature; `null`: it has one
 */
export function verifyDraft(
  draft: Draft,
  negRisk: boolean,
  { rules, unsigned }: { readonly rules: SignatureRules; readonly unsigned: UnsignedBy | null },
): VerifiedOrder | { readonly ok: false; readonly denial: Denial } {
  const verdict =
    unsigned === null
      ? verifyOrder(draft, negRisk, rules)
      : unsignedOrder(draft, negRisk, rules, unsigned.eoa);
  if (verdict.ok) return verdict;
  const { diagnosis, fix } = verdict;
  return {
    ok: false,
    denial: { code: 'invalid_order_payload', detail: 'Invalid order payload', path: 'order', diagnosis, fix },
  };
}
