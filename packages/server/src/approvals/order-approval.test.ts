import { expect, test } from 'vitest';
import type { Denial } from '../domain/denial.ts';
import { Refusal } from '../platform/refusal.ts';
import { ApprovalNeeded, type GivenApproval, requireApproval } from './order-approval.ts';

const denial = { code: 'approval_required', detail: 'This trade is 20 collateral.' } as Denial;
const need = { denial, limit: 10_000_000n };
const given: GivenApproval = {
  approvalId: 'approval',
  orderId: 'order',
  binds: { orderType: 'GTD', isLimitOrder: true, postOnly: true, deferExec: false, endsAt: 2_000 },
  by: 7n,
  until: 1_000,
};
const judged: Parameters<typeof requireApproval>[1] = {
  scope: { userId: 7n, claimed: true, hasUnreachable: false },
  orderId: 'order',
  binds: given.binds,
  amount: 20_000_000n,
  approval: given,
  now: 999,
  verdicts: () => [],
};
type Change = Partial<typeof judged>;

const refusedWith = (change: Change): unknown => {
  try {
    requireApproval(need, { ...judged, ...change });
    return null;
  } catch (refused) {
    return refused;
  }
};

test('the approval of this order lets it pass', () => {
  expect(refusedWith({})).toBeNull();
});

test.each<readonly [string, Change]>([
  ['is not there', { approval: null }],
  ['is of another order', { approval: { ...given, orderId: 'another' } }],
  ['is of another owner', { approval: { ...given, by: 8n } }],
  ['has ended', { now: 1_000 }],
  ['is of another order type', { binds: { ...given.binds, orderType: 'GTC' } }],
  ['is of a limit order', { binds: { ...given.binds, isLimitOrder: false } }],
  ['is of an order that only rests', { binds: { ...given.binds, postOnly: false } }],
  ['is of an order that is executed at once', { binds: { ...given.binds, deferExec: true } }],
  ['is of an order with another end', { binds: { ...given.binds, endsAt: 3_000 } }],
  ['is of an order that ends', { binds: { ...given.binds, endsAt: null } }],
])('an approval that %s does not: the owner is asked', (_, change) => {
  expect(refusedWith(change)).toBeInstanceOf(ApprovalNeeded);
});

test('without an owner, and against the lock of a former one, there is no one to ask', () => {
  const scope = { ...judged.scope, claimed: false };
  const alone = refusedWith({ scope });
  expect(alone).toBeInstanceOf(Refusal);
  expect(alone).not.toBeInstanceOf(ApprovalNeeded);
  const locked = () => requireApproval({ denial, limit: null }, judged);
  expect(locked).toThrow(Refusal);
  expect(locked).not.toThrow(ApprovalNeeded);
});
