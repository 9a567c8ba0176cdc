/** An agent's exits, listed and taken back. */
import type { GuardedExit } from '@bellwether/contract';
import { conditionIdOfBothWidths } from '@bellwether/protocol';
import { type ExitStatus, OPEN_EXITS } from '../domain/exits.ts';
import type { ActingAgent } from '../domain/records.ts';
import { requireMarket, requireSide } from '../markets/index.ts';
import type { Clock } from '../platform/clock.ts';
import { cursorOf, type Page, type PageQuery, PLACES, pageOf, windowOf } from '../platform/http/page.ts';
import { type Refusal, refusal } from '../platform/refusal.ts';
import type { Placed } from '../trading/index.ts';
import { type HasVenues, namedVenue } from '../venues/asking.ts';
import { exitRecords } from './records.ts';
import type { ExitFilter, ExitRow, ExitStore } from './store.ts';

export interface ReadExitsNeeds extends HasVenues {
  readonly clock: Clock;
  readonly exits: Pick<ExitStore, 'byId' | 'list' | 'count' | 'end'>;
}

interface ExitQuery extends PageQuery {
  readonly venue?: string;
  readonly marketConditionId?: string;
  readonly outcome?: string;
  readonly status?: string;
}

export async function listExits(
  needs: ReadExitsNeeds,
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
    ...(status === undefined ? {} : { statuses: status === 'open' ? OPEN_EXITS : [status as ExitStatus] }),
  };
  const [rows, total] = await Promise.all([needs.exits.list(filter, window), needs.exits.count(filter)]);
  const page = pageOf(rows, query, (row) => row, cursorOfExit);
  return { ...page, items: await exitRecords(needs, page.items), total };
}

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
  needs: ReadExitsNeeds,
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
  suspended: 'It is suspended: only the owner resumes it.',
  firing: 'Its order is being placed: look it up, and cancel the order.',
  fired: 'Its order was placed.',
  canceled: 'It was canceled.',
  expired: 'It has expired.',
  failed: 'Its order was refused by the venue.',
};

export const notOpen = ({ status }: ExitRow): Refusal => refusal('exit_gone', WHERE[status]);

/** Takes an exit back. Repeating it has no further effect. @param by who is named as the cause @throws Refusal exit_gone */
export async function cancelExit(
  needs: ReadExitsNeeds,
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
