/**
 * What the owner does with the exits of an agent. The desk holds no key, so it can sell only what the agent has signed; to send that at once, or
 * on a pause, takes the person: a passkey's answer to a challenge that was made for this exit, this act and this owner alone.
 */
import type { GuardedExit, PasskeySignIn } from '@bellwether/contract';
import type { Owner } from '../domain/records.ts';
import type { Challenge, OwnedAgentNeeds, PasskeyOptions, PasskeyWordNeeds } from '../owners/index.ts';
import { askForPasskey, ownedAgent, requirePasskey } from '../owners/index.ts';
import { refusal } from '../platform/refusal.ts';
import { venueOf } from '../venues/asking.ts';
import { notOpen, oneExit, type ReadExitsNeeds, resumeExit } from './read-exits.ts';
import { bookOf } from './records.ts';
import { attemptExit, evidenceOf, SENT_WITHIN_MS, type SendExitNeeds } from './send-exit.ts';
import type { ExitRow, ExitStore } from './store.ts';

export interface OwnerExitsNeeds extends SendExitNeeds, ReadExitsNeeds, PasskeyWordNeeds {
  readonly agents: SendExitNeeds['agents'] & OwnedAgentNeeds['agents'];
  readonly clock: SendExitNeeds['clock'];
  readonly exits: SendExitNeeds['exits'] & ReadExitsNeeds['exits'] & Pick<ExitStore, 'armForPause' | 'fire'>;
}

interface OwnedExit {
  readonly agentId: string;
  readonly exitId: string;
}

const purposeOf = (exitId: string, act: string, { userId }: Owner): Challenge['purpose'] =>
  `exit ${exitId} ${act} by ${userId}`;

/** @throws Refusal agent_not_found, exit_not_found */
async function ownedExit(
  needs: OwnerExitsNeeds,
  owner: Owner,
  { agentId, exitId }: OwnedExit,
): Promise<ExitRow> {
  const agent = await ownedAgent(needs, owner, agentId);
  const row = await needs.exits.byId(exitId, agent.agentId);
  if (row === null) throw refusal('exit_not_found');
  return row;
}

/** @throws Refusal agent_not_found, exit_not_found, exit_gone, trading_paused, max_trades_per_day_exceeded */
export const resumeOwnedExit = async (
  needs: OwnerExitsNeeds,
  owner: Owner,
  named: OwnedExit,
): Promise<GuardedExit> => resumeExit(needs, await ownedExit(needs, owner, named), 'owner');

export async function beginExitAct(
  needs: OwnerExitsNeeds,
  owner: Owner,
  named: OwnedExit,
  act: string,
): Promise<PasskeyOptions> {
  const row = await ownedExit(needs, owner, named);
  if (row.sealed === null) throw notOpen(row);
  return askForPasskey(needs, purposeOf(row.exitId, act, owner));
}

/** @throws Refusal exit_gone, passkey_challenge_expired, passkey_rejected; and what refuses the order */
export async function actOnExit(
  needs: OwnerExitsNeeds,
  owner: Owner,
  named: OwnedExit,
  { act, response }: PasskeySignIn & { readonly act: string },
): Promise<GuardedExit> {
  const row = await ownedExit(needs, owner, named);
  await requirePasskey(needs, owner, response, purposeOf(row.exitId, act, owner));
  if (act === 'sell') await sellNow(needs, row);
  else {
    const isArmed = await needs.exits.armForPause(row.exitId, act === 'arm_for_pause', needs.clock.now());
    if (!isArmed) throw notOpen(row);
  }
  return oneExit(needs, row.caller, row.exitId);
}

/** One attempt: what is refused goes back to where it was, so that it is not sold at another moment. */
async function sellNow(needs: OwnerExitsNeeds, row: ExitRow): Promise<void> {
  const now = needs.clock.now();
  const book = (await bookOf(venueOf(needs, row.venue, row.funder), row)) ?? null;
  const fired = evidenceOf('owner', { now, book, row });
  const sent = await needs.exits.fire(row, fired, now, now + SENT_WITHIN_MS);
  if (sent === null) throw notOpen(row);
  const back = row.status === 'suspended' ? ({ status: 'suspended', because: row.because } as const) : null;
  const refused = await attemptExit(needs, sent, back);
  if (refused !== null) throw refused;
}
