/** Rows about markets: holders, resolutions, and sums over positions. */
import { type Micro, microToNumber } from '@bellwether/contract/decimals';
import { type Payout, paysOf } from '@bellwether/contract/positions';
import { type PositionId, parsePositionId } from '@bellwether/protocol';
import type {
  AccountId,
  HolderView,
  MarketFacts,
  MarketView,
  Outcome,
  PaperExchange,
} from '../../paper-exchange.ts';
import { wireAddress } from '../polymarket/index.ts';
import { factsOf, priceOf, worthOf } from './market-facts.ts';
import { type Position, totalOf } from './positions.ts';

const OUTCOMES = ['YES', 'NO'] as const;

export interface HolderRow {
  readonly proxy_wallet: string;
  readonly condition_id: string;
  readonly token_id: string;
  readonly outcome_index: number;
  readonly amount: number;
}

/** Each outcome's holders, those with most first. */
export function holderRows(market: MarketView, holders: readonly HolderView[], least: Micro): HolderRow[] {
  return OUTCOMES.flatMap((outcome, index) => {
    const sizeOf = ({ yes, no }: HolderView): Micro => (outcome === 'YES' ? yes : no);
    return holders
      .filter((holder) => sizeOf(holder) >= least && sizeOf(holder) > 0n)
      .toSorted((a, b) => (sizeOf(a) < sizeOf(b) ? 1 : sizeOf(a) > sizeOf(b) ? -1 : 0))
      .map((holder) => ({
        proxy_wallet: wireAddress(holder.account),
        condition_id: market.conditionId,
        token_id: market.tokenIds[index] ?? '',
        outcome_index: index,
        amount: microToNumber(sizeOf(holder)),
        ...{ name: '', pseudonym: '', bio: '', profile_image: '' },
      }));
  });
}

/** Collateral behind the tokens: as many YES as NO tokens exist while a market is open. */
export function openInterestOf(holders: readonly HolderView[]): Micro {
  const yes = holders.reduce((sum, holder) => sum + holder.yes, 0n);
  const no = holders.reduce((sum, holder) => sum + holder.no, 0n);
  return yes > no ? yes : no;
}

/** Value of the tokens that an account holds. */
export function portfolioValue(
  exchange: Pick<PaperExchange, 'account' | 'market'>,
  account: AccountId,
  conditions: readonly string[] | null,
): Micro {
  const wanted = conditions === null ? null : new Set(conditions);
  let value = 0n;
  for (const [conditionId, { yes, no, yesHeld, noHeld }] of exchange.account(account).tokens) {
    const view = exchange.market(conditionId);
    if (view === undefined || wanted?.has(conditionId) === false) continue;
    const facts = factsOf(view);
    const worth = (outcome: Outcome, size: Micro): Micro => worthOf(size, priceOf(facts, outcome, view));
    value += worth('YES', yes + yesHeld) + worth('NO', no + noHeld);
  }
  return value;
}

/** An account's results, all time, by the API's names; what the paper venue does not pay is zero. */
export function resultRow(positions: readonly Position[]) {
  const sum = (pick: (position: Position) => Micro): number =>
    microToNumber(positions.reduce((total, position) => total + pick(position), 0n));
  const realized = sum((position) => position.realized);
  const all = microToNumber(profitOf(positions));
  const fees = -sum((position) => position.fees);
  return {
    realized_market_pnl: realized,
    ...{ realized_lp_pnl: 0, realized_combo_pnl: 0 },
    unrealized_pnl: all - realized,
    ...{ fees_refunded: 0, maker_rebate: 0, taker_rebate: 0, reward_income: 0, yield_income: 0 },
    ...{ referral_income: 0, deposits: null, withdrawals: null },
    ...{ realized_pnl: realized, wallet_income: 0, position_pnl: all, settled_pnl: realized },
    ...{ economic_pnl: all, trade_pnl: all, sponsored_income: 0, fees, fees_paid: fees, cashflow_net: null },
  };
}

export const profitOf = (positions: readonly Position[]): Micro =>
  positions.reduce((sum, position) => sum + totalOf(position), 0n);

const payoutsOf = (payout: Payout): readonly [Micro, Micro] => [paysOf(payout, 'YES'), paysOf(payout, 'NO')];

export function resolutionRow(facts: MarketFacts | MarketView, view: MarketView | undefined) {
  const { conditionId, payout } = facts;
  const resolvedAt = view?.resolvedAt;
  const position = parsePositionId(BigInt(facts.tokenIds[0]));
  if (position !== null) return positionResolution(position, facts, resolvedAt);
  return {
    condition_id: conditionId,
    question_id: conditionId,
    status:
      payout !== undefined ? 'resolved' : view === undefined || view.status === 'open' ? 'open' : 'proposed',
    payouts: payout === undefined ? [] : payoutsOf(payout).map(String),
    resolved_at: resolvedAt === undefined ? null : Math.floor(resolvedAt / 1000),
  };
}

/** As the venue shows it for Protocol V2. The paper world has neither an oracle nor blocks. */
function positionResolution(
  { module }: PositionId,
  { conditionId, payout }: MarketFacts | MarketView,
  resolvedAt: number | undefined,
) {
  const market_type = module === 1 ? 'BINARY' : 'ATOMIC_NEGRISK';
  if (payout === undefined) return { condition_id: conditionId, status: 'active', market_type };
  return {
    condition_id: conditionId,
    status: 'resolved',
    market_type,
    payouts: payoutsOf(payout).map(Number),
    resolution_source: 'reported',
    reporter: 'UMA_OO',
    resolved_block: 0,
    resolved_at: resolvedAt === undefined ? null : Math.floor(resolvedAt / 1000),
    transaction_hash: '',
    log_index: '',
  };
}
