/** A person at a browser: pages of a headless Chromium, each visitor with an authenticator in software. */
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';

export interface BrowserVisitor {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors that the browser reported; there must be none. */
  readonly complaints: string[];
  credentials(): Promise<readonly unknown[]>;
  /** Goes on in the same browser with an authenticator that has only these passkeys. @returns those of the one of before */
  changeDevice(passkeys?: readonly unknown[]): Promise<readonly unknown[]>;
}

export interface VisitorOptions {
  /** Passkeys of an earlier visitor: the same person on another device. */
  readonly passkeys?: readonly unknown[];
  readonly context?: Parameters<Browser['newContext']>[0];
}

/** A fresh browser context with an authenticator of its own. */
export async function newBrowserVisitor(
  browser: Browser,
  { passkeys = [], context: options = {} }: VisitorOptions = {},
): Promise<BrowserVisitor> {
  const context = await browser.newContext({ viewport: { width: 900, height: 900 }, ...options });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (line) => {
    // The browser logs every answer above 399; the page explains those to the person.
    if (line.type() === 'error' && !/Failed to load resource/.test(line.text())) complaints.push(line.text());
  });
  let device = await addAuthenticator(context, page, passkeys);
  const credentials = async () => {
    const { cdp, authenticatorId } = device;
    return (await cdp.send('WebAuthn.getCredentials', { authenticatorId })).credentials;
  };
  return {
    page,
    context,
    complaints,
    credentials,
    async changeDevice(others = []) {
      const former = await credentials();
      const { cdp, authenticatorId } = device;
      await cdp.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId });
      await cdp.detach();
      device = await addAuthenticator(context, page, others);
      return former;
    },
  };
}

/** A device of its own for one page. */
export async function addAuthenticator(
  context: BrowserContext,
  page: Page,
  passkeys: readonly unknown[] = [],
) {
  const cdp = await context.newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  for (const credential of passkeys)
    await cdp.send('WebAuthn.addCredential', { authenticatorId, credential: credential as never });
  return { cdp, authenticatorId };
}

/** With SCREENSHOTS=<folder>. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}

export const PHONE = { viewport: { width: 375, height: 740 }, isMobile: true, hasTouch: true } as const;

/** Runs in the page. A phone zooms out of what is too wide, so its innerWidth grows with it. */
const MEASURE = `({
  wide: document.documentElement.scrollWidth > document.documentElement.clientWidth,
  small: [...document.querySelectorAll('main button, main input:not([type=checkbox], [type=hidden])')]
    .filter((element) => element.getBoundingClientRect().height < 40)
    .map((element) => element.outerHTML),
})`;

/** Whether the page is wider than its screen, and what is too small to be touched. */
export const measure = (page: Page): Promise<{ readonly wide: boolean; readonly small: string[] }> =>
  page.evaluate(MEASURE);
export const FITS = { wide: false, small: [] };
