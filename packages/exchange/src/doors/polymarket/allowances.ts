/**
 * Allowances of the venue's contracts, by contract. Paper money needs no approvals: unless a plan of faults names
 * allowances, each contract may move everything.
 */
import {
  type Address,
  type ExchangeDomains,
  exchangeDomain,
  OLDER_NEG_RISK_ADAPTER,
  toChecksumAddress,
} from '@bellwether/protocol';
import type { MarketView, NewOrder } from '../../paper-exchange.ts';
import type { Faults } from './faults.ts';
import { WireError } from './wire-error.ts';

const UNLIMITED = 2n ** 256n - 1n;

type Planned = Pick<Faults, 'plan'> | undefined;

const allowanceOf = (faults: Planned, spender: Address): bigint => {
  const allowances = faults?.plan.allowances ?? null;
  return allowances === null ? UNLIMITED : BigInt(allowances[spender.toLowerCase()] ?? '0');
};

/** As `/balance-allowance` lists them. The older adapter is still among those of collateral. */
export function listedAllowances(
  { faults, domains }: { readonly faults?: Faults; readonly domains: ExchangeDomains },
  isCollateral: boolean,
): Readonly<Record<string, string>> {
  const spenders = domains.map(({ verifyingContract }) => verifyingContract);
  if (isCollateral) spenders.push(toChecksumAddress(OLDER_NEG_RISK_ADAPTER) as Address);
  return Object.fromEntries(spenders.map((spender) => [spender, allowanceOf(faults, spender).toString()]));
}

/** Before an order is placed. A BUY in a neg-risk market needs the older adapter, too; of tokens any allowance is all. */
export function missingAllowance(
  { faults, domains }: { readonly faults?: Faults; readonly domains: ExchangeDomains },
  { side }: Pick<NewOrder, 'side'>,
  { market, needed }: { readonly market: MarketView; readonly needed: bigint },
): WireError | null {
  const isOfV2 = market.version === 'v2';
  const contract = exchangeDomain(domains, isOfV2 ? 3 : 2, market.negRisk).verifyingContract;
  const asksOlder = side === 'BUY' && market.negRisk && !isOfV2;
  for (const spender of [contract, ...(asksOlder ? [OLDER_NEG_RISK_ADAPTER] : [])]) {
    const allowed = allowanceOf(faults, spender);
    if (side === 'BUY' ? allowed >= needed : allowed > 0n) continue;
    return new WireError(
      400,
      `not enough balance / allowance: the allowance is not enough -> spender: ${toChecksumAddress(spender)}, allowance: ${allowed}, sum of matched orders: 0, order amount (inc. fees): ${needed}`,
    );
  }
  return null;
}
