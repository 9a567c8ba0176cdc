/** Orders before they are signed and after: which terms belong together, and each mistake that the check finds in a signed one. */
import {
  buildLimitOrder,
  checkOrder,
  type OrderCheckName,
  orderIdOf,
  Signer,
  type TradeRequest,
} from '@bellwether/sdk';
import { describe, expect, test } from 'vitest';
import { BellwetherUsageError, type IntentTerms, intentFaults, tradeIntent } from '../src/index.ts';
import { MARKET } from './market.ts';

const signer = Signer.fromPrivateKey(`0x${'7'.repeat(64)}`, { use: 'paper' });
const order = await buildLimitOrder({
  signer,
  market: MARKET,
  outcome: 'YES',
  side: 'BUY',
  price: 0.4,
  size: 25,
});

const withOrder = (changes: Record<string, unknown>): unknown => ({
  ...order,
  order: { ...order.order, ...changes },
});
const wrongOf = (given: unknown, options = {}) => {
  const { isSound, findings } = checkOrder(given, options);
  const wrong = findings.filter(({ state }) => state === 'wrong');
  expect(isSound).toBe(wrong.length === 0);
  for (const { nextStep } of wrong) expect(nextStep).toMatch(/[.!?]$/);
  return wrong;
};

describe('a sound order', () => {
  test.each([
    ['the body of a trade', order],
    ['the venue’s own body', { order: order.order, owner: 'somebody', orderType: 'GTC' }],
    ['the signed order alone', order.order],
    ['with numbers as numbers and the side as a digit', withOrder({ side: 0, signatureType: '0' })],
  ])('%s', (_title, given) => {
    const { isSound, orderId, findings } = checkOrder(given);
    expect(findings.filter(({ state }) => state === 'wrong')).toEqual([]);
    expect({ isSound, orderId }).toEqual({ isSound: true, orderId: orderIdOf(order) });
    expect(findings.find(({ check }) => check === 'signature')?.found).toContain(signer.address);
  });

  test('of every wallet and version', async () => {
    for (const signatureType of [0, 1, 2, 3] as const)
      for (const version of [1, 2] as const)
        for (const profile of ['interface', 'polymarket'] as const) {
          const market = { ...MARKET, negRisk: version === 1 };
          const made = await buildLimitOrder({
            ...{ signer, market, signatureType, version, profile },
            outcome: 'NO',
            side: 'SELL',
            price: 0.6,
            size: 5,
          });
          const alone = checkOrder(made.order);
          expect(alone.findings.filter(({ state }) => state === 'wrong')).toEqual([]);
          expect(alone.orderId).toBe(orderIdOf(made));
        }
  });
});

describe('one mistake', () => {
  const cases: readonly (readonly [string, unknown, OrderCheckName, RegExp])[] = [
    ['another amount than was signed', withOrder({ makerAmount: '9000000' }), 'signature', /signer/],
    ['another side', withOrder({ side: 'SELL' }), 'signature', /side: order\.side/],
    ['another signature type', withOrder({ signatureType: 1 }), 'signature', /signature_type|wallet/],
    ['another version', { ...order, orderVersion: 1 }, 'signature', /order_version/],
    ['the other contract', { ...order, negRisk: true }, 'signature', /verifying_contract/],
    [
      'a cut signature',
      withOrder({ signature: order.order.signature.slice(0, -2) }),
      'signature',
      /signature_form/,
    ],
    [
      'an expiration in milliseconds',
      withOrder({ expiration: '1900000000000' }),
      'expiration',
      /no time in seconds/,
    ],
    [
      'an expiration that has passed',
      withOrder({ expiration: '1600000000' }),
      'expiration',
      /2020-09-13.* has passed/,
    ],
    ['an amount of 0', withOrder({ takerAmount: '0' }), 'amounts', /is 0/],
    ['a nonce', withOrder({ nonce: '3' }), 'amounts', /nonce is not 0/],
    [
      'amounts the wrong way round',
      withOrder({ makerAmount: '25000000', takerAmount: '10000000' }),
      'price',
      /not between 0 and 1/,
    ],
  ];
  test.each(cases)('%s', (_title, given, check, found) => {
    expect(wrongOf(given).find((one) => one.check === check)?.found).toMatch(found);
  });

  test('every missing and malformed field is named', () => {
    const wrong = wrongOf({ ...order.order, maker: 'me', tokenId: -1, signature: undefined });
    expect(wrong.map(({ found }) => found)).toEqual([
      'maker is malformed',
      'tokenId is malformed',
      'signature is missing',
    ]);
  });

  test.each([null, 7, 'order', [], {}, { order: [] }])('%j is judged, not thrown at', (given) => {
    expect(wrongOf(given).length).toBeGreaterThan(0);
  });
});

test('an order that the market decides about says what to give', () => {
  const { tickSize: _, ...rest } = order as TradeRequest & { tickSize?: string };
  const { findings } = checkOrder(rest);
  expect(findings.find(({ check }) => check === 'price')).toMatchObject({
    state: 'unknown',
    found: '0.4 a share',
    nextStep: expect.stringContaining('tick size'),
  });
  expect(checkOrder(rest, { tickSize: '0.1' }).findings.find(({ check }) => check === 'price')).toMatchObject(
    {
      state: 'good',
    },
  );
});

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
