/** Quotes above approvalAbove: their transaction waits for the owner. */
import { beforeAll, expect, test } from 'vitest';
import { approve, claim } from '../approving.ts';
import { createFakeQuoteVenue } from '../fake-quote-venue.ts';
import { startTestService, type TestService } from '../harness.ts';
import { Visitor } from '../passkey.ts';
import { newQuoteTrader, type TraderB } from '../quote-trader.ts';

let service: TestService;
let owner: Visitor;

beforeAll(async () => {
  const venue = createFakeQuoteVenue();
  service = await startTestService({ PAPER_WORLD: 'off' }, { venues: () => [venue] });
  owner = new Visitor(service);
  await owner.register('Ada');
});

async function asker(): Promise<TraderB> {
  const trader = await newQuoteTrader(service);
  await claim(owner, trader);
  await trader.client.updateSettings({ approvalAbove: 5 });
  return trader;
}

test('the transaction is withheld until the owner has approved; then it is submitted', async () => {
  const trader = await asker();
  const quote = await trader.quote();
  expect(quote).toMatchObject({ quoteErrorCode: 'approval_required' });
  expect(quote.unsignedTransaction).toBeUndefined();
  const request = { quoteId: quote.quoteId, reasoning: 'cheap' };
  const asked = await trader.post('/venueb/agent/approval', request);
  expect(asked.body).toMatchObject({
    status: 'waiting',
    orderId: quote.quoteId,
    venue: 'kalshi',
    amount: 10,
  });
  const { approvalId } = asked.body;
  expect((await trader.post('/venueb/agent/approval', request)).body.approvalId).toBe(approvalId);
  expect((await trader.get(`/agents/approvals/${approvalId}`)).body.unsignedTransaction).toBeUndefined();
  await approve(owner, approvalId);
  const approved = (await trader.get(`/agents/approvals/${approvalId}`)).body;
  const submitted = await trader.submit({ ...quote, unsignedTransaction: approved.unsignedTransaction });
  expect(submitted.body).toMatchObject({ status: 'submitted', orderId: quote.quoteId });
  expect((await trader.get(`/agents/approvals/${approvalId}`)).body.status).toBe('used');
});

test('a quote whose transaction is shown asks when it is submitted, once a limit was set', async () => {
  const trader = await newQuoteTrader(service);
  await claim(owner, trader);
  const quote = await trader.quote();
  await trader.client.updateSettings({ approvalAbove: 5 });
  const refused = await trader.submit(quote);
  expect(refused.body).toMatchObject({ code: 'approval_required', approvalId: expect.any(String) });
  await approve(owner, refused.body.approvalId);
  expect((await trader.submit(quote)).body.status).toBe('submitted');
});

test('what needs none is not asked for, and no agent asks for quotes of others', async () => {
  const [one, other] = [await asker(), await asker()];
  const quote = await one.quote({ amount: 3, marketTicker: 'KXTEST-1', side: 'YES', action: 'BUY' });
  const ask = (by: TraderB, quoteId: string) => by.post('/venueb/agent/approval', { quoteId });
  expect((await ask(one, quote.quoteId)).body.code).toBe('approval_not_required');
  expect((await ask(other, (await one.quote()).quoteId)).body.code).toBe('quote_not_found');
});

test('without an owner a quote says so, and holds nothing to approve', async () => {
  const trader = await newQuoteTrader(service);
  await trader.client.updateSettings({ approvalAbove: 5 });
  const quote = await trader.quote();
  expect(quote.quoteErrorMessage).toContain('claimUrl');
  expect((await trader.post('/venueb/agent/approval', { quoteId: quote.quoteId })).body.code).toBe(
    'quote_not_executable',
  );
});
