/**
 * The claim page as a person uses it: a browser, an authenticator, an agent whose key is bound by its owner's settings.
 * With SCREENSHOTS=<folder> it saves a picture of every state.
 */
import { linkSignersWallet } from '@bellwether/sdk';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type BrowserVisitor,
  FITS,
  measure,
  newBrowserVisitor,
  PHONE,
  picture,
  type VisitorOptions,
} from '../browser.ts';
import { CHROMIUM_ARGS, findChromium } from '../chromium.ts';
import {
  aMarket,
  call,
  newAgent,
  newTrader,
  restingOrder,
  sharedTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import { browserFor } from '../setup/skipped.ts';

const executablePath = browserFor('claim-page.test.ts', findChromium());

const HOSTILE = '<script>window.hacked = 1</script><img src=x onerror="window.hacked=1">';
let service: TestService;
let browser: Browser;

const newVisitor = (
  passkeys: readonly unknown[] = [],
  context: VisitorOptions['context'] = {},
): Promise<BrowserVisitor> => newBrowserVisitor(browser, { passkeys, context });

const said = (page: Page): Promise<string> => page.locator('#message:visible').innerText();

const claimUrl = async (agent: Pick<Trader, 'client'>): Promise<string> => {
  const { claimCode } = await agent.client.getMe();
  return `${service.needs.publicUrl}/agents/claim/${claimCode}`;
};

async function register({ page }: BrowserVisitor, name: string): Promise<void> {
  await page.getByLabel('Your name').fill(name);
  await page.getByRole('button', { name: 'Create account with a passkey' }).click();
  await page.getByText('Your account is ready.').waitFor();
}

const row = (page: Page, safeguard: string) => page.locator(`[data-safeguard="${safeguard}"]`);

describe.skipIf(executablePath === null)('the claim page', () => {
  beforeAll(async () => {
    service = await sharedTestService();
    browser = await chromium.launch({ executablePath: executablePath as string, args: CHROMIUM_ARGS });
  });
  afterAll(() => browser?.close());

  test('register, claim, lower and lock, pause, resume; a second visitor cannot claim', async () => {
    const agent = await newTrader(service);
    await agent.client.updateSettings({ maxTradeAmount: 100, maxTradesPerDay: 50 });
    const market = await aMarket(agent.client);
    const url = await claimUrl(agent);
    const ada = await newVisitor();
    const { page } = ada;

    await page.goto(url);
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Test agent');
    await page.getByText('simulated money').nth(1).waitFor();
    await picture(page, '1-unclaimed');

    await register(ada, 'Ada Lovelace');
    await page.getByText('Signed in as Ada Lovelace').waitFor();
    await picture(page, '2-signed-in');
    const second = await newVisitor();
    await second.page.goto(url);
    await register(second, 'Eve');

    await page.getByRole('button', { name: 'Claim as Ada Lovelace' }).click();
    await page.getByText('This agent is yours now.').waitFor();
    await picture(page, '3-claimed');
    expect(await agent.client.getMe()).toMatchObject({ claimed: true, claimCode: null });

    // Eve still has the form open; she submits it too late.
    await second.page.getByRole('button', { name: 'Claim as Eve' }).click();
    await expect.poll(() => said(second.page)).toContain('Another owner has claimed this agent');
    await picture(second.page, '4-second-visitor-refused');
    await second.page.reload();
    await second.page.getByRole('heading', { name: 'This agent has an owner' }).waitFor();
    expect(await second.page.locator('[data-action="pause"], [data-action="claim"]').count()).toBe(0);

    // Lower and lock.
    const amount = row(page, 'maxTradeAmount');
    await amount.getByLabel('Amount per trade', { exact: true }).fill('20');
    await amount.getByLabel('Lock Amount per trade').check();
    await row(page, 'dailyLossLimit').getByLabel('Lock Loss per day').check();
    await page.getByRole('button', { name: 'Save limits' }).click();
    await expect.poll(() => said(page)).toContain('enter a limit before you lock it');
    await picture(page, '5-error');
    await row(page, 'dailyLossLimit').getByLabel('Lock Loss per day').uncheck();
    await page.getByRole('button', { name: 'Save limits' }).click();
    await page.getByText('The limits are saved.').waitFor();
    await picture(page, '6-locked');
    expect(await agent.client.getSettings()).toMatchObject({
      maxTradeAmount: 20,
      maxTradesPerDay: 50,
      lockedByOwner: { maxTradeAmount: 20 },
    });
    await expect(agent.client.updateSettings({ maxTradeAmount: 21 })).rejects.toMatchObject({
      status: 403,
      code: 'locked_by_owner',
    });
    await agent.client.updateSettings({ maxTradeAmount: 15 });
    await page.reload();
    await page.getByText('The agent has lowered it to 15.').waitFor();

    // Pause and resume.
    await page.getByRole('button', { name: 'Pause trading' }).click();
    await page.getByText('Trading is paused.').waitFor();
    await picture(page, '7-paused');
    await expect(agent.client.placeTrade(await restingOrder(agent, market))).rejects.toMatchObject({
      code: 'trading_paused',
    });
    await expect(agent.client.updateSettings({ tradingPaused: false })).rejects.toMatchObject({
      code: 'locked_by_owner',
    });
    await page.getByRole('button', { name: 'Resume trading' }).click();
    await page.getByText('Trading is allowed again.').waitFor();
    expect((await agent.client.placeTrade(await restingOrder(agent, market))).success).toBe(true);
    expect([...ada.complaints, ...second.complaints]).toEqual([]);

    // The same passkey from a fresh browser.
    const again = await newVisitor(await ada.credentials());
    await again.page.goto(url);
    await picture(again.page, '8-signed-out');
    await again.page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await again.page.getByText('You are signed in.').waitFor();
    await again.page.getByRole('button', { name: 'Pause trading' }).waitFor();
    await again.page.getByRole('button', { name: 'Sign out' }).click();
    await again.page.getByText('You are signed out.').waitFor();
    await again.page.goto(`${service.needs.publicUrl}/owner`);
    expect(new URL(again.page.url()).pathname).toBe('/console');
    await again.page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
    expect(again.complaints).toEqual([]);
  });

  test('wallets and keys: a claim, a grant, a revoked key, a restriction that is lifted', async () => {
    const [agent, sibling, fresh] = [
      await newTrader(service),
      await newAgent(service, 'Sibling'),
      await newAgent(service, 'Fresh agent'),
    ];
    const ada = await newVisitor([], PHONE);
    const { page } = ada;
    await page.goto(await claimUrl(agent));
    // Before the claim the page shows what the agent will reach.
    await page.getByText('those that it registered, linked or traded with').waitFor();
    await page.getByText('does not reach the wallets of your other agents').waitFor();
    await register(ada, 'Ada');
    for (const one of [agent, sibling]) {
      await page.goto(await claimUrl(one));
      await page.getByRole('button', { name: 'Claim as Ada' }).click();
      await page.getByText('This agent is yours now.').waitFor();
    }
    const viewOf = ({ agentId }: Pick<Trader, 'agentId'>) =>
      page.goto(`${service.needs.publicUrl}/console/agents/${agentId}/keys`);
    await viewOf(sibling);
    await page.getByRole('button', { name: `Grant ${agent.funder}` }).click();
    await page.getByText('The wallet is granted.').waitFor();
    expect((await sibling.client.checkCredentials(agent.signer.address)).hasCredentials).toBe(true);
    await picture(page, '10-granted');
    await page.getByRole('button', { name: `Take back ${agent.funder}` }).click();
    await page.getByText('The grant is taken back.').waitFor();
    expect((await sibling.client.checkCredentials(agent.signer.address)).hasCredentials).toBe(false);

    await page.getByRole('button', { name: `Let the venue cancel of ${agent.funder}` }).click();
    await page.getByText('on paper nothing trades while the desk is down').waitFor();
    await page.getByRole('button', { name: 'Go on with my passkey' }).click();
    await page.getByText('The venue cancels what rests').waitFor();
    expect((await agent.client.checkCredentials()).heartbeat).toBe(true);
    await page.getByRole('button', { name: `Let orders rest on of ${agent.funder}` }).waitFor();
    expect(await measure(page)).toEqual(FITS);

    await page.getByRole('button', { name: 'Revoke registration' }).click();
    await page.getByRole('button', { name: 'Revoke the key' }).click();
    await page.getByText('The key is revoked.').waitFor();
    await expect(sibling.client.getMe()).rejects.toMatchObject({ status: 401 });

    // With scripts blocked the session still pauses.
    const plain = await browser.newContext({ ...PHONE, javaScriptEnabled: false });
    await plain.addCookies(await ada.context.cookies());
    const form = await plain.newPage();
    await form.goto(`${service.needs.publicUrl}/console`);
    await form.getByRole('link', { name: 'pause your agents without it' }).click();
    await form.getByRole('button', { name: 'Pause Test agent' }).click();
    await form.getByText('Trading is paused.').waitFor();
    await form.getByRole('button', { name: 'Resume Test agent' }).waitFor();
    expect(await measure(form)).toEqual(FITS);
    await picture(form, '10-paused-without-scripts');
    await plain.close();
    await linkSignersWallet({ client: fresh.client, signer: agent.signer });
    const trader = { ...agent, ...fresh, signer: agent.signer };
    const market = await aMarket(agent.client);
    await expect(fresh.client.placeTrade(await restingOrder(trader, market))).rejects.toMatchObject({
      code: 'trading_paused',
    });
    await page.goto(`${service.needs.publicUrl}/console`);
    await page.getByRole('heading', { name: 'Wallets that left' }).waitFor();
    await page.getByText('Test agent: paused').waitFor();
    expect(await measure(page)).toEqual(FITS);
    await picture(page, '11-left');
    await page.getByRole('button', { name: `Set free ${agent.signer.address}` }).click();
    await page.getByRole('button', { name: 'Set it free' }).click();
    await page.getByText('The wallet is free of your limits.').waitFor();
    expect((await fresh.client.placeTrade(await restingOrder(trader, market))).success).toBe(true);
    expect(ada.complaints).toEqual([]);
  });

  test('at a phone’s width nothing is wider than the screen, and buttons are large enough', async () => {
    const agent = await newAgent(service, `An agent with a name as long as names may be ${'x'.repeat(50)}`);
    for (const colorScheme of ['light', 'dark'] as const) {
      const visitor = await newVisitor([], { ...PHONE, colorScheme });
      const { page } = visitor;
      const fits = async () => expect(await measure(page)).toEqual(FITS);
      await page.goto(await claimUrl(agent));
      await fits();
      await picture(page, `phone-${colorScheme}-1`);
      await register(visitor, 'Ada');
      if (colorScheme === 'dark') {
        await page.getByRole('button', { name: 'Claim as Ada' }).click();
        await page.getByText('This agent is yours now.').waitFor();
        await fits();
      }
      await picture(page, `phone-${colorScheme}-2`);
      expect(visitor.complaints).toEqual([]);
    }
  });

  test('untrusted text is shown, never executed; inline scripts do not run', async () => {
    const registered = await call(service, 'POST', '/agents/register', {
      body: { name: HOSTILE, description: HOSTILE },
    });
    const { page, complaints } = await newVisitor();
    await page.goto(`${service.needs.publicUrl}/agents/claim/${registered.body.claimCode}`);
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe(HOSTILE);
    expect(await page.evaluate<boolean>(`'hacked' in window`)).toBe(false);
    const answer = await page.goto(`${service.needs.publicUrl}/agents/claim/${registered.body.claimCode}`);
    expect(answer?.headers()['content-security-policy']).toMatch(/default-src 'none'; script-src 'self';/);
    expect(answer?.headers()['content-security-policy']).not.toMatch(/unsafe/);
    expect(complaints).toEqual([]);
  });

  test('opened by IP address, the page redirects to the public URL', async () => {
    const agent = await newAgent(service);
    const url = await claimUrl(agent);
    const { page } = await newVisitor();
    await page.goto(url.replace('localhost', '127.0.0.1'));
    expect(new URL(page.url()).host).toBe(new URL(service.needs.publicUrl).host);
    await page.getByRole('heading', { name: 'Claim this agent' }).waitFor();
  });

  test('a link from another site finds the session, although browsers first withhold its cookie', async () => {
    const agent = await newAgent(service);
    const visitor = await newVisitor();
    const url = await claimUrl(agent);
    await visitor.page.goto(url);
    await register(visitor, 'Ada');
    const other = await visitor.context.newPage();
    await other.route('http://elsewhere.example/', (route) =>
      route.fulfill({
        contentType: 'text/html',
        body: `<a href="${url}">agents</a>`,
      }),
    );
    await other.goto('http://elsewhere.example/');
    await other.getByRole('link').click();
    await other.getByText('Signed in as Ada').waitFor();
  });

  test('an unknown code and a closed prompt show an explanation', async () => {
    const { page, context } = await newVisitor();
    const answer = await page.goto(`${service.needs.publicUrl}/agents/claim/AAAAA-AAAAA`);
    expect(answer?.status()).toBe(404);
    await page.getByRole('heading', { name: 'Claim code not found' }).waitFor();

    await page.goto(await claimUrl(await newAgent(service)));
    await page.getByRole('button', { name: 'Create account' }).click();
    await expect.poll(() => said(page)).toBe('Please enter your name.');
    // No authenticator knows a passkey of this site.
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await expect.poll(() => said(page)).toMatch(/Nothing has changed; try again/);
    await context.setOffline(true);
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await expect.poll(() => said(page)).toMatch(/did not answer/);
  });
});
