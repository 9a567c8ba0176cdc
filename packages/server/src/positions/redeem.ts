/** Tokens of resolved markets into collateral. No safeguard stands in the way. */
import type { RedeemRequest, RedeemResponse } from '@bellwether/contract';
import { microToNumber } from '@bellwether/contract/decimals';
import { type Address, conditionIdOfBothWidths } from '@bellwether/protocol';
import type { ResolutionEvidence } from '../domain/evidence.ts';
import type { VenueId } from '../domain/market.ts';
import type { Caller } from '../domain/records.ts';
import { within } from '../domain/unavailable.ts';
import { marketNamed } from '../markets/index.ts';
import { refusal } from '../platform/refusal.ts';
import type { Job } from '../platform/scheduler.ts';
import { type HasVenues, namedVenue, requireCapability, venuesWith } from '../venues/asking.ts';
import { type RedeemAnswer, relayRecord, type Venue, type VenueWith } from '../venues/venue.ts';
import { evmWallets, type PositionNeeds } from './positions.ts';
import type { Holding, RedeemableHolder, RedemptionStore, RelayedRedemptions } from './redemption-store.ts';

export interface RedeemNeeds extends PositionNeeds {
  readonly redemptions: RedemptionStore;
  readonly relayedRedemptions: Pick<RelayedRedemptions, 'prepare'>;
  readonly chainOrders: {
    unresolved(venue: string, limit: number): Promise<readonly string[]>;
    resolve(resolutions: readonly ResolutionEvidence[]): Promise<void>;
  };
}

const RETRY_S = 1;
const LOOK_ELSEWHERE_MS = 2_000;

interface ResolvedMarket {
  readonly venue: VenueWith<'redemption'>;
  readonly conditionId: string;
  readonly marketId: string;
}

/** @throws Refusal unknown_venue, wrong_venue_route, market_not_found, market_not_resolved, service_unavailable */
export async function redeem(
  needs: RedeemNeeds,
  caller: Caller,
  request: RedeemRequest,
): Promise<RedeemResponse> {
  const named = namedVenue(needs, request.venue);
  if (named !== null) requireCapability(named, 'redemption');
  const market = await resolvedMarket(needs, marketNamed(request), named);
  const wallets =
    request.walletAddress === undefined
      ? null
      : await evmWallets(needs, caller, request.walletAddress, 'walletAddress');
  const holders = await needs.redemptions.holders(caller, market.conditionId, {
    wallets,
    outcome: request.side ?? null,
  });
  if (holders.length === 0) return nothing(market);
  const holdings = holders.map((wallet) => ({
    wallet,
    conditionId: market.conditionId,
    agentId: caller.agentId,
  }));
  await needs.redemptions.request(holdings, false, needs.clock.now());
  const answers = await Promise.all(
    holders.map(async (wallet) => ({
      wallet,
      answer: await market.venue.redemption.redeem(wallet, market.conditionId),
    })),
  );
  // The owner has redeemed already: the proof of it closes the positions.
  const gone = answers.filter(({ answer }) => answer.kind === 'redeemed' && answer.yes + answer.no === 0n);
  if (market.venue.redemption.redeemed !== undefined && gone.length > 0)
    await needs.redemptions.makeDue(
      market.venue.id,
      gone.map(({ wallet }) => wallet),
    );
  return summary(market, await relayed(needs, caller, { market, answers }));
}

interface Answered {
  readonly wallet: Address;
  readonly answer: RedeemAnswer;
}

type Relay = NonNullable<RedeemResponse['relays']>[number];

/** What the relayer makes is prepared now, under a name by which its signature comes back; else the owner's transactions stay. */
async function relayed(
  { relayedRedemptions, clock }: RedeemNeeds,
  { agentId }: Caller,
  { market, answers }: { readonly market: ResolvedMarket; readonly answers: readonly Answered[] },
): Promise<readonly (Answered & { readonly relay?: Relay })[]> {
  const { venue, marketId, conditionId } = market;
  return Promise.all(
    answers.map(async ({ wallet, answer }) => {
      const redemption = venue.redemption;
      const relay =
        answer.kind === 'unsigned' ? ((await redemption.relay?.(wallet, conditionId)) ?? null) : null;
      if (relay === null) return { wallet, answer };
      const record = relayRecord(relay);
      const { digest } = record;
      const of = { digest, venue: venue.id, wallet, marketId, conditionId, relay };
      await relayedRedemptions.prepare(agentId, { ...of, createdAt: clock.now() });
      return { wallet, answer, relay: { orderId: digest, walletAddress: wallet, relay: record } };
    }),
  );
}

