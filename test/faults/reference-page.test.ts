/** The API reference in a browser: it loads only from our own address and links to no other service. */
import { chromium } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { CHROMIUM_ARGS, findChromium } from '../chromium.ts';
import { startTestService, type TestService } from '../harness.ts';
import { browserFor } from '../setup/skipped.ts';

const executablePath = browserFor('reference-page.test.ts', findChromium());

let service: TestService;

beforeAll(async () => {
  service = await startTestService({ PAPER_WORLD: 'off', BASE_PATH: '/desk' });
});

describe.skipIf(executablePath === null)('in a browser', () => {
  test('it shows the operations without errors and without requests to other hosts', async () => {
    const browser = await chromium.launch({ executablePath: executablePath as string, args: CHROMIUM_ARGS });
    try {
      const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
      const complaints: string[] = [];
      const asked: string[] = [];
      page.on('console', (message) => {
        if (message.type() === 'error') complaints.push(message.text());
      });
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('request', (request) => asked.push(request.url()));
      await page.goto(`${service.url}/docs/`);
      await page.getByText('Register an agent and obtain its API key').first().waitFor({ timeout: 30_000 });
      await page.waitForTimeout(1_500);
      const text = await page.locator('body').innerText();
      for (const button of [
        'Ask AI',
        'Generate MCP',
        'Share',
        'Deploy',
        'Developer Tools',
        'Open API Client',
      ])
        expect(text, button).not.toMatch(new RegExp(`(^|\\n)\\s*${button}\\s*(\\n|$)`, 'i'));
      const elsewhere = asked.filter((url) => !url.startsWith(service.address) && !/^(data|blob):/.test(url));
      expect(elsewhere).toEqual([]);
      expect(complaints).toEqual([]);
      const folder = process.env.SCREENSHOTS;
      if (folder !== undefined) await page.screenshot({ path: `${folder}/reference.png` });
    } finally {
      await browser.close();
    }
  });
});
