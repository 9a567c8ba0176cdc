/**
 * Approvals that a wallet must have given before the venue's contracts can move its money, as far as the venue shows them. The desk
 * cannot approve anything: it says what is missing and which call gives it.
 */
import { formatMicro, type Micro, PIPS } from '@bellwether/contract/decimals';
import {
  type Address,
  approvalCalls,
  type ContractCall,
  type ContractMarket,
  OLDER_NEG_RISK_ADAPTER,
  olderAdapterApprovalCall,
  POLYGON_EXCHANGES,
  positionContract,
  type SignatureType,
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

/** The contract that takes the orders of a market. */
const orderContract = ({ negRisk, version }: Contracted): Address => {
  if (version === 'v2') return POLYGON_EXCHANGES.v3;
  return negRisk ? POLYGON_EXCHANGES.v2NegRisk : POLYGON_EXCHANGES.v2;
};

type Allowances = Pick<LiveAccounts, 'allowances' | 'outdated'>;

/** How the transactions of a wallet are sent, by its signature type. */
export const HOW_SENT: Readonly<Record<SignatureType, string>> = {
  0: 'Send it from the wallet itself.',
  1: 'Send it from the owner of the proxy wallet: the factory forwards it to the wallet.',
  2: 'Send it from the only owner of the Safe, whose own transaction is the approval; with several owners propose the inner call in the Safe instead.',
  3: 'The deposit wallet itself must make this call: sign it as one call of a DepositWallet Batch and give it to the relayer (POST /submit, type WALLET). Sent from any other address it does nothing for the wallet.',
};

export interface PositionApproval {
  readonly market: ContractMarket;
  /** `null`: collateral. */
  readonly tokenId: string | null;
  /** All or none of tokens: any amount. */
  readonly needed: Micro;
}

/** Whether the contract that splits, merges and redeems may move the account's collateral or tokens. Never throws. */
export async function positionApproval(
  accounts: Allowances,
  account: Address,
  { market, tokenId, needed }: PositionApproval,
): Promise<Approval> {
  const allowed = await accounts.allowances(account, tokenId).catch(() => null);
  const amount = allowed?.get(positionContract(market));
  return amount === undefined ? 'unknown' : amount >= needed ? 'given' : 'missing';
}

/** The call that lets that contract move all collateral, or all outcome tokens, of the wallet that makes it. */
export function positionApprovalCall(market: ContractMarket, asset: 'collateral' | 'tokens'): ContractCall {
  const spender = positionContract(market);
  const call = approvalCalls().find((one) => one.asset === asset && one.spender === spender);
  if (call === undefined) throw new Error(`${spender} needs no approval`);
  return { to: call.to, data: call.data };
}

export interface ShortageParts {
  readonly accounts: Allowances;
  readonly markets: Pick<MarketData, 'find'>;
}

/** @param words the venue's own, where they name a contract @returns `null`: the allowance is not why, or not known */
export type ShortageReason = (order: VenueOrder, words: string | null) => Promise<string | null>;

const SPENDER = /spender: (0x[0-9a-fA-F]{40})/;
const AMOUNT = /order amount[^:]*: (\d{1,20})/;

/**
 * Which approval is missing, where the venue has refused an order for want of balance or allowance, and the call that gives
 * it. Asking has the venue look at the chain again, so that an approval it did not know of counts for the next order.
 */
export function createShortageReason({ accounts, markets }: ShortageParts): ShortageReason {
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
    const what =
      side === 'BUY'
        ? `The allowance is missing: the venue's contract ${spender} may move ${formatMicro(allowed)} pUSD of ${funder}, and the order needs ${formatMicro(needed)}.`
        : `The approval is missing: the venue's contract ${spender} may not move outcome tokens of ${funder} (setApprovalForAll).`;
    return `${what} ${grantOf(spender, { side, wallet: funder, amount: needed })}`;
  };
  return async (order, words) => {
    const named = words === null ? null : SPENDER.exec(words)?.[1];
    if (named == null) return within(PATIENCE_MS, ask(order));
    accounts.outdated(order.funder);
    const amount = BigInt(AMOUNT.exec(words ?? '')?.[1] ?? '0');
    const { side, funder: wallet } = order;
    return `${words}. ${grantOf(named.toLowerCase() as Address, { side, wallet, amount })}`;
  };
}

interface WantedApproval {
  readonly side: 'BUY' | 'SELL';
  readonly wallet: Address;
  /** Collateral that the order needs. */
  readonly amount: Micro;
}

/** Names the call for contracts that are pinned here, and for no other: a venue's answer must not say whom a wallet trusts. */
function grantOf(spender: Address, { side, wallet, amount }: WantedApproval): string {
  if (spender === OLDER_NEG_RISK_ADAPTER) {
    const { to, data } = olderAdapterApprovalCall(amount);
    return `This is the venue's older adapter, which it has retired and is reported to ask for all the same. Only with the express consent of the wallet's owner, and for this order alone, ${wallet} calls ${to} with data ${data}.`;
  }
  const asset = side === 'BUY' ? 'collateral' : 'tokens';
  const call = approvalCalls().find((one) => one.spender === spender && one.asset === asset);
  return call === undefined
    ? `This service knows no contract ${spender} of the venue: approve it only if the venue's own documentation names it.`
    : `The approval that ${wallet} makes once: call ${call.to} with data ${call.data}.`;
}
