/** Which token an outcome is: computed from the market's condition, so that the service cannot give another one. */
import { OrderBuildError } from '@bellwether/contract';
import { isPositionId, outcomeTokens } from '@bellwether/protocol';
import type { KeyUse } from './key-use.ts';

interface TokenTerms {
  readonly conditionId: string;
  readonly clobTokenIds: readonly string[];
  readonly negRisk: boolean;
  readonly version?: string;
}

function computed({ conditionId, negRisk }: TokenTerms): readonly [string, string] | null {
  try {
    return outcomeTokens(conditionId, negRisk);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/**
 * The market's [YES, NO] tokens. A key for paper may trade tokens that do not follow from the condition: paper venues of earlier
 * releases drew the ids of markets that are still open. Tokens in the wrong order are refused in any case.
 * @throws OrderBuildError `market_incomplete`, `market_version_not_supported`, `tokens_differ`
 */
export function knownTokens(market: TokenTerms, use: KeyUse | null | undefined): readonly [string, string] {
  const [yes, no] = market.clobTokenIds;
  if (yes === undefined || no === undefined)
    throw new OrderBuildError('market_incomplete', 'The market names no tokens.');
  requireVersion(market, yes);
  const own = computed(market);
  if (own !== null && yes === own[0] && no === own[1]) return own;
  const isMixed = own !== null && (own.includes(yes) || own.includes(no));
  if (use === 'paper' && !isMixed && yes !== no) return [yes, no];
  throw new OrderBuildError(
    'tokens_differ',
    `The market's tokens are not those of its condition ${market.conditionId.slice(0, 66)}: nothing was signed. A market that a paper venue of an earlier release listed is traded with a key that is marked as one for paper.`,
  );
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
