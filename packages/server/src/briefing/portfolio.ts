/** Reads of an agent about itself: profile, settings, today's numbers, results, and its wallets at a glance. */
import type { Me, Notice, Portfolio, Position } from '@bellwether/contract';
import { type Micro, microToNumber } from '@bellwether/contract/decimals';
import { parseSolanaAddress } from '@bellwether/protocol';
import { agentRecord, DAY_MS, settingsRecord } from '../agents/index.ts';
import { type ActingAgent, type Caller, familyOf, type WalletAddress } from '../domain/records.ts';
import {
  CONCENTRATED_PORTFOLIO_PERCENT,
  CONCENTRATION_FROM_MARKETS,
  NEAR_RESOLUTION_MS,
} from '../domain/risk-alerts.ts';
import { tradesLeft } from '../domain/safeguards.ts';
import { READ_PATIENCE_MS } from '../domain/unavailable.ts';
import {
  holdings,
  hoursUntil,
  isResolved,
  type PositionQuery,
  positionRecords,
  type Valued,
  walletsOf,
} from '../positions/index.ts';
import {
  currentBalance,
  filterOf,
  type HasVenues,
  redeemsBy,
  scopeOf,
  venueRecord,
} from '../venues/asking.ts';
import type { KnownBalance, Venue } from '../venues/venue.ts';
import { type BriefingNeeds, withNamed } from './standing.ts';

/** Balance of the wallets on the default venue. @throws Refusal service_unavailable */
const accountOf = async ({ venues }: HasVenues, wallets: readonly WalletAddress[]): Promise<Micro> =>
  (await currentBalance(venues.default, wallets)).total;

export async function me(needs: BriefingNeeds, caller: Caller): Promise<Me> {
  const now = needs.clock.now();
  const [wallets, { proved }] = await Promise.all([
    needs.wallets.wallets(caller),
    needs.wallets.solanaWallets(caller),
  ]);
  const [row, settings, open, { held }, results, tradesCounted, balance] = await Promise.all([
    needs.agents.byId(caller.agentId),
    needs.agents.settings(caller.agentId),
    needs.orders.open(caller.agentId, { limit: 1, offset: 0 }),
    holdings(needs, [...wallets, ...proved]),
    needs.positions.results([...wallets, ...proved], { except: [] }),
    needs.orders.countsOfDay(caller.agentId, now),
    wallets.length === 0 ? needs.simulationBalance : accountOf(needs, wallets),
  ]);
  if (row === null) throw new Error('the calling agent has no row');
  const positions = positionRecords(held);
  const unrealized = positions.reduce((sum, position) => sum + position.unrealizedPnl, 0);
  const resetsAt = new Date((Math.floor(now / DAY_MS) + 1) * DAY_MS).toISOString();
  const record = agentRecord({ ...row, lastCalledAt: now }, now);
  return {
    ...record,
    agentId: row.agentId,
    name: row.name,
    description: row.description,
    claimed: row.claimed,
    venues: [...needs.venues.values()].map((venue) => venueRecord(venue)),
    simulationBalance: microToNumber(balance),
    tradesToday: settings.usage.trades,
    maxTradesPerDay: settings.maxTradesPerDay,
    tradesRemaining: tradesLeft(settings.usage, settings.maxTradesPerDay),
    quotaResetsAt: resetsAt,
    tradesCounted,
    openOrderCount: open.total,
    currentPositionCount: positions.length,
    totalPnl: round6(microToNumber(results.realized - results.fees) + unrealized),
    winRate: results.closed === 0 ? null : round6(results.won / results.closed),
    settings: settingsRecord(settings),
  };
}

/** Sums of exact micro amounts as JSON numbers: cuts the noise of the last binary digits. */
const round6 = (value: number): number => Math.round(value * 1e6) / 1e6;

// Wallets at a glance: balance, exposure, P&L, concentration, and what to look at; of each venue, and of all.

const LAST_DAY_MS = 24 * 3_600_000;
const CLOSING_SOON_HOURS = NEAR_RESOLUTION_MS / 3_600_000;

