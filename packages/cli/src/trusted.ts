/** Facts that this machine decides for itself before it signs anything, about a desk's answers. */
import { type KeyUse, type Market, type Me, outcomeMismatch, sideCalled } from '@bellwether/sdk';
import { CliError } from './cli-error.ts';
import { outcomeName } from './terminal-text.ts';

/** A key signs only for what it was made for; one without a mark signs for both, under every check. @throws CliError */
export function requireUse(venues: Me['venues'], venue: string, use: KeyUse | null): void {
  const backend = venues.find(({ name }) => name === venue)?.backend;
  if (use === null || backend === undefined || backend === use) return;
  throw new CliError(
    'keystore',
    'key_not_for_this',
    `This key is for ${use}, and the desk says that ${venue} is ${backend}. Nothing was signed.`,
    {
      fix: `Use keys of their own for ${backend}: name another folder in BELLWETHER_HOME and run bellwether init. If this key is for ${backend}: bellwether keys mark ${backend}`,
    },
  );
}

/** The side that a word of the command line means in this market. @throws CliError with both names */
export function sideIn(word: string, { outcomes }: Pick<Market, 'outcomes'>): 'YES' | 'NO' {
  const side = sideCalled(word, outcomes);
  if (side !== null) return side;
  throw new CliError('refused', 'outcome_name_mismatch', outcomeMismatch(word, outcomes.map(outcomeName)), {
    fix: 'Say YES or NO: the message says which is which.',
  });
}

const CONDITION = /^0x[0-9a-f]{64}$/i;
const TOKEN = /^\d{20,78}$/;

/** A name that says which market it is has to be that market's. @throws CliError */
export function requireSameMarket(
  asked: string,
  market: Pick<Market, 'id' | 'conditionId' | 'clobTokenIds'>,
): void {
  const isSame = CONDITION.test(asked)
    ? market.conditionId.toLowerCase() === asked.toLowerCase()
    : TOKEN.test(asked)
      ? market.clobTokenIds.includes(asked)
      : !/^\d{1,19}$/.test(asked) || market.id === asked;
  if (isSame) return;
  throw new CliError(
    'unverified',
    'other_market',
    'The desk answers with another market than the one named.',
    {
      fix: 'Run the command again. If it happens again, do not trade with this desk.',
    },
  );
}
