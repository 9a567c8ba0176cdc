/** The console's sign-in page as a person uses it: a second passkey, names, removal, the printed code, a recovery and its undoing. */
import type { Market } from '@bellwether/sdk';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { axeFindings } from '../axe.ts';
import { type BrowserVisitor, FITS, measure, newBrowserVisitor, PHONE, picture } from '../browser.ts';
import { CHROMIUM_ARGS, findChromium } from '../chromium.ts';
import { claimInBrowser, openConsole, takingOrder } from '../console-stage.ts';
import { newTrader, openMarkets, startTestService, type TestService, type Trader } from '../harness.ts';
import { browserFor } from '../setup/skipped.ts';

const executablePath = browserFor('console-passkeys.test.ts', findChromium());

const CODE = /([0-9A-HJKMNP-TV-Z]{5}-){5}[0-9A-HJKMNP-TV-Z]{5}/;
const RECOVERED = 'A recovery code opened this account';

let service: TestService;
let browser: Browser;
let ada: BrowserVisitor;
let trader: Trader;

const open = (page: Page, view = ''): Promise<void> => openConsole(service, page, view);
const button = (page: Page, name: string) => page.getByRole('button', { name });

async function newCode(page: Page): Promise<string> {
  await open(page, '/sign-in');
  await button(page, 'Make a').click();
  await page.getByText('it is shown this once').waitFor();
  const [code = ''] = CODE.exec(await page.locator('.printed .code').innerText()) ?? [];
  return code;
}

async function typeCode(page: Page, code: string): Promise<void> {
  await open(page);
  await page.getByText('No passkey left?').click();
  await page.getByLabel('Recovery code').fill(code);
  await button(page, 'Use the code').click();
}

