/** Tokens of resolved markets into collateral. No safeguard stands in the way. */
import type { RedeemRequest, RedeemResponse } from '@bellwether/contract';
import { microToNumber } from '@bellwether/contract/decimals';
import type { Address } from '@bellwether/protocol';
import { within } from '../domain/patience.ts';
import type { Caller } from '../ports/stores.ts';
import type { RedeemAnswer } from '../ports/venue.ts';
import type { Deps } from './deps.ts';
import { walletsOfA } from './positions.ts';
import { refusal } from './refusal.ts';
import { requireVenueA } from './venues.ts';

const RETRY_S = 1;
const LOOK_ON_B_MS = 2_000;
const REDEEM_ON_B =
  'ask for a SELL quote of the winning outcome (POST /venueb/agent/quote), sign and submit it';

interface ResolvedMarket {
  readonly conditionId: string;
  readonly marketId: string;
}

export async function redeem(deps: Deps, caller: Caller, request: RedeemRequest): Promise<RedeemResponse> {
  requireVenueA(deps, request.venue, REDEEM_ON_B);
  const market = await resolvedMarket(deps, request.marketId);
  const wallets =
    request.walletAddress === undefined
      ? null
      : await walletsOfA(deps, caller, request.walletAddress, 'walletAddress');
  const holders = await deps.redemptions.holders(caller, market.conditionId, {
    wallets,
    outcome: request.side ?? null,
  });
  if (holders.length === 0) return nothing(market);
  const holdings = holders.map((wallet) => ({
    wallet,
    conditionId: market.conditionId,
    agentId: caller.agentId,
  }));
  await deps.redemptions.request(holdings, false, deps.clock.now());
  const answers = await Promise.all(
    holders.map(async (wallet) => ({ wallet, answer: await deps.venueA.redeem(wallet, market.conditionId) })),
  );
  return summary(market, answers);
}

/** @throws Refusal market_not_found, market_not_resolved */
async function resolvedMarket(deps: Deps, id: string): Promise<ResolvedMarket> {
  const market = await deps.markets.find(id);
  if (market !== null) {
    if (market.status === 'resolved') return { conditionId: market.conditionId, marketId: market.id };
    throw refusal('market_not_resolved', `The market is ${market.status}; its outcome is not known yet.`, {
      path: 'marketId',
    });
  }
  // The venue forgets a market when nobody holds anything of it; here it was traded.
  const traded = await deps.redemptions.market(id);
  // A condition id of venue A begins with 0x; what else was traded here is a ticker.
  const isOfB = traded === null ? await isKnownOnB(deps, id) : !traded.conditionId.startsWith('0x');
  if (isOfB) requireVenueA(deps, deps.venueB.name, REDEEM_ON_B);
  if (traded === null) throw refusal('market_not_found', undefined, { path: 'marketId' });
  return traded;
}

/** `false` as well while venue B does not answer: then the market is unknown here. */
const isKnownOnB = async (deps: Deps, id: string): Promise<boolean> =>
  (await within(LOOK_ON_B_MS, deps.venueB.markets.find(id))) !== null;

const nothing = ({ conditionId, marketId }: ResolvedMarket): RedeemResponse => ({
  success: true,
  status: 'nothing_to_redeem',
  redeemedAmount: 0,
  txHash: null,
  marketId,
  conditionId,
  wallets: [],
});

/** @throws Refusal service_unavailable when the venue left a redemption unanswered: asking again is safe */
function summary(
  market: ResolvedMarket,
  answers: readonly { readonly wallet: Address; readonly answer: RedeemAnswer }[],
): RedeemResponse {
  const rows: RedeemResponse['wallets'] = [];
  const transactions: NonNullable<RedeemResponse['transactions']> = [];
  let paid = 0n;
  for (const { wallet, answer } of answers) {
    if (answer.kind === 'unknown') {
      throw refusal('service_unavailable', 'The venue did not answer; ask again: it pays exactly once.', {
        retryAfterS: RETRY_S,
      });
    }
    if (answer.kind === 'not_resolved') throw refusal('market_not_resolved');
    if (answer.kind === 'unsigned') {
      transactions.push(...answer.transactions);
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
  if (transactions.length > 0) return { ...nothing(market), status: 'unsigned', transactions };
  if (rows.length === 0) return nothing(market);
  return { ...nothing(market), status: 'redeemed', redeemedAmount: microToNumber(paid), wallets: rows };
}
