/** A market as it may be shown to a model that reads: the texts of strangers are plain and bounded. */
import type { Market, MarketContext } from '@bellwether/contract';
import type { MarketRecord } from '../domain/market.ts';
import { plainText, UNTRUSTED_NOTICE } from '../domain/untrusted-text.ts';
import { marketItem } from './markets.ts';

export const TITLE_CHARS = 300;
const RULES_CHARS = 2_000;

export function plainMarket(venue: string, market: MarketRecord): Market {
  const item = marketItem(venue, market);
  return {
    ...item,
    title: plainText(item.title, TITLE_CHARS),
    question: plainText(item.question, TITLE_CHARS),
    description: plainText(item.description, RULES_CHARS),
    ...(item.resolutionSource === undefined
      ? {}
      : { resolutionSource: plainText(item.resolutionSource, TITLE_CHARS) }),
  };
}

export const untrustedTexts = ({
  eventTitle,
  question,
  description,
  outcomes,
}: MarketRecord): MarketContext['untrustedText'] => ({
  notice: UNTRUSTED_NOTICE,
  event: plainText(eventTitle, TITLE_CHARS),
  title: plainText(question, TITLE_CHARS),
  rules: plainText(description, RULES_CHARS),
  outcomes: [...outcomes],
});
