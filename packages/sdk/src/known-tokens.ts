/**
 * Which token an outcome is. Both are computed from the market's condition, so that the service cannot give others. Where the venue lists
 * No first, YES is the second, and nothing on the chain says so.
 */
import {
  sideCalled as calledOf,
  listsNoFirst,
  outcomeMismatch as mismatchOf,
  OrderBuildError,
} from '@bellwether/contract';
import { isPositionId, outcomeTokens } from '@bellwether/protocol';
import type { KeyUse } from './key-use.ts';
import { NEED, type Need, needOptions } from './usage-error.ts';

interface TokenTerms {
  readonly conditionId: string;
  readonly clobTokenIds: readonly string[];
  readonly negRisk: boolean;
  readonly version?: string;
  /** The venue's names, as the service says them. */
  readonly outcomes?: readonly string[];
}

/** What is known beside the service's answer. */
export interface TokenKnowledge {
  readonly use: KeyUse | null | undefined;
  /** [YES, NO], from another source. */
  readonly tokenIds?: readonly [yes: string, no: string] | undefined;
}

function computed({ conditionId, negRisk }: TokenTerms): readonly [string, string] | null {
  try {
    return outcomeTokens(conditionId, negRisk);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** Whether the market's YES is the second token of its condition. */
export const isTurned = (market: TokenTerms): boolean => computed(market)?.[1] === market.clobTokenIds[0];

/**
 * The market's [YES, NO] tokens. A key for paper may trade tokens that do not follow from the condition: paper venues of earlier
 * releases drew the ids of markets that are still open.
 * @throws OrderBuildError `market_incomplete`, `market_version_not_supported`, `tokens_differ`
 */
export function knownTokens(
  market: TokenTerms,
  { use, tokenIds }: TokenKnowledge,
): readonly [string, string] {
  const [yes, no] = market.clobTokenIds;
  if (yes === undefined || no === undefined)
    throw new OrderBuildError('market_incomplete', 'The market names no tokens.');
  requireVersion(market, yes);
  if (tokenIds !== undefined && (tokenIds[0] !== yes || tokenIds[1] !== no))
    throw differ(market, 'are not those that you know. Compare them with the venue itself');
  const own = computed(market);
  const isOwn = own !== null && yes !== no && own.includes(yes) && own.includes(no);
  if (isOwn) {
    requireOrder(market, { use, tokenIds });
    return [yes, no];
  }
  const isMixed = own !== null && (own.includes(yes) || own.includes(no));
  if (use === 'paper' && !isMixed && yes !== no) return [yes, no];
  throw differ(
    market,
    'are not those of its condition. A market that a paper venue of an earlier release listed is traded with a key that is marked as one for paper',
  );
}

/** @throws OrderBuildError where only the service vouches for the order, or contradicts itself */
function requireOrder(market: TokenTerms, { use, tokenIds }: TokenKnowledge): void {
  if (tokenIds !== undefined) return;
  const [yes = '', no = ''] = market.outcomes ?? [];
  if (!isTurned(market)) {
    // A paper exchange that listed such a market in an earlier release keeps its order.
    if (!listsNoFirst([yes, no]) || use === 'paper') return;
    throw differ(
      market,
      'have names that say that YES is the other one. Do not trade it through this service',
    );
  }
  if (use === 'paper' && listsNoFirst([no, yes])) return;
  throw differ(
    market,
    `are in the other order, as where the venue lists No first, and only this service says so. Look up at the venue itself which token is YES and name both as tokenIds, or: bellwether mint confirm ${market.conditionId.slice(0, 66)} YES <token>`,
  );
}

const differ = ({ conditionId }: TokenTerms, why: string): OrderBuildError =>
  new OrderBuildError(
    'tokens_differ',
    `Nothing was signed: the tokens of the market with the condition ${conditionId.slice(0, 66)} ${why}.`,
  );

const NAME_NEEDS: Readonly<Record<string, Need>> = {
  word: NEED.text("YES, NO, or one of the market's outcomes"),
  outcomes: {
    what: "the market's outcomes, a list of two names",
    fits: (value) => Array.isArray(value) && value.every((name) => typeof name === 'string'),
  },
};

/**
 * The side that a request's word means; `null`: none of this market's.
 * @example
 * sideCalled('faze', ['FaZe', 'illwill']); // 'YES'
 */
export function sideCalled(word: string, outcomes: readonly string[]): 'YES' | 'NO' | null {
  needOptions('sideCalled', { word, outcomes }, NAME_NEEDS);
  return calledOf(word, outcomes);
}

/**
 * What is said to a request whose word is none of this market's.
 * @example
 * outcomeMismatch('Up', ['FaZe', 'illwill']); // 'This market has no outcome "Up": YES is "FaZe", NO is "illwill".'
 */
export function outcomeMismatch(word: string, outcomes: readonly string[]): string {
  needOptions('outcomeMismatch', { word, outcomes }, NAME_NEEDS);
  return mismatchOf(word, outcomes);
}

/** The side that an order's word means in this market. @throws OrderBuildError `outcome_name_mismatch` */
export function sideOf(word: string, { outcomes = [] }: Pick<TokenTerms, 'outcomes'>): 'YES' | 'NO' {
  const side = sideCalled(word, outcomes);
  if (side !== null) return side;
  throw new OrderBuildError('outcome_name_mismatch', outcomeMismatch(word, outcomes));
}

/** The token alone decides the contract, so a market that says something else about itself is not believed. */
function requireVersion({ version }: TokenTerms, yes: string): void {
  if (version === undefined || version === (isPosition(yes) ? 'v2' : 'v1')) return;
  throw new OrderBuildError(
    'market_version_not_supported',
    `The market says that it is of version ${version.slice(0, 20)}, which does not fit its tokens: nothing was signed. Look the market up again; if it says the same, this package is too old for it, or the service is wrong.`,
  );
}

const isPosition = (tokenId: string): boolean => /^\d{1,78}$/.test(tokenId) && isPositionId(BigInt(tokenId));
