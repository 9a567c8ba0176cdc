/** Tokens of resolved markets into collateral. No safeguard stands in the way. */

import type { RedeemRequest, RedeemResponse } from '@bellwether/contract';
import { microToNumber } from '@bellwether/contract/decimals';
import type { Address } from '@bellwether/protocol';
import { conditionIdOfBothWidths } from '@bellwether/protocol';
import type { VenueId } from '../domain/market.ts';
import { within } from '../domain/patience.ts';
import type { Caller } from '../domain/records.ts';
import { marketNamed } from '../markets/index.ts';
import { refusal } from '../platform/refusal.ts';
import { type HasVenues, namedVenue, requireCapability, venuesWith } from '../venues/asking.ts';
import { relayRecord } from '../venues/relay-record.ts';
import type { RedeemAnswer, Venue, VenueWith } from '../venues/venue.ts';
import { evmWallets, type PositionNeeds } from './positions.ts';
import type { RedemptionStore } from './redemption-store.ts';
import type { RelayedRedemptions } from './relayed-redemptions.ts';

export interface RedeemNeeds extends PositionNeeds {
  readonly redemptions: RedemptionStore;
  readonly relayedRedemptions: Pick<RelayedRedemptions, 'prepare'>;
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
