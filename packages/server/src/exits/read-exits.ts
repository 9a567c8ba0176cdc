/** An agent's exits: listed, taken back, armed again, and seen. */
import {
  EXIT_STATUSES,
  type GuardedExit,
  type OwnerExit,
  type PasskeySignIn,
  type ResumedExits,
  type ResumedSet,
  type SeenExits,
} from '@bellwether/contract';
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
import { bookOf, exitRecords, ownerExitRecords } from './records.ts';
import { attemptExit, evidenceOf, SENT_WITHIN_MS } from './send-exit.ts';
import type { AlertReader, ExitFilter, ExitRow, OwnersExits, Resumed } from './store.ts';

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
  const { venue, marketConditionId, outcome } = query;
  const named = namedVenue(needs, venue);
  const side = outcome === undefined ? undefined : await sideOf(needs, query, outcome);
  const filter = {
    of: { agentId },
    ...(named === null ? {} : { venues: [named.id] }),
    ...(marketConditionId === undefined ? {} : { conditionId: conditionIdOfBothWidths(marketConditionId) }),
    ...(side === undefined ? {} : { outcome: side }),
  };
  const page = await exitsPage(needs, filter, query);
  return { ...page, items: await exitRecords(needs, page.items) };
}

async function exitsPage(
  { exits }: Pick<ExitNeeds, 'exits'>,
  filter: ExitFilter,
  query: Pick<ExitQuery, 'status'> & PageQuery,
): Promise<Page<ExitRow>> {
  const { status } = query;
  const chosen = { ...filter, ...(status === undefined ? {} : { statuses: statusesOf(status) }) };
  const [rows, total] = await Promise.all([
    exits.list(chosen, windowOf(query, PLACES.byUuid)),
    exits.count(chosen),
  ]);
  return { ...pageOf(rows, query, (row) => row, cursorOfExit), total };
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

/** @throws Refusal exit_not_found that names each one that is not there */
function requireKnown(exitIds: readonly string[], known: readonly ExitRow[]): void {
  const unknown = exitIds.filter((id) => !known.some(({ exitId }) => exitId === id));
  if (unknown.length > 0)
    throw refusal('exit_not_found', `None of these exits is there: ${unknown.join(', ')}.`, {
      path: 'exitIds',
    });
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
  const known = await needs.exits.list({ of: { agentId }, exitIds }, { limit: exitIds.length });
  requireKnown(exitIds, known);
  return { exitIds: await needs.exits.seen(exitIds, { agentId, by, at: needs.clock.now() }) };
}

/** Why an exit was not armed, of those that can be told without it. */
const NOT_RESUMED: Readonly<
  Record<Exclude<Resumed, 'resumed' | 'armed_already' | 'not_open'>, () => Refusal>
> = {
  owned: () =>
    refusal('locked_by_owner', 'This agent has an owner, who alone resumes its suspended exits.', {
      fix: 'Ask the owner to look at the exit and to resume it, on the console.',
    }),
  paused: () =>
    refusal('trading_paused', 'The agent is paused: resume it first, or its exits would be suspended again.'),
  no_place: () =>
    refusal(
      'max_trades_per_day_exceeded',
      'An armed exit keeps one of the trades of the day, and none is left.',
    ),
};

/**
 * Arms a suspended exit again; a trigger that held meanwhile does not send it. Repeating it has no further effect.
 * @param by the agent: only while it has no owner
 * @param forPause the owner's pause sends it, also one that is armed already
 * @throws Refusal exit_gone, locked_by_owner, trading_paused, max_trades_per_day_exceeded
 */
async function resumeExit(
  needs: ExitNeeds,
  row: ExitRow,
  { by, forPause = false }: { readonly by: 'agent' | 'owner'; readonly forPause?: boolean },
): Promise<GuardedExit> {
  const resumed = await needs.exits.resume(row.exitId, { at: needs.clock.now(), by, forPause });
  const isDone = resumed === 'resumed' || (resumed === 'armed_already' && forPause);
  if (isDone) return oneExit(needs, row.caller, row.exitId);
  if (resumed === 'not_open' || resumed === 'armed_already')
    throw notOpen((await needs.exits.byId(row.exitId, row.caller.agentId)) ?? row);
  throw NOT_RESUMED[resumed]();
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
  return { answer: await resumeExit(needs, row, { by: 'agent' }), isRepeated: false };
}

// What the owner does with the exits of an agent. The desk holds no key, so it can sell only what the agent has signed; to send that at once, or
// on a pause, takes the person: a passkey's answer to a challenge that was made for this exit, this act and this owner alone.

type OwnedExitNeeds = ExitNeeds & OwnerNeeds;

interface OwnedExit {
  readonly agentId: string;
  readonly exitId: string;
}

/** @throws Refusal agent_not_found */
export async function listOwnersExits(
  needs: OwnedExitNeeds,
  owner: Owner,
  { agentId, ...query }: { readonly agentId?: string; readonly status?: string } & PageQuery,
): Promise<Page<OwnerExit>> {
  const page = await exitsPage(needs, { of: await ofOwner(needs, owner, agentId) }, query);
  return { ...page, items: await ownerExitRecords(needs, page.items) };
}

/** @throws Refusal agent_not_found */
async function ofOwner(
  needs: OwnedExitNeeds,
  owner: Owner,
  agentId: string | undefined,
): Promise<OwnersExits> {
  const agent = agentId === undefined ? null : await ownedAgent(needs, owner, agentId);
  return { userId: owner.userId, agentId: agent?.agentId ?? null };
}

const purposeOf = (exitId: string, act: string, { userId }: Owner): Challenge['purpose'] =>
  `exit ${exitId} ${act} by ${userId}`;

/** @throws Refusal agent_not_found, exit_not_found */
async function ownedExit(
  needs: OwnedExitNeeds,
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
  needs: OwnedExitNeeds,
  owner: Owner,
  named: OwnedExit,
): Promise<GuardedExit> => resumeExit(needs, await ownedExit(needs, owner, named), { by: 'owner' });

/** What would be refused anyhow takes no passkey. @throws Refusal agent_not_found, exit_not_found, exit_gone, trading_paused */
export async function beginExitAct(
  needs: OwnedExitNeeds,
  owner: Owner,
  named: OwnedExit,
  act: string,
): Promise<PasskeyOptions> {
  const row = await ownedExit(needs, owner, named);
  if (row.sealed === null) throw notOpen(row);
  if (act === 'arm_for_pause' && row.status === 'suspended') {
    const { tradingPaused, ownerPaused } = await needs.agents.settings(row.caller.agentId);
    if (tradingPaused || ownerPaused) throw NOT_RESUMED.paused();
  }
  return askForPasskey(needs, purposeOf(row.exitId, act, owner));
}

/** @throws Refusal exit_gone, passkey_challenge_expired, passkey_rejected; what refuses the order, or to resume it */
export async function actOnExit(
  needs: OwnedExitNeeds,
  owner: Owner,
  named: OwnedExit,
  { act, response }: PasskeySignIn & { readonly act: string },
): Promise<GuardedExit> {
  const row = await ownedExit(needs, owner, named);
  await requirePasskey(needs, owner, response, purposeOf(row.exitId, act, owner));
  if (act === 'arm_for_pause') return resumeExit(needs, row, { by: 'owner', forPause: true });
  if (act === 'sell') await sellNow(needs, row);
  else if (!(await needs.exits.disarmForPause(row.exitId, needs.clock.now()))) throw notOpen(row);
  return oneExit(needs, row.caller, row.exitId);
}

/** One attempt: what is refused goes back to where it was, so that it is not sold at another moment. */
async function sellNow(needs: OwnedExitNeeds, row: ExitRow): Promise<void> {
  const now = needs.clock.now();
  const book = (await bookOf(venueOf(needs, row.venue, row.funder), row)) ?? null;
  const fired = evidenceOf('owner', { now, book, row });
  const sent = await needs.exits.fire(row, fired, now, now + SENT_WITHIN_MS);
  if (sent === null) throw notOpen(row);
  const back = row.status === 'suspended' ? ({ status: 'suspended', because: row.because } as const) : null;
  const refused = await attemptExit(needs, sent, back);
  if (refused !== null) throw refused;
}

// Several exits at once, and trading with them: one passkey, whose challenge names each exit that the owner was shown.

const resumePurpose = (
  { agentId, exitIds, resumeTrading }: ResumedSet,
  { userId }: Owner,
): Challenge['purpose'] =>
  `exits ${agentId ?? 'of all'} ${resumeTrading ? 'and trading' : 'alone'}: ${exitIds.join(' ')} by ${userId}`;

/** @throws Refusal agent_not_found; exit_not_found that names each of them */
async function ownedExits(
  needs: OwnedExitNeeds,
  owner: Owner,
  { agentId, exitIds }: ResumedSet,
): Promise<OwnersExits> {
  const of = await ofOwner(needs, owner, agentId);
  requireKnown(exitIds, await needs.exits.list({ of, exitIds }, { limit: exitIds.length }));
  return of;
}

/** @throws Refusal agent_not_found, exit_not_found */
export async function beginResume(
  needs: OwnedExitNeeds,
  owner: Owner,
  asked: ResumedSet,
): Promise<PasskeyOptions> {
  await ownedExits(needs, owner, asked);
  return askForPasskey(needs, resumePurpose(asked, owner));
}

/** @throws Refusal agent_not_found, exit_not_found, passkey_challenge_expired, passkey_rejected */
export async function resumeExits(
  needs: OwnedExitNeeds,
  owner: Owner,
  { response, ...asked }: ResumedSet & PasskeySignIn,
): Promise<ResumedExits> {
  const of = await ownedExits(needs, owner, asked);
  await requirePasskey(needs, owner, response, resumePurpose(asked, owner));
  const { exitIds, resumeTrading } = asked;
  const outcomes = await needs.exits.resumeSeveral(exitIds, { of, resumeTrading, at: needs.clock.now() });
  const rows = await needs.exits.list({ of, exitIds }, { limit: exitIds.length });
  const notResumed = rows.flatMap((row) => {
    const outcome = outcomes.get(row.exitId) ?? 'not_open';
    if (outcome === 'resumed' || outcome === 'armed_already') return [];
    const [{ code, detail }] = (outcome === 'not_open' ? notOpen(row) : NOT_RESUMED[outcome]()).denials;
    return [{ exitId: row.exitId, code, message: detail }];
  });
  const left = new Set(notResumed.map(({ exitId }) => exitId));
  return { exitIds: exitIds.filter((id) => !left.has(id)), notResumed };
}
