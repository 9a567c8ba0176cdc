/** An agent's exits: listed, taken back, armed again, and seen. */
import { EXIT_STATUSES, type GuardedExit, type PasskeySignIn, type SeenExits } from '@bellwether/contract';
import { conditionIdOfBothWidths } from '@bellwether/protocol';
import { type ExitStatus, OPEN_EXITS } from '../domain/exits.ts';
import type { ActingAgent, Owner } from '../domain/records.ts';
import { requireMarket, requireSide } from '../markets/index.ts';
import {
  askForPasskey,
  type Challenge,
  type OwnerNeeds,
  ownedAgent,
  type PasskeyOptions,
  requirePasskey,
} from '../owners/index.ts';
import { cursorOf, type Page, type PageQuery, PLACES, pageOf, windowOf } from '../platform/http/page.ts';
import { type Refusal, refusal } from '../platform/refusal.ts';
import type { Placed } from '../trading/index.ts';
import { type HasVenues, namedVenue, venueOf } from '../venues/asking.ts';
import type { ExitNeeds } from './leave-exit.ts';
import { bookOf, exitRecords } from './records.ts';
import { attemptExit, evidenceOf, SENT_WITHIN_MS } from './send-exit.ts';
import type { AlertReader, ExitFilter, ExitRow } from './store.ts';

interface ExitQuery extends PageQuery {
  readonly venue?: string;
  readonly marketConditionId?: string;
  readonly outcome?: string;
  readonly status?: string;
}

export async function listExits(
  needs: ExitNeeds,
  { agentId }: Pick<ActingAgent, 'agentId'>,
  query: ExitQuery,
): Promise<Page<GuardedExit>> {
  const { venue, marketConditionId, outcome, status } = query;
  const window = windowOf(query, PLACES.byUuid);
  const named = namedVenue(needs, venue);
  const side = outcome === undefined ? undefined : await sideOf(needs, query, outcome);
  const filter: ExitFilter = {
    agentId,
    ...(named === null ? {} : { venues: [named.id] }),
    ...(marketConditionId === undefined ? {} : { conditionId: conditionIdOfBothWidths(marketConditionId) }),
    ...(side === undefined ? {} : { outcome: side }),
    ...(status === undefined ? {} : { statuses: statusesOf(status) }),
  };
  const [rows, total] = await Promise.all([needs.exits.list(filter, window), needs.exits.count(filter)]);
  const page = pageOf(rows, query, (row) => row, cursorOfExit);
  return { ...page, items: await exitRecords(needs, page.items), total };
}

const ENDED_EXITS = EXIT_STATUSES.filter((status) => !OPEN_EXITS.includes(status));

const statusesOf = (word: string): readonly ExitStatus[] =>
  word === 'open' ? OPEN_EXITS : word === 'ended' ? ENDED_EXITS : [word as ExitStatus];

const cursorOfExit = ({ createdAt, exitId }: ExitRow): string => cursorOf({ at: createdAt, id: exitId });

/** @throws Refusal outcome_name_mismatch, market_not_found */
async function sideOf(
  needs: HasVenues,
  { venue, marketConditionId }: ExitQuery,
  word: string,
): Promise<'YES' | 'NO'> {
  if (word === 'YES' || word === 'NO') return word;
  if (marketConditionId === undefined)
    throw refusal(
      'outcome_name_mismatch',
      'The name of an outcome is one of a market: name marketConditionId, too.',
      {
        path: 'outcome',
      },
    );
  const { market } = await requireMarket(needs, marketConditionId, venue);
  return requireSide(market, word);
}

/** @throws Refusal exit_not_found, for those of other agents, too */
export async function oneExit(
  needs: ExitNeeds,
  { agentId }: Pick<ActingAgent, 'agentId'>,
  exitId: string,
): Promise<GuardedExit> {
  const row = await needs.exits.byId(exitId, agentId);
  const [record] = row === null ? [] : await exitRecords(needs, [row]);
  if (record === undefined) throw refusal('exit_not_found');
  return record;
}

const WHERE: Readonly<Record<ExitStatus, string>> = {
  armed: 'It is armed.',
  suspended: 'It is suspended.',
  firing: 'Its order is being placed: look it up, and cancel the order.',
  fired: 'Its order was placed.',
  canceled: 'It was canceled.',
  expired: 'It has expired.',
  failed: 'Its order has sold nothing.',
};

const notOpen = ({ status }: ExitRow): Refusal => refusal('exit_gone', WHERE[status]);

