/**
 * Makes the README's pictures of the console: a service of its own, the agents of the demo trading on paper, an owner at a
 * headless Chromium. The service's clock runs ahead, five minutes a round, so that there is a curve to be seen.
 *
 *   npm run pictures [folder]            docs/pictures without one; CHROMIUM_PATH names the browser
 *   npm run pictures -- --views folder   every view, light, dark and on a phone, whole pages, to look at each of them; and
 *                                        what each costs on a phone while four agents trade
 */
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Decisions, OwnerHome } from '@bellwether/contract';
import { buildLimitOrder } from '@bellwether/sdk';
import { type Browser, chromium, type Page } from 'playwright-core';
import { createTrading, type Seat, seatAgents } from '../examples/console/strategies.ts';
import { readConfig } from '../packages/server/src/config.ts';
import { startService } from '../packages/server/src/service.ts';
import { type BrowserVisitor, newBrowserVisitor } from '../test/browser.ts';
import { CHROMIUM_ARGS, findChromium } from '../test/chromium.ts';

const { values: asked, positionals } = parseArgs({
  options: { views: { type: 'string' } },
  allowPositionals: true,
});
const FOLDER = resolve(asked.views ?? positionals[0] ?? join(import.meta.dirname, '..', 'docs', 'pictures'));
const MOST_BYTES = 150 * 1024;
const ROUNDS = 24;
/** The equity of a wallet is recorded so often, by the service's clock; and by a job that looks so often, by ours. */
const RECORDED_EVERY_MS = 5 * 60_000;
const LOOKED_EVERY_MS = 5_000;
const VIEW = { width: 1120, height: 860 };
const NARROW = { width: 390, height: 844 };
const OPERATOR_KEY = 'operator-key-of-these-pictures-0123456789';

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

/** For what it holds, a tenth below the price of now. */
async function leaveExits({ client, signer }: Seat): Promise<void> {
  for (const { marketId, outcome, size, currentPrice } of await client.getCurrentPositions()) {
    const price = (Math.ceil(currentPrice * 90) / 100).toFixed(2);
    const market = await client.getMarket(marketId);
    const order = await buildLimitOrder({
      ...{ signer, market, price, side: 'SELL', outcome: outcome as 'YES' | 'NO', size: Math.floor(size) },
    });
    await client.leaveExit({ ...order, trigger: { kind: 'price_at_or_below', price: Number(price) } });
  }
}

interface Stage {
  readonly browser: Browser;
  readonly publicUrl: string;
  readonly visitor: BrowserVisitor;
}

type Views = Readonly<Record<string, string>>;

async function viewsOf({ visitor }: Stage): Promise<Views> {
  const read = <T>(path: string): Promise<T> =>
    visitor.page.evaluate(`fetch('${path}').then((answer) => answer.json())`);
  const { agents, exposure } = await read<OwnerHome>('/owner/home');
  // The one that trades most.
  const agentId = agents.find(({ name }) => name === 'Impatient gambler')?.agentId;
  const { decisions } = await read<Decisions>(`/owner/agents/${agentId}/decisions`);
  const orderId = decisions.find((decision) => decision.orderId !== null)?.orderId;
  const market = exposure.byMarket[0];
  return {
    home: '',
    agent: `/agents/${agentId}`,
    'agent-positions': `/agents/${agentId}/positions`,
    'agent-exits': `/agents/${agentId}/exits`,
    'agent-orders': `/agents/${agentId}/orders`,
    'agent-decisions': `/agents/${agentId}/decisions`,
    'agent-limits': `/agents/${agentId}/limits`,
    'agent-keys': `/agents/${agentId}/keys`,
    order: `/agents/${agentId}/orders/${orderId}`,
    market: `/markets/${market?.marketId}?venue=${market?.venue}`,
    approvals: '/approvals',
    passkeys: '/sign-in',
    operator: '/operator',
  };
}

/** In the owner's session, as the owner sees it: whole pages, and how tall each is. */
async function takeViews({ browser, publicUrl, visitor }: Stage, views: Views): Promise<void> {
  const cookies = await visitor.context.cookies();
  for (const [look, options] of Object.entries({
    light: { viewport: VIEW, colorScheme: 'light' },
    dark: { viewport: VIEW, colorScheme: 'dark' },
    phone: { viewport: NARROW, colorScheme: 'light', isMobile: true, hasTouch: true },
  } as const)) {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    const shoot = async (name: string) => {
      await page.locator('h1').waitFor();
      do await sleep(700);
      while ((await page.getByText(/^(Loading|Checking)/).count()) > 0);
      const height = await page.evaluate('document.documentElement.scrollHeight');
      await page.screenshot({
        path: join(FOLDER, `${name}-${look}.png`),
        fullPage: true,
        animations: 'disabled',
      });
      console.log(`${name}-${look}: ${height} pixels tall`);
    };
    await page.goto(`${publicUrl}/console`);
    await shoot('signed-out');
    await context.addCookies(cookies);
    for (const [name, view] of Object.entries(views)) {
      await page.goto(`${publicUrl}/console${view}`);
      await shoot(name);
    }
    await page.getByLabel('Operator’s key').fill(OPERATOR_KEY);
    await page.getByRole('button', { name: 'Show the service' }).click();
    await page.getByRole('heading', { name: 'Venues' }).waitFor();
    await shoot('operator-status');
    await context.close();
  }
}

