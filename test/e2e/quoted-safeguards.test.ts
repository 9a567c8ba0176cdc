/** Budgets over both venues, concurrent use of one quote, and cancels. */
import { buildLimitOrder, type Market } from '@bellwether/sdk';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { followChainOrders } from '../../packages/server/src/quoting/follow.ts';
import {
  createFakeQuoteVenue,
  createFakeWallet,
  type FakeQuoteVenue,
  fakeMarket,
} from '../fake-quote-venue.ts';
import { aMarket, call, newTrader, startTestService, type TestService } from '../harness.ts';
import { poolOf } from '../live-desk.ts';
import { BUY_TEN, newQuoteTrader, type TraderB } from '../quote-trader.ts';

let service: TestService;
let venue: FakeQuoteVenue;
let market: Market;

beforeAll(async () => {
  venue = createFakeQuoteVenue();
  service = await startTestService({ PAPER_WORLD: 'off' }, { venues: () => [venue] });
  market = await aMarket((await newTrader(service)).client);
});

/** The same agent with a wallet on either venue. */
async function onBothVenues(settings: Parameters<TraderB['client']['updateSettings']>[0]) {
  const trader = await newTrader(service);
  await trader.client.updateSettings(settings);
  const wallet = createFakeWallet();
  const post = (path: string, body: unknown) => call(service, 'POST', path, { key: trader.apiKey, body });
  return {
    trader,
    usage: async () => (await service.needs.agents.settings(trader.agentId)).usage,
    async submission(fields: Record<string, unknown> = {}) {
      const { body } = await post('/venueb/agent/quote', {
        ...BUY_TEN,
        userPublicKey: wallet.address,
        ...fields,
      });
      return () =>
        post('/venueb/agent/submit', {
          quoteId: body.quoteId,
          signedTransaction: wallet.sign(body.unsignedTransaction),
        });
    },
    /** A resting BUY for the amount of collateral. */
    async resting(money: number) {
      const request = await buildLimitOrder({
        signer: trader.signer,
        signatureType: trader.signatureType,
        market,
        outcome: 'YES',
        side: 'BUY',
        price: '0.01',
        size: money * 100,
      });
      return () => post('/markets/trade', request);
    },
  };
}

const codes = (answers: readonly { body: { code?: string } }[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { body } of answers) counts[body.code ?? 'taken'] = (counts[body.code ?? 'taken'] ?? 0) + 1;
  return counts;
};

