/** The console's files as browsers get them: small, compressed, kept by their digest, and never from elsewhere. */
import { request } from 'node:http';
import { beforeAll, describe, expect, test } from 'vitest';
import { BundleFault, createConsoleBundle } from '../../packages/server/src/console/bundle.ts';
import { sharedTestService, type TestService } from '../harness.ts';

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
function get(path: string, encoding = 'br, gzip'): Promise<Got> {
  const { origin } = new URL(service.needs.publicUrl);
  return new Promise((resolve, reject) => {
    request(origin + path, { headers: { 'accept-encoding': encoding, accept: 'text/html' } }, (answer) => {
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
