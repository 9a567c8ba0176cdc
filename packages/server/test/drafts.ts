/** A valid, signed order that tests modify. */
import type { TradeRequest } from '@bellwether/contract';
import { buildLimitOrder, type LimitOrder, Signer } from '@bellwether/sdk';
import type { MarketTerms } from '../src/domain/coherence.ts';
import { type Draft, readDraft } from '../src/domain/draft.ts';

/** The well-known first account of Hardhat's test mnemonic. It never holds anything of value. */
export const SIGNER = Signer.fromPrivateKey(
  '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
  { use: 'paper' },
);

export const MARKET: MarketTerms = {
  conditionId: `0x${'ab'.repeat(32)}`,
  tokenIds: ['1001', '1002'],
  outcomes: ['Yes', 'No'],
  tickSize: 100,
  minOrderSize: 5_000_000n,
  negRisk: false,
  tradable: true,
};

const LISTED = {
  conditionId: MARKET.conditionId,
  question: 'Will it hold?',
  clobTokenIds: MARKET.tokenIds,
  tickSize: '0.01',
  negRisk: false,
};

export const signedRequest = (change: Partial<LimitOrder> = {}): Promise<TradeRequest> =>
  buildLimitOrder({
    signer: SIGNER,
    market: LISTED,
    outcome: 'YES',
    side: 'BUY',
    price: '0.40',
    size: 10,
    ...change,
  });

/** As a desk of either profile reads it, once nothing is missing. @throws when the request cannot be parsed */
export function draftOf(request: TradeRequest): Draft {
  const draft = readDraft(request, 'interface');
  if (Array.isArray(draft)) throw new Error(JSON.stringify(draft));
  return draft as Draft;
}
