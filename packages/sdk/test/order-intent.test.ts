/** The intent of an order: which terms belong together, said in the words of the caller, and nothing that was left out. */
import { expect, test } from 'vitest';
import { BellwetherUsageError, type IntentTerms, intentFaults, tradeIntent } from '../src/index.ts';

const named = { clientOrderId: 'entry-17', marketId: '101', outcome: 'YES' } as const;

test.each<[string, Partial<IntentTerms>, string[]]>([
  [
    'a limit order',
    { side: 'BUY', price: 0.4, size: 5, orderType: 'GTD', expiration: 9, postOnly: true },
    [],
  ],
  ['a market order to buy', { side: 'BUY', worstPrice: 0.6, amount: 25, orderType: 'FOK' }, []],
  ['a market order to sell', { side: 'SELL', worstPrice: 0.6, size: 5 }, []],
  [
    'two prices',
    { side: 'SELL', price: 0.4, worstPrice: 0.4, size: 5 },
    ['price makes a limit order and worstPrice a market order: give one of them.'],
  ],
  [
    'no price',
    { side: 'SELL', size: 5 },
    ['Give either price, for a limit order, or worstPrice, for a market order.'],
  ],
  [
    'a sale of an amount',
    { side: 'SELL', worstPrice: 0.4, amount: 5 },
    ['A sale takes size in shares, not amount.'],
  ],
  ['a sale of nothing', { side: 'SELL', worstPrice: 0.4 }, ['A sale needs size, in shares.']],
  [
    'a limit order for an amount, of a side that is not known yet',
    { price: 0.4, amount: 5 },
    ['A limit order takes size in shares, not amount.'],
  ],
  ['a market order of a side that is not known yet', { worstPrice: 0.4 }, []],
  [
    'a market order to buy shares',
    { side: 'BUY', worstPrice: 0.4, size: 5, amount: 5 },
    ['A market order to buy takes amount in collateral, not size; a limit order takes price and size.'],
  ],
  [
    'a market order to buy nothing',
    { side: 'BUY', worstPrice: 0.4 },
    ['A market order to buy needs amount, in collateral; a limit order needs price and size.'],
  ],
  [
    'a market order that rests, with an end that it does not have',
    { side: 'SELL', worstPrice: 0.4, size: 5, orderType: 'GTC', postOnly: true, expiration: 9 },
    [
      'orderType GTC rests at a price: give price.',
      'postOnly rests at a price: give price.',
      'expiration needs orderType GTD.',
    ],
  ],
  ['no end', { side: 'BUY', price: 0.4, size: 5, orderType: 'GTD' }, ['orderType GTD needs expiration.']],
])('%s', (_, terms, faults) => {
  expect(intentFaults(terms)).toEqual(faults);
  if (terms.side === undefined) return;
  const make = () => tradeIntent({ ...named, side: 'BUY', ...terms } as Parameters<typeof tradeIntent>[0]);
  if (faults.length === 0) expect(make()).toEqual({ ...named, ...terms });
  else expect(make).toThrow(new BellwetherUsageError(faults.join(' ')));
});

test('a caller has its own names, and may read the price from the book', () => {
  const words = { nameOf: (field: string) => `--${field}`, pricesFromBook: true };
  expect(intentFaults({ side: 'SELL', size: 5 }, words)).toEqual([]);
  expect(intentFaults({ side: 'SELL', amount: 5 }, words)).toEqual([
    'A sale takes --size in shares, not --amount.',
  ]);
});

test('what is undefined is left out, so that it is not part of what is sent and compared', () => {
  const terms = {
    ...named,
    side: 'BUY',
    price: 0.4,
    size: 5,
    venue: undefined,
    timestamp: undefined,
  } as const;
  expect(Object.keys(tradeIntent(terms))).toEqual([...Object.keys(named), 'side', 'price', 'size']);
});
