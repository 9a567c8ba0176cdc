/** Checks built orders against a second, independent statement of the service's rules. */
import {
  formatPips,
  immediateBuyAmounts,
  immediateLimitBuyAmounts,
  immediateSellAmounts,
  LIMITS,
  type OrderSide,
  parseMicro,
  parsePips,
  restingAmounts,
  TradeRequest,
} from '@bellwether/contract';
import {
  buildLimitOrder,
  buildMarketOrder,
  OrderBuildError,
  priceToReach,
  Signer,
  type TradeRequest as Trade,
} from '@bellwether/sdk';
import fc from 'fast-check';
import { Value } from 'typebox/value';
import { describe, expect, test } from 'vitest';
import { randomSalt } from '../src/build-order.ts';
import { MARKET } from './market.ts';

const signer = Signer.generate();

/** Signed collateral ÷ shares on the grid: floored for a BUY, ceiled for a SELL. In ten-thousandths. */
function signedPrice(
  side: OrderSide,
  amounts: { makerAmount: bigint; takerAmount: bigint },
  tick: number,
): number {
  const [money, shares] =
    side === 'BUY' ? [amounts.makerAmount, amounts.takerAmount] : [amounts.takerAmount, amounts.makerAmount];
  const step = shares * BigInt(tick);
  const floored = (money * 10_000n) / step;
  const exact = (money * 10_000n) % step === 0n;
  return Number(side === 'BUY' || exact ? floored : floored + 1n) * tick;
}

/** Every tick in pips: they divide the whole price. */
const TICKS = Array.from({ length: 5_000 }, (_, index) => index + 1).filter((pips) => 10_000 % pips === 0);

/** A tick in pips and a price on its grid. */
const tickAndPrice = fc.constantFrom(...TICKS).chain((tick) =>
  fc.record({
    tick: fc.constant(tick),
    price: fc.integer({ min: 1, max: 10_000 / tick - 1 }).map((ticks) => ticks * tick),
  }),
);
/** Multiples of 0.01 up to ten million, with small ones favoured. */
const cents = fc.oneof(fc.bigInt({ min: 1n, max: 1_000n }), fc.bigInt({ min: 1n, max: 1_000_000_000n }));

