/**
 * Markets of the venue's third contract version: listed, so that clients meet them, and not traded, because neither the paper
 * exchange nor the desk knows their contract. They are constants beside the seeded world: no state, no book, no end.
 * Wire reference 0 and 5.2.
 */
import { MICRO } from '@bellwether/contract/decimals';
import type { TokenId } from '../engine/types.ts';
import { CATEGORY_FEE_RATES, FEE_EXPONENT } from './categories.ts';
import type { MarketView } from './types.ts';

const LISTED_AT = Date.UTC(2026, 9, 1);
const ENDS_AT = Date.UTC(2099, 11, 31);

/**
 * A condition has 31 bytes: the kind of market first (1 for a plain one), eight bytes of zeros in the middle. A position is its
 * condition and a byte for the outcome.
 */
const condition = (head: string, tail: string): string => `01${head.padEnd(36, '0')}${'0'.repeat(16)}${tail}`;
const position = (of: string, outcome: 0 | 1): TokenId => BigInt(`0x${of}0${outcome}`).toString();

interface Listed {
  readonly id: string;
  readonly question: string;
  readonly slug: string;
  readonly condition: string;
}

const view = ({ id, question, slug, condition: of }: Listed): MarketView => ({
  id,
  // 32 bytes, the last one zero, as the venue's sockets write it.
  conditionId: `0x${of}00`,
  tokenIds: [position(of, 0), position(of, 1)],
  slug,
  question,
  description:
    'A market of the venue’s third contract version. It is listed so that programs meet one; orders for it are refused.',
  category: 'Tech',
  tags: [],
  eventId: `9${id}`,
  eventTitle: question,
  negRisk: false,
  tickSize: 100,
  minOrderSize: 5n * MICRO,
  feeRate: CATEGORY_FEE_RATES.Tech,
  feeExponent: FEE_EXPONENT,
  createdAt: LISTED_AT,
  endDate: ENDS_AT,
  updatedAt: LISTED_AT,
  status: 'closed',
  untradable: 'contract_version',
  volume: 0n,
  volume24h: 0n,
  liquidity: 0n,
});

export const THIRD_VERSION: readonly MarketView[] = [
  view({
    id: '990001',
    question: 'Will the third exchange contract be audited again before 2100?',
    slug: 'third-contract-audited-again-990001',
    condition: condition('a3d5e1', '00c0ffee'),
  }),
  view({
    id: '990002',
    question: 'Will the third exchange contract hold more than the second before 2100?',
    slug: 'third-contract-holds-more-990002',
    condition: condition('b7f219', '00facade'),
  }),
];

const byCondition = new Map(THIRD_VERSION.map((market) => [market.conditionId, market]));
const byToken = new Map(
  THIRD_VERSION.flatMap((market) =>
    (['YES', 'NO'] as const).map((outcome, index) => [market.tokenIds[index]!, { market, outcome }] as const),
  ),
);

export const thirdVersionMarket = (conditionId: string): MarketView | undefined =>
  byCondition.get(conditionId);
export const thirdVersionToken = (tokenId: TokenId) => byToken.get(tokenId);
