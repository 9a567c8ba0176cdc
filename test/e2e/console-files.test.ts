/** What the console costs on the wire: its files are small, compressed, kept by their digest, and never from elsewhere; answers and streams are compressed. */
import { request } from 'node:http';
import { brotliDecompressSync, createGunzip, gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { BundleFault, createConsoleBundle } from '../../packages/server/src/console/bundle.ts';
import { ownerOf } from '../approving.ts';
import { newTrader, sharedTestService, type TestService } from '../harness.ts';

const MOST_BYTES = 200 * 1024;

interface Got {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

let service: TestService;
beforeAll(async () => {
  service = await sharedTestService();
});

/** As bytes on the wire: `fetch` would decompress them. */
function get(path: string, encoding = 'br, gzip', more: Record<string, string> = {}): Promise<Got> {
  const { origin } = new URL(service.needs.publicUrl);
  const headers = { 'accept-encoding': encoding, accept: 'text/html', ...more };
  return new Promise((resolve, reject) => {
    request(origin + path, { headers }, (answer) => {
      const parts: Buffer[] = [];
      answer.on('data', (part) => parts.push(part));
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(parts) }),
      );
    })
      .on('error', reject)
      .end();
  });
}

describe('the console’s files', () => {
  test('are at most 200 KB compressed in all, and come from this service alone', async () => {
    const page = await get('/console');
    expect(page.status).toBe(200);
    const html = page.body.toString();
    const addresses = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address]) => address as string);
    const files = addresses.filter((address) => address.startsWith('/console/assets/'));
    expect(files).toHaveLength(2);
    expect(addresses.filter((address) => !files.includes(address))).toEqual(['data:,', '/console/pause']);
    // What the script loads where a view has a plot is kept by its name.
    const script = (await get(files.find((file) => file.includes('.js')) ?? '', 'identity')).body.toString();
    const parts = [...script.matchAll(/import\([`"']\.\/([\w.-]+)[`"']\)/g)].map(
      ([, name]) => `/console/assets/${name}`,
    );
    expect(parts).toHaveLength(1);
    for (const part of parts)
      expect((await get(part)).headers['cache-control']).toBe('public, max-age=31536000, immutable');
    files.push(...parts);
    for (const encoding of ['br', 'gzip']) {
      const sizes = await Promise.all(files.map(async (file) => (await get(file, encoding)).body.length));
      const total = sizes.reduce((sum, size) => sum + size, page.body.length);
      expect(total).toBeGreaterThan(20_000);
      expect(total).toBeLessThanOrEqual(MOST_BYTES);
    }
  });

  test('are kept by the digest in their address, and under no other', async () => {
    const [, address = ''] =
      /src="([^"]*console\.js[^"]*)"/.exec((await get('/console')).body.toString()) ?? [];
    const asked = await get(address);
    expect(asked.headers).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-encoding': 'br',
      'x-content-type-options': 'nosniff',
      vary: 'accept-encoding, origin',
    });
    expect((await get(address.replace(/v=.*/, 'v=000000000000'))).headers['cache-control']).toBe('no-store');
    expect((await get('/console/assets/other.js')).status).toBe(404);
    expect((await get('/console/assets/..%2f..%2fpackage.json')).status).toBe(404);
  });

  test('every view has an address; the page allows no inline script and no foreign source', async () => {
    const ids = '00000000-0000-4000-8000-000000000000';
    const views = [
      '',
      '/approvals',
      '/sign-in',
      '/operator',
      `/agents/${ids}`,
      `/agents/${ids}/orders/0x00`,
      '/markets/1?venue=x',
    ];
    for (const view of views) {
      const { status, headers } = await get(`/console${view}`);
      expect(status).toBe(200);
      expect(headers['cache-control']).toBe('no-store');
      expect(headers['content-security-policy']).toMatch(
        /^default-src 'none'; script-src 'self'; style-src 'self';/,
      );
      expect(headers['content-security-policy']).not.toMatch(/unsafe/);
    }
    expect((await get('/console/nothing')).status).toBe(404);
  });
});