describe('amounts, over every tick', () => {
  test('resting orders are exact', () => {
    fc.assert(
      fc.property(
        tickAndPrice,
        cents,
        fc.constantFrom<OrderSide>('BUY', 'SELL'),
        ({ tick, price }, size, side) => {
          const shares = size * 10_000n;
          const amounts = restingAmounts(side, shares, price);
          expect(side === 'BUY' ? amounts.takerAmount : amounts.makerAmount).toBe(shares);
          expect(signedPrice(side, amounts, tick)).toBe(price);
          const money = side === 'BUY' ? amounts.makerAmount : amounts.takerAmount;
          expect(money * 10_000n).toBe(shares * BigInt(price));
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test('immediate BUYs: 2 and 4 decimals, the price stays, no more is spent than asked', () => {
    fc.assert(
      fc.property(tickAndPrice, cents, ({ tick, price }, budget) => {
        const micro = budget * 10_000n;
        fc.pre(micro >= 1_000_000n && (micro * 10_000n) / BigInt(price) <= BigInt(Number.MAX_SAFE_INTEGER));
        const amounts = immediateBuyAmounts(micro, price);
        expect(amounts.makerAmount).toBe(micro);
        expect(amounts.makerAmount % 10_000n).toBe(0n);
        expect(amounts.takerAmount % 100n).toBe(0n);
        expect(signedPrice('BUY', amounts, tick)).toBe(price);
      }),
      { numRuns: 2_000 },
    );
  });

  test('immediate BUYs from 1 collateral on every single price of the finest tick', () => {
    for (let price = 1; price < 10_000; price++)
      for (const budget of [1_000_000n, 1_010_000n, 99_990_000n])
        expect(signedPrice('BUY', immediateBuyAmounts(budget, price), 1)).toBe(price);
  });

  test('immediate limit BUYs: never more shares or money than asked', () => {
    fc.assert(
      fc.property(tickAndPrice, cents, ({ tick, price }, size) => {
        const shares = size * 10_000n;
        fc.pre((shares * BigInt(price)) / 10_000n >= 1_000_000n);
        const amounts = immediateLimitBuyAmounts(shares, price);
        expect(amounts.makerAmount % 10_000n).toBe(0n);
        expect(amounts.takerAmount % 100n).toBe(0n);
        expect(amounts.takerAmount <= shares).toBe(true);
        expect(amounts.makerAmount * 10_000n <= shares * BigInt(price)).toBe(true);
        expect(signedPrice('BUY', amounts, tick)).toBe(price);
      }),
      { numRuns: 2_000 },
    );
  });

  test('immediate SELLs: 2 and 4 decimals, the price stays; below a share less is sold, or nothing signed', () => {
    fc.assert(
      fc.property(tickAndPrice, cents, ({ tick, price }, size) => {
        const shares = size * 10_000n;
        const isPlain = shares >= 1_000_000n || price % 100 === 0;
        let amounts: ReturnType<typeof immediateSellAmounts>;
        try {
          amounts = immediateSellAmounts(shares, price, tick);
        } catch (error) {
          expect([isPlain, error]).toMatchObject([false, { code: 'amount_below_minimum' }]);
          return;
        }
        expect(amounts.makerAmount % 10_000n).toBe(0n);
        expect(amounts.takerAmount % 100n).toBe(0n);
        expect(isPlain ? amounts.makerAmount === shares : amounts.makerAmount <= shares).toBe(true);
        expect(signedPrice('SELL', amounts, tick)).toBe(price);
      }),
      { numRuns: 2_000 },
    );
  });

  test('a SELL of 0.55 at 0.1234 is one of 0.54, and one of 0.04 at 0.2501 cannot be signed', () => {
    const at = (size: string, price: string) => immediateSellAmounts(parseMicro(size), parsePips(price), 1);
    expect(at('0.55', '0.1234')).toEqual({ makerAmount: 540_000n, takerAmount: 66_600n });
    expect(() => at('0.04', '0.2501')).toThrow(
      '0.04 shares are too few to be sold at once at 0.2501, whose collateral has more than 4 decimals',
    );
  });
});

function expectCoherent(trade: Trade, tick: number): void {
  const errors = [...Value.Errors(TradeRequest, trade)];
  expect(errors).toEqual([]);
  const { order } = trade;
  const side = order.side as OrderSide;
  const amounts = { makerAmount: BigInt(order.makerAmount), takerAmount: BigInt(order.takerAmount) };
  const shares = side === 'BUY' ? amounts.takerAmount : amounts.makerAmount;
  expect(parseMicro(trade.orderSize)).toBe(shares);
  expect(Math.round(trade.price * 10_000)).toBe(signedPrice(side, amounts, tick));
  expect(Number.isSafeInteger(order.salt)).toBe(true);
  if (side === 'BUY' && (trade.orderType === 'FAK' || trade.orderType === 'FOK')) {
    expect(amounts.makerAmount % 10_000n).toBe(0n);
    expect(amounts.takerAmount % 100n).toBe(0n);
  }
  const expiration = BigInt(order.expiration ?? 0);
  expect(expiration !== 0n).toBe(trade.orderType === 'GTD');
  expect(BigInt(trade.expirationTime ?? 0)).toBe(expiration * 1000n);
}

describe('whole requests', () => {
  test('every order that the SDK builds is a valid request', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...TICKS),
        fc.double({ min: 0.0001, max: 0.9999, noNaN: true }),
        fc.double({ min: 5, max: 100_000, noNaN: true }),
        fc.constantFrom<OrderSide>('BUY', 'SELL'),
        fc.constantFrom('GTC', 'GTD', 'FOK', 'FAK', 'market'),
        fc.constantFrom<'YES' | 'NO'>('YES', 'NO'),
        fc.constantFrom(0, 1, 2, 3) as fc.Arbitrary<0 | 1 | 2 | 3>,
        async (tick, raw, amount, side, type, outcome, signatureType) => {
          const ticks = Math.min(10_000 / tick - 1, Math.max(1, Math.round((raw * 10_000) / tick)));
          const price = (ticks * tick) / 10_000;
          const base = { signer, market: { ...MARKET, tickSize: formatPips(tick) }, outcome, signatureType };
          if (type === 'market') {
            const market = { ...base, worstPrice: price };
            const trade = await (side === 'BUY'
              ? buildMarketOrder({ ...market, side, amount })
              : buildMarketOrder({ ...market, side, shares: amount }));
            expect(trade).toMatchObject({ isLimitOrder: false, orderType: 'FAK' });
            expectCoherent(trade, tick);
            return;
          }
          fc.pre(side === 'SELL' || amount * price >= 1.02);
          const trade = await buildLimitOrder({
            ...base,
            side,
            price,
            size: amount,
            type: type as 'GTC' | 'GTD' | 'FOK' | 'FAK',
            ...(type === 'GTD' ? { expiration: 1_900_000_000 } : {}),
          });
          expect(trade.isLimitOrder).toBe(true);
          expectCoherent(trade, tick);
          expect(trade.order.tokenId).toBe(MARKET.clobTokenIds[outcome === 'YES' ? 0 : 1]);
        },
      ),
      { numRuns: 150 },
    );
  });

  test('the shape of a plain order', async () => {
    const trade = await buildLimitOrder({
      signer,
      market: { ...MARKET, question: '🙂'.repeat(300) },
      outcome: 'NO',
      side: 'SELL',
      price: '0.37',
      size: '12.349',
      postOnly: true,
      source: 'sdk:test',
      reasoning: 'because',
    });
    expect(trade).toMatchObject({
      marketConditionId: MARKET.conditionId,
      outcome: 'NO',
      orderSize: 12.34,
      price: 0.37,
      isLimitOrder: true,
      orderType: 'GTC',
      postOnly: true,
      orderVersion: 2,
      tickSize: '0.01',
      negRisk: false,
      source: 'sdk:test',
      reasoning: 'because',
      order: { makerAmount: '12340000', takerAmount: '4565800', side: 'SELL', nonce: '0', feeRateBps: '0' },
    });
    expect([...trade.marketQuestion]).toHaveLength(LIMITS.marketQuestionChars);
    expect(trade).not.toHaveProperty('funderAddress');
  });

  test('a contract wallet is the funder', async () => {
    const trade = await buildMarketOrder({
      signer,
      market: MARKET,
      outcome: 'YES',
      side: 'BUY',
      amount: 25,
      worstPrice: 0.52,
      type: 'FOK',
      signatureType: 2,
    });
    expect(trade).toMatchObject({
      orderType: 'FOK',
      isLimitOrder: false,
      funderAddress: signer.wallet(2),
      order: {
        maker: signer.wallet(2),
        signer: signer.address,
        makerAmount: '25000000',
        takerAmount: '48076900',
      },
    });
  });

  const base = { signer, market: MARKET, outcome: 'YES', side: 'BUY', price: 0.5, size: 10 } as const;
  const market = {
    signer,
    market: MARKET,
    outcome: 'YES',
    side: 'BUY',
    amount: 10,
    worstPrice: 0.5,
  } as const;
  test.each([
    ['off the grid', 'price_off_tick_grid', () => buildLimitOrder({ ...base, price: 0.555 })],
    ['no price', 'price_off_tick_grid', () => buildLimitOrder({ ...base, price: Number.NaN })],
    ['finer than any tick', 'price_off_tick_grid', () => buildLimitOrder({ ...base, price: 0.1 + 0.2 })],
    ['price 0', 'price_out_of_range', () => buildLimitOrder({ ...base, price: 0 })],
    ['price 1', 'price_out_of_range', () => buildLimitOrder({ ...base, price: 1 })],
    ['negative price', 'price_out_of_range', () => buildLimitOrder({ ...base, price: -0.5 })],
    ['no size', 'amount_out_of_range', () => buildLimitOrder({ ...base, size: 0.009 })],
    ['negative size', 'amount_out_of_range', () => buildLimitOrder({ ...base, size: -10 })],
    [
      'infinite size',
      'amount_out_of_range',
      () => buildLimitOrder({ ...base, size: Number.POSITIVE_INFINITY }),
    ],
    ['beyond JSON', 'amount_out_of_range', () => buildLimitOrder({ ...base, size: '9007199255' })],
    ['below the minimum', 'size_below_minimum', () => buildLimitOrder({ ...base, size: 4.999 })],
    ['GTD without a time', 'expiration_required', () => buildLimitOrder({ ...base, type: 'GTD' })],
    [
      'GTC with a time',
      'expiration_not_allowed',
      () => buildLimitOrder({ ...base, expiration: 1_900_000_000 }),
    ],
    ['post-only FOK', 'post_only_mismatch', () => buildLimitOrder({ ...base, type: 'FOK', postOnly: true })],
    ['under 1 collateral', 'amount_below_minimum', () => buildMarketOrder({ ...market, amount: 0.99 })],
    [
      'an FAK limit under 1',
      'amount_below_minimum',
      () => buildLimitOrder({ ...base, type: 'FAK', size: 1 }),
    ],
    [
      'unknown tick',
      'tick_size_not_supported',
      () => buildLimitOrder({ ...base, market: { ...MARKET, tickSize: '0.00005' } }),
    ],
    [
      'no tokens',
      'market_incomplete',
      () => buildLimitOrder({ ...base, market: { ...MARKET, clobTokenIds: [] } }),
    ],
  ] as const)('%s is %s', async (_, code, build) => {
    const failed = await build().then(
      () => null,
      (error: unknown) => error,
    );
    expect(failed).toBeInstanceOf(OrderBuildError);
    expect((failed as OrderBuildError).code).toBe(code);
  });
});

test('salts are random and safe', () => {
  const salts = new Set(Array.from({ length: 1_000 }, randomSalt));
  expect(salts.size).toBe(1_000);
  for (const salt of salts) expect(Number.isSafeInteger(salt) && salt >= 0).toBe(true);
  expect(Math.max(...salts)).toBeGreaterThan(2 ** 51);
});

test('the worst price of a market order', () => {
  const book = {
    bids: [
      { price: '0.47', size: '100' },
      { price: '0.46', size: '250.5' },
    ],
    asks: [
      { price: '0.49', size: '80' },
      { price: '0.5', size: '300' },
    ],
  };
  expect(priceToReach(book, { side: 'BUY', amount: 39.2 })).toEqual({ price: 0.49, complete: true });
  expect(priceToReach(book, { side: 'BUY', amount: 39.21 })).toEqual({ price: 0.5, complete: true });
  expect(priceToReach(book, { side: 'BUY', amount: 1_000 })).toEqual({ price: 0.5, complete: false });
  expect(priceToReach(book, { side: 'SELL', shares: 100 })).toEqual({ price: 0.47, complete: true });
  expect(priceToReach(book, { side: 'SELL', shares: 350.51 })).toEqual({ price: 0.46, complete: false });
  expect(priceToReach({ bids: [], asks: [] }, { side: 'SELL', shares: 1 })).toEqual({
    price: null,
    complete: false,
  });
  expect(priceToReach({ bids: [], asks: [] }, { side: 'BUY', amount: 0 }).complete).toBe(false);
});

test('the price to reach goes beyond the slippage to the grid of now, within it', () => {
  const book = {
    bids: [{ price: '0.4925', size: '10' }],
    asks: [{ price: '0.5025', size: '10' }],
    tickSize: '0.01',
  };
  expect(priceToReach(book, { side: 'BUY', amount: 1 }).price).toBe(0.51);
  expect(priceToReach(book, { side: 'SELL', shares: 1, slippage: 0.02 }).price).toBe(0.47);
  const fine = { ...book, tickSize: '0.0025' };
  expect(priceToReach(fine, { side: 'BUY', amount: 1, slippage: 0.001 }).price).toBe(0.505);
  expect(priceToReach(fine, { side: 'BUY', amount: 1, slippage: 0.9 }).price).toBe(0.9975);
  expect(priceToReach(fine, { side: 'SELL', shares: 1, slippage: 0.9 }).price).toBe(0.0025);
});