/** One venue's part. */
interface Sheet {
  readonly name: string;
  readonly figures: Omit<Portfolio, 'venue' | 'warnings' | 'venues' | 'total'>;
  readonly warnings: readonly Notice[];
}

/** @throws Refusal unknown_venue, wallet_not_found. A venue that does not answer contributes its last known figures. */
export async function portfolio(
  needs: BriefingNeeds,
  caller: ActingAgent,
  query: PositionQuery,
): Promise<Portfolio> {
  const scope = scopeOf(needs, query);
  const [wallets, agent] = await Promise.all([
    walletsOf(needs, caller, scope),
    scope.user === null ? needs.agents.byId(caller.agentId) : null,
  ]);
  const sheets = await Promise.all(
    scope.venues.map((venue) => {
      const { family } = venue.accounts;
      const ofFamily = wallets.filter((wallet) => familyOf(wallet) === family);
      return sheetOf(
        needs,
        venue,
        ofFamily,
        withNamed(ofFamily, family, parseSolanaAddress(agent?.solAddress ?? '')),
      );
    }),
  );
  const [first] = sheets as [Sheet];
  const sum = (of: (sheet: Sheet) => number) => round6(sheets.reduce((total, sheet) => total + of(sheet), 0));
  return {
    venue: first.name,
    ...first.figures,
    warnings: sheets.flatMap(({ warnings }) => warnings),
    venues: Object.fromEntries(
      sheets.map(({ name, figures: { balance, pnlTotal, positionsCount, totalExposure } }) => [
        name,
        { balance, pnl: pnlTotal, positionsCount, totalExposure },
      ]),
    ),
    total: {
      balance: sum(({ figures }) => figures.balance),
      positionsCount: sum(({ figures }) => figures.positionsCount),
      redeemableCount: sum(({ figures }) => figures.redeemableCount),
      totalExposure: sum(({ figures }) => figures.totalExposure),
      pnl24h: sum(({ figures }) => figures.pnl24h),
      pnlTotal: sum(({ figures }) => figures.pnlTotal),
      realizedPnl: sum(({ figures }) => figures.realizedPnl),
      unrealizedPnl: sum(({ figures }) => figures.unrealizedPnl),
      fees: sum(({ figures }) => figures.fees),
    },
  };
}

/** @param accounts whose collateral counts */
async function sheetOf(
  needs: BriefingNeeds,
  venue: Venue,
  wallets: readonly WalletAddress[],
  accounts: readonly WalletAddress[],
): Promise<Sheet> {
  const ofVenue = filterOf(needs, [venue]);
  const [{ held, silent }, money, results, lastDay] = await Promise.all([
    holdings(needs, wallets, [venue]),
    venue.accounts.balances(accounts, { freshMs: 0, patienceMs: READ_PATIENCE_MS }),
    needs.positions.results(wallets, ofVenue),
    needs.positions.realizedSince(wallets, ofVenue, needs.clock.now() - LAST_DAY_MS),
  ]);
  const positions = positionRecords(held);
  const byMarket = new Map<string, Micro>();
  for (const { row, value } of held)
    byMarket.set(row.conditionId, (byMarket.get(row.conditionId) ?? 0n) + value);
  const values = [...byMarket.values()];
  const unrealized = held.reduce((sum, { row, value }) => sum + value - row.cost, 0n);
  const shares = { topMarketPct: concentration(values, 1), top3MarketsPct: concentration(values, 3) };
  const name = venue.id;
  return {
    name,
    figures: {
      balance: microToNumber(money.total),
      totalExposure: microToNumber(exposure(held.map(({ row }) => row))),
      positionsCount: positions.length,
      redeemableCount: positions.filter(({ redeemable }) => redeemable).length,
      pnl24h: microToNumber(lastDay),
      pnlTotal: microToNumber(results.realized - results.fees + unrealized),
      realizedPnl: microToNumber(results.realized),
      unrealizedPnl: microToNumber(unrealized),
      fees: microToNumber(results.fees),
      concentration: shares,
    },
    warnings: [
      ...silence(venue, money, silent),
      ...redeemable(positions, venue),
      ...concentrated(name, shares.topMarketPct, byMarket.size),
      ...closing(
        positions.filter((_, i) => !isResolved(held[i] as Valued)),
        needs.clock.now(),
      ),
    ],
  };
}

