/**
 * Judges a trade by quote with the safeguards, by the facts that its agent's ledger gives. A submit reads them under
 * the agent's lock and reserves. A quote only looks, so that no caller gets a transaction that may not be sent: its
 * chain takes everything that is signed, whether it came through the desk or not.
 */
import type { Micro } from '@bellwether/contract/decimals';
import type { Denial } from '../domain/denial.ts';
import type { BoundTerms } from '../domain/draft.ts';
import { legsOf } from '../domain/quoted-amounts.ts';
import type { Caller, Standing } from '../domain/records.ts';
import {
  type ApprovalNeed,
  approvalNeeded,
  assess,
  type CheckedFigures,
  checkedFigures,
  type Verdict,
  verdicts,
} from '../domain/safeguards.ts';
import type { Clock } from '../platform/clock.ts';
import type { TradeLedger } from '../trading/index.ts';
import { quotingVenue } from '../venues/asking.ts';
import type { Venue, Venues } from '../venues/venue.ts';
import type { ExecutableQuote } from './outcomes.ts';

type ChainTrade = Pick<ExecutableQuote, 'wallet' | 'ticker' | 'mints' | 'side' | 'amounts'>;

/** A redemption is no trade: it takes no budget. */
export const budgetOf = ({ side, amounts }: Pick<ChainTrade, 'side' | 'amounts'>): Micro =>
  amounts.isRedemption ? 0n : legsOf(side, amounts).collateral;

/** A quote is its transaction, byte for byte: nothing about it can differ. */
export const boundTerms = ({ expiresAt }: Pick<ExecutableQuote, 'expiresAt'>): BoundTerms => ({
  orderType: 'FAK',
  isLimitOrder: false,
  postOnly: false,
  deferExec: false,
  endsAt: expiresAt,
});

export interface QuoteVerdict {
  /** Denial of any safeguard, approval apart. */
  readonly denial: Denial | null;
  /** The approval that an order lacks that nothing else refuses. */
  readonly need: ApprovalNeed | null;
  readonly all: () => readonly Verdict[];
  readonly figures: () => CheckedFigures;
}

const HARMLESS: QuoteVerdict = { denial: null, need: null, all: () => [], figures: () => ({}) };

/** A redemption is never blocked by a safeguard. */
export function verdictOn({ backend }: Venue, trade: ChainTrade, standing: Standing): QuoteVerdict {
  if (trade.amounts.isRedemption) return HARMLESS;
  const { safeguards } = standing;
  const facts = {
    ...standing,
    // The wallet's signature stands for a credential.
    hasCredentials: true,
    claimMissing: backend === 'live' && !standing.claimed,
    addsExposure: trade.side === 'BUY',
    mayRest: true,
    amount: budgetOf(trade),
  };
  const denial = assess(safeguards, facts);
  return {
    denial,
    need: denial === null ? approvalNeeded(safeguards, facts) : null,
    all: () => verdicts(safeguards, facts),
    figures: () => checkedFigures(safeguards, facts),
  };
}

export interface LookAheadNeeds {
  readonly clock: Clock;
  readonly ledger: Pick<TradeLedger, 'look'>;
  readonly venues: Venues;
}

/** Answer that a submit would get at this moment. Reserves nothing. */
export async function lookAhead(
  needs: LookAheadNeeds,
  caller: Caller,
  trade: ChainTrade,
): Promise<QuoteVerdict & { readonly standing: Standing | null }> {
  if (trade.amounts.isRedemption) return { ...HARMLESS, standing: null };
  const standing = await needs.ledger.look({
    caller,
    funder: trade.wallet,
    signer: trade.wallet,
    conditionId: trade.ticker,
    tokenIds: trade.mints,
    at: needs.clock.now(),
  });
  return { ...verdictOn(quotingVenue(needs), trade, standing), standing };
}

/** Sentence of a denial: the figures behind it, and what to do, where that depends on the case. */
export function sentenceOf({ detail, context, fix }: Denial): string {
  const figures = Object.entries(context ?? {}).map(([name, value]) => `${name} ${String(value)}`);
  return [
    detail,
    ...(figures.length === 0 ? [] : [`(${figures.join(', ')})`]),
    ...(fix === undefined ? [] : [fix]),
  ].join(' ');
}
