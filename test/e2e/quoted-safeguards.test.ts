/** What may be submitted: safeguards over both venues, the owner's approval, one use of a quote, and cancels. */
import type { Market } from '@bellwether/sdk';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { followChainOrders } from '../../packages/server/src/quoting/follow.ts';
import { approve, claim } from '../approving.ts';
import type { FakeQuoteVenue } from '../fake-quote-venue.ts';
import { aMarket, newTrader, restingOrder, type TestService } from '../harness.ts';
import { poolOf } from '../live-desk.ts';
import { Visitor } from '../passkey.ts';
import { BUY_TEN, newQuoteTrader, SIXTEEN, startQuotingDesk, type TraderB } from '../quote-trader.ts';

let service: TestService;
let venue: FakeQuoteVenue;
let market: Market;
let owner: Visitor;

beforeAll(async () => {
  ({ service, venue } = await startQuotingDesk());
  market = await aMarket((await newTrader(service)).client);
  owner = new Visitor(service);
  await owner.register('Ada');
});

type Settings = Parameters<TraderB['client']['updateSettings']>[0];
const refused = (status: number, code: string) => ({ status, body: { code } });

/** The same agent with a wallet on either venue; what it is about to send. */
async function onBothVenues(settings: Settings) {
  const trader = await newTrader(service);
  const agent = await newQuoteTrader(service, trader);
  await agent.client.updateSettings(settings);
  return {
    ...agent,
    async submission() {
      const quote = await agent.quote();
      return () => agent.submit(quote);
    },
    /** A resting BUY for the amount of collateral. */
    async resting(money: number) {
      const order = await restingOrder(trader, market, money * 100);
      return () => agent.post('/markets/trade', order);
    },
  };
}

const codes = (answers: readonly { body: { code?: string } }[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { body } of answers) counts[body.code ?? 'taken'] = (counts[body.code ?? 'taken'] ?? 0) + 1;
  return counts;
};

describe('safeguards', () => {
  test('two hundred simultaneous trades on both venues share one number of trades', async () => {
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
    expect(await agent.usage()).toEqual({ trades: 10, amount: 100 });
  });

  test.each<[settings: Settings, code: string, limit?: number, asked?: number]>([
    [{ tradingPaused: true }, 'trading_paused'],
    [{ maxTradeAmount: 9.99 }, 'max_trade_amount_exceeded', 9.99, 10],
    [{ maxTradesPerDay: 0 }, 'max_trades_per_day_exceeded', 0, 1],
    [{ dailyTradeAmountLimit: 9 }, 'daily_trade_amount_exceeded', 9, 10],
    [{ maxPositionValue: 9 }, 'max_position_value_exceeded', 9, 10],
  ])(
    '%j: a quote holds no transaction and says why, an earlier one is denied when it is submitted',
    async (settings, code, limit, asked) => {
      const trader = await newQuoteTrader(service);
      const earlier = await trader.quote();
      await trader.client.updateSettings(settings);
      const quote = await trader.quote();
      expect(quote).toMatchObject({ quoteErrorCode: code, previewOnly: false, inAmount: '10000000' });
      expect(quote.quoteErrorMessage).toContain(
        limit === undefined ? 'paused' : `limit ${limit}, used 0, asked ${asked}`,
      );
      expect(quote.unsignedTransaction).toBeUndefined();
      const submitted = await trader.submit(quote, { signedTransaction: 'AQ==' });
      expect(submitted).toMatchObject(refused(400, 'quote_not_executable'));
      expect(submitted.body.detail).toContain(code);
      const denied = (await trader.submit(earlier)).body;
      expect(denied.code).toBe(code);
      if (limit !== undefined) expect(denied.context).toMatchObject({ limit, used: 0, asked });
      expect(await trader.usage()).toEqual({ trades: 0, amount: 0 });
    },
  );

  test('a SELL is denied only by those that ignore exposure', async () => {
    const sell = { action: 'SELL', shares: 10 };
    const trader = await newQuoteTrader(service);
    const [one, two] = [await trader.quote(sell), await trader.quote(sell)];
    await trader.client.updateSettings({ dailyTradeAmountLimit: 1 });
    expect((await trader.submit(one)).body.status).toBe('submitted');
    await trader.client.updateSettings({ maxTradesPerDay: 0 });
    expect((await trader.submit(two)).body.code).toBe('max_trades_per_day_exceeded');
  });

  test('quotes reserve nothing; each submit counts what was submitted before', async () => {
    const trader = await newQuoteTrader(service);
    await trader.client.updateSettings({ maxTradesPerDay: 3, maxPositionValue: 25 });
    const quotes = [];
    for (let nth = 0; nth < 5; nth += 1) quotes.push(await trader.quote());
    for (const quote of quotes) expect(quote.quoteErrorCode).toBeUndefined();
    const [one, two, three, four] = quotes;
    for (const quote of [one, two]) expect((await trader.submit(quote)).body.status).toBe('submitted');
    expect((await trader.submit(three)).body).toMatchObject({
      code: 'max_position_value_exceeded',
      context: { used: 20, asked: 10, limit: 25 },
    });
    await trader.client.updateSettings({ maxPositionValue: null });
    expect((await trader.submit(three)).body.status).toBe('submitted');
    expect((await trader.quote()).quoteErrorCode).toBe('max_trades_per_day_exceeded');
    // An earlier quote is checked at its submit.
    expect((await trader.submit(four)).body.code).toBe('max_trades_per_day_exceeded');
  });

  test('a preview remains one while trading is paused', async () => {
    const trader = await newQuoteTrader(service);
    await trader.client.updateSettings({ tradingPaused: true });
    const { body } = await trader.post('/venueb/agent/quote', BUY_TEN);
    expect(body).toMatchObject({ previewOnly: true });
  });

  test('a revoked key submits nothing, even while it is cached', async () => {
    const { agents, secrets } = service.needs;
    const agent = await newQuoteTrader(service);
    const quote = await agent.quote();
    const found = await agents.callerByKeyHash(secrets.hash(agent.apiKey));
    // Bypasses the service, whose cache still has the key.
    await agents.revokeKey(agent.agentId, found?.caller.keyId as bigint, true, Date.now());
    expect(await agent.submit(quote)).toMatchObject(refused(401, 'unauthorized'));
  });
});