describe('safeguards over both venues', () => {
  test('two hundred simultaneous trades share one number of trades', async () => {
    const agent = await onBothVenues({ maxTradesPerDay: 50 });
    const calls = await Promise.all(
      Array.from({ length: 220 }, (_, i) => (i % 2 === 0 ? agent.submission() : agent.resting(1 + i))),
    );
    const sent = venue.sent.length;
    // The first are answered before the others start: else one kind could use up the whole budget.
    const first = await Promise.all(calls.slice(0, 20).map((one) => one()));
    const answers = [...first, ...(await Promise.all(calls.slice(20).map((one) => one())))];
    expect(codes(answers)).toEqual({ taken: 50, max_trades_per_day_exceeded: 170 });
    expect((await agent.usage()).trades).toBe(50);
    const taken = answers.filter(({ body }) => body.txSignature !== undefined);
    expect(taken.length).toBeGreaterThan(0);
    expect(taken.length).toBeLessThan(50);
    // Refused orders were never sent.
    expect(new Set(venue.sent.slice(sent).map(({ signature }) => signature)).size).toBe(taken.length);
  });

  test('and one daily amount', async () => {
    const agent = await onBothVenues({ dailyTradeAmountLimit: 100 });
    const calls = await Promise.all([
      ...Array.from({ length: 20 }, () => agent.submission()),
      ...Array.from({ length: 20 }, () => agent.resting(10)),
    ]);
    const answers = await Promise.all(calls.map((one) => one()));
    expect(codes(answers)).toEqual({ taken: 10, daily_trade_amount_exceeded: 30 });
    expect(await agent.usage()).toEqual({ trades: 10, amount: 100_000_000n });
  });

  test('each has its own code; a SELL is denied only by those that ignore exposure', async () => {
    const refused = async (settings: Parameters<typeof onBothVenues>[0], fields = {}) => {
      const agent = await onBothVenues({});
      // Quoted while it was allowed: safeguards are enforced at the submit.
      const submit = await agent.submission(fields);
      await agent.trader.client.updateSettings(settings);
      return (await submit()).body;
    };
    const sell = { action: 'SELL', amount: undefined, shares: 10 };
    expect(await refused({ tradingPaused: true })).toMatchObject({ code: 'trading_paused' });
    expect(await refused({ maxTradeAmount: 9.99 })).toMatchObject({
      code: 'max_trade_amount_exceeded',
      context: { limit: 9.99, asked: 10 },
    });
    expect(await refused({ maxTradesPerDay: 0 }, sell)).toMatchObject({
      code: 'max_trades_per_day_exceeded',
    });
    expect(await refused({ dailyTradeAmountLimit: 9 })).toMatchObject({
      code: 'daily_trade_amount_exceeded',
    });
    expect(await refused({ dailyTradeAmountLimit: 1 }, sell)).toMatchObject({ status: 'submitted' });
    expect(await refused({ maxPositionValue: 9 })).toMatchObject({ code: 'max_position_value_exceeded' });
    const agent = await onBothVenues({ maxPositionValue: 25 });
    const run = async () => (await (await agent.submission())()).body;
    const quotedBefore = await agent.submission();
    expect([await run(), await run(), (await quotedBefore()).body]).toMatchObject([
      { status: 'submitted' },
      { status: 'submitted' },
      { code: 'max_position_value_exceeded', context: { used: 20, asked: 10, limit: 25 } },
    ]);
  });

  test('a revoked key submits nothing, even while it is cached', async () => {
    const agent = await newQuoteTrader(service);
    const quote = await agent.quote();
    const { keyId } = (await service.needs.agents.callerByKeyHash(
      service.needs.secrets.hash(agent.apiKey),
    )) as { keyId: bigint };
    // Bypasses the service, whose cache still has the key.
    await service.needs.agents.revokeKey(agent.agentId, keyId, true, Date.now());
    expect(await agent.submit(quote)).toMatchObject({ status: 401, body: { code: 'unauthorized' } });
  });
});

describe('concurrent use of one quote', () => {
  test('ten simultaneous submits of the same transaction have one effect and one answer', async () => {
    const agent = await newQuoteTrader(service);
    const quote = await agent.quote();
    const answers = await Promise.all(Array.from({ length: 10 }, () => agent.submit(quote)));
    expect(new Set(answers.map(({ status, body }) => `${status} ${JSON.stringify(body)}`)).size).toBe(1);
    expect(answers[0]).toMatchObject({ status: 200, body: { success: true } });
    expect(await agent.usage()).toEqual({ trades: 1, amount: 10 });
  });

  test('a submit whose duplicate is recorded during its simulation gets the first answer, too', async () => {
    const agent = await newQuoteTrader(service);
    const quote = await agent.quote();
    const { chain } = venue.quotes;
    const { simulate } = chain;
    let duplicate: ReturnType<typeof agent.submit> | undefined;
    chain.simulate = async (...question) => {
      chain.simulate = simulate;
      duplicate = agent.submit(quote);
      await duplicate;
      return simulate(...question);
    };
    const answer = await agent.submit(quote);
    expect(answer).toMatchObject({ status: 200, body: { success: true } });
    expect(answer.body).toEqual((await duplicate)?.body);
    expect(await agent.usage()).toEqual({ trades: 1, amount: 10 });
  });

  test('of a simultaneous submit and cancel one succeeds', async () => {
    const agent = await newQuoteTrader(service);
    for (let i = 0; i < 10; i += 1) {
      const quote = await agent.quote();
      const [submitted, canceled] = await Promise.all([
        agent.submit(quote),
        agent.post('/venueb/agent/cancel', { orderId: quote.quoteId }),
      ]);
      const won = [submitted.status === 200, canceled.body.canceled.length === 1];
      expect(won.filter(Boolean), JSON.stringify([submitted.body, canceled.body])).toHaveLength(1);
      if (won[1]) expect(submitted.body.code).toBe('quote_not_executable');
    }
  });
});

