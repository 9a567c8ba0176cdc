/** Decides on approvals as an owner does, in the way of the console's script. */
import { expect } from 'vitest';
import type { Trader } from './harness.ts';
import type { Visitor } from './passkey.ts';

export const claim = async (by: Visitor, agent: Pick<Trader, 'client'>) => {
  const { claimCode } = await agent.client.getMe();
  expect((await by.send('POST', '/owner/claim', { claimCode })).status).toBe(200);
};

export const begin = (by: Visitor, approvalId: string) =>
  by.send('POST', `/owner/approvals/${approvalId}/passkey-options`);

export async function approve(by: Visitor, approvalId: string) {
  const { body } = await begin(by, approvalId);
  return by.send('POST', `/owner/approvals/${approvalId}/approve`, by.signature(body.challenge));
}

export const decline = (by: Visitor, approvalId: string, reason?: string) =>
  by.send('POST', `/owner/approvals/${approvalId}/decline`, reason === undefined ? {} : { reason });