/** @throws Refusal wrong_venue_route, market_not_found, market_not_resolved */
async function resolvedMarket(
  needs: RedeemNeeds,
  name: string,
  named: Venue | null,
): Promise<ResolvedMarket> {
  const id = conditionIdOfBothWidths(name);
  const candidates = venuesWith(needs, 'redemption').filter((venue) => named === null || venue === named);
  for (const venue of candidates) {
    const market = await venue.markets.find(id);
    if (market === null) continue;
    if (market.status === 'resolved') return { venue, conditionId: market.conditionId, marketId: market.id };
    throw refusal('market_not_resolved', `The market is ${market.status}; its outcome is not known yet.`, {
      path: 'marketConditionId',
    });
  }
  // The venue forgets a market when no account holds anything of it; here it was traded.
  const traded = await needs.redemptions.market(id);
  const venue = traded === null ? await knownElsewhere(needs, id) : venueOfMarket(needs, traded.venue);
  if (traded === null) {
    if (venue !== null) requireCapability(venue, 'redemption');
    throw refusal('market_not_found', undefined, { path: 'marketConditionId' });
  }
  return { ...traded, venue: requireCapability(venue ?? needs.venues.default, 'redemption') };
}

const venueOfMarket = (needs: HasVenues, id: VenueId | null): Venue | null =>
  (id === null ? undefined : needs.venues.get(id)) ?? null;

/** The venue without redemptions that lists it; `null` as well while one does not answer: then it is unknown here. */
async function knownElsewhere(needs: HasVenues, id: string): Promise<Venue | null> {
  const others = [...needs.venues.values()].filter(({ redemption }) => redemption === undefined);
  const found = await Promise.all(others.map((venue) => within(LOOK_ELSEWHERE_MS, venue.markets.find(id))));
  return others.find((_, i) => found[i] !== null) ?? null;
}

const nothing = ({
  conditionId,
  marketId,
}: Pick<ResolvedMarket, 'conditionId' | 'marketId'>): RedeemResponse => ({
  success: true,
  status: 'nothing_to_redeem',
  redeemedAmount: 0,
  txHash: null,
  marketId,
  marketConditionId: conditionId,
  conditionId,
  wallets: [],
});

/** @throws Refusal service_unavailable when the venue left a redemption unanswered: asking again is safe */
function summary(
  market: ResolvedMarket,
  answers: readonly (Answered & { readonly relay?: Relay })[],
): RedeemResponse {
  const rows: RedeemResponse['wallets'] = [];
  const transactions: NonNullable<RedeemResponse['transactions']> = [];
  let paid = 0n;
  const relays: Relay[] = [];
  for (const { wallet, answer, relay } of answers) {
    if (answer.kind === 'unknown') {
      throw refusal('service_unavailable', 'The venue did not answer; ask again: it pays exactly once.', {
        retryAfterS: RETRY_S,
      });
    }
    if (answer.kind === 'not_resolved') throw refusal('market_not_resolved');
    if (answer.kind === 'unsigned') {
      if (relay === undefined) transactions.push(...answer.transactions);
      else relays.push(relay);
      continue;
    }
    const { yes, no, payout } = answer;
    if (yes + no === 0n) continue;
    paid += payout;
    rows.push({
      walletAddress: wallet,
      yes: microToNumber(yes),
      no: microToNumber(no),
      redeemedAmount: microToNumber(payout),
    });
  }
  if (transactions.length + relays.length > 0)
    return {
      ...nothing(market),
      status: 'unsigned',
      ...(transactions.length === 0 ? {} : { transactions }),
      ...(relays.length === 0 ? {} : { relays }),
    };
  if (rows.length === 0) return nothing(market);
  return { ...nothing(market), status: 'redeemed', redeemedAmount: microToNumber(paid), wallets: rows };
}

// Redeems without being asked for agents with autoRedeemEnabled. Driven by the table of resolved markets, which the venue's own
// evidence fills: a market stays due until every redemption in it was answered, so a crash repeats some of the work,
// and a repeated redemption pays nothing. What lost is burnt for everybody: it is no position any more. A turn with
// nothing due is one look at an empty index.

/** Markets per turn, and redemptions in flight: what shares a group commit without holding up the trades. */
const MARKETS_PER_TURN = 50;
const AT_ONCE = 200;

/** @returns how many holdings were redeemed */
export async function autoRedeem(needs: RedeemNeeds): Promise<number> {
  // Elsewhere the owner of the wallet signs.
  const venues = venuesWith(needs, 'redemption').filter(({ backend }) => backend === 'paper');
  if (venues.length === 0) return 0;
  const markets = await needs.redemptions.due(
    venues.map(({ id }) => id),
    MARKETS_PER_TURN,
  );
  if (markets.length === 0) return 0;
  const due = markets.map(({ conditionId }) => conditionId);
  const redemptionOf = new Map(
    markets.map(({ conditionId, venue }) => {
      const { redemption } = venues.find(({ id }) => id === venue) ?? (venues[0] as VenueWith<'redemption'>);
      return [conditionId, redemption];
    }),
  );
  const redeemOne = async ({ wallet, conditionId }: Pick<Holding, 'wallet' | 'conditionId'>) => {
    try {
      const answer = await redemptionOf.get(conditionId)?.redeem(wallet, conditionId);
      return answer?.kind === 'redeemed';
    } catch {
      return false;
    }
  };
  const [holdings, worthless] = await Promise.all([
    needs.redemptions.automatic(due),
    needs.redemptions.worthless(due),
  ]);
  const unanswered = new Set<string>();
  let redeemed = 0;
  for (let i = 0; i < holdings.length; i += AT_ONCE) {
    const some = holdings.slice(i, i + AT_ONCE);
    await needs.redemptions.request(some, true, needs.clock.now());
    const answers = await Promise.all(some.map(redeemOne));
    for (const [index, isDone] of answers.entries()) {
      if (isDone) redeemed += 1;
      else unanswered.add(some[index]?.conditionId as string);
    }
  }
  for (let i = 0; i < worthless.length; i += AT_ONCE) {
    const some = worthless.slice(i, i + AT_ONCE);
    const answers = await Promise.all(some.map(redeemOne));
    for (const [index, isDone] of answers.entries())
      if (!isDone) unanswered.add(some[index]?.conditionId as string);
  }
  const swept = due.filter((conditionId) => !unanswered.has(conditionId));
  if (swept.length > 0) await needs.redemptions.swept(swept, needs.clock.now());
  return redeemed;
}