describe('what an owner reads', () => {
  test('is compressed as the browser takes it; what an agent reads is not', async () => {
    const { client, apiKey } = await newTrader(service);
    const { cookie } = await ownerOf(service, { client });
    const owner = { cookie: cookie ?? '' };
    const plain = await get('/owner/safeguards', 'identity', owner);
    expect(plain.headers['content-encoding']).toBeUndefined();
    const read = JSON.parse(plain.body.toString());
    for (const [encoding, open] of [
      ['br', brotliDecompressSync],
      ['gzip', gunzipSync],
    ] as const) {
      const { headers, body } = await get('/owner/safeguards', encoding, owner);
      expect([headers['content-encoding'], headers['content-length']]).toEqual([
        encoding,
        String(body.length),
      ]);
      expect(body.length).toBeLessThan(plain.body.length / 3);
      expect(JSON.parse(open(body).toString())).toEqual(read);
    }
    // Too short to gain anything, and no answer of an agent.
    expect((await get('/owner/session', 'br', owner)).headers['content-encoding']).toBeUndefined();
    const agents = await get('/markets?q=*&limit=50', 'br', { authorization: `Bearer ${apiKey}` });
    expect(agents.body.length).toBeGreaterThan(10_000);
    expect(agents.headers['content-encoding']).toBeUndefined();

    // Each event of the stream comes at once, not when a block is full.
    const { origin } = new URL(service.needs.publicUrl);
    const events = await new Promise<string>((resolve, reject) => {
      const asked = request(
        `${origin}/owner/events`,
        { headers: { ...owner, 'accept-encoding': 'gzip' } },
        (answer) => {
          expect(answer.headers['content-encoding']).toBe('gzip');
          let text = '';
          answer.pipe(createGunzip()).on('data', (part) => {
            text += part;
            if (/event: safeguards\ndata: .*\n\n/.test(text)) {
              asked.destroy();
              resolve(text);
            } else if (text.includes('event: ready')) void client.updateSettings({ maxTradesPerDay: 7 });
          });
        },
      );
      asked.on('error', reject).end();
    });
    expect(events).toMatch(/"maxTradesPerDay": ?7/);
  });

  test('is named to be read early by the page of a session, and by no other page', async () => {
    const agent = await newTrader(service);
    const { cookie } = await ownerOf(service, agent);
    const view = `/console/agents/${agent.agentId}/positions`;
    const preloads = ({ body }: Got) =>
      [...body.toString().matchAll(/rel="preload" as="fetch" crossorigin href="([^"]*)"/g)].map(
        ([, path]) => path,
      );
    expect(preloads(await get(view))).toEqual([]);
    const named = preloads(await get(view, 'br', { cookie: cookie ?? '' }));
    expect(named).toContain(`/owner/agents/${agent.agentId}/positions`);
    for (const path of named)
      expect([
        path,
        (await get((path ?? '').replaceAll('&amp;', '&'), 'br', { cookie: cookie ?? '' })).status,
      ]).toEqual([path, 200]);
    // A stranger's link puts nothing into the page.
    const hostile = await get(
      '/console/agents/"><script>/positions'.replaceAll(/["<>]/g, encodeURIComponent),
      'br',
      {
        cookie: cookie ?? '',
      },
    );
    expect(hostile.body.toString()).not.toContain('"><script>/');
  });
});

describe('a bundler that fails', () => {
  test('is a clear fault, is not started again for every visitor, and is tried again later', async () => {
    let now = 0;
    let made = 0;
    const files = new Map();
    const bundle = createConsoleBundle(
      () => now,
      async () => {
        made++;
        if (made === 1) throw new Error('no memory');
        return files;
      },
    );
    await expect(bundle.files()).rejects.toThrow(BundleFault);
    await expect(bundle.files()).rejects.toThrow(BundleFault);
    expect(made).toBe(1);
    now += 60_000;
    expect(await Promise.all([bundle.files(), bundle.files()])).toEqual([files, files]);
    expect(made).toBe(2);
  });
});