/** Takes an exit back. Repeating it has no further effect. @param by who is named as the cause @throws Refusal exit_gone */
export async function cancelExit(
  needs: ExitNeeds,
  { agentId }: Pick<ActingAgent, 'agentId'>,
  { exitId, by }: { readonly exitId: string; readonly by: 'by_agent' | 'by_owner' },
): Promise<Placed<GuardedExit>> {
  const row = await needs.exits.byId(exitId, agentId);
  if (row === null) throw refusal('exit_not_found');
  const at = needs.clock.now();
  const ended = await needs.exits.end(exitId, {
    from: ['armed', 'suspended'],
    to: 'canceled',
    because: by,
    at,
  });
  const now = ended ?? (await needs.exits.byId(exitId, agentId)) ?? row;
  if (now.status !== 'canceled') throw notOpen(now);
  return { answer: await oneExit(needs, { agentId }, exitId), isRepeated: ended === null };
}

/**
 * Notes that it was seen how exits ended. The agent's word leaves the owner's alerts as they are: a stolen key hides nothing.
 * @throws Refusal exit_not_found that names each of them
 */
export async function seeExits(
  needs: ExitNeeds,
  { agentId }: Pick<ActingAgent, 'agentId'>,
  { exitIds, by }: { readonly exitIds: readonly string[]; readonly by: AlertReader },
): Promise<SeenExits> {
  const known = await needs.exits.list({ agentId, exitIds }, { limit: exitIds.length });
  const unknown = exitIds.filter((id) => !known.some(({ exitId }) => exitId === id));
  if (unknown.length > 0)
    throw refusal('exit_not_found', `None of this agent's exits: ${unknown.join(', ')}.`, {
      path: 'exitIds',
    });
  return { exitIds: await needs.exits.seen(exitIds, { agentId, by, at: needs.clock.now() }) };
}

/**
 * Arms a suspended exit again; a trigger that held meanwhile does not send it. Repeating it has no further effect.
 * @param by the agent: only while it has no owner
 * @throws Refusal exit_gone, locked_by_owner, trading_paused, max_trades_per_day_exceeded
 */
async function resumeExit(needs: ExitNeeds, row: ExitRow, by: 'agent' | 'owner'): Promise<GuardedExit> {
  const resumed = await needs.exits.resume(row.exitId, needs.clock.now(), by);
  switch (resumed) {
    case 'owned':
      throw refusal('locked_by_owner', 'This agent has an owner, who alone resumes its suspended exits.', {
        fix: 'Ask the owner to look at the exit and to resume it, on the console.',
      });
    case 'paused':
      throw refusal(
        'trading_paused',
        'The agent is paused: resume it first, or its exits would be suspended again.',
      );
    case 'no_place':
      throw refusal(
        'max_trades_per_day_exceeded',
        'An armed exit keeps one of the trades of the day, and none is left.',
      );
    case 'not_open':
      throw notOpen(row);
    case 'resumed':
      return oneExit(needs, row.caller, row.exitId);
  }
}

/** @throws Refusal exit_not_found, and as `resumeExit` */
export async function resumeOwnExit(
  needs: ExitNeeds,
  { agentId }: Pick<ActingAgent, 'agentId'>,
  exitId: string,
): Promise<Placed<GuardedExit>> {
  const row = await needs.exits.byId(exitId, agentId);
  if (row === null) throw refusal('exit_not_found');
  if (row.sealed === null) throw notOpen(row);
  if (row.status === 'armed') return { answer: await oneExit(needs, { agentId }, exitId), isRepeated: true };
  return { answer: await resumeExit(needs, row, 'agent'), isRepeated: false };
}

// What the owner does with the exits of an agent. The desk holds no key, so it can sell only what the agent has signed; to send that at once, or
// on a pause, takes the person: a passkey's answer to a challenge that was made for this exit, this act and this owner alone.

interface OwnedExit {
  readonly agentId: string;
  readonly exitId: string;
}

const purposeOf = (exitId: string, act: string, { userId }: Owner): Challenge['purpose'] =>
  `exit ${exitId} ${act} by ${userId}`;

/** @throws Refusal agent_not_found, exit_not_found */
async function ownedExit(
  needs: ExitNeeds & OwnerNeeds,
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
  needs: ExitNeeds & OwnerNeeds,
  owner: Owner,
  named: OwnedExit,
): Promise<GuardedExit> => resumeExit(needs, await ownedExit(needs, owner, named), 'owner');

export async function beginExitAct(
  needs: ExitNeeds & OwnerNeeds,
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
  needs: ExitNeeds & OwnerNeeds,
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
async function sellNow(needs: ExitNeeds & OwnerNeeds, row: ExitRow): Promise<void> {
  const now = needs.clock.now();
  const book = (await bookOf(venueOf(needs, row.venue, row.funder), row)) ?? null;
  const fired = evidenceOf('owner', { now, book, row });
  const sent = await needs.exits.fire(row, fired, now, now + SENT_WITHIN_MS);
  if (sent === null) throw notOpen(row);
  const back = row.status === 'suspended' ? ({ status: 'suspended', because: row.because } as const) : null;
  const refused = await attemptExit(needs, sent, back);
  if (refused !== null) throw refused;
}