// Records what owners have redeemed past the desk: at a live venue the desk only says which call to sign, and learns from the
// venue that it was made. Accounts are asked about while they hold something redeemable, each once a minute at the most.

const EVERY_MS = 60_000;
/** The venue allows twenty such questions a second from one address, for everything that asks there. */
const ACCOUNTS_PER_TURN = 50;
const ACCOUNTS_AT_ONCE = 10;

/** @returns how many positions changed @throws what a venue throws, once the other accounts have been asked about */
export async function followRedemptions(needs: RedeemNeeds): Promise<number> {
  let changed = 0;
  const failures: unknown[] = [];
  for (const venue of venuesWith(needs, 'redemption')) {
    if (venue.redemption.redeemed === undefined) continue;
    const holders = await needs.redemptions.claimHolders(venue.id, {
      everyMs: EVERY_MS,
      limit: ACCOUNTS_PER_TURN,
    });
    for (let start = 0; start < holders.length; start += ACCOUNTS_AT_ONCE) {
      const some = holders.slice(start, start + ACCOUNTS_AT_ONCE);
      for (const turn of await Promise.allSettled(some.map((holder) => record(needs, venue, holder))))
        if (turn.status === 'fulfilled') changed += turn.value;
        else failures.push(turn.reason);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, 'redemptions were not read');
  return changed;
}

async function record(
  { clock, redemptions }: RedeemNeeds,
  { redemption }: VenueWith<'redemption'>,
  { wallet, conditionIds }: RedeemableHolder,
): Promise<number> {
  const found = (await redemption.redeemed?.(wallet, conditionIds)) ?? [];
  if (found.length === 0) return 0;
  const now = clock.now();
  // A result never belongs to a day that has not begun.
  return redemptions.recordRedeemed(found.map((one) => ({ ...one, wallet, at: Math.min(one.at, now) })));
}

// Notes how traded markets ended at venues that announce nothing and have to be asked.

const ASKED_PER_TURN = 500;

/** @returns how many outcomes were written @throws what a venue throws, once the others have been asked */
export async function resolveMarkets(needs: RedeemNeeds): Promise<number> {
  const asked = [...needs.venues.values()].filter(({ markets }) => !markets.announcesResolutions);
  const turns = await Promise.allSettled(asked.map((venue) => resolveAt(needs, venue)));
  const failures = turns.flatMap((turn) => (turn.status === 'rejected' ? [turn.reason] : []));
  if (failures.length > 0) throw new AggregateError(failures, 'outcomes of markets were not read');
  return turns.reduce((sum, turn) => (turn.status === 'fulfilled' ? sum + turn.value : sum), 0);
}

async function resolveAt(needs: RedeemNeeds, venue: Venue): Promise<number> {
  const conditionIds = await needs.chainOrders.unresolved(venue.id, ASKED_PER_TURN);
  if (conditionIds.length === 0) return 0;
  const at = needs.clock.now();
  const resolutions = (await venue.markets.findAll(conditionIds)).flatMap((market): ResolutionEvidence[] =>
    market.status === 'resolved' && market.payout !== undefined
      ? [{ conditionId: market.conditionId, payout: market.payout, at }]
      : [],
  );
  if (resolutions.length === 0) return 0;
  await needs.chainOrders.resolve(resolutions);
  return resolutions.length;
}

export const positionJobs = (needs: RedeemNeeds): readonly Job[] => [
  { name: 'redeem', everyMs: 1_000, run: () => autoRedeem(needs) },
  {
    name: 'resolve markets',
    everyMs: 15_000,
    async run() {
      // One venue that does not say how markets ended must not keep redemptions from being recorded.
      const turns = await Promise.allSettled([resolveMarkets(needs), followRedemptions(needs)]);
      const failures = turns.flatMap((turn) => (turn.status === 'rejected' ? [turn.reason] : []));
      if (failures.length > 0)
        throw new AggregateError(failures, 'resolutions were not followed to their end');
    },
  },
];
