/** Owners who claim agents and decide on approvals, in the way of the console's script. */
import { expect } from 'vitest';
import type { TestService, Trader } from './harness.ts';
import { Visitor } from './passkey.ts';

export const claim = async (by: Visitor, agent: Pick<Trader, 'client'>) => {
  const { claimCode } = await agent.client.getMe();
  expect((await by.send('POST', '/owner/claim', { claimCode })).status).toBe(200);
};

/** A new owner with a passkey, who has claimed these agents. */
export async function ownerOf(
  service: TestService,
  ...agents: readonly Pick<Trader, 'client'>[]
): Promise<Visitor> {
  const owner = new Visitor(service);
  await owner.register('Ada');
  for (const agent of agents) await claim(owner, agent);
  return owner;
}

export const begin = (by: Visitor, approvalId: string) =>
  by.send('POST', `/owner/approvals/${approvalId}/passkey-options`);

export async function approve(by: Visitor, approvalId: string) {
  const { body } = await begin(by, approvalId);
  return by.send('POST', `/owner/approvals/${approvalId}/approve`, by.signature(body.challenge));
}

export const decline = (by: Visitor, approvalId: string, reason?: string) =>
  by.send('POST', `/owner/approvals/${approvalId}/decline`, reason === undefined ? {} : { reason });
