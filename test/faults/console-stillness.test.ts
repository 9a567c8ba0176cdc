/**
 * Nothing that a person looks at, points at or types into may move while agents trade: the browser itself measures every shift
 * of a view's layout, and how tall the views are.
 */
import type { Market } from '@bellwether/sdk';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BrowserVisitor, newBrowserVisitor, PHONE } from '../browser.ts';
import { CHROMIUM_ARGS, findChromium } from '../chromium.ts';
import { claimInBrowser, openConsole, takingOrder } from '../console-stage.ts';
import { exitOrder, hold } from '../exits.ts';
import {
  aMarket,
  limitOrder,
  newTrader,
  openMarkets,
  restingOrder,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import { browserFor } from '../setup/skipped.ts';

const executablePath = browserFor('console-stillness.test.ts', findChromium());

let service: TestService;
let browser: Browser;
let market: Market;
let ada: BrowserVisitor;
let trader: Trader;

/**
 * From now on the page collects what has moved, and by how much. A figure that gets a digit more grows to the left: its right edge
 * and its line stay, so it has not moved.
 */
const WATCH = `(() => {
  window.shifts = [];
  const moved = ({ previousRect: was, currentRect: is }) => was.y !== is.y || Math.abs(was.right - is.right) > 1;
  new PerformanceObserver((list) => {
    for (const { sources } of list.getEntries())
      for (const { node, previousRect: was, currentRect: is } of sources.filter(moved))
        window.shifts.push([(node?.textContent ?? '').slice(0, 60), was.x, was.y, is.x, is.y].join(' | '));
  }).observe({ type: 'layout-shift', buffered: false });
})()`;
const shiftsOf = (page: Page): Promise<readonly unknown[]> => page.evaluate('window.shifts');
const heightOf = (page: Page): Promise<number> => page.evaluate('document.documentElement.scrollHeight');

const settled = async (page: Page): Promise<void> => {
  await page.getByText('Live', { exact: true }).waitFor();
  await expect.poll(() => page.getByText(/^(Loading|Checking)/).count()).toBe(0);
};

/** Fills, a resting order, a refusal, something to approve, a cancel: each changes every list. */
async function trade(agent: Trader): Promise<void> {
  const { client } = agent;
  await client.placeTrade(await takingOrder(market, agent, 5 + Math.floor(Math.random() * 5)));
  await client.placeTrade(await restingOrder(agent, market));
  const large = Math.ceil((30 + Math.random() * 20) / Number(market.bestAsk));
  await expect(client.placeTrade(await takingOrder(market, agent, large))).rejects.toMatchObject({
    code: 'approval_required',
  });
  const open = await client.listOpenOrders();
  const oldest = open.at(-1);
  if (oldest !== undefined && open.length > 2) await client.cancelOrder(oldest.orderId);
}

/** Claimed by Ada, and with a little of everything already. */
async function newAgent(): Promise<Trader> {
  const agent = await newTrader(service);
  await agent.client.updateSettings({ maxTradesPerDay: 500, maxTradeAmount: 1000, approvalAbove: 25 });
  await claimInBrowser(service, ada, agent);
  await trade(agent);
  return agent;
}

const THUMB = { width: 390, height: 844 };
/** Of each more than a page: positions, open orders, exits, and refusals in many markets. */
async function fill(agent: Trader): Promise<void> {
  const { client } = agent;
  await client.updateSettings({ maxOpenOrders: 60, approvalAbove: null });
  const markets = (await openMarkets(client)).slice(0, 14);
  for (const one of markets) {
    await hold(agent, one, 10);
    for (let order = 0; order < 2; order++) await client.placeTrade(await restingOrder(agent, one));
    for (const outcome of ['YES', 'NO'] as const) {
      const order = await exitOrder(agent, one, { outcome, size: 10, worst: 0.02 });
      await client.leaveExit({ ...order, trigger: { kind: 'price_at_or_below', price: 0.01 } });
    }
    for (let attempt = 0; attempt < 4; attempt++)
      await expect(
        client.placeTrade(await limitOrder(agent, one, { side: 'BUY', price: 0.5, size: 5_000 + attempt })),
      ).rejects.toMatchObject({ code: 'max_trade_amount_exceeded' });
  }
  await client.updateSettings({ approvalAbove: 25 });
}

const viewsOf = ({ agentId }: Trader): Readonly<Record<string, string>> => ({
  // First: once twenty wait, nothing new comes.
  approvals: '/approvals',
  home: '',
  overview: `/agents/${agentId}`,
  positions: `/agents/${agentId}/positions`,
  exits: `/agents/${agentId}/exits`,
  orders: `/agents/${agentId}/orders`,
  decisions: `/agents/${agentId}/decisions`,
  limits: `/agents/${agentId}/limits`,
  keys: `/agents/${agentId}/keys`,
  market: `/markets/${market.id}?venue=${market.venue}`,
});

/** What tells a view of trades, below /owner; others read the agent itself. */
const READ_BY: Readonly<Record<string, string>> = {
  approvals: '/owner/approvals',
  home: '/owner/home',
  positions: '/positions',
  exits: '/owner/exits',
  orders: '/orders/open',
  decisions: '/decisions',
  market: '/owner/markets/',
};
/** Views in which something new waits to be listed after trades. */
const GROW = new Set(['approvals', 'home', 'orders', 'decisions', 'market']);

describe.skipIf(executablePath === null)('the console stands still', () => {
  beforeAll(async () => {
    service = await startTestService({ PAPER_WORLD: 'off' });
    browser = await chromium.launch({ executablePath: executablePath as string, args: CHROMIUM_ARGS });
    market = await aMarket((await newTrader(service)).client);
    ada = await newBrowserVisitor(browser, { context: { viewport: { width: 1120, height: 900 } } });
    trader = await newAgent();
  });
  afterAll(() => browser?.close());

  test.each(['desktop', 'phone'])(
    'in every view while an agent trades, on a %s',
    { timeout: 300_000 },
    async (device) => {
      const context = device === 'phone' ? PHONE : { viewport: { width: 1120, height: 900 } };
      // Of its own: what waits for the owner is limited, and a full list has nothing new.
      const agent = await newAgent();
      const { page } = await newBrowserVisitor(browser, { context });
      await page.context().addCookies(await ada.context.cookies());
      for (const [name, view] of Object.entries(viewsOf(agent))) {
        await openConsole(service, page, view);
        await settled(page);
        await trade(agent);
        await expect.poll(() => page.getByText(/^(Loading|Checking)/).count()).toBe(0);
        await page.evaluate('new Promise((resolve) => setTimeout(resolve, 1500))');
        await page.evaluate(WATCH);
        for (let round = 0; round < 3; round++) await trade(agent);
        // The page reads what happened, at the latest ten seconds later.
        await page.waitForResponse((answer) => answer.url().includes(READ_BY[name] ?? agent.agentId));
        await page.evaluate('new Promise((resolve) => setTimeout(resolve, 500))');
        if (GROW.has(name))
          await expect
            .poll(() => page.getByRole('button', { name: /\d+ new/ }).count(), { message: name })
            .toBeGreaterThan(0);
        expect({ name, shifts: await shiftsOf(page) }).toEqual({ name, shifts: [] });
      }
      await page.context().close();
    },
  );

  test('Save is where it was when it is pressed, and its answer is on the screen', async () => {
    const { page } = ada;
    await openConsole(service, page, `/agents/${trader.agentId}/limits`);
    await settled(page);
    const field = page.locator('[data-safeguard="maxOpenOrders"]').getByRole('textbox');
    await field.scrollIntoViewIfNeeded();
    await field.fill('40');
    const save = page.getByRole('button', { name: 'Save limits' });
    const [before, scrolled] = [await save.boundingBox(), await page.evaluate('scrollY')];
    for (let round = 0; round < 3; round++) await trade(trader);
    await page.waitForResponse((answer) => answer.url().includes(trader.agentId));
    await page.evaluate('new Promise((resolve) => setTimeout(resolve, 500))');
    expect(await save.boundingBox()).toEqual(before);
    expect(await page.evaluate('scrollY')).toBe(scrolled);
    if (before === null) throw new Error('the button is not on the page');
    await page.mouse.click(before.x + before.width / 2, before.y + before.height / 2);
    const said = page.getByRole('status').filter({ hasText: 'The limits are saved.' });
    await said.waitFor();
    const box = await said.boundingBox();
    expect(box !== null && box.y >= 0 && box.y + box.height <= 900).toBe(true);
    expect((await trader.client.getSettings()).maxOpenOrders).toBe(40);
  });

  test('a page ends: no part of an agent’s page is taller than 3,000 pixels on a phone, however much it did', {
    timeout: 300_000,
  }, async () => {
    await fill(trader);
    for (let round = 0; round < 10; round++) await trade(trader);
    const phone = await newBrowserVisitor(browser, { context: { ...PHONE, viewport: THUMB } });
    await phone.page.context().addCookies(await ada.context.cookies());
    for (const [page, mostOfAgent, most] of [
      [ada.page, 3_000, 5_500],
      [phone.page, 3_000, 9_000],
    ] as const) {
      for (const [name, view] of Object.entries(viewsOf(trader))) {
        await openConsole(service, page, view);
        await settled(page);
        expect(await heightOf(page), name).toBeLessThanOrEqual(
          view.startsWith('/agents/') ? mostOfAgent : most,
        );
      }
    }
    await phone.context.close();
  });

  test('alike refusals are one line with their number, and each can be read', async () => {
    const { page } = ada;
    await openConsole(service, page, `/agents/${trader.agentId}/decisions`);
    await settled(page);
    const refusals = page.getByRole('group').filter({ hasText: 'refused by the desk' });
    const line = refusals.filter({ hasText: /\d\d times BUY, / });
    await line.getByText(/^\d+ markets$/).waitFor();
    expect(await refusals.count()).toBeLessThan(4);
    await line.click();
    const [, count] = /(\d+) times/.exec(await line.innerText()) ?? [];
    await expect.poll(() => line.getByRole('article').count()).toBe(Number(count));
    await line.getByText('maxTradeAmount').first().waitFor();
  });

  test('a list has pages of 25, newest first', async () => {
    const { page } = ada;
    await openConsole(service, page, `/agents/${trader.agentId}/orders`);
    await settled(page);
    await page.getByRole('button', { name: 'All', exact: true }).click();
    const rows = page.getByRole('region', { name: 'Table: All orders' }).getByRole('row');
    await expect.poll(() => rows.count()).toBe(26);
    const first = await rows.nth(1).innerText();
    const pager = page.getByRole('navigation', { name: 'Pages of orders' });
    await pager.getByRole('button', { name: 'Older' }).click();
    await pager.getByText('Page 2').waitFor();
    await expect
      .poll(async () => ((await rows.count()) > 1 ? rows.nth(1).innerText() : first))
      .not.toBe(first);
    await pager.getByRole('button', { name: 'Newer' }).click();
    await expect.poll(() => rows.nth(1).innerText()).toBe(first);
  });
});
