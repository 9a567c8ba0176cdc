/** Attempts of agents, their results, and who did best. */
import {
  type AgentTrade,
  type Leaderboard,
  type LeaderboardEntry,
  LIMITS,
  type StrategyResult,
  VENUE_REFUSALS,
  type VenueRefusal,
} from '@bellwether/contract';
import { microToNumber } from '@bellwether/contract/decimals';
import { onlineStatus, STATUS_WORDS } from '../agents/index.ts';
import { statusWord } from '../domain/lifecycle.ts';
import type { ActingAgent } from '../domain/records.ts';
import { plainText, UNTRUSTED_NOTICE } from '../domain/untrusted-text.ts';
import { cursorOf, type Page, type PageQuery, PLACES, pageOf, windowOf } from '../platform/http/page.ts';
import { namedVenue } from '../venues/asking.ts';
import type { OrderNeeds } from './read-orders.ts';
import type { AttemptRow, StandingRow } from './result-store.ts';

export interface JournalQuery extends PageQuery {
  readonly venue?: string;
}

const cursorOfAttempt = ({ at, placed, slot }: AttemptRow): string =>
  cursorOf({ at, id: placed?.orderId ?? String(slot) });

/** @throws Refusal unknown_venue, contradictory_filter, invalid_request for a cursor that is none */
export async function journalPage<T>(
  needs: OrderNeeds,
  { agentId }: Pick<ActingAgent, 'agentId'>,
  query: JournalQuery,
  record: (row: AttemptRow) => T,
): Promise<Page<T>> {
  const { venue } = query;
  const window = windowOf(query, PLACES.byOrderIdOrNumber);
  // An unknown name is a mistake, not a filter that nothing fits.
  namedVenue(needs, venue);
  // Refusals that this replica gave a moment ago are in the answer.
  await needs.refusals.flush();
  const { attempts, total } = await needs.results.attempts(agentId, { ...window, venue: venue ?? null });
  return { ...pageOf(attempts, query, record, cursorOfAttempt), total };
}

export const agentTrades = (
  needs: OrderNeeds,
  caller: ActingAgent,
  query: JournalQuery,
): Promise<Page<AgentTrade>> => journalPage(needs, caller, query, tradeRecord);

/** Result of an attempt. */
export const resultOf = (row: AttemptRow): Pick<AgentTrade, 'status' | 'errorCode' | 'errorMessage'> => ({
  status: row.placed === null ? 'denied' : statusWord({ ...row.placed, errorCode: row.errorCode }),
  errorCode: row.errorCode,
  errorMessage:
    row.detail ?? (row.errorCode === null ? null : VENUE_REFUSALS[row.errorCode as VenueRefusal].message),
});

const tradeRecord = (row: AttemptRow): AgentTrade => ({
  createdAt: new Date(row.at).toISOString(),
  marketConditionId: row.conditionId,
  marketConditionName: row.question,
  skillCode: row.skillCode,
  skillSlug: row.skillSlug,
  sourceTag: row.source,
  reasoning: row.reasoning,
  platform: row.venue,
  actionType: row.side,
  direction: plainText(row.outcome, LIMITS.outcomeChars),
  outcomeName: row.outcomeName,
  orderSize: microToNumber(row.shares),
  amount: microToNumber(row.money),
  walletAddress: row.walletAddress,
  orderId: row.placed?.orderId ?? null,
  ...resultOf(row),
});

export async function tradesByStrategy(needs: OrderNeeds, caller: ActingAgent): Promise<StrategyResult[]> {
  const rows = await needs.results.byStrategy(caller.agentId);
  return rows.map((row) => ({
    source: row.source,
    skillSlug: row.skillSlug,
    trades: row.trades,
    volume: microToNumber(row.volume),
    fees: microToNumber(row.fees),
    realizedPnl: microToNumber(row.realized),
  }));
}

const HEAD_CHARS = 6;
const TAIL_CHARS = 4;
const PERCENT = 100;

/** 0x1234…abcd */
const maskWallet = (address: string): string =>
  `${address.slice(0, HEAD_CHARS)}…${address.slice(-TAIL_CHARS)}`;

const share = (part: number, whole: number): number => Math.round((part / whole) * 1e6) / 1e6;

export async function leaderboard(needs: OrderNeeds, limit: number): Promise<Leaderboard> {
  const { rows, totalAgents } = await needs.results.standings();
  return { entries: rows.slice(0, limit).map((row) => entry(needs, row)), totalAgents };
}

function entry(needs: OrderNeeds, row: StandingRow): LeaderboardEntry {
  const decided = row.wins + row.losses;
  const base = needs.simulationBalance;
  const name = plainText(row.name, LIMITS.agentNameChars);
  const description = plainText(row.description, LIMITS.agentDescriptionChars);
  return {
    id: row.agentId,
    name,
    status: STATUS_WORDS[onlineStatus(row.lastCalledAt, needs.clock.now())],
    totalPnl: microToNumber(row.pnl),
    pnlPercent: base === 0n ? 0 : share(Number(row.pnl) * PERCENT, Number(base)),
    tradesCount: row.trades,
    winCount: row.wins,
    lossCount: row.losses,
    winRate: decided === 0 ? null : share(row.wins, decided),
    description,
    ownerWalletAddress: row.walletAddress === null ? null : maskWallet(row.walletAddress),
    isClaimed: row.claimed,
    createdAt: new Date(row.createdAt).toISOString(),
    lastTradeAt: row.lastTradeAt === null ? null : new Date(row.lastTradeAt).toISOString(),
    untrustedText: { notice: UNTRUSTED_NOTICE, name, description },
  };
}
