/**
 * Redemption at the live venue. The desk holds no key that could: it says which call makes the wallet redeem, and the owner
 * signs it. What the owner has redeemed is gone from the account, and the Data API lists the redemption.
 */
import type { Address } from '@bellwether/protocol';
import { ownerCall, redeemCall, redemptionAdapter } from '@bellwether/protocol';
import type { MarketRecord } from '../../domain/market.ts';
import { VenueUnavailable } from '../../domain/unavailable.ts';
import type { MarketData, RedeemAnswer, Redemption, UnsignedCall } from '../venue.ts';
import type { KeysOf, LiveAccounts } from './accounts.ts';
import { type Approval, redemptionApproval, tokenApproval } from './approvals.ts';
import type { VenueHttp } from './http.ts';
import type { OwnedKeys } from './l2-headers.ts';
import { createRedeemedReads } from './redeemed.ts';

export interface LiveRedemptionOptions {
  readonly markets: Pick<MarketData, 'find'>;
  readonly accounts: Pick<LiveAccounts, 'tokens' | 'outdated' | 'allowances'>;
  readonly data: Pick<VenueHttp, 'read'>;
  readonly keysOf: KeysOf;
  readonly chainId: number;
}

const BURNS = 'It burns everything the wallet holds of both outcomes and pays pUSD.';

const APPROVALS: Readonly<Record<Approval, string>> = {
  given: 'The wallet has approved this adapter for its outcome tokens.',
  missing:
    'The wallet has not approved this adapter for its outcome tokens: the call before this one does, and must be made first.',
  unknown:
    'The wallet must have approved this adapter for its outcome tokens once (setApprovalForAll). Whether it has could not be checked: the venue does not say.',
};

const HOW: Readonly<Record<number, string>> = {
  0: 'Send it from the wallet itself.',
  1: 'Send it from the owner of the proxy wallet: the factory forwards it to the wallet.',
  2: 'Send it from the only owner of the Safe, whose own transaction is the approval; with several owners propose the inner call in the Safe instead.',
  3: 'The deposit wallet itself must make this call: sign it as one call of a DepositWallet Batch and give it to the relayer (POST /submit, type WALLET). Sent from any other address it redeems nothing.',
};

export function createLiveRedemption(options: LiveRedemptionOptions): Redemption {
  const { markets, accounts, keysOf, chainId } = options;
  return {
    redeemed: createRedeemedReads(options.data),
    async redeem(account, conditionId): Promise<RedeemAnswer> {
      const market = await markets.find(conditionId);
      if (market === null) throw new VenueUnavailable('The venue does not list the market now.');
      if (market.status !== 'resolved') return { kind: 'not_resolved' };
      // The last answer may be older than a redemption that the owner has just made.
      accounts.outdated(account);
      const [yes, no] = await accounts.tokens(account, market);
      if (yes + no === 0n) return { kind: 'redeemed', yes, no, payout: 0n };
      const keys = await keysOf(account);
      const tokenId = market.tokenIds[yes > 0n ? 0 : 1];
      const approval = await redemptionApproval(accounts, account, { tokenId, negRisk: market.negRisk });
      return { kind: 'unsigned', transactions: unsigned({ market, account, keys, chainId, approval }) };
    },
  };
}

interface Wanted {
  readonly market: MarketRecord;
  readonly account: Address;
  readonly keys: OwnedKeys | null;
  readonly chainId: number;
  readonly approval: Approval;
}

function unsigned({ market, account, keys, chainId, approval }: Wanted): UnsignedCall[] {
  const type = keys?.signatureType ?? 0;
  const owner = { eoa: keys?.eoa ?? account, wallet: account, type };
  const { from, to, data } = ownerCall(owner, redeemCall(market.conditionId, market.negRisk));
  const kind = market.negRisk ? 'a neg-risk market' : 'a market';
  const redemption = {
    ...{ to, data, value: '0', chainId },
    description: `Redeem ${kind} that resolved ${market.payout}, from ${from}. ${HOW[type]} ${APPROVALS[approval]} ${BURNS}`,
  };
  if (approval !== 'missing') return [redemption];
  const adapter = redemptionAdapter(market.negRisk);
  const approves = ownerCall(owner, tokenApproval(adapter));
  const first = {
    ...{ to: approves.to, data: approves.data, value: '0', chainId },
    description: `Approve ${adapter} for the outcome tokens of ${account} (setApprovalForAll), from ${approves.from}. ${HOW[type]}`,
  };
  return [first, redemption];
}
