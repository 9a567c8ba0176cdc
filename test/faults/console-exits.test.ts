/** Guarded exits on the console, as an owner uses them: what waits for what, resumed, sold by passkey, armed for a pause. */
import type { Market } from '@bellwether/sdk';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { axeFindings } from '../axe.ts';
import { type BrowserVisitor, FITS, measure, newBrowserVisitor, PHONE, picture } from '../browser.ts';
import { CHROMIUM_ARGS, findChromium } from '../chromium.ts';
import { claimInBrowser, openConsole } from '../console-stage.ts';
import { bidOf, exitOrder, hold } from '../exits.ts';
import { newTrader, openMarkets, startTestService, type TestService, type Trader } from '../harness.ts';
import { browserFor } from '../setup/skipped.ts';

const executablePath = browserFor('console-exits.test.ts', findChromium());

let service: TestService;
let browser: Browser;
let ada: BrowserVisitor;
let trader: Trader;
let market: Market;

const tick = (price: number) => Math.round(price * 100) / 100;
async function leave(size: number, more: object = {}): Promise<string> {
  const worst = tick(bidOf(service, market) * 0.95);
  const trigger = { kind: 'price_at_or_below', price: tick(worst * 0.9) } as const;
  const order = await exitOrder(trader, market, { worst, size });
  return (await trader.client.leaveExit({ ...order, trigger, ...more })).exitId;
}
const exitIn = (page: Page, size: number) => page.getByRole('article', { name: `Exit: ${size} YES of` });
const statusOf = async (exitId: string) => (await trader.client.getExit(exitId)).status;
const openAgent = (page: Page, part = 'exits') =>
  openConsole(service, page, `/agents/${trader.agentId}/${part}`);