describe('a quote above approvalAbove', () => {
  async function asker(approvalAbove = 5): Promise<TraderB> {
    const trader = await newQuoteTrader(service);
    await claim(owner, trader);
    await trader.client.updateSettings({ approvalAbove });
    return trader;
  }

  test('is withheld until the owner has approved; then it is submitted', async () => {
    const trader = await asker();
    const quote = await trader.quote();
    expect(quote).toMatchObject({ quoteErrorCode: 'approval_required' });
    expect(quote.unsignedTransaction).toBeUndefined();
    const ask = () => trader.post('/venueb/agent/approval', { quoteId: quote.quoteId, reasoning: 'cheap' });
    const { body: asked, headers } = await ask();
    expect(headers.get('idempotency-replayed')).toBeNull();
    expect(asked).toMatchObject({
      status: 'waiting',
      orderId: quote.quoteId,
      venue: 'kalshi',
      amount: 10,
    });
    const { approvalId } = asked;
    const approval = async () => (await trader.get(`/agents/approvals/${approvalId}`)).body;
    const again = await ask();
    expect(again.body.approvalId).toBe(approvalId);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect((await approval()).unsignedTransaction).toBeUndefined();
    await approve(owner, approvalId);
    const { unsignedTransaction } = await approval();
    expect((await trader.submit({ ...quote, unsignedTransaction })).body).toMatchObject({
      status: 'submitted',
      orderId: quote.quoteId,
    });
    expect((await approval()).status).toBe('used');
  });

  test('whose transaction was shown before asks when it is submitted', async () => {
    const trader = await asker(100);
    const quote = await trader.quote();
    await trader.client.updateSettings({ approvalAbove: 5 });
    const { body } = await trader.submit(quote);
    expect(body).toMatchObject({ code: 'approval_required', approvalId: expect.any(String) });
    await approve(owner, body.approvalId);
    expect((await trader.submit(quote)).body.status).toBe('submitted');
  });

  test('is asked for by its own agent, and only where it needs approval', async () => {
    const [one, other] = [await asker(), await asker()];
    const ask = async (by: TraderB, { quoteId }: { quoteId: string }) =>
      (await by.post('/venueb/agent/approval', { quoteId })).body.code;
    expect(await ask(one, await one.quote({ ...BUY_TEN, amount: 3 }))).toBe('approval_not_required');
    expect(await ask(other, await one.quote())).toBe('quote_not_found');
    const unclaimed = await newQuoteTrader(service);
    await unclaimed.client.updateSettings({ approvalAbove: 5 });
    const quote = await unclaimed.quote();
    expect(quote.quoteErrorMessage).toContain('claimUrl');
    expect(await ask(unclaimed, quote)).toBe('quote_not_executable');
  });
});

