/**
 * How caps bind exits: only the owner changes it, by a passkey's answer to a challenge that was made for this agent and these values
 * alone. A session that was stolen cannot let a hijacked agent sell everything.
 */
import type { OwnerAgent, PasskeySignIn, Settings } from '@bellwether/contract';
import type { Owner } from '../domain/records.ts';
import { refusal } from '../platform/refusal.ts';
import { changeSettings, type OwnedAgentNeeds, ownedAgent } from './owned-agents.ts';
import type { Challenge, OwnerStore } from './owner-store.ts';
import { CHALLENGE_MS, takeChallenge } from './owners.ts';
import type { PasskeyOptions, Passkeys } from './passkeys.ts';

export interface ExitRuleNeeds extends OwnedAgentNeeds {
  readonly owners: OwnedAgentNeeds['owners'] &
    Pick<OwnerStore, 'addChallenge' | 'takeChallenge' | 'passkey' | 'usePasskey'>;
  readonly passkeys: Pick<Passkeys, 'signInOptions' | 'challengeOf' | 'verifySignIn'>;
}

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
  const options = await needs.passkeys.signInOptions();
  const purpose = purposeOf(agent.agentId, rule, owner);
  const challenge: Challenge = { challenge: options.challenge, purpose, handle: null, name: null };
  await needs.owners.addChallenge(challenge, needs.clock.now() + CHALLENGE_MS);
  return options;
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
  const { challenge } = await takeChallenge(needs, response, purposeOf(agent.agentId, rule, owner));
  const passkey = await needs.owners.passkey(response.id);
  const isOwners = passkey !== null && passkey.userId === owner.userId;
  const verified = isOwners ? await needs.passkeys.verifySignIn(response, challenge, passkey) : null;
  if (passkey === null || verified === null)
    throw refusal('passkey_rejected', 'This passkey is not one of yours, or its answer does not hold.');
  await needs.owners.usePasskey(passkey.credentialId, verified.counter, needs.clock.now());
  return changeSettings(needs, owner, agentId, () => rule);
}