describe('a cancel between recording and sending', () => {
  /** Cancels once the order is recorded, just before its send begins. */
  async function submitAndCancel(
    beginSend: (
      begin: () => Promise<ReadonlySet<string>>,
      cancel: () => Promise<string[]>,
      quoteId: string,
    ) => Promise<ReadonlySet<string>>,
  ) {
    const agent = await newQuoteTrader(service);
    const quote = await agent.quote();
    const { chainOrders } = service.needs;
    const cancel = async () =>
      (await agent.post('/venueb/agent/cancel', { orderId: quote.quoteId })).body.canceled;
    const begin = chainOrders.beginSend;
    const held = vi
      .spyOn(chainOrders, 'beginSend')
      .mockImplementation((...send) =>
        send[0].includes(quote.quoteId)
          ? beginSend(() => begin(...send), cancel, quote.quoteId)
          : begin(...send),
      );
    const answers = [await agent.submit(quote)];
    held.mockRestore();
    answers.push(await agent.submit(quote));
    for (const answer of answers)
      expect(answer).toMatchObject({ status: 400, body: { code: 'quote_not_executable' } });
    expect(await agent.usage()).toEqual({ trades: 0, amount: 0 });
    const order = await agent.order(quote.quoteId);
    expect(order).toMatchObject({ status: 'canceled', txSignature: expect.any(String) });
    // Orders of other tests are sent again meanwhile.
    expect(venue.sent.map(({ signature }) => signature)).not.toContain(order.txSignature);
    return quote.quoteId;
  }

  test('is what the submit and its replay say, too', async () => {
    let canceled: string[] = [];
    const quoteId = await submitAndCancel(async (begin, cancel) => {
      canceled = await cancel();
      return begin();
    });
    expect(canceled).toEqual([quoteId]);
  });

  test('that has not ended yet is waited for', async () => {
    const sql = poolOf(service);
    const session = await sql.session();
    const [held] = await session<{ pid: number }[]>`select pg_backend_pid() as pid`;
    const isWaiting = async () =>
      (await sql`select 1 from pg_stat_activity where ${held?.pid ?? 0}::int = any(pg_blocking_pids(pid))`)
        .length > 0;
    let canceled: Promise<string[]> | undefined;
    const quoteId = await submitAndCancel(async (begin, cancel, orderId) => {
      // The cancel locks the transaction's row, and then waits for this one.
      await session`begin`;
      await session`select from orders where order_id = ${orderId} for update`;
      canceled = cancel();
      await expect.poll(isWaiting).toBe(true);
      const begun = await begin();
      await session`commit`;
      return begun;
    });
    session.end();
    expect(await canceled).toEqual([quoteId]);
  });
});

describe('a cancel', () => {
  test('withdraws a quote that was not submitted', async () => {
    const agent = await newQuoteTrader(service);
    const quote = await agent.quote();
    const cancel = () => agent.post('/kalshi/agent/cancel', { orderId: quote.quoteId });
    expect((await cancel()).body).toEqual({
      canceled: [quote.quoteId],
      notCanceled: {},
      syncedToMkOrder: true,
    });
    expect((await cancel()).body.notCanceled).toEqual({ [quote.quoteId]: 'already canceled' });
    expect(await agent.submit(quote)).toMatchObject({ status: 400, body: { code: 'quote_not_executable' } });
    expect(await agent.post('/venueb/agent/cancel', {})).toMatchObject({
      status: 400,
      body: { code: 'order_id_required' },
    });
    const stranger = await newQuoteTrader(service);
    expect(await stranger.post('/venueb/agent/cancel', { orderId: quote.quoteId })).toMatchObject({
      status: 404,
      body: { code: 'order_not_found' },
    });
  });

  test('of an order that may have been sent is refused with its latest end', async () => {
    const agent = await newQuoteTrader(service);
    const other = await agent.quote();
    const { orderId, txSignature } = await agent.trade();
    await agent.client.updateSettings({ tradingPaused: true });
    const { lastValidBlockHeight } = await agent.order(orderId);
    const { body } = await agent.post('/venueb/agent/cancel', { venueOrderId: txSignature });
    expect(body.canceled).toEqual([]);
    expect(body.notCanceled[orderId]).toMatch(new RegExp(`block ${lastValidBlockHeight}, about \\d{4}-.*Z`));
    expect(
      await agent.post('/venueb/agent/cancel', { orderId: other.quoteId, venueOrderId: txSignature }),
    ).toMatchObject({ status: 404, body: { code: 'order_not_found' } });
    venue.fill(txSignature, { inAmount: 9_600_000n, outAmount: 16_000_000n, fee: 0n });
    await expect
      .poll(async () => {
        await followChainOrders(service.needs);
        return (await agent.post('/markets/orders/cancel', { orderId })).body.notCanceled[orderId];
      })
      .toBe('already filled');
  });
});

