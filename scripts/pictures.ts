/**
 * Makes the README's pictures of the console: a service of its own, the agents of the demo trading on paper, an owner at a
 * headless Chromium.
 *
 *   npm run pictures [folder]       docs/pictures without one; CHROMIUM_PATH names the browser
 */
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { createTrading, type Seat, seatAgents } from '../examples/console/strategies.ts';
import { readConfig } from '../packages/server/src/config.ts';
import { startService } from '../packages/server/src/service.ts';
import { newBrowserVisitor } from '../test/browser.ts';
import { CHROMIUM_ARGS, findChromium } from '../test/chromium.ts';

const FOLDER = resolve(process.argv[2] ?? join(import.meta.dirname, '..', 'docs', 'pictures'));
const MOST_BYTES = 150 * 1024;
const ROUNDS = Number(process.env.PICTURE_ROUNDS ?? 60);
const VIEW = { width: 1120, height: 760 };

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
  await page.screenshot({ path, fullPage: process.env.FULL === '1' });
  const { size } = statSync(path);
  if (size > MOST_BYTES) throw new Error(`${path} has ${size} bytes: more than ${MOST_BYTES}`);
  console.log(`${path}  ${Math.round(size / 1024)} KB`);
}

async function takePictures(browser: Browser, publicUrl: string): Promise<void> {
  const seats = await seatAgents(publicUrl);
  const { page } = await newBrowserVisitor(browser, { context: { viewport: VIEW, colorScheme: 'light' } });
  await claimAll(page, seats);
  const act = createTrading(seats);
  for (let round = 0; round < ROUNDS / 2; round++) await act();
  await page.goto(`${publicUrl}/console`);
  await page.getByRole('heading', { name: 'Exposure' }).waitFor();
  for (let round = 0; round < ROUNDS / 2; round++) await act();
  await page.getByRole('img', { name: /^Equity of all agents/ }).waitFor();

  await save(page, 'console-home');
  await page.getByRole('link', { name: 'Trend follower' }).first().click();
  await page.getByRole('heading', { level: 1, name: 'Trend follower' }).waitFor();
  await page.getByRole('img', { name: /^Equity of Trend follower/ }).waitFor();
  await save(page, 'console-agent');
}

const executablePath = findChromium();
if (executablePath === null) throw new Error('no Chromium was found: set CHROMIUM_PATH, or install one');
mkdirSync(FOLDER, { recursive: true });
const dataDir = mkdtempSync(join(tmpdir(), 'bw-'));
const environment = { PORT: '0', DATA_DIR: dataDir, LOG_LEVEL: 'error', RATE_LIMITS: 'off' };
const service = await startService(readConfig(environment));
const browser = await chromium.launch({ executablePath, args: CHROMIUM_ARGS });
try {
  await takePictures(browser, service.needs.publicUrl);
} finally {
  await browser.close();
  await service.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