function silence(venue: Venue, { ageMs }: KnownBalance, silent: ReadonlySet<Venue>): Notice[] {
  const answered = !silent.has(venue);
  // Read for this answer, or a moment ago.
  const isCurrent = ageMs !== null && ageMs <= 2 * READ_PATIENCE_MS;
  if (isCurrent && answered) return [];
  const parts = [
    ...(isCurrent ? [] : [ageMs === null ? 'the balance is not known' : 'the balance is the last known one']),
    ...(answered ? [] : ['positions count what they cost']),
  ];
  return [
    {
      code: 'venue_not_answering',
      severity: 'warning',
      message: `${venue.id} does not answer now: ${parts.join(', and ')}.`,
    },
  ];
}

function redeemable(positions: readonly Position[], venue: Venue): Notice[] {
  const due = positions.filter(({ redeemable: isDue }) => isDue);
  const by = redeemsBy(venue);
  if (due.length === 0 || by === null) return [];
  const worth = due.reduce((sum, { currentValue }) => sum + Math.round(currentValue * 1e6), 0) / 1e6;
  const how =
    by === 'request' ? 'POST /markets/redeem' : 'ask for a SELL quote of each, POST /venueb/agent/quote';
  return [
    {
      code: 'redeemable_positions',
      severity: 'info',
      message: `${due.length} positions are resolved and pay ${worth}: ${how}.`,
    },
  ];
}

function concentrated(name: string, topPct: number, markets: number): Notice[] {
  if (markets < CONCENTRATION_FROM_MARKETS || topPct <= CONCENTRATED_PORTFOLIO_PERCENT) return [];
  return [
    {
      code: 'position_concentrated',
      severity: 'warning',
      message: `One market holds ${topPct} % of the value of all positions on ${name}.`,
    },
  ];
}

function closing(open: readonly Position[], now: number): Notice[] {
  // A market that trades beyond its end is none that ends soon.
  const soon = open.filter(
    ({ endDate }) => Date.parse(endDate) > now && hoursUntil(endDate, now) <= CLOSING_SOON_HOURS,
  );
  if (soon.length === 0) return [];
  return [
    {
      code: 'positions_closing_soon',
      severity: 'info',
      message: `${soon.length} positions are due to end within ${CLOSING_SOON_HOURS} hours: GET /markets/positions/expiring.`,
    },
  ];
}

// The stake of held positions. All money in micro collateral.

interface HeldTokens {
  readonly wallet: string;
  readonly conditionId: string;
  readonly size: Micro;
  readonly cost: Micro;
}

/**
 * The worst possible loss of held positions: their cost, less what is certain to be paid. Either YES or NO pays, so of a
 * pair on one account the smaller leg is certain; a pair's certain profit does not reduce the loss of other positions.
 */
export function exposure(held: readonly HeldTokens[]): Micro {
  const pairs = new Map<string, HeldTokens[]>();
  for (const position of held) {
    const key = `${position.wallet} ${position.conditionId}`;
    pairs.set(key, [...(pairs.get(key) ?? []), position]);
  }
  let total = 0n;
  for (const legs of pairs.values()) {
    const cost = legs.reduce((sum, leg) => sum + leg.cost, 0n);
    const [first, second] = legs;
    const sure =
      first === undefined || second === undefined ? 0n : first.size < second.size ? first.size : second.size;
    if (cost > sure) total += cost - sure;
  }
  return total;
}

const PERCENT = 100;

/** Share of the `count` largest values in the sum of all, in percent; 0 when the sum is 0. */
export function concentration(values: readonly Micro[], count: number): number {
  const total = values.reduce((sum, value) => sum + value, 0n);
  if (total === 0n) return 0;
  const largest = [...values].sort((a, b) => (a < b ? 1 : a > b ? -1 : 0)).slice(0, count);
  const part = largest.reduce((sum, value) => sum + value, 0n);
  return Math.round((Number(part) / Number(total)) * PERCENT * PERCENT) / PERCENT;
}
