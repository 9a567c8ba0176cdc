/**
 * The owner's console as a person uses it: a browser, an authenticator, agents that trade meanwhile. With
 * SCREENSHOTS=<folder> it saves a picture of every view.
 */
import type { Market } from '@bellwether/sdk';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { axeFindings } from '../axe.ts';
import { type BrowserVisitor, FITS, measure, newBrowserVisitor, PHONE, picture } from '../browser.ts';
import { CHROMIUM_ARGS, findChromium } from '../chromium.ts';
import { claimInBrowser, openConsole, takingOrder } from '../console-stage.ts';
import {
  aMarket,
  call,
  newTrader,
  restingOrder,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import { browserFor } from '../setup/skipped.ts';

const executablePath = browserFor('console.test.ts', findChromium());

const OPERATOR_KEY = 'operator-key-of-this-test-0123456789';
const HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';

/** How much the layout has shifted since the page was opened. */
const SHIFT = `new Promise((resolve) => {
  let sum = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) sum += entry.value;
  }).observe({ type: 'layout-shift', buffered: true });
  setTimeout(() => resolve(sum), 100);
})`;

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

describe.skipIf(executablePath === null)('the console', () => {
  beforeAll(async () => {
    service = await startTestService({ PAPER_WORLD: 'off', OPERATOR_KEY }, { jobs: 'by timer' });
    browser = await chromium.launch({ executablePath: executablePath as string, args: CHROMIUM_ARGS });
    trader = await newTrader(service);
    await trader.client.updateSettings({ maxTradesPerDay: 50 });
    market = await aMarket(trader.client);
    ada = await newBrowserVisitor(browser, { context: { viewport: { width: 1100, height: 900 } } });
    await claim(ada, trader);
    await trader.client.placeTrade(await taking(trader, 20));
    await trader.client.placeTrade(await restingOrder(trader, market));
  });
  afterAll(() => browser?.close());

  test('from the claim page: lock, pause, resume, approve, and a verified receipt', async () => {
    const { page } = ada;
    await page.getByRole('link', { name: 'Open the console' }).click();
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Test agent' }).first().click();
    await page.getByRole('heading', { level: 1, name: 'Test agent' }).waitFor();

    // Lock: every fault is named at once, and what is saved binds the key.
    await page.getByRole('link', { name: 'Limits' }).click();
    const amount = page.locator('[data-safeguard="maxTradeAmount"]');
    await amount.getByRole('textbox').fill('many');
    await page.locator('[data-safeguard="dailyLossLimit"]').getByRole('checkbox').check();
    await page.getByRole('button', { name: 'Save limits' }).click();
    const refusal = page.getByRole('alert').filter({ hasText: 'Amount per trade: enter a number.' });
    await refusal.filter({ hasText: 'Loss per day: enter a limit before you lock it.' }).waitFor();
    await page.locator('[data-safeguard="dailyLossLimit"]').getByRole('checkbox').uncheck();
    await amount.getByRole('textbox').fill('60');
    await amount.getByRole('checkbox').check();
    await page.locator('[data-safeguard="approvalAbove"]').getByRole('textbox').fill('12');
    await page.getByRole('button', { name: 'Save limits' }).click();
    await page.getByText('The limits are saved.').waitFor();
    expect(await trader.client.getSettings()).toMatchObject({
      maxTradeAmount: 60,
      approvalAbove: 12,
      lockedByOwner: { maxTradeAmount: 60 },
    });

    // One tap pauses; starting again is asked about.
    await page.getByRole('button', { name: 'Pause Test agent' }).click();
    await page.getByText('Paused by you').waitFor();
    await expect(trader.client.placeTrade(await taking(trader, 5))).rejects.toMatchObject({
      code: 'trading_paused',
    });
    await page.getByRole('button', { name: 'Resume Test agent' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    expect((await trader.client.getSettings()).tradingPaused).toBe(true);
    await page.getByRole('button', { name: 'Resume Test agent' }).click();
    await page.getByRole('button', { name: 'Resume trading' }).click();
    await page.getByText('Trading allowed').waitFor();

    // Limits let exits pass once the owner says so with the passkey.
    await page.getByRole('button', { name: 'Let exits pass, with your passkey' }).click();
    await page.getByText('Exits near the best bid pass the limits.').waitFor();
    expect(await trader.client.getSettings()).toMatchObject({
      capsBindExits: false,
      exitDistancePercent: 10,
    });

    // What rests is taken off the book with one tap.
    const [resting] = await trader.client.listOpenOrders();
    await page.getByRole('link', { name: 'Activity' }).click();
    await page.getByRole('button', { name: 'Cancel order' }).first().click();
    await page.getByText('Canceled one order.').waitFor();
    expect((await trader.client.listOpenOrders()).map(({ orderId }) => orderId)).not.toContain(
      resting?.orderId,
    );

    // An order above the limit appears by the stream, without a reload, and is approved with the passkey.
    await page.getByRole('link', { name: 'Approvals' }).click();
    await page.getByText('Nothing waits for you.').waitFor();
    const big = await taking(trader, Math.ceil(20 / Number(market.bestAsk)));
    await expect(trader.client.placeTrade(big)).rejects.toMatchObject({ code: 'approval_required' });
    const approve = page.getByRole('button', { name: 'Approve with your passkey' });
    await page.getByRole('button', { name: /^1 new.*list approvals/ }).click();
    await approve.waitFor();
    await page.getByText('The odds are wrong.').waitFor();
    await picture(page, 'approvals');
    await approve.click();
    await page.getByText('Approved: the agent can send this order now.').waitFor();
    const placed = await trader.client.placeTrade(big);
    expect(placed.success).toBe(true);

    // The receipt of that order, checked by the browser itself.
    await page.getByRole('button', { name: /^1 new.*earlier approvals/ }).click();
    await page.getByRole('cell', { name: 'used' }).waitFor();
    await page.getByRole('link', { name: /^BUY .* YES at/ }).click();
    await page.getByText('Verified in this browser.').waitFor();
    await page.getByRole('button', { name: 'Verify the agent’s whole chain' }).click();
    await page.getByText(/^Verified in this browser. All \d+ entries of the chain/).waitFor();
    await picture(page, 'receipt');
    expect(ada.complaints).toEqual([]);
  });

  test('a receipt that was altered on its way is named, and a chain that was rewritten', async () => {
    const { page, context } = ada;
    await page.getByText('Verified in this browser.').first().waitFor();
    await context.route('**/owner/agents/*/orders/*/receipt', async (route) => {
      const answer = await route.fetch();
      const receipt = await answer.json();
      receipt.entries[0].recordedAt = '2020-01-01T00:00:00.000Z';
      await route.fulfill({ response: answer, json: receipt });
    });
    await page.reload();
    await page
      .getByRole('alert')
      .filter({ hasText: /Entry \d+ was altered/ })
      .waitFor();
    await context.unroute('**/owner/agents/*/orders/*/receipt');
    await context.route('**/owner/agents/*/receipts?*', async (route) => {
      const answer = await route.fetch();
      const chain = await answer.json();
      chain.entries.splice(1, 1);
      await route.fulfill({ response: answer, json: chain });
    });
    await page.getByRole('button', { name: 'Verify the agent’s whole chain' }).click();
    await page.getByRole('alert').filter({ hasText: 'Entry 2 is missing.' }).waitFor();
    await context.unroute('**/owner/agents/*/receipts?*');
  });

  test('what happens is on the page as it happens; one switch pauses everything', async () => {
    const { page } = ada;
    const second = await newTrader(service);
    await claim(ada, second);
    await open(page);
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByText('Nothing yet since this page was opened.').waitFor();
    await second.client.placeTrade(await taking(second, 10));
    await page
      .getByText(/^.*Bought 10 YES at/)
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Pause everything' }).click();
    await page.getByRole('button', { name: 'Resume everything' }).waitFor();
    for (const { client } of [trader, second])
      expect(await client.getSettings()).toMatchObject({ tradingPaused: true, pausedByOwner: true });
    await page.getByRole('button', { name: 'Resume everything' }).click();
    await page.getByRole('button', { name: 'Resume trading' }).click();
    await page.getByRole('button', { name: 'Pause everything' }).waitFor();
    expect((await trader.client.getSettings()).tradingPaused).toBe(false);
    expect(ada.complaints).toEqual([]);
  });

  test('a lost stream is said, and the page catches up when it is back', async () => {
    const { page, context, complaints } = ada;
    await open(page);
    await page.getByText('Live', { exact: true }).waitFor();
    const row = page
      .getByRole('row')
      .filter({ has: page.getByRole('link', { name: 'Test agent' }) })
      .last();
    await row.waitFor();
    await context.setOffline(true);
    await page.getByText('This page is not live.').waitFor();
    const before = await row.innerText();
    await trader.client.placeTrade(await taking(trader, 10));
    expect(await row.innerText()).toBe(before);
    await context.setOffline(false);
    await page.getByText('Live', { exact: true }).waitFor();
    // Sent by the stream from where it was lost, not by a reload.
    await page
      .getByText(/Bought 10 YES at/)
      .first()
      .waitFor();
    await expect.poll(() => row.innerText()).not.toBe(before);
    expect(complaints).toEqual([]);
  });

  test('a stream that falls silent is given up, and opened again', async () => {
    const { page, context } = ada;
    const frozen = await context.newPage();
    await frozen.clock.install();
    await open(frozen);
    await frozen.getByText('Live', { exact: true }).waitFor();
    // Nothing comes for longer than two heartbeats, as from a replica that is frozen.
    await frozen.clock.fastForward(41_000);
    await frozen.getByText('This page is not live.').waitFor();
    await frozen.clock.fastForward(2_000);
    await frozen.getByText('Live', { exact: true }).waitFor();
    await frozen.close();
    await page.bringToFront();
  });

  test('a session that ends in the middle asks for the passkey, and keeps what was typed', async () => {
    const { page, context } = ada;
    await open(page, `/agents/${trader.agentId}/limits`);
    const field = page.locator('[data-safeguard="maxTradesPerDay"]').getByRole('textbox');
    await field.fill('33');
    // Signed out in another tab.
    await page.evaluate(
      `fetch('/owner/sign-out', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })`,
    );
    await page.getByText('Your session has ended.').waitFor();
    expect(await context.cookies()).toEqual([]);
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByText('Live', { exact: true }).waitFor();
    expect(await page.getByText('Your session has ended.').count()).toBe(0);
    expect(await field.inputValue()).toBe('33');
    await page.getByRole('button', { name: 'Save limits' }).click();
    await page.getByText('The limits are saved.').waitFor();
    expect((await trader.client.getSettings()).maxTradesPerDay).toBe(33);
  });

  test('a second owner sees nothing of it; who is signed out sees nothing at all', async () => {
    const eve = await newBrowserVisitor(browser);
    const { page } = eve;
    await open(page, `/agents/${trader.agentId}`);
    await page.getByRole('heading', { name: 'Your agents' }).waitFor();
    await page.getByLabel('Your name').fill('Eve');
    await page.getByRole('button', { name: 'Create account with a passkey' }).click();
    await page.getByRole('alert').filter({ hasText: /agent/i }).waitFor();
    for (const view of [
      '',
      `/agents/${trader.agentId}`,
      `/agents/${trader.agentId}/decisions`,
      '/approvals',
      `/markets/${market.id}?venue=${market.venue}`,
    ]) {
      await open(page, view);
      await page.getByText('Live', { exact: true }).waitFor();
      await expect.poll(() => page.getByText(/^Loading/).count()).toBe(0);
      expect(await page.locator('main').innerText()).not.toMatch(/Test agent|odds are wrong/);
    }
    await page.getByText('Your agents hold nothing here.').waitFor();
    expect(eve.complaints).toEqual([]);
    await eve.context.close();
  });

  test('names and texts of strangers show as text', async () => {
    const agent = await newTrader(service, 0, HOSTILE);
    const { agentId } = agent;
    const mallory = await newBrowserVisitor(browser);
    await claim(mallory, agent);
    await agent.client.placeTrade({
      ...(await taking(agent, 10)),
      reasoning: HOSTILE,
      source: HOSTILE.slice(0, 40),
    });
    await open(mallory.page, `/agents/${agentId}`);
    await mallory.page.getByRole('heading', { level: 1, name: HOSTILE }).waitFor();
    await open(mallory.page, `/agents/${agentId}/decisions`);
    await mallory.page.getByText('BUY 10 YES').click();
    await mallory.page.getByText(HOSTILE).nth(1).waitFor();
    expect(await mallory.page.evaluate(`'hacked' in window`)).toBe(false);
    expect(mallory.complaints).toEqual([]);
    await mallory.context.close();
  });

  test('every view fits a phone and has no finding of the accessibility checker, light and dark', {
    timeout: 300_000,
  }, async () => {
    const hook = { url: 'https://hooks.example.com/bellwether', events: ['fill'] };
    await call(service, 'POST', '/webhooks', { key: trader.apiKey, body: hook });
    const big = await taking(trader, Math.ceil(20 / Number(market.bestAsk)));
    await expect(trader.client.placeTrade(big)).rejects.toMatchObject({ code: 'approval_required' });
    const { decisions } = await ada.page.evaluate<{ decisions: { orderId: string | null }[] }>(
      `fetch('/owner/agents/${trader.agentId}/decisions').then((answer) => answer.json())`,
    );
    const { orderId } = decisions.find((decision) => decision.orderId !== null) ?? {};
    const views = {
      home: '',
      agent: `/agents/${trader.agentId}`,
      'agent-positions': `/agents/${trader.agentId}/positions`,
      'agent-orders': `/agents/${trader.agentId}/orders`,
      'agent-decisions': `/agents/${trader.agentId}/decisions`,
      'agent-limits': `/agents/${trader.agentId}/limits`,
      'agent-keys': `/agents/${trader.agentId}/keys`,
      order: `/agents/${trader.agentId}/orders/${orderId}`,
      market: `/markets/${market.id}?venue=${market.venue}`,
      approvals: '/approvals',
      passkeys: '/sign-in',
      operator: '/operator',
    };
    let passkeys = await ada.credentials();
    const requests: string[] = [];
    const origins = new Set<string>();
    /** What the page named to be read early was read once: neither twice, nor for nothing. */
    const checkPreloads = async (page: Page, name: string) => {
      const early = await page
        .locator('link[rel=preload]')
        .evaluateAll<string[], HTMLLinkElement>((links) => links.map(({ href }) => href));
      const times = early.map((href) => [href, requests.filter((url) => url === href).length]);
      expect({ name, times }).toEqual({ name, times: early.map((href) => [href, 1]) });
      expect(early.length).toBeGreaterThan(0);
    };
    for (const colorScheme of ['light', 'dark'] as const) {
      const context = colorScheme === 'light' ? { ...PHONE, colorScheme } : { colorScheme };
      const visitor = await newBrowserVisitor(browser, { passkeys, context });
      const { page } = visitor;
      page.on('request', (request) => requests.push(request.url()));
      const check = async (name: string) => {
        await expect.poll(() => page.getByText(/^(Loading|Checking)/).count()).toBe(0);
        expect({ name, findings: await axeFindings(page) }).toEqual({ name, findings: [] });
        expect({ name, ...(await measure(page)) }).toEqual({ name, ...FITS });
        await picture(page, `${name}-${colorScheme}`);
      };
      await open(page);
      await check('sign-in');
      await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
      await page.getByText('Live', { exact: true }).waitFor();
      for (const [name, view] of Object.entries(views)) {
        requests.length = 0;
        await open(page, view);
        await page.locator('h1').waitFor();
        await check(name);
        await checkPreloads(page, name);
        expect(await page.evaluate<number>(SHIFT), name).toBeLessThanOrEqual(0.1);
        for (const url of requests) origins.add(new URL(url).origin);
      }
      await page.getByLabel('Operator’s key').fill(OPERATOR_KEY);
      await page.getByRole('button', { name: 'Show the service' }).click();
      await page.getByRole('heading', { name: 'Venues' }).waitFor();
      expect(page.url()).not.toContain(OPERATOR_KEY);
      await check('operator-status');
      expect(visitor.complaints).toEqual([]);
      // The passkey counts its uses; one that counts less than before is refused.
      passkeys = await visitor.credentials();
      await visitor.context.close();
    }
    expect(origins).toEqual(new Set([new URL(service.needs.publicUrl).origin]));
  });

  test('by keyboard alone: skip to the content, and pause', async () => {
    const { page } = ada;
    await open(page);
    await page.getByRole('button', { name: 'Pause everything' }).waitFor();
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').innerText()).toBe('Skip to content');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').innerText()).toBe('Pause everything');
    await page.keyboard.press('Enter');
    const resume = page.getByRole('button', { name: 'Resume everything' });
    await resume.waitFor();
    // Twice: the browser lets a page hold a dialog open against the first Escape, not the second.
    for (let time = 1; time <= 2; time += 1) {
      const answersEscape = await page.evaluate(`(async () => {
        [...document.querySelectorAll('button')].find((button) => button.innerText === 'Resume everything').click();
        await Promise.resolve();
        return document.querySelector('dialog')?.matches(':modal');
      })()`);
      expect(answersEscape, 'open before the next key can arrive').toBe(true);
      await page.keyboard.press('Escape');
      // A closed one has no role any more while it is still on the page.
      await page.locator('dialog').waitFor({ state: 'detached' });
    }
    expect(await resume.isVisible()).toBe(true);
  });
});
