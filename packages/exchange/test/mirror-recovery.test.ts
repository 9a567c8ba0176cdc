/** A world of live markets on its database: what was taken, and who waits where, survives a killed process. */
import { MICRO } from '@bellwether/contract/decimals';
import { expect, test } from 'vitest';
import { type MirrorChange, OtherMarkets } from '../src/index.ts';
import { ALICE, cutJournal, orderId, stage, untilOpen } from './open-exchange-stage.ts';

const ID = `0x${'5f'.repeat(32)}`;
const listed: MirrorChange = {
  kind: 'list',
  market: {
    id: '559651',
    conditionId: ID,
    tokenIds: ['71', '72'],
    slug: 'rain',
    question: 'Rain?',
    description: '',
    category: 'Weather',
    eventId: '9',
    eventTitle: 'Rain',
    negRisk: false,
    feeRate: 70_000n,
    feeExponent: 1,
    createdAt: 1,
    tickSize: 100,
    minOrderSize: 5n * MICRO,
    endDate: Date.UTC(2027, 1, 1),
  },
};
const levels: MirrorChange = {
  kind: 'levels',
  conditionId: ID,
  levels: [
    ['bid', 4_500, 100n * MICRO],
    ['ask', 5_000, 50n * MICRO],
  ],
  isWhole: true,
};
const order = {
  orderId: orderId(1),
  account: ALICE,
  conditionId: ID,
  outcome: 'YES',
  side: 'BUY',
  limit: 5_000,
  size: 30n * MICRO,
  timeInForce: 'GTC',
  postOnly: false,
} as const;

test.each(['closed cleanly', 'cut from its database'])('%s, it goes on where it was', async (how) => {
  const { sql, clock, open } = await stage();
  const first = await open({ markets: 'live' });
  await first.execute({ kind: 'deposit', account: ALICE, amount: 1_000n * MICRO });
  await first.mirror([listed, levels]);
  await first.execute({ kind: 'place', order });
  await first.execute({ kind: 'place', order: { ...order, orderId: orderId(2), limit: 4_500 } });
  const hash = first.stateHash();
  let second = first;
  if (how === 'closed cleanly') {
    await first.close();
    second = await open({ markets: 'live' });
  } else {
    await cutJournal(sql);
    await expect.poll(() => first.status).toBe('reopening');
    await untilOpen(first);
  }
  expect(second.stateHash()).toBe(hash);
  expect(second.market(ID)).toMatchObject({ question: 'Rain?', category: 'Weather', feeRate: 70_000n });
  expect(second.book(ID, 'YES')?.asks).toEqual([[5_000, 20n * MICRO]]);
  // The hundred before the second order are still before it.
  clock.time += 1;
  await second.mirror([{ kind: 'trade', conditionId: ID, side: 'SELL', price: 4_500, size: 110n * MICRO }]);
  expect(second.openOrder(orderId(2))?.filled).toBe(10n * MICRO);
  await second.close();
});

test('live and simulated markets do not mix in one database', async () => {
  const live = await stage();
  await (await live.open({ markets: 'live' })).close();
  await expect(live.open()).rejects.toBeInstanceOf(OtherMarkets);
  const simulated = await stage();
  await (await simulated.open()).close();
  await expect(simulated.open({ markets: 'live' })).rejects.toBeInstanceOf(OtherMarkets);
});
