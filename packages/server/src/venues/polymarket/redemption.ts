/**
 * Redemption at the live venue. The desk holds no key that could: it says which call makes the wallet redeem, and the owner
 * signs it. What the owner has redeemed is gone from the account, and the Data API lists the redemption.
 */
import type { Micro } from '@bellwether/contract/decimals';
import { paysOf } from '@bellwether/contract/positions';
import type { Address, ContractCall } from '@bellwether/protocol';
import { ownerCalls, positionIds, redeemCall, redeemPositionCall } from '@bellwether/protocol';
import type { MarketRecord } from '../../domain/market.ts';
import { VenueUnavailable } from '../../domain/unavailable.ts';
import type { MarketData, RedeemAnswer, Redemption, UnsignedCall } from '../venue.ts';
import type { KeysOf, LiveAccounts } from './accounts.ts';
import { type Approval, HOW_SENT, positionApproval, positionApprovalCall } from './approvals.ts';
import type { VenueHttp } from './http.ts';
import type { OwnedKeys } from './l2-headers.ts';
import { createRedeemedReads } from './redeemed.ts';
import type { Relaying } from './relayer.ts';

export interface LiveRedemptionOptions {
  readonly markets: Pick<MarketData, 'find'>;
  readonly accounts: Pick<LiveAccounts, 'tokens' | 'outdated' | 'allowances'>;
  readonly data: Pick<VenueHttp, 'read' | 'lists'>;
  readonly keysOf: KeysOf;
  readonly chainId: number;
  /** `null`: there are no credentials of the relayer. */
  readonly relaying: Relaying | null;
}

const BURNS = 'It burns everything the wallet holds of both outcomes and pays pUSD.';
const BURNS_ONE = 'It burns what the wallet holds of one outcome and pays pUSD.';

const APPROVALS: Readonly<Record<Approval, string>> = {
  given: 'The wallet has approved this adapter for its outcome tokens.',
  missing:
    'The wallet has not approved this adapter for its outcome tokens: that is the first thing done here.',
  unknown:
    'The wallet must have approved this adapter for its outcome tokens once (setApprovalForAll). Whether it has could not be checked: the venue does not say.',
};

export function createLiveRedemption(options: LiveRedemptionOptions): Redemption {
  const { markets, accounts, keysOf, chainId, relaying } = options;
  /** @throws VenueUnavailable */
  const wantedOf = async (
    account: Address,
    conditionId: string,
  ): Promise<WantedRedemption | RedeemAnswer> => {
    const market = await markets.find(conditionId);
    if (market === null) throw new VenueUnavailable('The venue does not list the market now.');
    if (market.status !== 'resolved') return { kind: 'not_resolved' };
    // The last answer may be older than a redemption that the owner has just made.
    accounts.outdated(account);
    const [yes, no] = await accounts.tokens(account, market);
    if (yes + no === 0n) return { kind: 'redeemed', yes, no, payout: 0n };
    const keys = await keysOf(account);
    const tokenId = market.tokenIds[yes > 0n ? 0 : 1];
    const approval = await positionApproval(accounts, account, { tokenId, market, needed: 1n });
    return { market, account, keys, chainId, approval, held: [yes, no] };
  };
  return {
    redeemed: createRedeemedReads(options.data),
    async redeem(account, conditionId): Promise<RedeemAnswer> {
      const wanted = await wantedOf(account, conditionId);
      return 'kind' in wanted ? wanted : { kind: 'unsigned', transactions: unsigned(wanted) };
    },
    ...(relaying === null
      ? {}
      : {
          async relay(account: Address, conditionId: string) {
            const wanted = await wantedOf(account, conditionId);
            if ('kind' in wanted || wanted.keys === null || wanted.keys.signatureType === 0) return null;
            const { market, keys, approval } = wanted;
            const owner = { eoa: keys.eoa, wallet: account, type: keys.signatureType };
            // It costs nothing there, and without it nothing could be moved.
            const approve = approval === 'given' ? [] : [positionApprovalCall(market, 'tokens')];
            return relaying.prepare(owner, [...approve, ...redemptionCalls(wanted)]);
          },
        }),
  };
}

interface WantedRedemption {
  readonly market: MarketRecord;
  readonly account: Address;
  readonly keys: OwnedKeys | null;
  readonly chainId: number;
  readonly approval: Approval;
  readonly held: readonly [yes: Micro, no: Micro];
}

/** Protocol V2 redeems one outcome at a time, and by amount: those that pay, or, where none does, what is held. */
function redemptionCalls({ market, held }: Pick<WantedRedemption, 'market' | 'held'>): ContractCall[] {
  const { conditionId, negRisk, payout, tokenIds, version } = market;
  if (version !== 'v2') return [redeemCall(conditionId, negRisk)];
  const owned = ([0, 1] as const).filter((outcome) => held[outcome] > 0n);
  const paying = owned.filter(
    (outcome) => payout !== undefined && paysOf(payout, outcome === 0 ? 'YES' : 'NO') > 0n,
  );
  // The contract counts by its own order, which the venue's names may turn around.
  const first = positionIds(conditionId)?.[0] === tokenIds[0] ? 0 : 1;
  return (paying.length > 0 ? paying : owned).map((outcome) =>
    redeemPositionCall(conditionId, { outcome: outcome === first ? 0 : 1, amount: held[outcome] }),
  );
}

function unsigned(wanted: WantedRedemption): UnsignedCall[] {
  const { market, account, keys, chainId, approval } = wanted;
  const type = keys?.signatureType ?? 0;
  const owner = { eoa: keys?.eoa ?? account, wallet: account, type };
  const kind = market.negRisk ? 'a neg-risk market' : 'a market';
  const burns = market.version === 'v2' ? BURNS_ONE : BURNS;
  const redemptions = redemptionCalls(wanted);
  const calls =
    approval === 'missing' ? [positionApprovalCall(market, 'tokens'), ...redemptions] : redemptions;
  return ownerCalls(owner, calls).map(({ from, to, data }) => ({
    ...{ from, to, data, value: '0', chainId },
    description: `Redeem ${kind} that resolved ${market.payout}, from ${from}. ${HOW_SENT[type]} ${APPROVALS[approval]} ${burns}`,
  }));
}
