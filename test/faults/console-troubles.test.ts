/** The console where something is amiss: no connection, another owner, a flood of approvals, a missing receipt, a wrong key. */
import type { Market } from '@bellwether/sdk';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  addAuthenticator,
  type BrowserVisitor,
  FITS,
  measure,
  newBrowserVisitor,
  PHONE,
} from '../browser.ts';
import { CHROMIUM_ARGS, findChromium } from '../chromium.ts';
import { claimInBrowser, openConsole, takingOrder } from '../console-stage.ts';
import {
  aMarket,
  limitOrder,
  newTrader,
  restingOrder,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import { browserFor } from '../setup/skipped.ts';

const executablePath = browserFor('console-troubles.test.ts', findChromium());

const OPERATOR_KEY = 'operator-key-of-this-test-0123456789';

let service: TestService;
let browser: Browser;
let market: Market;
/** An owner who stays through the file. */
let ada: BrowserVisitor;
let trader: Trader;

const open = (page: Page, view = ''): Promise<void> => openConsole(service, page, view);
const claim = (visitor: BrowserVisitor, agent: Pick<Trader, 'client'>) =>
  claimInBrowser(service, visitor, agent);
const taking = (who: Trader, size: number) => takingOrder(market, who, size);

describe.skipIf(executablePath === null)('the console, where something is amiss', () => {
  beforeAll(async () => {
    service = await startTestService({ PAPER_WORLD: 'off', OPERATOR_KEY }, { jobs: 'by timer' });
    browser = await chromium.launch({ executablePath: executablePath as string, args: CHROMIUM_ARGS });
    trader = await newTrader(service);
    market = await aMarket(trader.client);
    ada = await newBrowserVisitor(browser, { context: { viewport: { width: 1100, height: 900 } } });
    await claim(ada, trader);
    await trader.client.placeTrade(await taking(trader, 20));
    await trader.client.placeTrade(await restingOrder(trader, market));
    await open(ada.page);
  });
  afterAll(() => browser?.close());

  test('what cannot be sent is not said to be tried again', async () => {
    const { page, context, complaints } = ada;
    await open(page);
    const pause = page.getByRole('button', { name: 'Pause everything' });
    await pause.waitFor();
    await context.setOffline(true);
    await pause.click();
    await page.getByRole('alert').filter({ hasText: 'this may not have been done' }).waitFor();
    await context.setOffline(false);
    await page.getByText('Live', { exact: true }).waitFor();
    expect((await trader.client.getSettings()).tradingPaused).toBe(false);
    expect(complaints).toEqual([]);
  });

  test('another owner who signs in in another tab: the first tab starts anew', async () => {
    const first = await newBrowserVisitor(browser);
    const { page, context } = first;
    const own = await newTrader(service);
    await claim(first, own);
    await open(page);
    await page.getByText('Live', { exact: true }).waitFor();
    // It hears of nothing, like a tab that sleeps.
    await page.route('**/owner/**', (route) => route.abort());
    const second = await context.newPage();
    await addAuthenticator(context, second);
    await open(second);
    await second.getByRole('button', { name: 'Sign out' }).click();
    await second.getByLabel('Your name').fill('Grace');
    await second.getByRole('button', { name: 'Create account with a passkey' }).click();
    await second.getByText('Signed in as Grace').waitFor();
    await page.getByText('This page is not live.').waitFor();
    await page.bringToFront();
    await page.unroute('**/owner/**');
    await page.getByText('Signed in as Grace').waitFor();
    await page.getByText('You have claimed no agent yet.').waitFor();
    await context.close();
  });

  test('many trades that ask push no waiting one out, and one act stops the agent that asks them', async () => {
    const grace = await newBrowserVisitor(browser);
    const { page } = grace;
    const [quiet, noisy] = [await newTrader(service), await newTrader(service)];
    for (const agent of [quiet, noisy]) {
      await claim(grace, agent);
      await agent.client.updateSettings({ approvalAbove: 6 });
    }
    const ask = async (agent: Trader, size: number, reasoning: string) =>
      expect(agent.client.placeTrade({ ...(await taking(agent, size)), reasoning })).rejects.toMatchObject({
        code: 'approval_required',
      });
    const size = Math.ceil(8 / Number(market.bestAsk));
    await ask(quiet, size, 'The first.');
    await open(page, '/approvals');
    const groups = page.locator('section.card', { has: page.locator('details.line') });
    const lines = page.locator('details.line');
    const decline = page.getByRole('button', { name: 'Decline', exact: true });
    await page.getByText('The first.').waitFor();
    const before = await decline.boundingBox();
    for (let i = 0; i < 25; i++) await ask(noisy, size + i, `Noise ${i}.`);
    const further = page.getByRole('button', { name: '20 new' });
    await further.waitFor();
    expect(await lines.count()).toBe(1);
    expect(await decline.boundingBox()).toEqual(before);
    await further.click();
    await expect.poll(() => lines.count()).toBe(21);
    expect(await groups.count()).toBe(2);
    expect(await groups.first().textContent()).toContain('The first.');
    expect(await lines.last().textContent()).toContain('Noise 19.');
    await page.getByRole('button', { name: 'Newest first' }).click();
    expect(await lines.first().textContent()).toContain('Noise 19.');
    expect(await page.locator('.count').innerText()).toContain('21');

    // One act stops the flood.
    await page.getByRole('button', { name: 'Decline all and pause' }).first().click();
    await page.getByRole('dialog').getByRole('button', { name: 'Decline all and pause' }).click();
    await page.getByText('is paused, and 20 of its orders are declined for good.').waitFor();
    // They keep their places until the owner asks for the list as it is.
    await page.getByRole('button', { name: /^20 over/ }).click();
    await expect.poll(() => lines.count()).toBe(1);
    expect(await lines.first().textContent()).toContain('The first.');
    expect((await noisy.client.getSettings()).tradingPaused).toBe(true);
    expect((await quiet.client.getSettings()).tradingPaused).toBe(false);
    expect(grace.complaints).toEqual([]);
    await grace.context.close();
  });

  test('a receipt of another order, one that never came, and an address that was cut off', async () => {
    const { page, context } = ada;
    const { decisions } = await page.evaluate<{ decisions: { orderId: string | null }[] }>(
      `fetch('/owner/agents/${trader.agentId}/decisions').then((answer) => answer.json())`,
    );
    const [orderId, other] = decisions.flatMap((decision) => decision.orderId ?? []);
    const order = `/agents/${trader.agentId}/orders/${orderId}`;
    await context.route(`**/orders/${orderId}/receipt`, async (route) => {
      const address = route
        .request()
        .url()
        .replace(orderId as string, other as string);
      await route.fulfill({ response: await route.fetch({ url: address }) });
    });
    await open(page, order);
    await page
      .getByRole('alert')
      .filter({ hasText: /Entry \d+ is of another order/ })
      .waitFor();
    await context.unroute(`**/orders/${orderId}/receipt`);

    await context.route(`**/orders/${orderId}/receipt`, (route) =>
      route.fulfill({ status: 404, json: { code: 'receipt_not_found', detail: 'There is none yet.' } }),
    );
    await context.route(`**/orders/${orderId}`, async (route) => {
      if (!route.request().url().includes('/owner/')) return route.fallback();
      const answer = await route.fetch();
      const createdAt = String(Date.now() - 3_600_000);
      await route.fulfill({ response: answer, json: { ...(await answer.json()), createdAt } });
    });
    await open(page, order);
    await page.getByText('There is no receipt of this order.').waitFor();
    await context.unroute(`**/orders/${orderId}/receipt`);
    await context.unroute(`**/orders/${orderId}`);

    for (const view of [`/agents/${trader.agentId.slice(0, 20)}`, order.slice(0, -5)]) {
      await open(page, view);
      await page.getByText('There is no such page.').waitFor();
    }
  });

  test('a wrong operator’s key is asked for again', async () => {
    const { page } = ada;
    for (const wrong of ['not-the-key', 'schlüssel']) {
      await open(page, '/operator');
      await page.getByLabel('Operator’s key').fill(wrong);
      await page.getByRole('button', { name: 'Show the service' }).click();
      await page.getByRole('alert').filter({ hasText: 'This is not the operator’s key' }).waitFor();
      expect(await page.getByLabel('Operator’s key').isVisible()).toBe(true);
    }
  });

  test('what is typed before the session is known stays', async () => {
    const { page } = ada;
    let goOn = (): void => {};
    const isHeld = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    await page.route('**/owner/session', async (request) => {
      await isHeld;
      await request.continue();
    });
    await open(page, '/operator');
    const key = page.getByLabel('Operator’s key');
    await key.fill('half-typed');
    goOn();
    await page.getByText('Signed in as').waitFor();
    expect(await key.inputValue()).toBe('half-typed');
    await page.unroute('**/owner/session');
  });

  test('a venue without past prices says so in plain words', async () => {
    const { page } = ada;
    const [there] = await trader.client.listMarkets({ q: 'will', venue: 'kalshi', limit: 1 });
    await open(page, `/markets/${encodeURIComponent(there?.id ?? '')}?venue=kalshi`);
    await page.getByText('There are no past prices of kalshi here.').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  test('an open order shows the price of its market as it moves', async () => {
    const maker = await newBrowserVisitor(browser);
    const { page } = maker;
    const agent = await newTrader(service);
    await claim(maker, agent);
    const bid = async (price: number) =>
      agent.client.placeTrade(await limitOrder(agent, market, { side: 'BUY', price, size: 10 }));
    const tick = Number(market.tickSize);
    const { bestBid, bestAsk } = await agent.client.getMarket(market.id);
    const best = Number(bestBid);
    await bid(best - tick);
    await open(page, `/agents/${agent.agentId}/orders`);
    const table = page.getByRole('region', { name: 'Table: Open orders' });
    const middle = (above: number) =>
      ((best + above + Number(bestAsk)) / 2).toFixed(4).replace(/0{1,2}$/, '');
    await table.getByRole('cell', { name: middle(0), exact: true }).waitFor();
    await bid(best + tick);
    await page.getByRole('button', { name: /^1 new.*open orders/ }).click();
    await expect.poll(() => table.getByRole('cell', { name: middle(tick), exact: true }).count()).toBe(2);
    expect(maker.complaints).toEqual([]);
    await maker.context.close();
  });

  test('a name without an end does not make the page wider than a phone', async () => {
    const name = 'W'.repeat(60);
    const agent = await newTrader(service, 0, name);
    // The day's trades are used up: an alert names it.
    await agent.client.updateSettings({ maxTradesPerDay: 1 });
    await agent.client.placeTrade(await taking(agent, 10));
    const phone = await newBrowserVisitor(browser, { context: PHONE });
    await claim(phone, agent);
    await open(phone.page);
    await phone.page.getByRole('listitem').filter({ hasText: name }).first().waitFor();
    expect(await measure(phone.page)).toEqual(FITS);
    await phone.context.close();
  });
});