describe('one quote', () => {
  test('has one effect and one answer for ten simultaneous submits of the same transaction', async () => {
    const agent = await newQuoteTrader(service);
    const quote = await agent.quote();
    const answers = await Promise.all(Array.from({ length: 10 }, () => agent.submit(quote)));
    expect(new Set(answers.map(({ status, body }) => `${status} ${JSON.stringify(body)}`)).size).toBe(1);
    expect(answers[0]).toMatchObject({ status: 200, body: { success: true } });
    expect(await agent.usage()).toEqual({ trades: 1, amount: 10 });
  });

  test('that is recorded during the simulation of a second submit gives the first answer, too', async () => {
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

  test('is either submitted or canceled when both come at once', async () => {
    const agent = await newQuoteTrader(service);
    for (let i = 0; i < 10; i += 1) {
      const quote = await agent.quote();
      const [submitted, canceled] = await Promise.all([
        agent.submit(quote),
        agent.cancel({ orderId: quote.quoteId }),
      ]);
      const won = [submitted.status === 200, canceled.canceled.length === 1];
      expect(won.filter(Boolean), JSON.stringify([submitted.body, canceled])).toHaveLength(1);
      if (won[1]) expect(submitted.body.code).toBe('quote_not_executable');
    }
  });

  test('is deleted some time after it expires, unless it was used', async () => {
    const { quotes } = service.needs;
    const agent = await newQuoteTrader(service);
    const unused = await agent.quote();
    const { orderId } = await agent.trade();
    await quotes.sweep(unused.expiresAt - 1);
    expect(await quotes.byId(agent.agentId, unused.quoteId)).not.toBeNull();
    await quotes.sweep(Date.now() + 86_400_000);
    expect(await quotes.byId(agent.agentId, unused.quoteId)).toBeNull();
    expect((await agent.order(orderId)).status).toBe('submitted');
  });
});

describe('a cancel', () => {
  test('withdraws a quote that was not submitted', async () => {
    const agent = await newQuoteTrader(service);
    const quote = await agent.quote();
    const orderId = quote.quoteId;
    const cancel = async () => (await agent.post('/kalshi/agent/cancel', { orderId })).body;
    expect(await cancel()).toEqual({ canceled: [orderId], notCanceled: {}, syncedToMkOrder: true });
    expect((await cancel()).notCanceled).toEqual({ [orderId]: 'already canceled' });
    expect(await agent.submit(quote)).toMatchObject(refused(400, 'quote_not_executable'));
    expect(await agent.cancel({})).toMatchObject({ status: 400, code: 'order_id_required' });
    const stranger = await newQuoteTrader(service);
    expect(await stranger.cancel({ orderId })).toMatchObject({ status: 404, code: 'order_not_found' });
  });

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
    const cancel = async () => (await agent.cancel({ orderId: quote.quoteId })).canceled;
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
    for (const answer of answers) expect(answer).toMatchObject(refused(400, 'quote_not_executable'));
    expect(await agent.usage()).toEqual({ trades: 0, amount: 0 });
    const order = await agent.order(quote.quoteId);
    expect(order).toMatchObject({ status: 'canceled', txSignature: expect.any(String) });
    // Orders of other tests are sent again meanwhile.
    expect(venue.sent.map(({ signature }) => signature)).not.toContain(order.txSignature);
    return quote.quoteId;
  }

  test('between recording and sending is what the submit and its replay say, too', async () => {
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

  test('of an order that may have been sent is refused with its latest end', async () => {
    const agent = await newQuoteTrader(service);
    const other = await agent.quote();
    const { orderId, txSignature } = await agent.trade();
    await agent.client.updateSettings({ tradingPaused: true });
    const { lastValidBlockHeight } = await agent.order(orderId);
    const { canceled, notCanceled } = await agent.cancel({ venueOrderId: txSignature });
    expect(canceled).toEqual([]);
    expect(notCanceled[orderId]).toMatch(new RegExp(`block ${lastValidBlockHeight}, about \\d{4}-.*Z`));
    expect(await agent.cancel({ orderId: other.quoteId, venueOrderId: txSignature })).toMatchObject({
      status: 404,
      code: 'order_not_found',
    });
    venue.fill(txSignature, SIXTEEN);
    await expect
      .poll(async () => {
        await followChainOrders(service.needs);
        return (await agent.post('/markets/orders/cancel', { orderId })).body.notCanceled[orderId];
      })
      .toBe('already filled');
  });
});
