/** An agent's answer about an approval that is missing: the contract, the venue's own words, and the call that gives it. */
import {
  type Address,
  approvalCalls,
  OLDER_NEG_RISK_ADAPTER,
  olderAdapterApprovalCall,
  POLYGON_EXCHANGES,
  PUSD,
  toChecksumAddress,
} from '@bellwether/protocol';
import { expect, test } from 'vitest';
import type { MarketRecord } from '../src/domain/market.ts';
import { createShortageReason } from '../src/venues/polymarket/accounts.ts';
import type { VenueOrder } from '../src/venues/venue.ts';
import { isPost, startStage } from './live-orders-stage.ts';

const WALLET = '0x365f0ca36ae1f641e02fe3b7743673da42a13a70' as Address;
const wordsOf = (spender: string, amount = '5024990') =>
  `not enough balance / allowance: the allowance is not enough -> spender: ${spender}, allowance: 0, sum of matched orders: 0, order amount (inc. fees): ${amount}`;

const outdated: string[] = [];
const reason = (words: string | null, given: object = {}) =>
  createShortageReason({
    accounts: { outdated: (account) => void outdated.push(account), allowances: async () => null },
    markets: { find: async () => ({ tokenIds: ['1', '2'], negRisk: true }) as unknown as MarketRecord },
  })({ funder: WALLET, side: 'BUY', outcome: 'YES', ...given } as VenueOrder, words);

test.each([
  ['the exchange', POLYGON_EXCHANGES.v2],
  ['the neg-risk exchange', POLYGON_EXCHANGES.v2NegRisk],
  ['ExchangeV3', POLYGON_EXCHANGES.v3],
])('of %s: the call that approves it', async (_, spender) => {
  for (const [side, asset] of [
    ['BUY', 'collateral'],
    ['SELL', 'tokens'],
  ] as const) {
    const words = wordsOf(toChecksumAddress(spender));
    const call = approvalCalls().find((one) => one.spender === spender && one.asset === asset);
    expect(await reason(words, { side })).toBe(
      `${words}. The approval that ${WALLET} makes once: call ${call?.to} with data ${call?.data}.`,
    );
  }
  // The next order has the venue look at the chain again.
  expect(outdated.pop()).toBe(WALLET);
});

test('of the older adapter: consent first, for the amount of the order alone, and never by the way', async () => {
  const text = await reason(wordsOf(toChecksumAddress(OLDER_NEG_RISK_ADAPTER)));
  expect(text).toContain('Only with the express consent of the wallet');
  expect(text).toContain(`calls ${PUSD} with data ${olderAdapterApprovalCall(5_024_990n).data}`);
  expect(approvalCalls().map(({ spender }) => spender)).not.toContain(OLDER_NEG_RISK_ADAPTER);
});

test('of a contract that is not pinned: no call at all', async () => {
  const text = await reason(wordsOf(`0x${'66'.repeat(20)}`));
  expect(text).toContain('knows no contract 0x6666');
  expect(text).not.toContain('data 0x');
  expect(await reason(wordsOf('0x12'))).toBeNull();
});

test('the refusal has its own code, the words of the venue, and no advice to add funds', async () => {
  const words = wordsOf(OLDER_NEG_RISK_ADAPTER);
  const stage = await startStage();
  const made = await stage.newOrder();
  stage.answer = (asked) => (isPost(asked) ? { status: 400, body: { error: words } } : undefined);
  expect(await made.submit()).toEqual({ kind: 'rejected', reason: 'allowance_missing', detail: words });
  const plain = await stage.newOrder();
  const error = 'not enough balance / allowance: the balance is not enough -> balance: 1, order amount: 2';
  stage.answer = (asked) => (isPost(asked) ? { status: 400, body: { error } } : undefined);
  expect(await plain.submit()).toEqual({ kind: 'rejected', reason: 'insufficient_balance' });
});