describe.skipIf(executablePath === null)('guarded exits on the console', () => {
  beforeAll(async () => {
    service = await startTestService({ PAPER_WORLD: 'off' }, { jobs: 'by timer' });
    browser = await chromium.launch({ executablePath: executablePath as string, args: CHROMIUM_ARGS });
    trader = await newTrader(service);
    [market] = (await openMarkets(trader.client)) as [Market];
    await hold(trader, market, 60);
    ada = await newBrowserVisitor(browser);
    await claimInBrowser(service, ada, trader);
  });
  afterAll(() => browser?.close());

  test('a position without one says whom to ask, and that the desk holds no key', async () => {
    const { page } = ada;
    await openAgent(page, 'positions');
    await page.getByText('ask it to sign one. The desk holds no key').waitFor();
    await page
      .getByRole('row')
      .filter({ hasText: '60 YES' })
      .getByRole('cell', { name: 'none', exact: true })
      .waitFor();
  });

  test('one is shown with its trigger, price and distance; sold now by passkey', async () => {
    const { page } = ada;
    const exitId = await leave(10, { group: 'position' });
    const [ofGroup, beside] = [await leave(16, { group: 'position' }), await leave(17)];
    await openAgent(page, 'positions');
    await page.getByRole('cell', { name: /^≤ 0\.\d+ and 2 more$/ }).waitFor();
    await openAgent(page);
    const exit = exitIn(page, 10);
    await exit.getByText(/the book pays 0\.\d+ or less for 10 shares/).waitFor();
    await exit.getByText(/^\+0\./).waitFor();
    expect(await exit.getByText('armed', { exact: true }).count()).toBe(1);
    await exit.getByRole('button', { name: 'Sell now' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('The desk holds no key').waitFor();
    expect(await dialog.innerText()).toMatch(
      /others of its group:\s+sell 16 YES when .*\s+Once nothing is left to sell, .*\s+sell 17 YES when/,
    );
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(await statusOf(exitId)).toBe('armed');
    await exit.getByRole('button', { name: 'Sell now' }).click();
    await dialog.getByRole('button', { name: 'Sell, with your passkey' }).click();
    await page.getByText('Its order was placed.').waitFor();
    expect(await statusOf(exitId)).toBe('fired');
    // It keeps its place on the page.
    await exit.getByText('fired', { exact: true }).waitFor();
    await exitIn(page, 16).getByText('canceled: another one of its group was sent').waitFor();
    expect(await statusOf(ofGroup)).toBe('canceled');
    await trader.client.cancelExit({ exitId: beside });
    expect(ada.complaints).toEqual([]);
  });

  test('a pause suspends one and sends the one that was armed for it; one passkey resumes trading and exits', async () => {
    const { page } = ada;
    const [plain, armed] = [await leave(11), await leave(12)];
    const dialog = page.getByRole('dialog');
    await openAgent(page);
    await page.getByText('It suspends 2 exits.').waitFor();
    await exitIn(page, 12).getByRole('button', { name: 'Send it when I pause' }).click();
    await page.getByText('It is armed, and sent when you pause this agent.').waitFor();
    await exitIn(page, 12).getByText('sent when you pause', { exact: true }).waitFor();
    await page.getByText('It suspends 1 exit and sends 1 that you armed for it.').waitFor();
    await page.getByRole('button', { name: 'Pause Test agent' }).click();
    await exitIn(page, 11).getByText('suspended: the agent was paused').waitFor();
    await exitIn(page, 12).getByText('fired', { exact: true }).waitFor();
    expect([await statusOf(plain), await statusOf(armed)]).toEqual(['suspended', 'fired']);
    // What cannot be armed now says why, and takes no passkey.
    await exitIn(page, 11).getByRole('button', { name: 'Resume it, and send it when I pause' }).click();
    await page.getByRole('alert').filter({ hasText: 'The agent is paused' }).waitFor();

    await page.getByRole('button', { name: 'Resume Test agent' }).click();
    await dialog.getByText(/^Test agent: sell 11 YES/).waitFor();
    await dialog.getByRole('button', { name: 'Resume trading and 1 exit' }).click();
    await page.getByText('Trading is allowed again: Test agent. 1 exit is armed again.').waitFor();
    await exitIn(page, 11).getByText('armed', { exact: true }).waitFor();
    expect((await trader.client.getSettings()).tradingPaused).toBe(false);
    await exitIn(page, 11).getByRole('button', { name: 'Cancel exit' }).click();
    await dialog.getByRole('button', { name: 'Cancel the exit' }).click();
    await exitIn(page, 11).getByText('canceled: by you', { exact: true }).waitFor();
    expect(await statusOf(plain)).toBe('canceled');
  });

  test('what stays suspended while trading goes on stands on top of the page until it is dealt with', async () => {
    const { page } = ada;
    const [first, second] = [await leave(18), await leave(19)];
    await openConsole(service, page);
    await page.getByText('It suspends 2 exits.').waitFor();
    const top = page.getByRole('region', { name: 'Suspended exits' });
    const dialog = page.getByRole('dialog');
    const equity = page.getByRole('heading', { name: 'Equity' });
    const place = await equity.boundingBox();
    await page.getByRole('button', { name: 'Pause everything' }).click();
    await page.getByText('2 exits are suspended, until you resume them.').waitFor();
    expect(await top.count()).toBe(0);
    await page.getByRole('button', { name: 'Resume everything' }).click();
    await dialog.getByRole('button', { name: 'Resume trading alone' }).click();
    await top.getByText('2 exits are suspended and protect nothing,').waitFor();
    expect(await equity.boundingBox()).toEqual(place);

    // The one that is resumed alone leaves the other one there, also where the page is opened anew.
    await openAgent(page);
    await exitIn(page, 18).getByRole('button', { name: 'Resume it, and send it when I pause' }).click();
    await page.getByText('It is armed, and sent when you pause this agent.').waitFor();
    await trader.client.cancelExit({ exitId: first });
    // What was said of it goes with it.
    await exitIn(page, 18).getByText('canceled: by the agent', { exact: true }).waitFor();
    await page
      .getByText('It is armed, and sent when you pause this agent.')
      .waitFor({ state: 'detached', timeout: 8_000 });
    await openConsole(service, page);
    await top.getByText('1 exit is suspended and protects nothing,').waitFor();
    await top.getByRole('button', { name: 'Look at it and resume' }).click();
    await dialog.getByText(/sell 19 YES/).waitFor();
    await dialog.getByRole('button', { name: 'Resume 1 exit, with your passkey' }).click();
    await page.getByText('1 exit is armed again.').waitFor();
    await top.getByText('No exit is suspended any more.').waitFor();
    expect(await statusOf(second)).toBe('armed');
    await trader.client.cancelExit({ exitId: second });
    expect(ada.complaints.filter((one) => !one.includes('403'))).toEqual([]);
  });

  test('a sale that the book would not fill says so, and sells nothing', async () => {
    const { page } = ada;
    const worst = tick(bidOf(service, market) + 0.05);
    const order = await exitOrder(trader, market, { worst, size: 14, type: 'FOK' });
    const trigger = { kind: 'price_at_or_above', price: worst } as const;
    const { exitId } = await trader.client.leaveExit({ ...order, trigger });
    await openAgent(page);
    await exitIn(page, 14).getByRole('button', { name: 'Sell now' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Sell, with your passkey' }).click();
    await page.getByRole('alert').filter({ hasText: 'does not take it' }).waitFor();
    expect(await statusOf(exitId)).toBe('armed');
    await trader.client.cancelExit({ exitId });
  });

  test('one that ended unsold needs attention until the owner has seen it, and is listed with those that ended', async () => {
    const { page } = ada;
    const trigger = { kind: 'time', at: new Date(Date.now() + 1_500).toISOString() } as const;
    const order = await exitOrder(trader, market, { worst: 0.97, size: 15 });
    const { exitId, orderId } = await trader.client.leaveExit({ ...order, trigger });
    await expect.poll(() => statusOf(exitId), { timeout: 30_000 }).toBe('fired');
    await trader.client.cancelOrder(orderId);
    await expect.poll(() => statusOf(exitId), { timeout: 30_000 }).toBe('failed');
    // The agent's word hides nothing here.
    await trader.client.seeExits({ exitIds: [exitId] });
    await openConsole(service, page, `/agents/${trader.agentId}`);
    const alert = page.getByRole('listitem').filter({ hasText: exitId });
    await alert.getByText('Nothing sells 15 YES of what they guarded').waitFor();
    await alert.getByRole('button', { name: 'I have seen it' }).click();
    await page.getByText('It is noted that you have seen it.').waitFor();
    await openAgent(page);
    await page.getByRole('button', { name: 'Ended' }).click();
    const ended = page.getByRole('row').filter({ hasText: '15 YES' });
    await ended.getByText('failed: its order has sold nothing', { exact: true }).waitFor();
    await openConsole(service, page, `/agents/${trader.agentId}`);
    await page.getByText('Nothing needs your attention.').waitFor();
  });

  test('on a phone, in both colours, it fits and has no accessibility findings', async () => {
    await leave(13);
    await trader.client.updateSettings({ tradingPaused: true });
    await trader.client.updateSettings({ tradingPaused: false });
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page } = await newBrowserVisitor(browser, { context: { ...PHONE, colorScheme } });
      await page.context().addCookies(await ada.page.context().cookies());
      await openAgent(page);
      await exitIn(page, 13).waitFor();
      const check = async (name: string) => {
        expect({ name, ...(await measure(page)) }).toMatchObject({ name, ...FITS });
        expect({ name, findings: await axeFindings(page) }).toEqual({ name, findings: [] });
        await picture(page, `${name}-${colorScheme}`);
      };
      await check('exits');
      await page.getByRole('button', { name: 'Look at it and resume' }).click();
      await page.getByRole('dialog').waitFor();
      await check('exits-asked');
    }
  });
});
