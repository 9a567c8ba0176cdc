/**
 * Makes the README's pictures of the console: a service of its own, the agents of the demo trading on paper, an owner at a
 * headless Chromium. The service's clock runs ahead, five minutes a round, so that there is a curve to be seen.
 *
 *   npm run pictures [folder]       docs/pictures without one; CHROMIUM_PATH names the browser
 */
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Browser, chromium, type Page } from 'playwright-core';
import { createTrading, type Seat, seatAgents } from '../examples/console/strategies.ts';
import { readConfig } from '../packages/server/src/config.ts';
import { startService } from '../packages/server/src/service.ts';
import { newBrowserVisitor } from '../test/browser.ts';
import { CHROMIUM_ARGS, findChromium } from '../test/chromium.ts';

const FOLDER = resolve(process.argv[2] ?? join(import.meta.dirname, '..', 'docs', 'pictures'));
const MOST_BYTES = 150 * 1024;
const ROUNDS = 24;
/** The equity of a wallet is recorded so often, by the service's clock; and by a job that looks so often, by ours. */
const RECORDED_EVERY_MS = 5 * 60_000;
const LOOKED_EVERY_MS = 5_000;
const VIEW = { width: 1120, height: 1060 };

async function claimAll(page: Page, seats: readonly Seat[]): Promise<void> {
  for (const [i, { claimUrl }] of seats.entries()) {
    await page.goto(claimUrl);
    if (i === 0) {
      await page.getByLabel('Your name').fill('Ada');
      await page.getByRole('button', { name: 'Create account with a passkey' }).click();
      await page.getByText('Your account is ready.').waitFor();
    }
    await page.getByRole('button', { name: 'Claim as Ada' }).click();
    await page.getByText('This agent is yours now.').waitFor();
  }
}

async function save(page: Page, name: string): Promise<void> {
  const path = join(FOLDER, `${name}.png`);
  await page.screenshot({ path, animations: 'disabled' });
  const { size } = statSync(path);
  if (size > MOST_BYTES) throw new Error(`${path} has ${size} bytes: more than ${MOST_BYTES}`);
  console.log(`${path}  ${Math.round(size / 1024)} KB`);
}

async function takePictures(browser: Browser, publicUrl: string, advance: () => void): Promise<void> {
  const seats = await seatAgents(publicUrl);
  const { page } = await newBrowserVisitor(browser, { context: { viewport: VIEW, colorScheme: 'light' } });
  await claimAll(page, seats);
  const act = createTrading(seats);
  for (let round = 0; round < ROUNDS; round++) {
    await act();
    await sleep(LOOKED_EVERY_MS + 500);
    advance();
  }
  await page.goto(`${publicUrl}/console`);
  await page.getByText('Live', { exact: true }).waitFor();
  await page.getByRole('img', { name: /^Equity of all agents/ }).waitFor();
  await act();
  await save(page, 'console-home');
  await page.getByRole('link', { name: 'Contrarian' }).first().click();
  await page.getByRole('heading', { level: 1, name: 'Contrarian' }).waitFor();
  await page.getByRole('img', { name: /^Equity of Contrarian/ }).waitFor();
  await page.getByRole('table', { name: 'Positions' }).waitFor();
  await save(page, 'console-agent');
}

const executablePath = findChromium();
if (executablePath === null) throw new Error('no Chromium was found: set CHROMIUM_PATH, or install one');
mkdirSync(FOLDER, { recursive: true });
const dataDir = mkdtempSync(join(tmpdir(), 'bw-'));
const environment = { PORT: '0', DATA_DIR: dataDir, LOG_LEVEL: 'error', RATE_LIMITS: 'off' };
let aheadMs = 0;
const clock = { now: () => Date.now() + aheadMs };
const service = await startService(readConfig(environment), { clock });
const browser = await chromium.launch({ executablePath, args: CHROMIUM_ARGS });
try {
  await takePictures(browser, service.needs.publicUrl, () => {
    aheadMs += RECORDED_EVERY_MS;
  });
} finally {
  await browser.close();
  await service.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
