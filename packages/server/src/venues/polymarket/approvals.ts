/**
 * What a wallet must have approved before the venue's contracts can move what it has, as far as the venue tells. The desk
 * cannot approve anything: it says what is missing and which call gives it.
 */
import { formatMicro, type Micro, PIPS } from '@bellwether/contract/decimals';
import {
  type Address,
  approvalCalls,
  POLYGON_EXCHANGES,
  POSITION_ROUTER,
  redemptionAdapter,
} from '@bellwether/protocol';
import type { MarketRecord } from '../../domain/market.ts';
import { within } from '../../domain/patience.ts';
import type { MarketData, VenueOrder } from '../venue.ts';
import type { LiveAccounts } from './accounts.ts';

/** An order's answer waits for the reason no longer. */
const PATIENCE_MS = 1_500;

/** `unknown`: the venue does not say; the wallet may have approved it or not. */
export type Approval = 'given' | 'missing' | 'unknown';

type Contracted = Pick<MarketRecord, 'negRisk' | 'version'>;

/** The contract through which tokens of a market are redeemed. */
export const redemptionContract = ({ negRisk, version }: Contracted): Address =>
  version === 'v2' ? POSITION_ROUTER : redemptionAdapter(negRisk);

/** The contract that takes the orders of a market. */
const orderContract = ({ negRisk, version }: Contracted): Address => {
  if (version === 'v2') return POLYGON_EXCHANGES.v3;
  return negRisk ? POLYGON_EXCHANGES.v2NegRisk : POLYGON_EXCHANGES.v2;
};

type Allowances = Pick<LiveAccounts, 'allowances' | 'outdated'>;

/** Whether the contract that redeems may burn the account's tokens of a market. Never throws. */
export async function redemptionApproval(
  accounts: Allowances,
  account: Address,
  { tokenId, market }: { readonly tokenId: string; readonly market: Contracted },
): Promise<Approval> {
  const allowed = await accounts.allowances(account, tokenId).catch(() => null);
  const amount = allowed?.get(redemptionContract(market));
  return amount === undefined ? 'unknown' : amount > 0n ? 'given' : 'missing';
}

/** The call that lets a contract move all outcome tokens of the wallet that makes it. */
export function tokenApproval(
  spender: Address,
): Pick<ReturnType<typeof approvalCalls>[number], 'to' | 'data'> {
  const call = approvalCalls().find((one) => one.asset === 'tokens' && one.spender === spender);
  if (call === undefined) throw new Error(`${spender} needs no approval`);
  return call;
}

export interface ShortageParts {
  readonly accounts: Allowances;
  readonly markets: Pick<MarketData, 'find'>;
}

/**
 * Why the venue may have refused an order for want of balance or allowance, in words; `null`: the allowance is not why, or
 * not known. Asking has the venue look at the chain again, so that an approval it did not know of counts for the next order.
 */
export function createShortageReason({ accounts, markets }: ShortageParts) {
  const ask = async ({ funder, conditionId, outcome, side, shares, spend, limit }: VenueOrder) => {
    const market = await markets.find(conditionId);
    if (market === null) return null;
    accounts.outdated(funder);
    const tokenId = side === 'BUY' ? null : market.tokenIds[outcome === 'YES' ? 0 : 1];
    const spender = orderContract(market);
    const allowed = (await accounts.allowances(funder, tokenId))?.get(spender);
    if (allowed === undefined) return null;
    const needed: Micro =
      side === 'BUY' ? (spend ?? (shares * BigInt(limit)) / BigInt(PIPS)) : /* all or none */ 1n;
    if (allowed >= needed) return null;
    return side === 'BUY'
      ? `The allowance is missing: the venue's contract ${spender} may move ${formatMicro(allowed)} pUSD of ${funder}, and the order needs ${formatMicro(needed)}. Its owner approves the contract once.`
      : `The approval is missing: the venue's contract ${spender} may not move outcome tokens of ${funder}. Its owner approves the contract once (setApprovalForAll).`;
  };
  return (order: VenueOrder): Promise<string | null> => within(PATIENCE_MS, ask(order));
}