describe.skipIf(executablePath === null)('the console’s sign-in page', () => {
  beforeAll(async () => {
    service = await startTestService({ PAPER_WORLD: 'off' });
    browser = await chromium.launch({ executablePath: executablePath as string, args: CHROMIUM_ARGS });
    trader = await newTrader(service);
    ada = await newBrowserVisitor(browser);
    await claimInBrowser(service, ada, trader);
  });
  afterAll(() => browser?.close());

  test('a newcomer reads what to do, adds a second device, and removes the first one', async () => {
    const { page } = ada;
    await open(page);
    await page.getByRole('link', { name: 'add a second one, or print a recovery code' }).click();
    await page.getByRole('heading', { level: 1, name: 'Sign-in' }).waitFor();

    // By keyboard: the name, and why the only one stays.
    await page.locator('summary', { hasText: 'Rename or remove' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('Your only passkey cannot be removed.').waitFor();
    expect(await button(page, 'Remove').count()).toBe(0);
    await page.keyboard.press('Tab');
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.type('Laptop');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Laptop signed in here' }).waitFor();

    // The device that has one makes no second one; another device does.
    await page.getByLabel('Its name').fill('Telephone');
    await button(page, 'Add a passkey').click();
    await button(page, 'Make the new passkey').click();
    await page.getByRole('alert').filter({ hasText: 'This device already has a passkey' }).waitFor();
    const laptop = await ada.changeDevice();
    await button(page, 'Make the new passkey').click();
    await page.getByText('The passkey is added.').waitFor();
    await page.getByRole('heading', { name: 'Telephone' }).waitFor();
    await open(page);
    await button(page, 'Pause everything').waitFor();
    expect(await page.getByText('One passkey is the only way').count()).toBe(0);

    // The laptop's passkey opened this session, which ends with it; the telephone's confirms and signs in again.
    await open(page, '/sign-in');
    await page.locator('summary', { hasText: 'Laptop' }).click();
    await button(page, 'Remove Laptop').click();
    await page.getByRole('dialog').getByText('this page, too').waitFor();
    await button(page, 'Remove it, with a passkey').click();
    await page.getByText('Your session has ended.').waitFor();
    await button(page, 'Sign in with a passkey').click();
    await page.getByRole('heading', { name: 'Telephone signed in here' }).waitFor();
    expect(await page.getByRole('heading', { name: 'Laptop' }).count()).toBe(0);
    const telephone = await ada.changeDevice(laptop);
    await button(page, 'Sign out').click();
    await button(page, 'Sign in with a passkey').click();
    await page.getByRole('alert').filter({ hasText: 'not known here' }).waitFor();
    await ada.changeDevice(telephone);
    await button(page, 'Sign in with a passkey').click();
    await page.getByText('Live', { exact: true }).waitFor();
    expect(ada.complaints).toEqual([]);
  });

  test('a code is shown once and printed alone', async () => {
    const { page } = ada;
    expect(await newCode(page)).toMatch(CODE);
    await page.emulateMedia({ media: 'print' });
    expect(await page.locator('.printed .code').isVisible()).toBe(true);
    for (const others of ['h1', 'header', 'button'])
      expect(await page.locator(others).first().isVisible()).toBe(false);
    await picture(page, 'recovery-code-printed');
    await page.emulateMedia({ media: null });
    await page.getByText(/^The code of .* is in force.$/).waitFor();
    await button(page, 'I have it: hide it').click();
    await page.locator('.printed').waitFor({ state: 'detached' });
    await page.reload();
    await button(page, 'Make a new one, which ends that').waitFor();
    expect(await page.locator('body').innerText()).not.toMatch(CODE);
  });

  test('a recovery is shown on every open page, stops nothing but the agents, and is undone', async () => {
    const { page } = ada;
    await trader.client.updateSettings({ approvalAbove: 1 });
    const [market] = (await openMarkets(trader.client)) as [Market];
    await expect(trader.client.placeTrade(await takingOrder(market, trader, 10))).rejects.toMatchObject({
      code: 'approval_required',
    });
    const code = await newCode(page);
    await open(page);
    await page.getByText('Live', { exact: true }).waitFor();
    const finder = await newBrowserVisitor(browser, { context: PHONE });
    const there = finder.page;
    const sent: string[] = [];
    there.on('request', (request) => sent.push(new URL(request.url()).pathname));
    await typeCode(
      there,
      code.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
    );
    await there.getByRole('alert').filter({ hasText: 'This is no recovery code.' }).waitFor();
    expect(sent.filter((path) => path.startsWith('/owner/recovery'))).toEqual([]);
    await typeCode(there, code.toLowerCase().replaceAll('-', ' '));
    await there.getByText(RECOVERED).waitFor();

    // The page that was open elsewhere reads of it by itself.
    await page.getByText(RECOVERED).waitFor();
    for (const view of ['/approvals', `/agents/${trader.agentId}`, '/sign-in']) {
      await open(there, view);
      await there.getByText(RECOVERED).waitFor();
    }
    await there.getByText('On the day after a recovery nothing can be changed here.').waitFor();
    await there.getByRole('heading', { name: 'made by the recovery' }).waitFor();
    expect(await there.locator('main button, main summary').count()).toBe(0);
    await open(there);
    await button(there, 'Pause everything').click();
    // What the desk would refuse is not offered.
    await expect.poll(() => button(there, 'Resume everything').isDisabled()).toBe(true);
    expect((await trader.client.getSettings()).tradingPaused).toBe(true);
    await open(there, '/approvals');
    await there.getByText('you can decline, and not approve').waitFor();
    expect(await button(there, 'Approve with your passkey').isDisabled()).toBe(true);
    expect(await button(there, 'Decline').first().isEnabled()).toBe(true);

    // Its own passkey cannot undo it; the one of before can, and the other page is signed out.
    const undo = 'Undo it with a passkey of before';
    await button(there, undo).click();
    await there.getByRole('alert').filter({ hasText: 'was made by the recovery' }).waitFor();
    await button(page, undo).click();
    await page.getByText('The recovery is undone').waitFor();
    expect(await page.getByText(RECOVERED).count()).toBe(0);
    await there.getByText('Your session has ended.').waitFor();
    await button(page, 'Resume everything').click();
    await button(page, 'Resume trading').click();
    await button(page, 'Pause everything').waitFor();
    await finder.context.clearCookies();
    await typeCode(there, code);
    await there.getByRole('alert').filter({ hasText: 'No recovery code like this one' }).waitFor();
    expect([...ada.complaints, ...finder.complaints]).toEqual([]);
    await finder.context.close();
  });

  test('fits a phone and has no finding of the accessibility checker, light and dark', {
    timeout: 300_000,
  }, async () => {
    let passkeys = await ada.credentials();
    for (const colorScheme of ['light', 'dark'] as const) {
      const visitor = await newBrowserVisitor(browser, { passkeys, context: { ...PHONE, colorScheme } });
      const { page } = visitor;
      const check = async (name: string) => {
        await expect.poll(() => page.getByText(/^Loading/).count()).toBe(0);
        expect({ name, findings: await axeFindings(page) }).toEqual({ name, findings: [] });
        expect({ name, ...(await measure(page)) }).toEqual({ name, ...FITS });
        await picture(page, `${name}-${colorScheme}`);
      };
      await open(page);
      await page.getByText('No passkey left?').click();
      await check('recovery-code-typed');
      await button(page, 'Sign in with a passkey').click();
      await page.getByText('Live', { exact: true }).waitFor();
      const code = await newCode(page);
      await page.locator('summary').first().click();
      await check('passkeys');
      const other = await newBrowserVisitor(browser);
      await typeCode(other.page, code);
      await other.page.getByText(RECOVERED).waitFor();
      await other.context.close();
      await page.getByText(RECOVERED).waitFor();
      await check('recovery-day');
      await button(page, 'Undo it').click();
      await page.getByText('The recovery is undone').waitFor();
      expect(visitor.complaints).toEqual([]);
      // The passkey counts its uses; one that counts less than before is refused.
      passkeys = await visitor.credentials();
      await visitor.context.close();
    }
  });
});