describe('unused quotes', () => {
  test('are deleted some time after they expire; used ones stay', async () => {
    const agent = await newQuoteTrader(service);
    const unused = await agent.quote();
    const { orderId } = await agent.trade();
    await service.needs.quotes.sweep(unused.expiresAt - 1);
    expect(await service.needs.quotes.byId(agent.agentId, unused.quoteId)).not.toBeNull();
    await service.needs.quotes.sweep(Date.now() + 86_400_000);
    expect(await service.needs.quotes.byId(agent.agentId, unused.quoteId)).toBeNull();
    expect((await agent.order(orderId)).status).toBe('submitted');
  });
});

describe('a quote', () => {
  const EXPOSED = 'daily_trade_amount_exceeded';
  test.each([
    ['paused', { tradingPaused: true }, 'trading_paused', /paused/],
    [
      'above the amount of a trade',
      { maxTradeAmount: 9 },
      'max_trade_amount_exceeded',
      /limit 9, used 0, asked 10/,
    ],
    [
      'beyond the trades of a day',
      { maxTradesPerDay: 0 },
      'max_trades_per_day_exceeded',
      /limit 0, used 0, asked 1/,
    ],
    ['beyond the amount of a day', { dailyTradeAmountLimit: 9 }, EXPOSED, /limit 9, used 0, asked 10/],
    ['beyond the value of a position', { maxPositionValue: 9 }, 'max_position_value_exceeded', /limit 9/],
  ] as const)('%s holds no transaction, and says the limit', async (_name, settings, code, figures) => {
    const trader = await newQuoteTrader(service);
    await trader.client.updateSettings(settings);
    const quote = await trader.quote();
    expect(quote).toMatchObject({ quoteErrorCode: code, previewOnly: false, inAmount: '10000000' });
    expect(quote.quoteErrorMessage).toMatch(figures);
    expect(quote.unsignedTransaction).toBeUndefined();
    // It predicts the denial: nothing was reserved, nothing can be submitted.
    expect(await trader.usage()).toEqual({ trades: 0, amount: 0 });
    const submitted = await trader.submit(quote, { signedTransaction: 'AQ==' });
    expect([submitted.status, submitted.body.code]).toEqual([400, 'quote_not_executable']);
    expect(submitted.body.detail).toContain(code);
  });

  test('reserves no budget, and takes the remaining budget into account', async () => {
    const trader = await newQuoteTrader(service);
    await trader.client.updateSettings({ maxTradesPerDay: 1 });
    for (let nth = 0; nth < 5; nth += 1) expect((await trader.quote()).quoteErrorCode).toBeUndefined();
    const quoted = await trader.quote();
    await trader.trade();
    expect((await trader.quote()).quoteErrorCode).toBe('max_trades_per_day_exceeded');
    // An earlier quote is checked at its submit.
    expect((await trader.submit(quoted)).body.code).toBe('max_trades_per_day_exceeded');
  });

  test('of a redemption is executable regardless of the safeguards', async () => {
    const trader = await newQuoteTrader(service);
    await trader.client.updateSettings({ tradingPaused: true, maxTradesPerDay: 0 });
    venue.listed.set('KXPAID', fakeMarket('KXPAID'));
    venue.settle('KXPAID', 'YES');
    const quote = await trader.quote({ marketTicker: 'KXPAID', side: 'YES', action: 'SELL', shares: 1 });
    expect(quote).toMatchObject({ isRedemption: true, unsignedTransaction: expect.any(String) });
    expect(quote.quoteErrorCode).toBeUndefined();
  });

  test('without a wallet remains a preview', async () => {
    const trader = await newQuoteTrader(service);
    await trader.client.updateSettings({ tradingPaused: true });
    const { body } = await trader.post('/venueb/agent/quote', BUY_TEN);
    expect(body).toMatchObject({ previewOnly: true });
  });
});
