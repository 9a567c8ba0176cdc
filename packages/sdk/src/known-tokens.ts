/** Which token an outcome is: computed from the market's condition, so that the service cannot give another one. */
import { OrderBuildError } from '@bellwether/contract';
import { outcomeTokens } from '@bellwether/protocol';
import type { KeyUse } from './key-use.ts';

interface TokenTerms {
  readonly conditionId: string;
  readonly clobTokenIds: readonly string[];
  readonly negRisk: boolean;
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
 * @throws OrderBuildError `market_incomplete`, `tokens_differ`
 */
export function knownTokens(market: TokenTerms, use: KeyUse | null | undefined): readonly [string, string] {
  const [yes, no] = market.clobTokenIds;
  if (yes === undefined || no === undefined)
    throw new OrderBuildError('market_incomplete', 'The market names no tokens.');
  const own = computed(market);
  if (own !== null && yes === own[0] && no === own[1]) return own;
  const isMixed = own !== null && (own.includes(yes) || own.includes(no));
  if (use === 'paper' && !isMixed && yes !== no) return [yes, no];
  throw new OrderBuildError(
    'tokens_differ',
    `The market's tokens are not those of its condition ${market.conditionId.slice(0, 66)}: nothing was signed. A market that a paper venue of an earlier release listed is traded with a key that is marked as one for paper.`,
  );
}