/** A phone on slow 4G whose processor is four times slower than this one: what the browser's own tools call so. */
const SLOW = { offline: false, latency: 562.5, downloadThroughput: 180_000, uploadThroughput: 84_375 };
const SLOWER = 4;
const LOADED_MS = 5_000;
const WATCHED_MS = 20_000;

const WATCH_SHIFTS = `(() => {
  window.shifted = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifted += entry.value;
  }).observe({ type: 'layout-shift', buffered: true });
})()`;
/** The first figure of a view; one that has none waits for nothing. */
const HAS_FIGURES = `document.querySelector('main:not([aria-busy]) h1') !== null &&
  (document.querySelector('main dd, main td, main li, main input') !== null || !/Loading/.test(document.body.innerText))`;

interface Cost {
  readonly view: string;
  readonly pixels: number;
  /** Layout shift while it loads, and in use. */
  readonly shift: number;
  readonly firstKilobytes: number;
  readonly figuresAfterMs: number;
  readonly megabytesPerHour: number;
}

/** What a view costs: loaded for the first time on a slow phone, then looked at while agents trade. */
async function costOf(
  { browser, publicUrl, visitor }: Stage,
  [view, path]: readonly [string, string],
): Promise<Cost> {
  const context = await browser.newContext({ viewport: NARROW, isMobile: true, hasTouch: true });
  await context.addCookies(await visitor.context.cookies());
  const page = await context.newPage();
  await page.addInitScript(WATCH_SHIFTS);
  const cdp = await context.newCDPSession(page);
  let bytes = 0;
  cdp.on('Network.dataReceived', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  cdp.on('Network.responseReceived', ({ response }) => {
    bytes += response.encodedDataLength;
  });
  await cdp.send('Network.enable');
  await cdp.send('Network.emulateNetworkConditions', SLOW);
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: SLOWER });
  const since = performance.now();
  await page.goto(`${publicUrl}/console${path}`, { waitUntil: 'commit' });
  // By the debugger: the page's policy allows no script but its own.
  while (!(await page.evaluate<boolean>(HAS_FIGURES))) await sleep(20);
  const figuresAfterMs = Math.round(performance.now() - since);
  await sleep(LOADED_MS);
  const firstKilobytes = Math.round(bytes / 1024);
  await cdp.send('Network.emulateNetworkConditions', {
    ...SLOW,
    ...{ latency: 0, downloadThroughput: -1, uploadThroughput: -1 },
  });
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: 1 });
  const before = bytes;
  await sleep(WATCHED_MS);
  const cost = {
    view,
    pixels: await page.evaluate<number>('document.documentElement.scrollHeight'),
    shift: Number((await page.evaluate<number>('window.shifted')).toFixed(3)),
    firstKilobytes,
    figuresAfterMs,
    megabytesPerHour: Number((((bytes - before) * 3_600_000) / WATCHED_MS / 1024 / 1024).toFixed(1)),
  };
  await context.close();
  return cost;
}

async function weighViews(stage: Stage, views: Views, act: () => Promise<unknown>): Promise<void> {
  let isOver = false;
  const trading = (async () => {
    while (!isOver) {
      await act();
      await sleep(1_500);
    }
  })();
  const costs: Cost[] = [];
  for (const view of Object.entries(views)) if (view[0] !== 'operator') costs.push(await costOf(stage, view));
  isOver = true;
  await trading;
  console.table(costs);
  writeFileSync(join(FOLDER, 'costs.json'), JSON.stringify(costs, null, 2));
}

async function takePictures(browser: Browser, publicUrl: string, advance: () => void): Promise<void> {
  const seats = await seatAgents(publicUrl);
  const visitor = await newBrowserVisitor(browser, { context: { viewport: VIEW, colorScheme: 'light' } });
  const { page } = visitor;
  await claimAll(page, seats);
  const act = createTrading(seats);
  for (let round = 0; round < (asked.views === undefined ? ROUNDS : ROUNDS / 8); round++) {
    await act();
    await sleep(LOOKED_EVERY_MS + 500);
    advance();
  }
  await page.goto(`${publicUrl}/console`);
  await page.getByText('Live', { exact: true }).waitFor();
  await page.getByRole('img', { name: /^Equity of all agents/ }).waitFor();
  // Of the views, one shows what waits for the owner, one what is signed ahead.
  if (asked.views !== undefined) {
    await seats[0]?.client.updateSettings({ approvalAbove: 1 });
    for (const seat of seats) await leaveExits(seat);
  }
  await act();
  if (asked.views !== undefined) {
    const stage = { browser, publicUrl, visitor };
    const views = await viewsOf(stage);
    await weighViews(stage, views, act);
    return takeViews(stage, views);
  }
  await save(page, 'console-home');
  await page.getByRole('link', { name: 'Contrarian' }).first().click();
  await page.getByRole('heading', { level: 1, name: 'Contrarian' }).waitFor();
  await page.getByRole('img', { name: /^Equity of Contrarian/ }).waitFor();
  await save(page, 'console-agent');
}

const executablePath = findChromium();
if (executablePath === null) throw new Error('no Chromium was found: set CHROMIUM_PATH, or install one');
mkdirSync(FOLDER, { recursive: true });
const dataDir = mkdtempSync(join(tmpdir(), 'bw-'));
const environment = { PORT: '0', DATA_DIR: dataDir, LOG_LEVEL: 'error', RATE_LIMITS: 'off', OPERATOR_KEY };
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
