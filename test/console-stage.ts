/** Steps of tests of the console in a browser: open it, claim an agent, and place an order that crosses the book. */
import type { Market } from '@bellwether/sdk';
import type { Page } from 'playwright-core';
import type { BrowserVisitor } from './browser.ts';
import type { TestService, Trader } from './harness.ts';
import { limitOrder } from './harness.ts';

export async function openConsole(
  { needs }: Pick<TestService, 'needs'>,
  page: Page,
  view = '',
): Promise<void> {
  await page.goto(`${needs.publicUrl}/console${view}`);
  await page.locator('.live.live, .ended, h1').first().waitFor();
}

export async function claimInBrowser(
  { needs }: Pick<TestService, 'needs'>,
  { page }: BrowserVisitor,
  agent: Pick<Trader, 'client'>,
): Promise<void> {
  const { claimCode } = await agent.client.getMe();
  await page.goto(`${needs.publicUrl}/agents/claim/${claimCode}`);
  if (await page.getByLabel('Your name').isVisible()) {
    await page.getByLabel('Your name').fill('Ada');
    await page.getByRole('button', { name: 'Create account with a passkey' }).click();
    await page.getByText('Your account is ready.').waitFor();
  }
  await page.getByRole('button', { name: /^Claim as/ }).click();
  await page.getByText('This agent is yours now.').waitFor();
}

/** Crosses the book at once. */
export const takingOrder = (market: Market, who: Trader, size: number) =>
  limitOrder(who, market, {
    side: 'BUY',
    price: market.bestAsk,
    size,
    reasoning: 'The odds are wrong.',
    source: 'sdk:console-test',
  });
