/**
 * How caps bind exits: only the owner changes it, by a passkey's answer to a challenge that was made for this agent and these values
 * alone. A session that was stolen cannot let a hijacked agent sell everything.
 */
import type { OwnerAgent, PasskeySignIn, Settings } from '@bellwether/contract';
import type { Owner } from '../domain/records.ts';
import { changeSettings, type OwnedAgentNeeds, ownedAgent } from './owned-agents.ts';
import type { Challenge } from './owner-store.ts';
import { askForPasskey, type PasskeyWordNeeds, requirePasskey } from './owners.ts';
import type { PasskeyOptions } from './passkeys.ts';

export type ExitRuleNeeds = OwnedAgentNeeds & PasskeyWordNeeds;

type ExitRule = Pick<Settings, 'capsBindExits' | 'exitDistancePercent'>;

const purposeOf = (
  agentId: string,
  { capsBindExits, exitDistancePercent }: ExitRule,
  { userId }: Owner,
): Challenge['purpose'] => `exit rule ${agentId} ${capsBindExits} ${exitDistancePercent} by ${userId}`;

export async function beginExitRule(
  needs: ExitRuleNeeds,
  owner: Owner,
  agentId: string,
  rule: ExitRule,
): Promise<PasskeyOptions> {
  const agent = await ownedAgent(needs, owner, agentId);
  return askForPasskey(needs, purposeOf(agent.agentId, rule, owner));
}

/** @throws Refusal agent_not_found, passkey_challenge_expired, passkey_rejected */
export async function setExitRule(
  needs: ExitRuleNeeds,
  owner: Owner,
  agentId: string,
  { response, capsBindExits, exitDistancePercent }: ExitRule & PasskeySignIn,
): Promise<OwnerAgent> {
  const agent = await ownedAgent(needs, owner, agentId);
  const rule = { capsBindExits, exitDistancePercent };
  await requirePasskey(needs, owner, response, purposeOf(agent.agentId, rule, owner));
  return changeSettings(needs, owner, agentId, () => rule);
}
