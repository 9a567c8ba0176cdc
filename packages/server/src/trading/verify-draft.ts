/** The signature of a draft, judged by the venue's rules; a refusal in the terms of every other refusal. */
import { type SignatureRules, type VerifiedOrder, verifyOrder } from '@bellwether/protocol';
import type { Denial } from '../domain/denial.ts';
import type { Draft } from '../domain/draft.ts';

/** @param negRisk which of the two contracts of a version the market belongs to */
export function verifyDraft(
  draft: Draft,
  negRisk: boolean,
  rules: SignatureRules,
): VerifiedOrder | { readonly ok: false; readonly denial: Denial } {
  const verdict = verifyOrder(draft, negRisk, rules);
  if (verdict.ok) return verdict;
  const { diagnosis, fix } = verdict;
  return {
    ok: false,
    denial: { code: 'invalid_order_payload', detail: 'Invalid order payload', path: 'order', diagnosis, fix },
  };
}
