/** The API reference: its content security policy, and what the document says of this service. */
import { beforeAll, expect, test } from 'vitest';
import { call, startTestService, type TestService } from '../harness.ts';

let service: TestService;

beforeAll(async () => {
  service = await startTestService({ PAPER_WORLD: 'off', BASE_PATH: '/desk' });
});

test('every part has a content security policy, and none may be framed', async () => {
  for (const path of ['/docs', '/docs/', '/docs/js/scalar.js', '/docs/js/start.js', '/docs/none']) {
    const { headers } = await call(service, 'GET', path);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy, path).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/https?:|\*|unsafe-eval/);
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  }
});

test('the document names its server', async () => {
  const { body } = await call(service, 'GET', '/openapi.json');
  expect(body.servers).toEqual([{ url: '/desk' }]);
  const root = await startTestService({ PAPER_WORLD: 'off', PUBLIC_URL: 'https://desk.example.com' });
  expect((await call(root, 'GET', '/openapi.json')).body.servers).toEqual([{ url: '/' }]);
});
